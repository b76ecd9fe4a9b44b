// SPDX-License-Identifier: Apache-2.0
// The 3^p - 1 neighbours of a cell on a grid that has a border of one cell around it: no bounds to
// check.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "milieu/icc/density/grid.h"

namespace milieu::internal {

struct NeighborOffset {
  int64_t padded = 0;  // in the bordered grid
  int64_t plain = 0;   // in the grid itself
  double inverse_length = 0;
};

// A map with a border of -infinity along its axes.
class PaddedMap {
 public:
  PaddedMap(std::span<const double> map, const Grid& grid) : extents_(grid.extents()) {
    for (int a = 0; a < 3; ++a) border_[a] = a >= 3 - grid.dims() ? 1 : 0;
    for (int a = 0; a < 3; ++a) padded_[a] = extents_[a] + 2 * border_[a];
    values_.assign(padded_[0] * padded_[1] * padded_[2], -std::numeric_limits<double>::infinity());
    for (int64_t i = 0; i < extents_[0]; ++i)
      for (int64_t j = 0; j < extents_[1]; ++j)
        std::copy_n(map.data() + (i * extents_[1] + j) * extents_[2], extents_[2],
                    values_.data() + place(i, j, 0));
    for (int64_t i = -border_[0]; i <= border_[0]; ++i)
      for (int64_t j = -border_[1]; j <= border_[1]; ++j)
        for (int64_t k = -border_[2]; k <= border_[2]; ++k)
          if (i != 0 || j != 0 || k != 0)
            offsets_.push_back({(i * padded_[1] + j) * padded_[2] + k,
                                (i * extents_[1] + j) * extents_[2] + k,
                                1 / std::sqrt(static_cast<double>(i * i + j * j + k * k))});
  }

  const double* data() const { return values_.data(); }
  const std::vector<NeighborOffset>& offsets() const { return offsets_; }  // in row order
  // Rows of contiguous cells: how many, how long, where row r starts in the bordered grid.
  int64_t num_rows() const { return extents_[0] * extents_[1]; }
  int64_t row_length() const { return extents_[2]; }
  int64_t row_start(int64_t r) const { return place(r / extents_[1], r % extents_[1], 0); }
  // The bordered place of a cell.
  int64_t place_of(int64_t cell) const {
    return row_start(cell / extents_[2]) + cell % extents_[2];
  }

 private:
  int64_t place(int64_t i, int64_t j, int64_t k) const {
    return ((i + border_[0]) * padded_[1] + j + border_[1]) * padded_[2] + k + border_[2];
  }

  std::array<int64_t, 3> extents_, border_{}, padded_{};
  std::vector<double> values_;
  std::vector<NeighborOffset> offsets_;
};

}  // namespace milieu::internal
