// SPDX-License-Identifier: Apache-2.0
// Affinities, components and cuts; ncut.cc has the problem, the symbols and the conventions.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "milieu/base/parallel.h"
#include "milieu/classic/ncut/ncut_graph_internal.h"
#include "milieu/linalg/distance.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu::internal {
namespace {

constexpr int64_t kRowsPerBlock = 512;

// An edge below this share of the geometric mean of its ends' degrees is dropped: eigenvectors in
// double cannot distinguish it from none, and a graph held together by such edges is disconnected
// anyway.
constexpr double kNegligibleEdge = 1e-12;

// s_i of [ZelnikManor04, section 2]: the distance of sample i to its K-th neighbour. Where that is
// 0 (duplicates), the first positive distance after it; where there is none in the list, the
// smallest scale of all samples; 1 when all are 0.
std::vector<double> local_scales(const NeighborLists& lists, int scale_neighbor) {
  std::vector<double> scales(lists.indices.rows());
  double smallest = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < lists.indices.rows(); ++i) {
    int64_t j = std::min<int64_t>(scale_neighbor, lists.indices.cols()) - 1;
    while (j + 1 < lists.indices.cols() && lists.squared_distances(i, j) == 0) ++j;
    scales[i] = j < 0 ? 0 : std::sqrt(lists.squared_distances(i, j));
    if (scales[i] > 0) smallest = std::min(smallest, scales[i]);
  }
  for (double& scale : scales)
    if (scale == 0) scale = std::isinf(smallest) ? 1 : smallest;
  return scales;
}

// Memory for all pairs takes a while to touch: in pieces, so that a stop request is noticed.
template <class T>
bool grow(std::vector<T>& values, int64_t size, const Monitor& monitor) {
  constexpr int64_t kPiece = int64_t{1} << 23;
  values.reserve(size);
  while (static_cast<int64_t>(values.size()) < size) {
    if (monitor.should_stop()) return false;
    values.resize(std::min<int64_t>(size, static_cast<int64_t>(values.size()) + kPiece));
  }
  return true;
}

// Every row joined to every other; weights hold squared distances. False when stopped.
bool join_all(FloatView points, int num_threads, Monitor& monitor, AffinityGraph& graph) {
  const int64_t n = points.rows();
  for (int64_t i = 0; i <= n; ++i) graph.offsets[i] = i * (n - 1);
  if (!grow(graph.neighbors, n * (n - 1), monitor) || !grow(graph.weights, n * (n - 1), monitor))
    return false;
  std::atomic<bool> is_stopped = false;
  parallel_for(n, 16, num_threads, [&](const Block& block) {
    for (int64_t i = block.begin; i < block.end; ++i) {
      if (monitor.should_stop()) is_stopped = true;
      if (is_stopped) return;
      int64_t entry = graph.offsets[i];
      for (int64_t j = 0; j < n; ++j) {
        if (j == i) continue;
        graph.neighbors[entry] = static_cast<int>(j);
        graph.weights[entry++] = squared_distance(points.row(i), points.row(j), points.cols());
      }
    }
  });
  return !is_stopped;
}

// Rows i and j are joined when one is among the `num_neighbors` nearest of the other; weights hold
// squared distances.
void join_nearest(const NeighborLists& lists, int num_neighbors, AffinityGraph& graph) {
  const int64_t n = lists.indices.rows();
  const int64_t width = std::min<int64_t>(num_neighbors, lists.indices.cols());
  struct Edge {
    int neighbor;
    double squared_distance;
  };
  std::vector<int64_t> starts(n + 1);
  for (int64_t i = 0; i < n; ++i) {
    starts[i + 1] += width;
    for (int64_t j = 0; j < width; ++j) ++starts[lists.indices(i, j) + 1];
  }
  for (int64_t i = 0; i < n; ++i) starts[i + 1] += starts[i];
  std::vector<Edge> edges(starts[n]);
  std::vector<int64_t> ends(starts.begin(), starts.end() - 1);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < width; ++j) {
      const int other = lists.indices(i, j);
      edges[ends[i]++] = {other, lists.squared_distances(i, j)};
      edges[ends[other]++] = {static_cast<int>(i), lists.squared_distances(i, j)};
    }
  for (int64_t i = 0; i < n; ++i) {
    const auto begin = edges.begin() + starts[i];
    const auto end = edges.begin() + starts[i + 1];
    std::sort(begin, end, [](const Edge& a, const Edge& b) { return a.neighbor < b.neighbor; });
    const auto last = std::unique(
        begin, end, [](const Edge& a, const Edge& b) { return a.neighbor == b.neighbor; });
    for (auto edge = begin; edge != last; ++edge) {
      graph.neighbors.push_back(edge->neighbor);
      graph.weights.push_back(edge->squared_distance);
    }
    graph.offsets[i + 1] = static_cast<int64_t>(graph.neighbors.size());
  }
}

// Squared distances become affinities: exp(-d^2 / (2 sigma^2)), or exp(-d^2 / (s_i s_j))
// [ZelnikManor04, section 2] when scales are given. A stop leaves the rest as it is.
void weigh_edges(std::span<const double> scales, double bandwidth, int num_threads,
                 const Monitor& monitor, AffinityGraph& graph) {
  parallel_for(graph.size(), kRowsPerBlock, num_threads, [&](const Block& block) {
    if (monitor.should_stop()) return;
    for (int64_t i = block.begin; i < block.end; ++i)
      for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
        const double denominator =
            scales.empty() ? 2 * bandwidth * bandwidth : scales[i] * scales[graph.neighbors[e]];
        graph.weights[e] = graph.weights[e] == 0 ? 1 : std::exp(-graph.weights[e] / denominator);
      }
  });
}

void set_degrees(AffinityGraph& graph) {
  for (int64_t i = 0; i < graph.size(); ++i) {
    graph.degrees[i] = 0;
    for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e)
      graph.degrees[i] += graph.weights[e];
  }
}

// A stop leaves the graph unfinished.
void drop_negligible_edges(const Monitor& monitor, AffinityGraph& graph) {
  int64_t kept = 0;
  int64_t begin = 0;
  for (int64_t i = 0; i < graph.size(); ++i) {
    if (monitor.should_stop()) return;
    const int64_t end = graph.offsets[i + 1];
    for (int64_t e = begin; e < end; ++e) {
      const double mean_degree =
          std::sqrt(graph.degrees[i]) * std::sqrt(graph.degrees[graph.neighbors[e]]);
      if (!(graph.weights[e] > kNegligibleEdge * mean_degree)) continue;
      graph.neighbors[kept] = graph.neighbors[e];
      graph.weights[kept++] = graph.weights[e];
    }
    begin = end;
    graph.offsets[i + 1] = kept;
  }
  graph.neighbors.resize(kept);
  graph.weights.resize(kept);
  set_degrees(graph);
}

// From squared distances of joined pairs to the graph.
std::optional<AffinityGraph> finish_graph(const NeighborLists& lists, const NcutOptions& options,
                                          const Monitor& monitor, AffinityGraph graph) {
  std::vector<double> scales;
  if (options.bandwidth == 0) scales = local_scales(lists, options.scale_neighbor);
  weigh_edges(scales, options.bandwidth, options.num_threads, monitor, graph);
  if (monitor.should_stop()) return std::nullopt;
  set_degrees(graph);
  if (monitor.should_stop()) return std::nullopt;
  drop_negligible_edges(monitor, graph);
  if (monitor.should_stop()) return std::nullopt;
  return graph;
}

}  // namespace

double graph_gigabytes(int64_t n, int num_neighbors) {
  const double most = static_cast<double>(n - 1);
  const double per_row = num_neighbors == 0 ? most : std::min(most, 2.0 * num_neighbors);
  return static_cast<double>(n) * per_row * (sizeof(int) + sizeof(double)) * 1e-9;
}

std::optional<AffinityGraph> build_graph(FloatView points, const NcutOptions& options,
                                         Monitor& monitor) {
  const bool is_tuned = options.bandwidth == 0;
  AffinityGraph graph;
  graph.offsets.resize(points.rows() + 1);
  graph.degrees.resize(points.rows());
  if (points.rows() == 1) return graph;

  const int list_length = std::max(options.num_neighbors, is_tuned ? options.scale_neighbor : 0);
  NeighborLists lists;
  if (list_length > 0)
    lists = nearest_neighbors(points, points, list_length,
                              {.exclude_self = true, .num_threads = options.num_threads}, monitor);
  if (!lists.is_complete) return std::nullopt;
  if (options.num_neighbors > 0)
    join_nearest(lists, options.num_neighbors, graph);
  else if (!join_all(points, options.num_threads, monitor, graph))
    return std::nullopt;
  return finish_graph(lists, options, monitor, std::move(graph));
}

std::optional<AffinityGraph> build_graph(const NeighborLists& lists, const NcutOptions& options,
                                         Monitor& monitor) {
  AffinityGraph graph;
  graph.offsets.resize(lists.indices.rows() + 1);
  graph.degrees.resize(lists.indices.rows());
  join_nearest(lists, options.num_neighbors, graph);
  return finish_graph(lists, options, monitor, std::move(graph));
}

std::vector<double> inverse_root_degrees(const AffinityGraph& graph) {
  std::vector<double> roots(graph.size());
  for (int64_t i = 0; i < graph.size(); ++i)
    roots[i] = graph.degrees[i] > 0 ? 1 / std::sqrt(graph.degrees[i]) : 0;
  return roots;
}

void multiply_normalized(const AffinityGraph& graph, std::span<const double> inverse_roots,
                         int num_threads, std::span<const double> x, std::span<double> y) {
  parallel_for(graph.size(), kRowsPerBlock, num_threads, [&](const Block& block) {
    for (int64_t i = block.begin; i < block.end; ++i) {
      double sum = 0;
      for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e)
        sum += graph.weights[e] * inverse_roots[graph.neighbors[e]] * x[graph.neighbors[e]];
      y[i] = inverse_roots[i] * sum;
    }
  });
}

std::vector<int> connected_components(const AffinityGraph& graph) {
  std::vector<int> component(graph.size(), -1);
  std::vector<int> stack;
  int num_components = 0;
  for (int start = 0; start < graph.size(); ++start) {
    if (component[start] >= 0) continue;
    component[start] = num_components;
    stack.push_back(start);
    while (!stack.empty()) {
      const int i = stack.back();
      stack.pop_back();
      for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
        const int j = graph.neighbors[e];
        if (component[j] >= 0) continue;
        component[j] = num_components;
        stack.push_back(j);
      }
    }
    ++num_components;
  }
  return component;
}

std::vector<int> renumber(std::span<const int> labels) {
  std::vector<int> new_label(1 + *std::max_element(labels.begin(), labels.end()), -1);
  std::vector<int> result;
  int next = 0;
  for (const int label : labels) {
    if (new_label[label] < 0) new_label[label] = next++;
    result.push_back(new_label[label]);
  }
  return result;
}

double normalized_cut(const AffinityGraph& graph, std::span<const int> labels) {
  const int num_labels = 1 + *std::max_element(labels.begin(), labels.end());
  std::vector<double> cut(num_labels);
  std::vector<double> volume(num_labels);
  for (int64_t i = 0; i < graph.size(); ++i) {
    volume[labels[i]] += graph.degrees[i];
    for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e)
      if (labels[graph.neighbors[e]] != labels[i]) cut[labels[i]] += graph.weights[e];
  }
  double sum = 0;
  for (int c = 0; c < num_labels; ++c)
    if (volume[c] > 0) sum += cut[c] / volume[c];
  return sum;
}

}  // namespace milieu::internal
