// SPDX-License-Identifier: Apache-2.0
// Which rows of a matrix are equal.
#pragma once

#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct RowGroups {
  std::vector<int> group_from_row;  // n, numbered by first occurrence
  std::vector<int> first_rows;      // lowest row of each group, ascending
};

// Groups of equal rows (0 equals -0; entries must not be NaN), in O(n log n) comparisons.
RowGroups group_equal_rows(FloatView rows);

}  // namespace milieu
