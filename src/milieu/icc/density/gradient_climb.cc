// SPDX-License-Identifier: Apache-2.0
// The ascent of [Yu13, Algorithm 3] with its loop fixed: the old place is kept before the step,
// and a step has unit length, so that eta = 1 is one cell and not a hundredth of one.
#include <algorithm>
#include <array>
#include <cmath>

#include "milieu/base/parallel.h"
#include "milieu/icc/density/basins.h"

namespace milieu {

namespace {

constexpr int64_t kCellsPerBlock = 1 << 10;

using Place = std::array<double, 3>;

// A map and its gradient between the cells, linear along each axis.
class SmoothMap {
 public:
  SmoothMap(std::span<const double> map, const Grid& grid) : map_(map), extents_(grid.extents()) {
    strides_ = {extents_[1] * extents_[2], extents_[2], 1};
    for (int a = 0; a < 3; ++a)
      if (extents_[a] > 1) make_gradient(a);
  }

  double value(const Place& y) const { return interpolate(map_.data(), y); }
  Place gradient(const Place& y) const {
    Place g = {0, 0, 0};
    for (int a = 0; a < 3; ++a)
      if (extents_[a] > 1) g[a] = interpolate(gradient_[a].data(), y);
    return g;
  }
  Place inside(Place y) const {
    for (int a = 0; a < 3; ++a) y[a] = std::clamp(y[a], 0.0, static_cast<double>(extents_[a] - 1));
    return y;
  }
  int64_t cell_of(const Place& y) const {
    int64_t cell = 0;
    for (int a = 0; a < 3; ++a) cell += static_cast<int64_t>(y[a] + 0.5) * strides_[a];
    return cell;
  }
  Place place_of(int64_t cell) const {
    return {static_cast<double>(cell / strides_[0]),
            static_cast<double>(cell / strides_[1] % extents_[1]),
            static_cast<double>(cell % extents_[2])};
  }
  int64_t longest_path() const { return 4 * (extents_[0] + extents_[1] + extents_[2]); }

 private:
  // Central differences inside, one-sided at the border.
  void make_gradient(int axis) {
    std::vector<double>& out = gradient_[axis];
    out.resize(map_.size());
    for (int64_t cell = 0; cell < static_cast<int64_t>(map_.size()); ++cell) {
      const int64_t at = cell / strides_[axis] % extents_[axis];
      const int64_t before = at > 0 ? cell - strides_[axis] : cell;
      const int64_t after = at + 1 < extents_[axis] ? cell + strides_[axis] : cell;
      out[cell] =
          (map_[after] - map_[before]) / static_cast<double>((after - before) / strides_[axis]);
    }
  }

  double interpolate(const double* values, const Place& y) const {
    int64_t base = 0;
    std::array<double, 3> share{};
    for (int a = 0; a < 3; ++a) {
      const int64_t low =
          std::min(static_cast<int64_t>(y[a]), std::max<int64_t>(0, extents_[a] - 2));
      share[a] = y[a] - static_cast<double>(low);
      base += low * strides_[a];
    }
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
      double weight = 1;
      int64_t cell = base;
      for (int a = 0; a < 3; ++a) {
        const bool is_upper = (corner >> a) & 1;
        weight *= is_upper ? share[a] : 1 - share[a];
        if (is_upper) cell += strides_[a];
      }
      if (weight > 0) sum += weight * values[cell];
    }
    return sum;
  }

  std::span<const double> map_;
  std::array<int64_t, 3> extents_;
  std::array<int64_t, 3> strides_{};
  std::array<std::vector<double>, 3> gradient_;
};

// y <- y + grad / |grad| while the map rises [Yu13, Eq. 5]; the cell where it ends.
int64_t ascend(const SmoothMap& map, int64_t start) {
  Place y = map.place_of(start);
  double height = map.value(y);
  for (int64_t step = 0; step < map.longest_path(); ++step) {
    const Place g = map.gradient(y);
    const double length = std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    if (length == 0) break;
    const Place next =
        map.inside({y[0] + g[0] / length, y[1] + g[1] / length, y[2] + g[2] / length});
    const double next_height = map.value(next);
    if (next_height <= height) break;
    y = next;
    height = next_height;
  }
  return map.cell_of(y);
}

}  // namespace

std::vector<int32_t> climb_gradient(std::span<const double> map, const Grid& grid,
                                    int num_threads) {
  const SmoothMap smooth(map, grid);
  const std::vector<int32_t> basins = find_basins(map, grid, num_threads);
  std::vector<int32_t> ends(map.size());
  parallel_for(static_cast<int64_t>(map.size()), kCellsPerBlock, num_threads,
               [&](const Block& block) {
                 for (int64_t cell = block.begin; cell < block.end; ++cell)
                   ends[cell] = basins[ascend(smooth, cell)];
               });
  return ends;
}

}  // namespace milieu
