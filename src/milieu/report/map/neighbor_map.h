// SPDX-License-Identifier: Apache-2.0
// A map on which rows that are alike are neighbours: UMAP [McInnes18]. A view of a collection, not
// a result: distances between far groups mean little, so nothing is computed from it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/linalg/matrix.h"
#include "milieu/neighbors/neighbors.h"

namespace MILIEU_API milieu {

struct NeighborMapOptions {
  int num_neighbors = 15;  // of every row; more: a smoother map with fewer details
  int num_epochs = 0;      // of the layout; 0: 500 up to 10,000 rows, 200 above
  int num_repulsions = 5;  // rows that push for every neighbour that pulls
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the map does not depend on it
};

// Places of the rows, x and y one after the other, scaled to [-1, 1]; empty when the monitor
// stopped it. `start` holds such places to begin with, such as principal_map gives.
std::vector<float> neighbor_map(FloatView points, std::span<const float> start,
                                const NeighborMapOptions& options = {},
                                Monitor& monitor = silent_monitor());

namespace internal {

// How strongly rows are neighbours, in (0, 1], symmetric: those of row i are entries
// [offsets[i], offsets[i + 1]), in ascending order of the other row.
struct NeighborGraph {
  std::vector<int64_t> offsets;  // n + 1
  std::vector<int> rows;
  std::vector<float> weights;
};

// Membership of the neighbours of one row, given their distances in ascending order: 1 up to the
// nearest at a positive distance, then falling so that the sum is log2(distances + 1)
// [McInnes18, Alg. 3]. `mean` is that of all distances of all rows: a floor for the width.
std::vector<float> memberships(std::span<const double> distances, double mean);

// Either is a neighbour of the other: a + b - ab [McInnes18, Sec. 3.1].
NeighborGraph neighbor_graph(const NeighborLists& nearest);

// Moves groups that no neighbours join (connected components) towards each other, each as a whole
// and all by the same share, until two of them nearly touch. `places`: x, y of every row.
void pack_groups(const NeighborGraph& graph, std::vector<float>& places);

// Similarity on the map at a squared distance: 1 / (1 + a d^2b), fitted to "1 up to 0.1, then
// exp(-(d - 0.1))" [McInnes18, Def. 11].
inline constexpr double kMapA = 1.576943460405378, kMapB = 0.8950608781227859;

}  // namespace internal

}  // namespace milieu
