// SPDX-License-Identifier: Apache-2.0
// Eigenvectors by Spectra's Lanczos method, with what it needs to be reliable here.
//
// One Lanczos run sees one vector of each eigenspace, and nearly equal eigenvalues are the rule: k
// well separated clusters have k eigenvalues close to 1. So what is known is deflated (moved from
// lambda to lambda - 2, below everything that is wanted) and the rest is searched again until a
// cheap run finds nothing that is larger than what we have.
#include "milieu/classic/ncut_embedding_internal.h"

#include <Spectra/SymEigsSolver.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/random.h"

namespace milieu::internal {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int64_t kMaxFallbackN = 2000;  // up to here the direct solver is tried after Lanczos

// Thrown through Spectra when the monitor says stop.
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

// The deflated operator in Spectra's form: x -> A x - 2 sum_v v (v.x) over all known v.
class DeflatedAffinity {
 public:
  using Scalar = double;

  DeflatedAffinity(const AffinityGraph& graph, std::span<const int> component_from_row,
                   int num_components, int num_threads, Monitor& monitor)
      : graph_(graph),
        component_from_row_(component_from_row),
        num_components_(num_components),
        entries_(component_vectors(graph, component_from_row, num_components)),
        inverse_roots_(inverse_root_degrees(graph)),
        num_threads_(num_threads),
        monitor_(monitor),
        found_(graph.size(), 0) {}

  Eigen::Index rows() const { return graph_.size(); }
  Eigen::Index cols() const { return graph_.size(); }

  void perform_op(const double* x_in, double* y_out) const {
    if (monitor_.should_stop()) throw Stopped();
    if (++num_products_ % 64 == 0) monitor_.on_progress("eigenvectors", num_products_, 0);
    const auto n = static_cast<size_t>(graph_.size());
    multiply_normalized(graph_, inverse_roots_, num_threads_, {x_in, n}, {y_out, n});
    std::vector<double> shares(num_components_);
    for (size_t i = 0; i < n; ++i) shares[component_from_row_[i]] += entries_[i] * x_in[i];
    for (size_t i = 0; i < n; ++i) y_out[i] -= 2 * entries_[i] * shares[component_from_row_[i]];
    if (found_.cols() == 0) return;
    const Eigen::Map<const VectorXd> x(x_in, rows());
    Eigen::Map<VectorXd>(y_out, rows()).noalias() -= 2 * (found_ * (found_.transpose() * x)).eval();
  }

  void set_found(const MatrixXd& found) { found_ = found; }
  double entry(int64_t i) const { return entries_[i]; }

 private:
  const AffinityGraph& graph_;
  std::span<const int> component_from_row_;
  int num_components_;
  std::vector<double> entries_;
  std::vector<double> inverse_roots_;
  int num_threads_;
  Monitor& monitor_;
  MatrixXd found_;  // n x (found so far)
  mutable int64_t num_products_ = 0;
};

struct EigenPairs {
  MatrixXd vectors;
  VectorXd values;  // descending
};

// One Lanczos run for the `count` largest eigenvalues; returns those that converged.
EigenPairs run_lanczos(DeflatedAffinity& affinity, int64_t count, double tolerance,
                       int max_iterations, Random random) {
  const int64_t n = affinity.rows();
  const int64_t basis = std::min(n, std::max(2 * count + 1, count + 32));
  VectorXd start(n);
  for (int64_t i = 0; i < n; ++i) start[i] = random.normal();
  Spectra::SymEigsSolver<DeflatedAffinity> solver(affinity, count, basis);
  solver.init(start.data());
  solver.compute(Spectra::SortRule::LargestAlge, max_iterations, tolerance,
                 Spectra::SortRule::LargestAlge);
  return {solver.eigenvectors(), solver.eigenvalues()};
}

// The `count` pairs of largest value of both sets.
EigenPairs merge_pairs(const EigenPairs& a, const EigenPairs& b, int64_t count) {
  std::vector<int64_t> order(a.values.size() + b.values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](int64_t i) {
    return i < a.values.size() ? a.values[i] : b.values[i - a.values.size()];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t i, int64_t j) { return value(i) > value(j); });
  order.resize(std::min<size_t>(order.size(), count));
  EigenPairs merged{MatrixXd(a.vectors.rows(), order.size()), VectorXd(order.size())};
  for (size_t c = 0; c < order.size(); ++c) {
    const int64_t i = order[c];
    merged.values[c] = value(i);
    if (i < a.values.size())
      merged.vectors.col(c) = a.vectors.col(i);
    else
      merged.vectors.col(c) = b.vectors.col(i - a.values.size());
  }
  return merged;
}

// Lanczos runs until nothing larger is left than what was found.
EigenPairs search_eigenvectors(DeflatedAffinity& affinity, int64_t count,
                               const EigenOptions& options, EigenStatus& status) {
  const Random random(options.seed);
  const auto run = [&](int64_t wanted, double tolerance, int stream) {
    return run_lanczos(affinity, wanted, tolerance, options.max_iterations, random.child(stream));
  };
  EigenPairs found = run(count, options.tolerance, 0);
  for (int pass = 1; found.values.size() > 0 && pass <= 2 * count; ++pass) {
    affinity.set_found(found.vectors);
    const double smallest = found.values[found.values.size() - 1];
    const bool is_full = found.values.size() == count;
    const EigenPairs probe = run(1, is_full ? 1e-5 : options.tolerance, 2 * pass);
    if (probe.values.size() == 0) break;
    if (is_full && !(probe.values[0] > smallest + 10 * options.tolerance)) return found;
    const EigenPairs missed = is_full ? run(1, options.tolerance, 2 * pass + 1) : probe;
    if (missed.values.size() == 0) break;
    found = merge_pairs(found, missed, count);
  }
  status = EigenStatus::NotConverged;
  return found;
}

// All eigenvectors by the dense solver, the leading ones kept.
EigenPairs solve_directly(const AffinityGraph& graph, int64_t count) {
  const std::vector<double> roots = inverse_root_degrees(graph);
  MatrixXd dense = MatrixXd::Zero(graph.size(), graph.size());
  for (int64_t i = 0; i < graph.size(); ++i)
    for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      const int j = graph.neighbors[e];
      dense(i, j) = roots[i] * graph.weights[e] * roots[j];
    }
  // A sample without edges is a component of its own: value 1, not 0.
  for (int64_t i = 0; i < graph.size(); ++i)
    if (graph.degrees[i] == 0) dense(i, i) = 1;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(dense);
  return {solver.eigenvectors().rightCols(count).rowwise().reverse(),
          solver.eigenvalues().tail(count).reverse()};
}

// Copies the pairs into the columns from `first` on, each with its sign fixed.
void take_pairs(const EigenPairs& pairs, int64_t first, Eigenvectors& result) {
  for (int64_t c = 0; c < pairs.values.size(); ++c) {
    Eigen::Index top = 0;
    pairs.vectors.col(c).cwiseAbs().maxCoeff(&top);
    const double sign = pairs.vectors(top, c) < 0 ? -1 : 1;
    for (int64_t i = 0; i < result.vectors.rows(); ++i)
      result.vectors(i, first + c) = sign * pairs.vectors(i, c);
    result.values.push_back(pairs.values[c]);
  }
}

Eigenvectors direct_result(const AffinityGraph& graph, int count) {
  Eigenvectors result;
  result.vectors = Matrix<double>(graph.size(), count);
  take_pairs(solve_directly(graph, count), 0, result);
  result.is_direct = true;
  return result;
}

}  // namespace

Eigenvectors leading_eigenvectors(const AffinityGraph& graph,
                                  std::span<const int> component_from_row, int count,
                                  const EigenOptions& options, Monitor& monitor) {
  if (graph.size() <= options.max_direct_n) return direct_result(graph, count);
  const int num_components =
      1 + *std::max_element(component_from_row.begin(), component_from_row.end());
  Eigenvectors result;
  DeflatedAffinity affinity(graph, component_from_row, num_components, options.num_threads,
                            monitor);
  EigenPairs pairs{MatrixXd(graph.size(), 0), VectorXd(0)};
  try {
    if (count > num_components)
      pairs = search_eigenvectors(affinity, count - num_components, options, result.status);
  } catch (const Stopped&) {
    result.status = EigenStatus::Stopped;
  }
  if (result.status == EigenStatus::NotConverged && graph.size() <= kMaxFallbackN)
    return direct_result(graph, count);
  result.vectors = Matrix<double>(graph.size(), num_components + pairs.values.size());
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
