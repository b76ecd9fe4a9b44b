// SPDX-License-Identifier: Apache-2.0
// What methods that work on distances require of their samples.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "milieu/base/export.h"
#include "milieu/base/ranks/rows.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// Throws InvalidArgument when `points` has no rows, no columns or more rows than an int counts, and
// DataError "points has NaN at row 3, column 0 (counted from 0): ..." when an entry is not finite.
// `name` is how the message calls the matrix.
void check_points(FloatView points, std::string_view name = "points", int num_threads = 1);
// The same for own rows: all ranks throw when the rows of one are wrong, which are named by their
// place in all.
void check_points(FloatView own, const Rows& rows, std::string_view name = "points",
                  int num_threads = 1);

struct WeightTotals {
  double sum = 0;
  int64_t num_positive = 0;
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(sum, num_positive);
  }
};

// For sample weights, one for each own row, or none: then all are 1. Totals are of all ranks.
// Throws InvalidArgument for another number of them, for one that is negative or not finite, and
// for a sum that is 0 or not finite.
WeightTotals check_weights(std::span<const double> weights, const Rows& rows);

// The widest range of a coordinate, at least one row: 0 when all rows are equal.
double widest_range(FloatView points);

}  // namespace milieu
