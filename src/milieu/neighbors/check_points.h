// SPDX-License-Identifier: Apache-2.0
// What methods that work on distances ask of their samples.
#pragma once

#include <string_view>

#include "milieu/linalg/matrix.h"

namespace milieu {

// Throws InvalidArgument when `points` has no rows, no columns or more rows than an int counts, and
// DataError "points has NaN at row 3, column 0 (counted from 0): ..." when an entry is not finite.
// `name` is how the message calls the matrix.
void check_points(FloatView points, std::string_view name = "points", int num_threads = 1);

// The widest range of a coordinate, at least one row: 0 when all rows are equal.
double widest_range(FloatView points);

}  // namespace milieu
