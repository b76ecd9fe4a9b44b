// SPDX-License-Identifier: Apache-2.0
// The graph of normalized cut: affinities of the samples, its connected components, the value of a
// cut. See ncut.cc for the problem and the symbols.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/classic/ncut/ncut.h"
#include "milieu/linalg/matrix.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu::internal {

// W in compressed rows: symmetric, positive, without diagonal. Neighbours of i are entries
// [offsets[i], offsets[i + 1]), ascending.
struct AffinityGraph {
  std::vector<int64_t> offsets;  // n + 1
  std::vector<int> neighbors;
  std::vector<double> weights;
  std::vector<double> degrees;  // n: the row sums of W

  int64_t size() const { return static_cast<int64_t>(degrees.size()); }
};

// Memory of the affinities of n samples, in GB.
double graph_gigabytes(int64_t n, int num_neighbors);

// Joins every sample to its nearest ones, or to all, and drops edges that rounding would hide
// (kNegligibleEdge in ncut_graph.cc). Nothing when the monitor stopped it.
std::optional<AffinityGraph> build_graph(FloatView points, const NcutOptions& options,
                                         Monitor& monitor);
// The same from the nearest neighbours of every sample, itself excluded: as many as are joined, or
// tuned by, at least.
std::optional<AffinityGraph> build_graph(const NeighborLists& lists, const NcutOptions& options,
                                         Monitor& monitor);

// y = D^-1/2 W D^-1/2 x with D the degrees; rows without edges give 0. `inverse_roots` are
// D^-1/2, 0 where the degree is 0.
std::vector<double> inverse_root_degrees(const AffinityGraph& graph);
void multiply_normalized(const AffinityGraph& graph, std::span<const double> inverse_roots,
                         int num_threads, std::span<const double> x, std::span<double> y);

// The component of each sample, numbered by first occurrence.
std::vector<int> connected_components(const AffinityGraph& graph);

// The same labels, numbered by first occurrence.
std::vector<int> renumber(std::span<const int> labels);

// sum over clusters of cut / volume [Shi00, Eq. 2]; a cluster without volume adds 0. Labels are in
// [0, number of clusters).
double normalized_cut(const AffinityGraph& graph, std::span<const int> labels);

}  // namespace milieu::internal
