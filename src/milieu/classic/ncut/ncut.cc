// SPDX-License-Identifier: Apache-2.0
// Problem      Split a graph into k parts A_c such that sum_c cut(A_c) / vol(A_c) is small [Shi00,
//              Eq. 2]; cut(A) is the affinity that leaves A, vol(A) the sum of the degrees in A.
//              Finding the least is NP-hard; its relaxation is an eigenvalue problem.
// Given        n samples x_i as rows; W_ij = exp(-|x_i - x_j|^2 / (2 sigma^2)) or, self-tuned,
//              exp(-|x_i - x_j|^2 / (s_i s_j)) [ZelnikManor04, section 2], for pairs that are
//              joined.
// Find         the k eigenvectors of D^-1/2 W D^-1/2 with the largest eigenvalues, their rows
//              scaled to length 1 [Ng01, steps 2 to 4], and the k-means clusters of the rows.
// Symbols      D the degrees (row sums of W); eigenvalues of the normalized Laplacian are 1 minus
//              those of D^-1/2 W D^-1/2.
// Conventions  W has no diagonal. Restarts of k-means: most clusters, then the lowest cut, then the
//              first. At most k distinct samples: each is a cluster. A graph of at least k
//              components needs no eigenvectors: the k with most samples (ties: lowest row) are the
//              clusters, any other joins the one with the nearest sample; the cut is 0. A stopped
//              run without labels puts all samples into one cluster.
// See          docs/algorithms/ncut.md
#include "milieu/classic/ncut/ncut.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/memory.h"
#include "milieu/base/random.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/ncut/ncut_embedding_internal.h"
#include "milieu/classic/ncut/ncut_graph_internal.h"
#include "milieu/neighbors/check_points.h"
#include "milieu/neighbors/distinct_rows.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu {

using internal::AffinityGraph;
using internal::EigenStatus;
using internal::Eigenvectors;
using internal::renumber;

namespace {

void check(const NcutInput& input, const NcutOptions& options) {
  validate_options(options);
  require(std::isfinite(options.bandwidth),
          [&] { return fmt::format("bandwidth is {}, must be finite", options.bandwidth); });
  check_points(input.points);
  const int64_t n = input.points.rows();
  require(options.num_clusters <= n, [&] {
    return fmt::format("num_clusters is {}, there are only {}: use at most {}",
                       options.num_clusters, counted(n, "sample"), n);
  });
  const double gigabytes = internal::graph_gigabytes(n, options.num_neighbors);
  require(gigabytes <= options.max_memory_gb, [&] {
    return fmt::format(
        "max_memory_gb is {}, the affinities of {} with num_neighbors {} take up to {:.3g} "
        "GB: raise it, or join fewer neighbors (20, say)",
        options.max_memory_gb, counted(n, "sample"), options.num_neighbors, gigabytes);
  });
  require_memory({1e9 * gigabytes, fmt::format("the affinities of {} samples", n),
                  "join fewer neighbors (num_neighbors 20, say), or cluster fewer samples"});
}

int count_labels(std::span<const int> labels) {
  return 1 + *std::max_element(labels.begin(), labels.end());
}

Matrix<float> indicator_rows(std::span<const int> labels) {
  Matrix<float> rows(static_cast<int64_t>(labels.size()), count_labels(labels));
  for (int64_t i = 0; i < rows.rows(); ++i) rows(i, labels[i]) = 1;
  return rows;
}

Matrix<float> take_rows(FloatView points, std::span<const int> rows) {
  Matrix<float> taken(static_cast<int64_t>(rows.size()), points.cols());
  for (int64_t i = 0; i < taken.rows(); ++i)
    std::copy_n(points.row(rows[i]), points.cols(), taken.row(i));
  return taken;
}

// For each component whether it is among the k with most samples, ties to the lower number.
std::vector<bool> largest_components(std::span<const int> component_from_row, int k) {
  const int num_components = count_labels(component_from_row);
  std::vector<int64_t> sizes(num_components);
  for (const int c : component_from_row) ++sizes[c];
  std::vector<int> order(num_components);
  for (int c = 0; c < num_components; ++c) order[c] = c;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return sizes[a] > sizes[b]; });
  std::vector<bool> is_large(num_components);
  for (int i = 0; i < k; ++i) is_large[order[i]] = true;
  return is_large;
}

// The clusters of a graph of at least k components: see Conventions.
std::vector<int> join_components(FloatView points, std::span<const int> component_from_row, int k,
                                 int num_threads) {
  const std::vector<bool> is_large = largest_components(component_from_row, k);
  std::vector<int> large_rows;
  std::vector<int> small_rows;
  for (int i = 0; i < points.rows(); ++i)
    (is_large[component_from_row[i]] ? large_rows : small_rows).push_back(i);
  std::vector<int> target(is_large.size());
  std::vector<double> nearest(is_large.size(), std::numeric_limits<double>::infinity());
  for (size_t c = 0; c < target.size(); ++c) target[c] = static_cast<int>(c);
  if (!small_rows.empty()) {
    const NeighborLists lists =
        nearest_neighbors(take_rows(points, large_rows), take_rows(points, small_rows), 1,
                          {.num_threads = num_threads});
    for (size_t i = 0; i < small_rows.size(); ++i) {
      const int component = component_from_row[small_rows[i]];
      if (!(lists.squared_distances(i, 0) < nearest[component])) continue;
      nearest[component] = lists.squared_distances(i, 0);
      target[component] = component_from_row[large_rows[lists.indices(i, 0)]];
    }
  }
  std::vector<int> labels;
  for (const int component : component_from_row) labels.push_back(target[component]);
  return renumber(labels);
}

// Takes over labels that were found without k-means.
void finish_without_kmeans(const AffinityGraph& graph, std::vector<int> labels,
                           NcutResult& result) {
  result.labels = std::move(labels);
  result.model.embedding = indicator_rows(result.labels);
  result.summary.objective = internal::normalized_cut(graph, result.labels);
  result.summary.message = "no eigenvectors were needed";
}

// k-means from several starts; keeps the labels that cut least.
void cluster_embedding(const AffinityGraph& graph, const NcutOptions& options, Monitor& monitor,
                       NcutResult& result) {
  const Stopwatch stopwatch;
  const Random random(options.seed);
  RunSummary& summary = result.summary;
  int best_count = 0;
  summary.num_restarts = 0;
  for (int r = 0; r < options.num_restarts; ++r) {
    KMeansOptions kmeans;
    kmeans.num_clusters = options.num_clusters;
    kmeans.num_restarts = 1;
    kmeans.max_iterations = options.max_iterations;
    kmeans.rel_tolerance = options.rel_tolerance;
    kmeans.seed = random.child(r).next_bits() >> 1;  // fits a signed integer too, for JSON
    kmeans.num_threads = options.num_threads;
    Monitor quiet = monitor;  // can be asked to stop, but gets no reports
    KMeansInput input;
    input.points = result.model.embedding;
    const KMeansResult start = fit_kmeans(input, kmeans, quiet);
    ++summary.num_restarts;
    std::vector<int> labels = renumber(start.labels);
    const double cut = internal::normalized_cut(graph, labels);
    const int count = count_labels(labels);
    if (count > best_count || (count == best_count && cut < summary.objective)) {
      best_count = count;
      result.labels = std::move(labels);
      summary.objective = cut;
      summary.restart = r;
      summary.iterations = start.summary.iterations;
      summary.termination = start.summary.termination;
    }
    monitor.on_iteration({.restart = r,
                          .num_restarts = options.num_restarts,
                          .iteration = start.summary.iterations,
                          .max_iterations = options.max_iterations,
                          .objective = cut,
                          .change = 0,
                          .seconds = stopwatch.seconds()});
    if (monitor.should_stop()) {
      summary.termination = termination_from(monitor.stop_reason());
      break;
    }
  }
  summary.trace = {summary.objective};
}

// All samples in one cluster, because the monitor stopped the run before there were labels.
void finish_stopped(int64_t n, const Monitor& monitor, NcutResult& result) {
  result.labels.assign(n, 0);
  result.model.embedding = indicator_rows(result.labels);
  result.summary.termination = termination_from(monitor.stop_reason());
}

// Eigenvectors, their rows, k-means.
void solve_relaxation(const AffinityGraph& graph, std::span<const int> component_from_row,
                      const NcutOptions& options, Monitor& monitor, NcutResult& result) {
  RunSummary& summary = result.summary;
  const Eigenvectors eigen =
      internal::leading_eigenvectors(graph, component_from_row, options.num_clusters,
                                     {.max_iterations = options.max_eigen_iterations,
                                      .tolerance = options.eigen_tolerance,
                                      .seed = options.seed,
                                      .num_threads = options.num_threads},
                                     monitor);
  if (eigen.status == EigenStatus::Stopped) return finish_stopped(graph.size(), monitor, result);
  std::vector<double> laplacian;
  for (const double value : eigen.values) laplacian.push_back(std::max(0.0, 1 - value));
  summary.extra.emplace_back("eigenvalues", std::move(laplacian));
  summary.extra.emplace_back("solver", std::string(eigen.is_direct ? "direct" : "lanczos"));
  result.model.embedding = internal::normalize_rows(eigen.vectors);
  cluster_embedding(graph, options, monitor, result);
  if (eigen.status == EigenStatus::NotConverged) {
    summary.warnings.push_back(fmt::format(
        "only {} of {} eigenvectors converged: raise max_eigen_iterations or eigen_tolerance, or "
        "join more neighbors",
        eigen.values.size(), options.num_clusters));
    if (summary.termination == Termination::Converged)
      summary.termination = Termination::NumericalIssue;
  }
}

void warn_of_components(int num_components, int k, std::vector<std::string>& warnings) {
  if (num_components == 1) return;
  const char* consequence =
      num_components == k  ? "each is a cluster"
      : num_components < k ? "some of them are split"
                           : "the largest are the clusters, the others join the nearest of them";
  warnings.push_back(
      fmt::format("the graph has {} without an edge between them: {}; join more "
                  "neighbors or use a larger bandwidth to connect them",
                  counted(num_components, "component"), consequence));
}

// Labels by the first rule of Conventions that applies.
void find_labels(FloatView points, const NcutOptions& options, Monitor& monitor,
                 NcutResult& result) {
  RunSummary& summary = result.summary;
  const int k = options.num_clusters;
  const std::optional<AffinityGraph> graph = internal::build_graph(points, options, monitor);
  if (!graph) return finish_stopped(points.rows(), monitor, result);
  const std::vector<int> component_from_row = internal::connected_components(*graph);
  const int num_components = count_labels(component_from_row);
  summary.extra.emplace_back("components", static_cast<int64_t>(num_components));
  RowGroups distinct = group_equal_rows(points);
  const auto num_distinct = static_cast<int64_t>(distinct.first_rows.size());
  if (num_distinct <= k) {
    if (num_distinct < k)
      summary.warnings.push_back(
          fmt::format("num_clusters is {}, there are only {}: each is a cluster", k,
                      counted(num_distinct, "distinct sample")));
    return finish_without_kmeans(*graph, std::move(distinct.group_from_row), result);
  }
  warn_of_components(num_components, k, summary.warnings);
  if (k == 1) return finish_without_kmeans(*graph, std::vector<int>(points.rows(), 0), result);
  if (num_components >= k)
    return finish_without_kmeans(
        *graph, join_components(points, component_from_row, k, options.num_threads), result);
  solve_relaxation(*graph, component_from_row, options, monitor, result);
}

const char* describe_stop(Termination termination) {
  switch (termination) {
    case Termination::Converged:
      return "the labels of the lowest cut were kept";
    case Termination::IterationLimit:
      return "k-means reached its limit: raise max_iterations";
    case Termination::NumericalIssue:
      return "eigenvectors are missing: see the warnings";
    case Termination::Cancelled:
    case Termination::TimeLimit:
      break;
  }
  return "stopped: the labels are those of the work done so far";
}

}  // namespace

NcutResult fit_ncut(const NcutInput& input, const NcutOptions& options, Monitor& monitor) {
  const Stopwatch stopwatch;
  check(input, options);
  NcutResult result;
  RunSummary& summary = result.summary;
  summary.method = "ncut";
  summary.version = version();
  summary.seed = options.seed;
  summary.n = input.points.rows();
  summary.d = input.points.cols();
  find_labels(input.points, options, monitor, result);
  result.model.labels = result.labels;
  set_sizes(summary, result.labels, count_labels(result.labels));
  if (summary.message.empty()) summary.message = describe_stop(summary.termination);
  summary.seconds = stopwatch.seconds();
  return result;
}

}  // namespace milieu
