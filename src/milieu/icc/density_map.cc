// SPDX-License-Identifier: Apache-2.0
#include "milieu/icc/density_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "milieu/base/assert.h"
#include "milieu/base/parallel.h"
#include "milieu/icc/icc_kernels.h"

namespace milieu {

namespace {

constexpr int64_t kCellsPerBlock = 1 << 14;

// One axis: `outer` slabs of `length` rows of `inner` contiguous cells.
void smooth_axis(const std::vector<double>& in, std::vector<double>& out, int64_t outer,
                 int64_t length, int64_t inner, const std::vector<double>& taps, int num_threads) {
  const auto add_rows = MILIEU_SELECT_ISA(add_weighted_rows);
  const auto radius = static_cast<int64_t>(taps.size() / 2);
  std::fill(out.begin(), out.end(), 0.0);
  if (inner == 1) {  // along contiguous cells: a padded copy spares every bound
    const int64_t per_block = std::max<int64_t>(1, kCellsPerBlock / length);
    parallel_for(outer, per_block, num_threads, [&](const Block& block) {
      std::vector<double> line(length + 2 * radius, 0.0);
      for (int64_t o = block.begin; o < block.end; ++o) {
        std::copy_n(in.data() + o * length, length, line.data() + radius);
        add_rows(line.data(), 1, taps.data(), 2 * radius + 1, out.data() + o * length, length);
      }
    });
    return;
  }
  const int64_t per_block = std::max<int64_t>(1, kCellsPerBlock / inner);
  parallel_for(outer * length, per_block, num_threads, [&](const Block& block) {
    for (int64_t row = block.begin; row < block.end; ++row) {
      const int64_t o = row / length, i = row % length;
      const int64_t first = std::max<int64_t>(0, i - radius);
      const int64_t last = std::min(length - 1, i + radius);
      add_rows(in.data() + (o * length + first) * inner, inner, taps.data() + (first - i + radius),
               last - first + 1, out.data() + row * inner, inner);
    }
  });
}

}  // namespace

std::vector<double> gaussian_taps(double sigma, int radius) {
  MILIEU_ASSERT(sigma > 0 && radius >= 0);
  std::vector<double> taps(2 * static_cast<size_t>(radius) + 1);
  double total = 0;
  for (int k = -radius; k <= radius; ++k) {
    const double share = k / sigma;
    total += taps[k + radius] = std::exp(-share * share / 2);
  }
  for (double& tap : taps) tap /= total;
  return taps;
}

std::vector<double> smooth_counts(std::span<const double> counts, const Grid& grid,
                                  std::span<const double> sigmas, double window, int num_threads) {
  MILIEU_ASSERT(static_cast<int64_t>(counts.size()) == grid.num_cells());
  MILIEU_ASSERT(static_cast<int>(sigmas.size()) == grid.dims());
  std::vector<double> map(counts.begin(), counts.end());
  std::vector<double> next(map.size());
  const std::array<int64_t, 3> extents = grid.extents();
  for (int a = 0; a < grid.dims(); ++a) {
    const int axis = 3 - grid.dims() + a;
    int64_t outer = 1, inner = 1;
    for (int b = 0; b < axis; ++b) outer *= extents[b];
    for (int b = axis + 1; b < 3; ++b) inner *= extents[b];
    // Half of the window; the small share keeps products such as 6.25 * 8 / 2 whole.
    const double reach = std::floor(window * sigmas[a] / 2 * (1 + 1e-12));
    const int radius = static_cast<int>(std::min<double>(reach, grid.size[a]));
    smooth_axis(map, next, outer, extents[axis], inner, gaussian_taps(sigmas[a], radius),
                num_threads);
    map.swap(next);
  }
  return map;
}

std::vector<double> difference_of_density(std::span<const double> object,
                                          std::span<const double> everything, double n_object,
                                          double n_context, IccWeight weight) {
  const bool is_density = weight == IccWeight::Density;
  const double object_weight = is_density && n_object > 0 ? 1 / n_object : 1;
  const double context_weight = is_density && n_context > 0 ? 1 / n_context : 1;
  std::vector<double> map(object.size());
  double largest = 0;
  for (size_t c = 0; c < map.size(); ++c) {
    const double context = everything[c] - object[c];
    map[c] = object_weight * object[c] - context_weight * context;
    largest = std::max({largest, object_weight * object[c], context_weight * context});
  }
  for (double& value : map)
    if (std::abs(value) < 1e-12 * largest) value = 0;
  return map;
}

}  // namespace milieu
