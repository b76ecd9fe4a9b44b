// SPDX-License-Identifier: Apache-2.0
// Problem      From n clusters of one sample each, merge the two clusters at the least distance
//              until one is left.
// Given        n samples x_i as rows, a linkage: the distance of two clusters (agglomerative.h).
// Find         the n - 1 merges with their heights (distances), and the labels of one cut.
// Conventions  Nearest-neighbour chains [Murtagh83; Muellner11]: a chain runs from a cluster
//              to its nearest, from there to its nearest, and so on; two clusters that are each
//              other's nearest are merged at once. For these four linkages the result is the tree
//              of the greedy order, found in O(n^2) steps instead of O(n^3).
//              Ties: a chain goes back to where it came from, else to the cluster whose lowest
//              sample is lowest; chains start at the lowest; merges of equal height keep the order
//              in which they were found. Where distances tie, other orders give other trees.
//              Distances are measured in double, kept in float (relative error 6e-8); a cluster's
//              distances are updated in double and rounded to float.
//              Ward's linkage needs no distances of all pairs: ward.cc. Its heights are those of
//              SciPy: square roots.
// See          docs/algorithms/agglomerative.md
#include "milieu/classic/agglomerative/agglomerative.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/memory.h"
#include "milieu/classic/agglomerative/agglomerative_steps.h"
#include "milieu/classic/agglomerative/ward_internal.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {
namespace {

constexpr int64_t kMaxTrace = 1000;

// Ward's linkage needs the means of clusters only.
void check_memory_of_means(int64_t n, int64_t d, const AgglomerativeOptions& options) {
  const double gigabytes = internal::WardClusters::gigabytes(n, d);
  require(gigabytes <= options.max_memory_gb, [&] {
    return fmt::format(
        "max_memory_gb is {}, the means of {} take {:.3g} GB: raise it, or cluster "
        "at most {} samples",
        options.max_memory_gb, counted(n, "sample"), gigabytes,
        static_cast<int64_t>(static_cast<double>(n) * options.max_memory_gb / gigabytes));
  });
  require_memory(
      {1e9 * gigabytes, fmt::format("the means of {} samples", n), "cluster fewer samples"});
}

// The other linkages keep the distances of all pairs.
void check_memory_of_pairs(int64_t n, int64_t d, const AgglomerativeOptions& options) {
  const double gigabytes = internal::PairDistances::gigabytes(n);
  require(gigabytes <= options.max_memory_gb, [&] {
    return fmt::format(
        "max_memory_gb is {}, the distances of all pairs of {} take {:.3g} GB: raise it, cluster "
        "at most {} samples, or take linkage ward, which needs {:.2g} GB",
        options.max_memory_gb, counted(n, "sample"), gigabytes,
        static_cast<int64_t>(std::sqrt(options.max_memory_gb / 2e-9)),
        internal::WardClusters::gigabytes(n, d));
  });
  require_memory({1e9 * gigabytes, fmt::format("the distances of all pairs of {} samples", n),
                  "cluster fewer samples, or take linkage ward"});
}

void check(const AgglomerativeInput& input, const AgglomerativeOptions& options) {
  validate_options(options);
  check_points(input.points);
  const int64_t n = input.points.rows();
  require(options.distance_threshold > 0 || options.num_clusters <= n, [&] {
    return fmt::format("num_clusters is {}, there are only {}: use at most {}",
                       options.num_clusters, counted(n, "sample"), n);
  });
  if (options.linkage == Linkage::Ward)
    check_memory_of_means(n, input.points.cols(), options);
  else
    check_memory_of_pairs(n, input.points.cols(), options);
}

// Merges of the tree that the cut keeps.
int64_t merges_to_make(const AgglomerativeOptions& options, DoubleView tree, int64_t n) {
  if (options.distance_threshold > 0)
    return internal::merges_up_to(tree, options.distance_threshold);
  return std::min(tree.rows(), n - options.num_clusters);
}

void describe_cut(DoubleView tree, int64_t num_merges, RunSummary& summary) {
  summary.iterations = static_cast<int>(num_merges);
  for (int64_t i = std::max<int64_t>(0, num_merges - kMaxTrace); i < num_merges; ++i)
    summary.trace.push_back(tree(i, 2));
  summary.objective = num_merges > 0 ? tree(num_merges - 1, 2) : 0;
  if (num_merges < tree.rows()) summary.extra.emplace_back("next_height", tree(num_merges, 2));
}

// Equal samples are merged first, at height 0.
void warn_of_split_duplicates(DoubleView tree, int64_t n, int64_t num_merges, RunSummary& summary) {
  if (num_merges == tree.rows() || tree(num_merges, 2) > 0) return;
  summary.warnings.push_back(
      fmt::format("num_clusters is {}, there are only {}: equal ones are in "
                  "different clusters",
                  n - num_merges, counted(n - internal::merges_up_to(tree, 0), "distinct sample")));
}

void describe_stop(int64_t num_merges, int64_t n, const Monitor& monitor, RunSummary& summary) {
  if (num_merges == n - 1) {
    summary.message = "all merges were made; another cut does not need a new run";
    return;
  }
  summary.termination = termination_from(monitor.stop_reason());
  summary.message = fmt::format(
      "stopped after {} of {} merges: the clusters are those formed so far", num_merges, n - 1);
}

std::vector<internal::Merge> find_merges(FloatView points, const AgglomerativeOptions& options,
                                         Monitor& monitor) {
  const double unit = internal::distance_unit(points);
  if (options.linkage == Linkage::Ward)
    return internal::merge_by_means(points, unit, options.num_threads, monitor);
  internal::PairDistances distances(points.rows());
  if (!measure_pairs(points, unit, options.num_threads, monitor, distances)) return {};
  return merge_by_chains(distances, unit, options.linkage, monitor);
}

}  // namespace

AgglomerativeResult fit_agglomerative(const AgglomerativeInput& input,
                                      const AgglomerativeOptions& options, Monitor& monitor) {
  const Stopwatch stopwatch;
  check(input, options);
  const int64_t n = input.points.rows();
  AgglomerativeResult result;
  Matrix<double>& tree = result.model.tree;
  tree = internal::build_tree(find_merges(input.points, options, monitor), n);
  const int64_t num_merges = merges_to_make(options, tree, n);
  result.labels = internal::labels_after(tree, n, num_merges);
  result.model.labels = result.labels;

  RunSummary& summary = result.summary;
  summary.method = "agglomerative";
  summary.version = version();
  summary.seed = options.seed;
  summary.n = n;
  summary.d = input.points.cols();
  set_sizes(summary, result.labels, static_cast<int>(n - num_merges));
  describe_cut(tree, num_merges, summary);
  warn_of_split_duplicates(tree, n, num_merges, summary);
  describe_stop(tree.rows(), n, monitor, summary);
  summary.seconds = stopwatch.seconds();
  return result;
}

std::vector<int> cut_into(const AgglomerativeModel& model, int num_clusters) {
  const auto n = static_cast<int64_t>(model.labels.size());
  require(num_clusters >= n - model.tree.rows() && num_clusters <= n, [&] {
    return fmt::format("num_clusters is {}, must be between {} and {} for this tree", num_clusters,
                       n - model.tree.rows(), n);
  });
  return internal::labels_after(model.tree, n, n - num_clusters);
}

std::vector<int> cut_at(const AgglomerativeModel& model, double height) {
  require(height >= 0, [&] { return fmt::format("height is {}, must be at least 0", height); });
  return internal::labels_after(model.tree, static_cast<int64_t>(model.labels.size()),
                                internal::merges_up_to(model.tree, height));
}

}  // namespace milieu
