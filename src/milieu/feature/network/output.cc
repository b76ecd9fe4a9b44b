// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/output_internal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"

namespace milieu::internal {
namespace {

constexpr int64_t kMostExtraTokens = 8;

// The square patches of side p that cover the image without rest and leave the fewest other tokens;
// without such a p, a square grid.
std::optional<PositionGrid> token_grid(int64_t num_tokens, int width, int height) {
  std::optional<PositionGrid> best;
  for (int p = 1; p <= std::min(width, height); ++p) {
    if (width % p != 0 || height % p != 0) continue;
    const int64_t rows = height / p, cols = width / p, extra = num_tokens - rows * cols;
    if (extra < 0 || extra > kMostExtraTokens || (best && best->num_extra <= extra)) continue;
    best = PositionGrid{.rows = rows, .cols = cols, .num_extra = extra, .channels_last = true};
  }
  if (best) return best;
  auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(num_tokens)));
  while (side * side > num_tokens) --side;
  const int64_t extra = num_tokens - side * side;
  if (side < 2 || extra > kMostExtraTokens) return {};
  return PositionGrid{.rows = side, .cols = side, .num_extra = extra, .channels_last = true};
}

// Where the number of a position and a channel is.
int64_t place_of(const PositionGrid& grid, int64_t position, int64_t channel) {
  if (grid.channels_last) return (grid.num_extra + position) * grid.num_channels + channel;
  return channel * grid.size() + position;
}

}  // namespace

std::string shape_text(const std::vector<int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const int64_t size : shape) sizes.push_back(size < 0 ? "any" : std::to_string(size));
  return fmt::format("{}", fmt::join(sizes, " x "));
}

std::optional<PositionGrid> grid_of(const std::vector<int64_t>& shape, int width, int height,
                                    bool channels_last) {
  std::optional<PositionGrid> grid;
  if (shape.size() == 4) {
    const int first = channels_last ? 1 : 2;
    grid = PositionGrid{.rows = shape[first],
                        .cols = shape[first + 1],
                        .num_channels = shape[channels_last ? 3 : 1],
                        .channels_last = channels_last};
  } else if (shape.size() == 3) {
    grid = token_grid(shape[1], width, height);
    if (grid) grid->num_channels = shape[2];
  }
  if (grid && (grid->size() < 1 || grid->num_channels < 1)) return {};
  return grid;
}

Matrix<float> positions_of(const Tensor& output, const PositionGrid& grid) {
  Matrix<float> rows(grid.size(), grid.num_channels);
  for (int64_t i = 0; i < rows.rows(); ++i)
    for (int64_t c = 0; c < rows.cols(); ++c)
      rows(i, c) = output.values[static_cast<size_t>(place_of(grid, i, c))];
  return rows;
}

std::vector<float> pool(const Tensor& output, const std::optional<PositionGrid>& grid,
                        PoolMode mode) {
  if (mode == PoolMode::Class && (!grid || grid->num_extra == 0))
    throw DataError(fmt::format(
        "pool is class, but an output of {} has no class token: leave pool out, or take mean",
        shape_text(output.shape)));
  if (!grid || mode == PoolMode::Flat) return output.values;
  const bool has_class = grid->num_extra > 0 && mode != PoolMode::Mean;
  if (has_class) return {output.values.begin(), output.values.begin() + grid->num_channels};
  std::vector<float> mean;
  for (int64_t c = 0; c < grid->num_channels; ++c) {
    double sum = 0;
    for (int64_t i = 0; i < grid->size(); ++i)
      sum += output.values[static_cast<size_t>(place_of(*grid, i, c))];
    mean.push_back(static_cast<float>(sum / static_cast<double>(grid->size())));
  }
  return mean;
}

}  // namespace milieu::internal
