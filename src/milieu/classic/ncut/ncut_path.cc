// SPDX-License-Identifier: Apache-2.0
// Conventions: parts are numbered by first occurrence; with as many parts as samples, each is
//   alone. k-means keeps the restart of the lowest inertia.
// See: ncut.cc for the problem, docs/algorithms/exemplar_learn.md for its use.
#include "milieu/classic/ncut/ncut_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/ncut/ncut_embedding_internal.h"
#include "milieu/classic/ncut/ncut_graph_internal.h"

namespace milieu {

namespace {

using internal::AffinityGraph;
using internal::EigenStatus;
using internal::Eigenvectors;

// The `length` nearest of every sample; ties to the lowest index.
NeighborLists lists_from_distances(FloatView distances, int64_t length, int num_threads,
                                   const Monitor& monitor) {
  const int64_t n = distances.rows();
  length = std::min(length, n - 1);
  NeighborLists lists;
  lists.indices = Matrix<int>(n, length);
  lists.squared_distances = Matrix<double>(n, length);
  parallel_for(n, 64, num_threads, [&](const Block& block) {
    std::vector<std::pair<double, int>> order(n - 1);
    for (int64_t p = block.begin; p < block.end && !monitor.should_stop(); ++p) {
      size_t used = 0;
      for (int64_t q = 0; q < n; ++q)
        if (q != p)
          order[used++] = {std::max(0.0, 0.5 * (static_cast<double>(distances(p, q)) +
                                                static_cast<double>(distances(q, p)))),
                           static_cast<int>(q)};
      std::partial_sort(order.begin(), order.begin() + length, order.end());
      for (int64_t j = 0; j < length; ++j) {
        lists.squared_distances(p, j) = order[j].first;
        lists.indices(p, j) = order[j].second;
      }
    }
  });
  lists.is_complete = !monitor.should_stop();
  return lists;
}

// The first k eigenvectors, their rows scaled to length 1.
Matrix<float> embedding_of(const Eigenvectors& eigen, int k) {
  Matrix<double> leading(eigen.vectors.rows(), k);
  for (int64_t i = 0; i < leading.rows(); ++i) std::copy_n(eigen.vectors.row(i), k, leading.row(i));
  return internal::normalize_rows(leading);
}

std::vector<int> cluster_rows(const Matrix<float>& rows, int k, const NcutOptions& options,
                              Monitor& monitor) {
  KMeansOptions kmeans;
  kmeans.num_clusters = k;
  kmeans.num_restarts = options.num_restarts;
  kmeans.max_iterations = options.max_iterations;
  kmeans.rel_tolerance = options.rel_tolerance;
  kmeans.seed = Random(options.seed).child(static_cast<uint64_t>(k)).next_bits() >> 1;
  kmeans.num_threads = options.num_threads;
  Monitor quiet = monitor;  // can be asked to stop, but gets no reports
  KMeansInput input;
  input.points = rows;
  return internal::renumber(fit_kmeans(input, kmeans, quiet).labels);
}

// The graph with at most `last` components, and its components; nothing if stopped.
struct ConnectedGraph {
  AffinityGraph graph;
  std::vector<int> component_from_row;
  int num_components = 0;
};
std::optional<ConnectedGraph> connect(FloatView distances, int last, NcutOptions options,
                                      Monitor& monitor) {
  const int n = static_cast<int>(distances.rows());
  for (;; options.num_neighbors *= 2) {
    const int length = std::max(options.num_neighbors, options.scale_neighbor);
    const NeighborLists lists =
        lists_from_distances(distances, length, options.num_threads, monitor);
    if (!lists.is_complete) return std::nullopt;
    auto graph = internal::build_graph(lists, options, monitor);
    if (!graph) return std::nullopt;
    ConnectedGraph found{std::move(*graph), {}, 0};
    found.component_from_row = internal::connected_components(found.graph);
    found.num_components =
        1 + *std::max_element(found.component_from_row.begin(), found.component_from_row.end());
    if (found.num_components <= last || options.num_neighbors >= n - 1) return found;
  }
}

}  // namespace

CutPath cut_path(FloatView distances, int first, int last, const NcutOptions& options,
                 Monitor& monitor) {
  const int n = static_cast<int>(distances.rows());
  require(1 <= first && first <= last && last <= n && distances.cols() == n, [&] {
    return fmt::format(
        "cuts into {} to {} parts of a {} x {} matrix: the numbers must lie between "
        "1 and its number of rows, in this order",
        first, last, distances.rows(), distances.cols());
  });
  require(options.num_neighbors > 0, "num_neighbors must be above 0 where distances are given");
  CutPath path;
  path.first = first;
  if (n == 1) {
    path.labels = {{0}};
    path.gaps = {0};
    return path;
  }
  const auto connected = connect(distances, last, options, monitor);
  if (!connected) return path;
  path.first = std::min(last, std::max(first, connected->num_components));
  const int count = std::min(n - 1, last + 1);  // one more, for the last gap
  const Eigenvectors eigen = internal::leading_eigenvectors(
      connected->graph, connected->component_from_row, std::max(count, connected->num_components),
      {.max_iterations = options.max_eigen_iterations,
       .tolerance = options.eigen_tolerance,
       .seed = options.seed,
       .num_threads = options.num_threads},
      monitor);
  if (eigen.status == EigenStatus::Stopped) return path;
  const int found = static_cast<int>(eigen.values.size());
  for (int k = path.first; k <= last && !monitor.should_stop(); ++k) {
    monitor.on_progress("cuts", k - path.first, last - path.first + 1);
    std::vector<int> labels(n, 0);
    if (k == n)
      for (int i = 0; i < n; ++i) labels[i] = i;
    else if (k > 1)
      labels = cluster_rows(embedding_of(eigen, std::min(k, found)), k, options, monitor);
    path.labels.push_back(std::move(labels));
    path.gaps.push_back(k < found ? eigen.values[k - 1] - eigen.values[k] : 0.0);
  }
  return path;
}

}  // namespace milieu
