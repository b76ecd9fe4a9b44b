// SPDX-License-Identifier: Apache-2.0
// What a network's output means: a vector, a map of positions, or the tokens of a transformer.
#pragma once

#include <optional>
#include <vector>

#include "milieu/feature/network/session_internal.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

enum class PoolMode { Auto, Class, Mean, Flat };

// rows x cols positions with `num_channels` numbers each.
struct PositionGrid {
  int64_t rows = 0, cols = 0;
  int64_t num_channels = 0;
  int64_t num_extra = 0;       // tokens before the positions: the class token and registers
  bool channels_last = false;  // else each channel's positions are together

  int64_t size() const { return rows * cols; }
};

// The grid of an output of this shape, from images of width x height: batch x channels x rows x
// columns (`channels_last`: batch x rows x columns x channels), or batch x tokens x channels, whose
// tokens are one per square of the image, row by row, after at most eight others. Empty for
// anything else.
std::optional<PositionGrid> grid_of(const std::vector<int64_t>& shape, int width, int height,
                                    bool channels_last);

// One row per position.
Matrix<float> positions_of(const Tensor& output, const PositionGrid& grid);

// One vector: the class token, the mean of all positions, or every number. Auto: the class token
// where there is one, else the mean; every number where there is no grid. Throws DataError when
// there is no class token.
std::vector<float> pool(const Tensor& output, const std::optional<PositionGrid>& grid,
                        PoolMode mode);

}  // namespace milieu::internal
