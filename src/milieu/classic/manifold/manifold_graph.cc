// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <queue>

#include "milieu/classic/manifold/manifold_steps.h"
#include "milieu/linalg/distance.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu::internal {

namespace {

struct Edge {
  int a = 0, b = 0;
  float length = 0;
};

// The piece of every sample, numbered by its first one.
std::vector<int> find_pieces(int64_t n, const std::vector<Edge>& edges) {
  std::vector<int> parent(static_cast<size_t>(n));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const Edge& edge : edges) {
    const int a = root(edge.a), b = root(edge.b);
    parent[std::max(a, b)] = std::min(a, b);
  }
  for (int i = 0; i < static_cast<int>(n); ++i) parent[i] = root(i);
  return parent;
}

// The shortest edge between each pair of pieces.
std::vector<Edge> joining_edges(FloatView points, const std::vector<int>& pieces,
                                const Monitor& monitor) {
  std::map<std::pair<int, int>, Edge> shortest;
  for (int i = 0; i < static_cast<int>(points.rows()) && !monitor.should_stop(); ++i)
    for (int j = 0; j < i; ++j) {
      if (pieces[i] == pieces[j]) continue;
      const double length = std::sqrt(squared_distance(points.row_span(i), points.row_span(j)));
      const auto [found, is_new] = shortest.emplace(std::minmax(pieces[i], pieces[j]),
                                                    Edge{j, i, static_cast<float>(length)});
      if (!is_new && length < found->second.length)
        found->second = {j, i, static_cast<float>(length)};
    }
  std::vector<Edge> edges;
  for (const auto& [pair, edge] : shortest) edges.push_back(edge);
  return edges;
}

void fill_rows(int64_t n, std::vector<Edge> edges, NeighborGraph& graph) {
  for (size_t e = 0, count = edges.size(); e < count; ++e)
    edges.push_back({edges[e].b, edges[e].a, edges[e].length});
  std::ranges::sort(edges, {}, [](const Edge& e) { return std::pair(e.a, e.b); });
  const auto same = [](const Edge& x, const Edge& y) { return x.a == y.a && x.b == y.b; };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
  graph.offsets.assign(static_cast<size_t>(n) + 1, 0);
  for (const Edge& edge : edges) {
    ++graph.offsets[edge.a + 1];
    graph.edges.emplace_back(edge.b, edge.length);
  }
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
}

}  // namespace

NeighborGraph make_neighbor_graph(FloatView points, int num_neighbors, int num_threads,
                                  Monitor& monitor) {
  NeighborOptions options;
  options.exclude_self = true;
  options.num_threads = num_threads;
  const NeighborLists near = nearest_neighbors(points, points, num_neighbors, options, monitor);
  std::vector<Edge> edges;
  for (int64_t i = 0; i < near.indices.rows() && near.is_complete; ++i)
    for (int64_t k = 0; k < near.indices.cols(); ++k)
      edges.push_back({static_cast<int>(i), near.indices(i, k),
                       static_cast<float>(std::sqrt(near.squared_distances(i, k)))});
  NeighborGraph graph;
  const std::vector<int> pieces = find_pieces(points.rows(), edges);
  for (int i = 1; i < static_cast<int>(pieces.size()); ++i) graph.num_pieces += pieces[i] == i;
  if (graph.num_pieces > 1)
    for (const Edge& edge : joining_edges(points, pieces, monitor)) edges.push_back(edge);
  fill_rows(points.rows(), std::move(edges), graph);
  return graph;
}

void shortest_paths(const NeighborGraph& graph, int from, std::span<float> lengths) {
  using Entry = std::pair<float, int>;
  std::ranges::fill(lengths, std::numeric_limits<float>::infinity());
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  lengths[from] = 0;
  open.emplace(0.0f, from);
  while (!open.empty()) {
    const auto [length, i] = open.top();
    open.pop();
    if (length > lengths[i]) continue;
    for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      const auto [j, step] = graph.edges[e];
      if (length + step >= lengths[j]) continue;
      lengths[j] = length + step;
      open.emplace(lengths[j], j);
    }
  }
}

}  // namespace milieu::internal
