// SPDX-License-Identifier: Apache-2.0
// Finding NaN and infinity before a method begins: one fast pass over the values.
#pragma once

#include <cstdint>
#include <optional>

#include "milieu/linalg/matrix.h"

namespace milieu {

struct MatrixPlace {
  int64_t row = 0;
  int64_t column = 0;
};

// The first entry (in row-major order) that is NaN or infinite, if there is one.
std::optional<MatrixPlace> find_non_finite(FloatView values, int num_threads = 1);

}  // namespace milieu
