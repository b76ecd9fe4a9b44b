// SPDX-License-Identifier: Apache-2.0
// What every method that works on distances asks of its samples.
#pragma once

#include <string_view>

#include "milieu/linalg/matrix.h"

namespace milieu {

// Throws InvalidArgument when `points` has no rows, no columns or more rows than an int counts, and
// DataError "points has NaN at row 3, column 0 (counted from 0): ..." when an entry is not finite.
// `name` is how the message calls the matrix.
void check_points(FloatView points, std::string_view name = "points");

}  // namespace milieu
