// SPDX-License-Identifier: Apache-2.0
// Fast basins: every cell points to its steepest neighbour, plateaus to their outlet, and pointer
// doubling sends all cells to their maxima in O(log longest path) sweeps.
#include "milieu/icc/density/basins.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "milieu/base/parallel.h"
#include "milieu/icc/density/icc_loops.h"
#include "milieu/icc/density/neighbor_offsets_internal.h"

namespace milieu {

namespace {

using internal::NeighborOffset;
using internal::PaddedMap;

constexpr int64_t kCellsPerBlock = 1 << 13;
constexpr int64_t kFewCells = 1 << 16;

// The 13 steps of a grid of three axes that lead to a later cell.
constexpr std::array<std::array<int64_t, 3>, 13> kForwardSteps = {{{0, 0, 1},
                                                                   {0, 1, -1},
                                                                   {0, 1, 0},
                                                                   {0, 1, 1},
                                                                   {1, -1, -1},
                                                                   {1, -1, 0},
                                                                   {1, -1, 1},
                                                                   {1, 0, -1},
                                                                   {1, 0, 0},
                                                                   {1, 0, 1},
                                                                   {1, 1, -1},
                                                                   {1, 1, 0},
                                                                   {1, 1, 1}}};

struct Climb {
  std::vector<int32_t> next;   // the neighbour to climb to; itself without a rise
  std::vector<double> slope;   // of that step; 0 without a rise
  std::vector<char> has_flat;  // rows in which a cell has no rise
};

Climb steepest_neighbors(const PaddedMap& map, int64_t num_cells, int num_threads) {
  const auto find_steps = MILIEU_SELECT_ISA(steepest_steps);
  Climb climb{std::vector<int32_t>(num_cells), std::vector<double>(num_cells),
              std::vector<char>(map.num_rows())};
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
    for (int64_t r = block.begin; r < block.end; ++r)
      climb.has_flat[r] =
          find_steps(map.data() + map.row_start(r), length, offsets.data(), steps.data(),
                     factors.data(), static_cast<int64_t>(offsets.size()), r * length,
                     climb.slope.data() + r * length, climb.next.data() + r * length);
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
  const auto length = static_cast<int32_t>(map.row_length());
  const auto drain = [&](int32_t cell) {
    int32_t outlet = -1;
    flood_plateau(map, climb, cell, is_done, members, outlet);
    // Cells are visited in order, so `cell` is the lowest of its plateau.
    for (const int32_t member : members) climb.next[member] = outlet >= 0 ? outlet : cell;
  };
  for (int32_t first = 0; first < num_cells; first += length) {
    if (!climb.has_flat[first / length]) continue;
    for (int32_t cell = first; cell < first + length; ++cell)
      if (climb.slope[cell] == 0 && !is_done[cell]) drain(cell);
  }
}

// Every cell to the end of its path: pointers are followed in place, there and back again, because
// most paths lead one way through the cells.
void follow_all(std::vector<int32_t>& next) {
  const auto follow = MILIEU_SELECT_ISA(follow_pointers);
  bool is_backward = false;
  while (follow(next.data(), static_cast<int64_t>(next.size()), is_backward))
    is_backward = !is_backward;
}

// The same over all threads: next[i] <- next[next[i]] until nothing changes.
void double_pointers(std::vector<int32_t>& next, int num_threads) {
  const auto follow = MILIEU_SELECT_ISA(look_up);
  std::vector<int32_t> after(next.size());
  const auto num_cells = static_cast<int64_t>(next.size());
  std::vector<char> has_moved(num_blocks(num_cells, kCellsPerBlock));
  do {
    parallel_for(num_cells, kCellsPerBlock, num_threads, [&](const Block& block) {
      has_moved[block.index] =
          follow(next.data(), next.data() + block.begin, block.size(), after.data() + block.begin);
    });
    next.swap(after);
  } while (std::ranges::find(has_moved, 1) != has_moved.end());
}

// Passes between regions: the highest of each pair is kept. Few regions have a table, many a list.
class PassTable {
 public:
  explicit PassTable(int num_regions) : num_regions_(num_regions) {
    if (num_regions <= kFewRegions)
      best_.assign(static_cast<size_t>(num_regions) * num_regions, kNone);
  }
  void add(int a, int b, double height) {
    if (best_.empty()) {
      found_.push_back({std::min(a, b), std::max(a, b), height});
      return;
    }
    double& kept = best_[static_cast<size_t>(std::min(a, b)) * num_regions_ + std::max(a, b)];
    kept = std::max(kept, height);
  }
  // Sorted by regions.
  std::vector<Saddle> take() {
    for (int a = 0; !best_.empty() && a < num_regions_; ++a)
      for (int b = a + 1; b < num_regions_; ++b)
        if (best_[static_cast<size_t>(a) * num_regions_ + b] != kNone)
          found_.push_back({a, b, best_[static_cast<size_t>(a) * num_regions_ + b]});
    std::ranges::sort(found_, [](const Saddle& a, const Saddle& b) {
      return std::tie(a.first, a.second, b.height) < std::tie(b.first, b.second, a.height);
    });
    const auto is_same_pair = [](const Saddle& a, const Saddle& b) {
      return a.first == b.first && a.second == b.second;
    };
    found_.erase(std::unique(found_.begin(), found_.end(), is_same_pair), found_.end());
    return std::move(found_);
  }

 private:
  static constexpr int kFewRegions = 256;
  static constexpr double kNone = -std::numeric_limits<double>::infinity();
  int num_regions_;
  std::vector<double> best_;  // num_regions x num_regions, above the diagonal
  std::vector<Saddle> found_;
};

}  // namespace

std::vector<int32_t> find_basins(std::span<const double> map, const Grid& grid, int num_threads) {
  const PaddedMap padded(map, grid);
  Climb climb = steepest_neighbors(padded, grid.num_cells(), num_threads);
  drain_plateaus(padded, climb);
  if (grid.num_cells() <= kFewCells || num_threads == 1)
    follow_all(climb.next);
  else
    double_pointers(climb.next, num_threads);
  return std::move(climb.next);
}

std::vector<Saddle> find_saddles(std::span<const double> map, std::span<const int32_t> regions,
                                 int num_regions, const Grid& grid) {
  if (num_regions < 2) return {};
  const auto differences = MILIEU_SELECT_ISA(find_differences);
  const std::array<int64_t, 3> extents = grid.extents();
  const int64_t length = extents[2];
  std::vector<int32_t> places(length + 1);
  PassTable passes(num_regions);
  // Each pair of neighbours once: steps to a higher cell.
  for (const auto& [di, dj, dk] : kForwardSteps) {
    const int64_t begin = dk < 0 ? 1 : 0, end = dk > 0 ? length - 1 : length;
    for (int64_t i = 0; i + di < extents[0]; ++i)
      for (int64_t j = dj < 0 ? 1 : 0; j < extents[1] && j + dj < extents[1]; ++j) {
        const int64_t from = (i * extents[1] + j) * length + begin;
        const int64_t to = from + (di * extents[1] + dj) * length + dk;
        const int64_t found =
            differences(regions.data() + from, regions.data() + to, end - begin, places.data());
        for (int64_t f = 0; f < found; ++f)
          passes.add(regions[from + places[f]], regions[to + places[f]],
                     std::min(map[from + places[f]], map[to + places[f]]));
      }
  }
  return passes.take();
}

}  // namespace milieu
