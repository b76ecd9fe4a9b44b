// SPDX-License-Identifier: Apache-2.0
// The grid on which densities are counted: up to three axes, cells row by row (the last axis runs
// fastest).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

inline constexpr int kMaxGridDims = 3;

struct Grid {
  std::vector<int> size;  // cells along each axis, one to three axes

  int dims() const { return static_cast<int>(size.size()); }
  int64_t num_cells() const {
    int64_t cells = 1;
    for (const int extent : size) cells *= extent;
    return cells;
  }
  // The same with exactly three axes: axes of one cell come first.
  std::array<int64_t, 3> extents() const {
    std::array<int64_t, 3> three = {1, 1, 1};
    for (int a = 0; a < dims(); ++a) three[3 - dims() + a] = size[a];
    return three;
  }
  // Place of a cell along each axis.
  std::vector<int> place_of(int64_t cell) const {
    std::vector<int> place(size.size());
    for (int a = dims() - 1; a >= 0; --a) {
      place[a] = static_cast<int>(cell % size[a]);
      cell /= size[a];
    }
    return place;
  }
};

}  // namespace milieu
