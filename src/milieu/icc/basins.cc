// SPDX-License-Identifier: Apache-2.0
// Fast basins: every cell points to its steepest neighbour, plateaus to their outlet, and pointer
// doubling sends all cells to their maxima in O(log longest path) sweeps.
#include "milieu/icc/basins.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "milieu/base/parallel.h"
#include "milieu/icc/icc_kernels.h"
#include "milieu/icc/neighbor_offsets_internal.h"

namespace milieu {

namespace {

using internal::NeighborOffset;
using internal::PaddedMap;

constexpr int64_t kCellsPerBlock = 1 << 13;
constexpr int64_t kFewCells = 1 << 16;

struct Climb {
  std::vector<int32_t> next;  // the neighbour to climb to; itself without a rise
  std::vector<double> slope;  // of that step; 0 without a rise
};

Climb steepest_neighbors(const PaddedMap& map, int64_t num_cells, int num_threads) {
  const auto find_steps = MILIEU_SELECT_ISA(steepest_steps);
  Climb climb{std::vector<int32_t>(num_cells), std::vector<double>(num_cells)};
  std::vector<int64_t> offsets, steps;
  std::vector<double> factors;
  for (const NeighborOffset& offset : map.offsets()) {
    offsets.push_back(offset.padded);
    steps.push_back(offset.plain);
    factors.push_back(offset.inverse_length);
  }
  const int64_t length = map.row_length();
  const int64_t rows_per_block = std::max<int64_t>(1, kCellsPerBlock / length);
  parallel_for(map.num_rows(), rows_per_block, num_threads, [&](const Block& block) {
    std::vector<int64_t> step_of(length);
    for (int64_t r = block.begin; r < block.end; ++r) {
      const int64_t first = r * length;
      find_steps(map.data() + map.row_start(r), length, offsets.data(), steps.data(),
                 factors.data(), static_cast<int64_t>(offsets.size()), climb.slope.data() + first,
                 step_of.data());
      for (int64_t k = 0; k < length; ++k)
        climb.next[first + k] = static_cast<int32_t>(first + k + step_of[k]);
    }
  });
  return climb;
}

// One flat set of cells without a rise, from `start`; `outlet` is where it drains to, or -1.
void flood_plateau(const PaddedMap& map, const Climb& climb, int32_t start,
                   std::vector<char>& is_done, std::vector<int32_t>& members, int32_t& outlet) {
  members.assign(1, start);
  is_done[start] = 1;
  outlet = -1;
  for (size_t m = 0; m < members.size(); ++m) {
    const int32_t cell = members[m];
    const double* at = map.data() + map.place_of(cell);
    for (const NeighborOffset& offset : map.offsets()) {
      if (at[offset.padded] != *at) continue;
      const auto neighbor = static_cast<int32_t>(cell + offset.plain);
      if (climb.slope[neighbor] > 0) {
        const bool is_steeper = outlet < 0 || climb.slope[neighbor] > climb.slope[outlet] ||
                                (climb.slope[neighbor] == climb.slope[outlet] && neighbor < outlet);
        if (is_steeper) outlet = neighbor;
      } else if (!is_done[neighbor]) {
        is_done[neighbor] = 1;
        members.push_back(neighbor);
      }
    }
  }
}

void drain_plateaus(const PaddedMap& map, Climb& climb) {
  const auto num_cells = static_cast<int32_t>(climb.next.size());
  std::vector<char> is_done(num_cells, 0);
  std::vector<int32_t> members;
  for (int32_t cell = 0; cell < num_cells; ++cell) {
    if (climb.slope[cell] > 0 || is_done[cell]) continue;
    int32_t outlet = -1;
    flood_plateau(map, climb, cell, is_done, members, outlet);
    // Cells are visited in order, so `cell` is the lowest of its plateau.
    for (const int32_t member : members) climb.next[member] = outlet >= 0 ? outlet : cell;
  }
}

// Every cell to the end of its path, cell by cell: each path is walked once and then shortened.
void follow_pointers(std::vector<int32_t>& next) {
  for (size_t i = 0; i < next.size(); ++i) {
    int32_t end = next[i];
    while (next[end] != end) end = next[end];
    for (auto at = static_cast<int32_t>(i); next[at] != end;) at = std::exchange(next[at], end);
  }
}

// The same over all threads: next[i] <- next[next[i]] until nothing changes.
void double_pointers(std::vector<int32_t>& next, int num_threads) {
  std::vector<int32_t> after(next.size());
  const auto num_cells = static_cast<int64_t>(next.size());
  std::vector<char> has_moved(num_blocks(num_cells, kCellsPerBlock));
  do {
    parallel_for(num_cells, kCellsPerBlock, num_threads, [&](const Block& block) {
      bool moved = false;
      for (int64_t i = block.begin; i < block.end; ++i) {
        after[i] = next[next[i]];
        moved |= after[i] != next[i];
      }
      has_moved[block.index] = moved;
    });
    next.swap(after);
  } while (std::ranges::find(has_moved, 1) != has_moved.end());
}

}  // namespace

std::vector<int32_t> find_basins(std::span<const double> map, const Grid& grid, int num_threads) {
  const PaddedMap padded(map, grid);
  Climb climb = steepest_neighbors(padded, grid.num_cells(), num_threads);
  drain_plateaus(padded, climb);
  if (grid.num_cells() <= kFewCells || num_threads == 1)
    follow_pointers(climb.next);
  else
    double_pointers(climb.next, num_threads);
  return std::move(climb.next);
}

std::vector<Saddle> find_saddles(std::span<const double> map, std::span<const int32_t> regions,
                                 int num_regions, const Grid& grid) {
  if (num_regions < 2) return {};
  const PaddedMap padded(map, grid);
  std::vector<double> best;  // dense for few regions, else a list
  const bool is_dense = num_regions <= 256;
  const double none = -std::numeric_limits<double>::infinity();
  if (is_dense) best.assign(static_cast<size_t>(num_regions) * num_regions, none);
  std::vector<Saddle> found;
  const auto keep = [&](int a, int b, double height) {
    if (is_dense) {
      double& kept = best[static_cast<size_t>(std::min(a, b)) * num_regions + std::max(a, b)];
      kept = std::max(kept, height);
    } else {
      found.push_back({std::min(a, b), std::max(a, b), height});
    }
  };
  const std::span<const NeighborOffset> offsets(padded.offsets());
  const int64_t length = padded.row_length();
  for (int64_t r = 0; r < padded.num_rows(); ++r) {
    const double* row = padded.data() + padded.row_start(r);
    const int32_t* own = regions.data() + r * length;
    for (const NeighborOffset& offset : offsets.subspan(offsets.size() / 2)) {  // each pair once
      const double* other = row + offset.padded;
      for (int64_t k = 0; k < length; ++k)
        if (other[k] != none && own[k] != own[k + offset.plain])
          keep(own[k], own[k + offset.plain], std::min(row[k], other[k]));
    }
  }
  for (int a = 0; is_dense && a < num_regions; ++a)
    for (int b = a + 1; b < num_regions; ++b)
      if (best[static_cast<size_t>(a) * num_regions + b] != none)
        found.push_back({a, b, best[static_cast<size_t>(a) * num_regions + b]});
  std::ranges::sort(found, [](const Saddle& a, const Saddle& b) {
    return std::tie(a.first, a.second, b.height) < std::tie(b.first, b.second, a.height);
  });
  const auto is_same_pair = [](const Saddle& a, const Saddle& b) {
    return a.first == b.first && a.second == b.second;
  };
  found.erase(std::unique(found.begin(), found.end(), is_same_pair), found.end());
  return found;
}

}  // namespace milieu
