// SPDX-License-Identifier: Apache-2.0
// The steps of the embeddings.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "milieu/classic/manifold/manifold.h"

namespace milieu::internal {

// Undirected edges between samples, in compressed rows.
struct NeighborGraph {
  std::vector<int64_t> offsets;              // n + 1
  std::vector<std::pair<int, float>> edges;  // the other end, the length
  int num_pieces = 1;                        // before they were joined
};
// Every sample with its nearest ones, in either direction; pieces are joined, each pair of them by
// the shortest edge between them.
NeighborGraph make_neighbor_graph(FloatView points, int num_neighbors, int num_threads,
                                  Monitor& monitor);
// Lengths of the shortest paths from one sample to all, by Dijkstra's algorithm.
void shortest_paths(const NeighborGraph& graph, int from, std::span<float> lengths);

// Weights that sum to 1 and place `point` best among `neighbors`, with a ridge of a thousandth of
// the trace, as scikit-learn has it [Roweis00].
std::vector<double> barycenter_weights(FloatView samples, std::span<const int> neighbors,
                                       const float* point);

ManifoldResult fit_isomap(FloatView points, const ManifoldOptions& options, Monitor& monitor);
ManifoldResult fit_lle(FloatView points, const ManifoldOptions& options, Monitor& monitor);

// The largest entry of every row in magnitude becomes positive.
void fix_signs(Matrix<double>& rows);

}  // namespace milieu::internal
