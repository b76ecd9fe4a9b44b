// SPDX-License-Identifier: Apache-2.0
#include "milieu/icc/density/density_map.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/assert.h"
#include "milieu/base/parallel.h"
#include "milieu/icc/density/icc_loops.h"

namespace milieu {

namespace {

constexpr int64_t kCellsPerBlock = 1 << 14;

// Which rows of a map are not empty: the others need no filter.
using UsedRows = std::vector<char>;

// Along contiguous cells: counts are mostly zeros, so that every one that is not spreads its taps.
UsedRows smooth_lines(std::span<const double> counts, std::vector<double>& out, int64_t length,
                      const std::vector<double>& taps, int num_threads) {
  const auto spread = MILIEU_SELECT_ISA(spread_values);
  const auto num_lines = static_cast<int64_t>(counts.size()) / length;
  const auto reach = static_cast<int64_t>(taps.size() / 2) + 1;
  std::vector<double> table(2 * (reach + internal::kSpreadRun) + 1,
                            0.0);  // its middle is distance 0
  std::copy(taps.begin(), taps.end(), table.begin() + internal::kSpreadRun + 1);
  UsedRows used(num_lines, 0);
  parallel_for(num_lines, std::max<int64_t>(1, kCellsPerBlock / length), num_threads,
               [&](const Block& block) {
                 std::vector<double> values(length);
                 std::vector<int32_t> places(length);
                 for (int64_t line = block.begin; line < block.end; ++line) {
                   int64_t num_used = 0;
                   for (int64_t k = 0; k < length; ++k) {
                     const double count = counts[line * length + k];
                     values[num_used] = count;
                     places[num_used] = static_cast<int32_t>(k);
                     num_used += count != 0;
                   }
                   used[line] = num_used > 0;
                   spread(values.data(), places.data(), num_used,
                          table.data() + reach + internal::kSpreadRun, reach,
                          out.data() + line * length, length);
                 }
               });
  return used;
}

// Along another axis: `outer` slabs of `length` rows of `inner` contiguous cells. `used` is about
// the rows, then of the slabs.
void smooth_rows(const std::vector<double>& in, std::vector<double>& out, int64_t outer,
                 int64_t length, int64_t inner, const std::vector<double>& taps, UsedRows& used,
                 int num_threads) {
  const auto weigh = MILIEU_SELECT_ISA(weigh_rows);
  const auto radius = static_cast<int64_t>(taps.size() / 2);
  UsedRows used_slabs(outer, 0);
  std::vector<int64_t> first_used(outer, length), last_used(outer, -1);
  for (int64_t row = 0; row < outer * length; ++row) {
    if (!used[row]) continue;
    const int64_t o = row / length;
    used_slabs[o] = 1;
    first_used[o] = std::min(first_used[o], row % length);
    last_used[o] = row % length;
  }
  const int64_t per_block = std::max<int64_t>(1, kCellsPerBlock / inner);
  parallel_for(outer * length, per_block, num_threads, [&](const Block& block) {
    for (int64_t row = block.begin; row < block.end; ++row) {
      const int64_t o = row / length, i = row % length;
      const int64_t first = std::max(first_used[o], i - radius);
      const int64_t last = std::min(last_used[o], i + radius);
      if (first > last)
        std::fill_n(out.data() + row * inner, inner, 0.0);
      else
        weigh(in.data() + (o * length + first) * inner, inner, taps.data() + (first - i + radius),
              last - first + 1, out.data() + row * inner, inner);
    }
  });
  used = std::move(used_slabs);
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
  std::vector<double> map(counts.size()), next(grid.dims() > 1 ? counts.size() : 0);
  UsedRows used;
  int64_t inner = 1;
  for (int a = grid.dims() - 1; a >= 0; --a) {
    const int64_t length = grid.size[a];
    // Half of the window; the small share keeps products such as 6.25 * 8 / 2 whole.
    const double reach = std::floor(window * sigmas[a] / 2 * (1 + 1e-12));
    const int radius = static_cast<int>(std::min<double>(reach, grid.size[a]));
    const std::vector<double> taps = gaussian_taps(sigmas[a], radius);
    if (a + 1 == grid.dims()) {
      used = smooth_lines(counts, map, length, taps, num_threads);
    } else {
      smooth_rows(map, next, grid.num_cells() / (length * inner), length, inner, taps, used,
                  num_threads);
      map.swap(next);
    }
    inner *= length;
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
  const double largest = MILIEU_SELECT_ISA(subtract_context)(
      object.data(), everything.data(), object_weight, context_weight, map.data(),
      static_cast<int64_t>(map.size()));
  for (double& value : map) value = std::abs(value) < 1e-12 * largest ? 0 : value;
  return map;
}

}  // namespace milieu
