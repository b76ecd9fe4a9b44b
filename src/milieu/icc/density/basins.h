// SPDX-License-Identifier: Apache-2.0
// The mountains of a map: which local maximum each cell climbs to, where mountains meet, and which
// of them are too small and are merged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/icc/density/grid.h"

namespace MILIEU_API milieu {

// For every cell the cell of the maximum it climbs to. A cell climbs to the steepest of its 3^p - 1
// neighbours (rise / step length), strict rises only, ties to the first neighbour in row order.
// Plateaus: a connected flat set of cells without a rise is one node; it drains through the equal
// neighbour with the steepest rise (ties: the lowest cell), else it is one maximum, named by its
// lowest cell.
std::vector<int32_t> find_basins(std::span<const double> map, const Grid& grid,
                                 int num_threads = 1);

// The paper's ascent, corrected [Yu13, Eq. 5 and Algorithm 3]: from each cell steps of one cell
// along the gradient (central differences, interpolated between cells) for as long as the
// interpolated map rises; from there the nearest cell continues by find_basins. The result has the
// same form. For one to three axes.
std::vector<int32_t> climb_gradient(std::span<const double> map, const Grid& grid,
                                    int num_threads = 1);

// Two regions that touch, and the height of the pass between them.
struct Saddle {
  int first = 0;
  int second = 0;  // > first
  double height = 0;
};

// `regions` has a number 0 .. num_regions - 1 per cell. Every pair of neighbouring cells a, b of
// two regions is a pass of height min(map[a], map[b]); the highest of each pair of regions is kept.
// Sorted by (first, second).
std::vector<Saddle> find_saddles(std::span<const double> map, std::span<const int32_t> regions,
                                 int num_regions, const Grid& grid);

// How regions become sub-classes. `sizes` has the samples per region. One with fewer than
// `min_size` samples joins, smallest first (ties: the lowest number), the region with samples that
// it touches over the highest pass; when it touches none, the one that the highest path of passes
// leads to. Regions without samples join last, in the same way. Returns the surviving region of
// each region.
std::vector<int> merge_small(const std::vector<Saddle>& saddles, std::vector<int64_t> sizes,
                             int64_t min_size);

}  // namespace milieu
