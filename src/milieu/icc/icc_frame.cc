// SPDX-License-Identifier: Apache-2.0
#include "milieu/icc/icc_frame_internal.h"

#include <algorithm>
#include <array>
#include <limits>

#include "milieu/base/parallel.h"
#include "milieu/icc/density/icc_loops.h"

namespace milieu::internal {

namespace {

constexpr int64_t kRowsPerBlock = CellCounts::kBlockRows;
constexpr int64_t kRowsPerTile = 512;  // coordinates of a tile stay in cache
constexpr double kMaxCountBytes = 512e6;

// Calls use(first row, rows, coordinates) for tile after tile of [begin, end).
template <class Use>
void for_each_tile(const Projection& projection, FloatView points, int64_t begin, int64_t end,
                   Use&& use) {
  const auto project = MILIEU_SELECT_ISA(project_rows);
  const int64_t p = projection.axes.rows();
  std::vector<double> t(kRowsPerTile * p);
  for (int64_t i = begin; i < end; i += kRowsPerTile) {
    const int64_t rows = std::min(kRowsPerTile, end - i);
    project(points.row(i), rows, points.stride(), points.cols(), projection.axes.data(),
            projection.origin.data(), p, t.data());
    use(i, rows, t.data());
  }
}

}  // namespace

Range::Range(int dims)
    : low(dims, std::numeric_limits<double>::infinity()),
      high(dims, -std::numeric_limits<double>::infinity()) {}

void Range::add(const Projection& projection, FloatView points, int num_threads, const Team& team) {
  const size_t p = low.size();
  const auto widen = MILIEU_SELECT_ISA(widen_range);
  const Range total = team.parallel_reduce(
      points.rows(), kRowsPerBlock, num_threads, *this,
      [&](const Block& block, Range& range) {
        for_each_tile(projection, points, block.begin, block.end,
                      [&](int64_t, int64_t rows, const double* t) {
                        widen(t, rows, static_cast<int64_t>(p), range.low.data(),
                              range.high.data());
                      });
      },
      [&](Range& range, const Range& part) {
        for (size_t a = 0; a < p; ++a) {
          range.low[a] = std::min(range.low[a], part.low[a]);
          range.high[a] = std::max(range.high[a], part.high[a]);
        }
      });
  *this = total;
}

void Range::close() {
  for (size_t a = 0; a < low.size(); ++a)
    if (!(high[a] > low[a])) high[a] = low[a] + 1;
}

Projection cell_projection(const Projection& projection, std::span<const double> low,
                           std::span<const double> high, const Grid& grid) {
  Projection scaled = projection;
  for (int a = 0; a < grid.dims(); ++a) {
    const double scale = (grid.size[a] - 1) / (high[a] - low[a]);
    for (double& entry : scaled.axes.row_span(a)) entry *= scale;
    scaled.origin[a] = (projection.origin[a] - low[a]) * scale;
  }
  return scaled;
}

void find_cells(const Projection& scaled, const Grid& grid, FloatView points, int32_t* cells) {
  const auto nearest = MILIEU_SELECT_ISA(nearest_cells);
  for_each_tile(scaled, points, 0, points.rows(), [&](int64_t i, int64_t rows, const double* t) {
    nearest(t, rows, grid.dims(), grid.size.data(), cells + i);
  });
}

void CellCounts::add(const Projection& scaled, FloatView points, std::span<const int> classes,
                     int num_threads, const Monitor& monitor, std::span<int32_t> kept,
                     const Team& team) {
  const Rows own = team.rows(points.rows(), kBlockRows);
  const auto part = [&](auto values) {
    return values.empty() ? values : values.subspan(own.begin(), own.own_size());
  };
  add_own(scaled, points.rows_between(own.begin(), own.end()), part(classes), num_threads, monitor,
          part(kept));
  team.add_up(counts_);
}

void CellCounts::add_own(const Projection& scaled, FloatView points, std::span<const int> classes,
                         int num_threads, const Monitor& monitor, std::span<int32_t> kept) {
  // One slab of rows per thread, each with its own counts: sums of whole numbers are exact.
  const double bytes = 4.0 * static_cast<double>(counts_.size());
  int64_t slabs =
      std::min<int64_t>(resolve_num_threads(num_threads), num_blocks(points.rows(), kRowsPerBlock));
  slabs = std::clamp<int64_t>(static_cast<int64_t>(kMaxCountBytes / bytes), 1,
                              std::max<int64_t>(1, slabs));
  std::vector<std::vector<int32_t>> own(slabs - 1, std::vector<int32_t>(counts_.size(), 0));
  const int64_t rows_per_slab = (points.rows() + slabs - 1) / slabs;
  parallel_for(slabs, 1, num_threads, [&](const Block& slab) {
    int32_t* counts = slab.index == 0 ? counts_.data() : own[slab.index - 1].data();
    const int64_t last = std::min(points.rows(), (slab.index + 1) * rows_per_slab);
    std::array<int32_t, kRowsPerTile> own_cells;
    for (int64_t begin = slab.index * rows_per_slab; begin < last; begin += kRowsPerBlock) {
      if (monitor.should_stop()) return;
      const int64_t end = std::min(last, begin + kRowsPerBlock);
      for (int64_t i = begin; i < end; i += kRowsPerTile) {
        const int64_t rows = std::min(kRowsPerTile, end - i);
        int32_t* cells = kept.empty() ? own_cells.data() : kept.data() + i;
        find_cells(scaled, grid_, points.rows_between(i, i + rows), cells);
        if (classes.empty()) {
          for (int64_t r = 0; r < rows; ++r) ++counts[cells[r]];
          continue;
        }
        for (int64_t r = 0; r < rows; ++r)
          if (classes[i + r] >= 0) ++counts[classes[i + r] * grid_.num_cells() + cells[r]];
      }
    }
  });
  for (const std::vector<int32_t>& part : own)
    for (size_t c = 0; c < counts_.size(); ++c) counts_[c] += part[c];
}

}  // namespace milieu::internal
