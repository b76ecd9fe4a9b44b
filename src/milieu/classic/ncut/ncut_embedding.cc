// SPDX-License-Identifier: Apache-2.0
// Eigenvectors by the Lanczos method, with what it needs to be reliable here.
//
// One Lanczos run sees one vector of each eigenspace, and nearly equal eigenvalues are the rule: k
// well separated clusters have k eigenvalues close to 1. So what is known is deflated (moved from
// lambda to lambda - 2, below everything that is needed) and the rest is searched again until a
// cheap run finds nothing that is larger than what we have.
#include "milieu/classic/ncut/ncut_embedding_internal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/random.h"
#include "milieu/classic/ncut/ncut_solvers_internal.h"

namespace milieu::internal {
namespace {

constexpr int64_t kMaxFallbackN = 2000;   // up to here the direct solver is tried after Lanczos
constexpr double kProbeTolerance = 1e-5;  // of the run that looks for what was missed

// Thrown through the solver when the monitor says stop.
struct Stopped {};

// v_c = D^1/2 1_c / |D^1/2 1_c|: the eigenvectors of value 1, one for each component, with disjoint
// supports; the entry of row i belongs to its component's vector.
std::vector<double> component_vectors(const AffinityGraph& graph,
                                      std::span<const int> component_from_row, int num_components) {
  std::vector<double> volumes(num_components);
  for (int64_t i = 0; i < graph.size(); ++i) volumes[component_from_row[i]] += graph.degrees[i];
  std::vector<double> entries(graph.size());
  for (int64_t i = 0; i < graph.size(); ++i) {
    const double volume = volumes[component_from_row[i]];
    entries[i] = volume > 0 ? std::sqrt(graph.degrees[i] / volume) : 1;
  }
  return entries;
}

// The deflated operator: x -> A x - 2 sum_v v (v.x) over all known v, A the normalized affinities.
class DeflatedAffinity {
 public:
  DeflatedAffinity(const AffinityGraph& graph, std::span<const int> component_from_row,
                   int num_components, int num_threads, Monitor& monitor)
      : graph_(graph),
        component_from_row_(component_from_row),
        num_components_(num_components),
        entries_(component_vectors(graph, component_from_row, num_components)),
        inverse_roots_(inverse_root_degrees(graph)),
        num_threads_(num_threads),
        monitor_(monitor) {}

  int64_t size() const { return graph_.size(); }
  // Entry of row i in its component's vector.
  double entry(int64_t i) const { return entries_[i]; }
  // The rows of `found` are known from now on; it must outlive the calls of multiply.
  void set_found(DoubleView found) { found_ = found; }

  void multiply(const double* x, double* y) {
    if (monitor_.should_stop()) throw Stopped();
    if (++num_products_ % 64 == 0) monitor_.on_progress("eigenvectors", num_products_, 0);
    const auto n = static_cast<size_t>(size());
    multiply_normalized(graph_, inverse_roots_, num_threads_, {x, n}, {y, n});
    std::vector<double> shares(num_components_);
    for (size_t i = 0; i < n; ++i) shares[component_from_row_[i]] += entries_[i] * x[i];
    for (size_t i = 0; i < n; ++i) y[i] -= 2 * entries_[i] * shares[component_from_row_[i]];
    for (int64_t c = 0; c < found_.rows(); ++c) {
      const double* v = found_.row(c);
      const double share = std::inner_product(v, v + n, x, 0.0);
      for (size_t i = 0; i < n; ++i) y[i] -= 2 * share * v[i];
    }
  }

 private:
  const AffinityGraph& graph_;
  std::span<const int> component_from_row_;
  int num_components_;
  std::vector<double> entries_;
  std::vector<double> inverse_roots_;
  int num_threads_;
  Monitor& monitor_;
  DoubleView found_;
  int64_t num_products_ = 0;
};

EigenPairs run_lanczos(DeflatedAffinity& affinity, const LanczosOptions& options, Random random) {
  std::vector<double> start(affinity.size());
  for (double& value : start) value = random.normal();
  return solve_lanczos([&](const double* x, double* y) { affinity.multiply(x, y); }, start,
                       options);
}

// The `count` pairs of largest value of both sets.
EigenPairs merge_pairs(const EigenPairs& a, const EigenPairs& b, int64_t count) {
  struct Place {
    double value;
    const double* vector;
  };
  std::vector<Place> places;
  for (const EigenPairs* pairs : {&a, &b})
    for (size_t c = 0; c < pairs->values.size(); ++c)
      places.push_back({pairs->values[c], pairs->vectors.row(static_cast<int64_t>(c))});
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& p, const Place& q) { return p.value > q.value; });
  places.resize(std::min<size_t>(places.size(), count));
  EigenPairs merged;
  merged.vectors = Matrix<double>(static_cast<int64_t>(places.size()), a.vectors.cols());
  for (const Place& place : places) {
    const auto row = static_cast<int64_t>(merged.values.size());
    std::copy_n(place.vector, merged.vectors.cols(), merged.vectors.row(row));
    merged.values.push_back(place.value);
  }
  return merged;
}

// Lanczos runs until nothing larger is left than what was found.
EigenPairs search_eigenvectors(DeflatedAffinity& affinity, int64_t count,
                               const EigenOptions& options, EigenStatus& status) {
  const Random random(options.seed);
  const auto run = [&](int64_t wanted, double tolerance, int stream) {
    return run_lanczos(affinity, {wanted, tolerance, options.max_iterations}, random.child(stream));
  };
  EigenPairs found = run(count, options.tolerance, 0);
  for (int pass = 1; !found.values.empty() && pass <= 2 * count; ++pass) {
    affinity.set_found(found.vectors);
    const bool is_full = static_cast<int64_t>(found.values.size()) == count;
    const EigenPairs probe = run(1, is_full ? kProbeTolerance : options.tolerance, 2 * pass);
    if (probe.values.empty()) break;
    if (is_full && !(probe.values[0] > found.values.back() + 10 * options.tolerance)) return found;
    const EigenPairs missed = is_full ? run(1, options.tolerance, 2 * pass + 1) : probe;
    if (missed.values.empty()) break;
    found = merge_pairs(found, missed, count);
  }
  status = EigenStatus::NotConverged;
  return found;
}

// D^-1/2 W D^-1/2 as a square matrix. A sample without edges is its own component: value 1.
Matrix<double> dense_affinity(const AffinityGraph& graph) {
  const std::vector<double> roots = inverse_root_degrees(graph);
  Matrix<double> dense(graph.size(), graph.size());
  for (int64_t i = 0; i < graph.size(); ++i) {
    for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      const int j = graph.neighbors[e];
      dense(i, j) = roots[i] * graph.weights[e] * roots[j];
    }
    if (graph.degrees[i] == 0) dense(i, i) = 1;
  }
  return dense;
}

// Copies the pairs into the columns from `first` on, each with its sign fixed.
void take_pairs(const EigenPairs& pairs, int64_t first, Eigenvectors& result) {
  for (size_t c = 0; c < pairs.values.size(); ++c) {
    const std::span<const double> vector = pairs.vectors.row_span(static_cast<int64_t>(c));
    const double top = *std::max_element(
        vector.begin(), vector.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    for (size_t i = 0; i < vector.size(); ++i)
      result.vectors(static_cast<int64_t>(i), first + static_cast<int64_t>(c)) =
          top < 0 ? -vector[i] : vector[i];
    result.values.push_back(pairs.values[c]);
  }
}

Eigenvectors solve_directly(const AffinityGraph& graph, int count) {
  Eigenvectors result;
  result.vectors = Matrix<double>(graph.size(), count);
  take_pairs(solve_dense(dense_affinity(graph), count), 0, result);
  result.is_direct = true;
  return result;
}

}  // namespace

Eigenvectors leading_eigenvectors(const AffinityGraph& graph,
                                  std::span<const int> component_from_row, int count,
                                  const EigenOptions& options, Monitor& monitor) {
  if (graph.size() <= options.max_direct_n) return solve_directly(graph, count);
  const int num_components =
      1 + *std::max_element(component_from_row.begin(), component_from_row.end());
  Eigenvectors result;
  DeflatedAffinity affinity(graph, component_from_row, num_components, options.num_threads,
                            monitor);
  EigenPairs pairs;
  try {
    if (count > num_components)
      pairs = search_eigenvectors(affinity, count - num_components, options, result.status);
  } catch (const Stopped&) {
    result.status = EigenStatus::Stopped;
  }
  if (result.status == EigenStatus::NotConverged && graph.size() <= kMaxFallbackN)
    return solve_directly(graph, count);
  const auto num_found = static_cast<int64_t>(pairs.values.size());
  result.vectors = Matrix<double>(graph.size(), num_components + num_found);
  for (int64_t i = 0; i < graph.size(); ++i)
    result.vectors(i, component_from_row[i]) = affinity.entry(i);
  result.values.assign(num_components, 1);
  take_pairs(pairs, num_components, result);
  return result;
}

Matrix<float> normalize_rows(const Matrix<double>& vectors) {
  Matrix<float> rows(vectors.rows(), vectors.cols());
  for (int64_t i = 0; i < vectors.rows(); ++i) {
    // By the largest entry first, so that squares of tiny rows do not vanish.
    double largest = 0;
    for (const double value : vectors.row_span(i)) largest = std::max(largest, std::abs(value));
    if (largest == 0) continue;
    double squared = 0;
    for (const double value : vectors.row_span(i)) squared += std::pow(value / largest, 2);
    const double length = largest * std::sqrt(squared);
    for (int64_t j = 0; j < vectors.cols(); ++j)
      rows(i, j) = static_cast<float>(vectors(i, j) / length);
  }
  return rows;
}

}  // namespace milieu::internal
