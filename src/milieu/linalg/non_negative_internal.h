// SPDX-License-Identifier: Apache-2.0
// The check of distances and kernels that are defined for histograms only.
#pragma once

#include <string>

#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// Throws InvalidArgument "WHO: a feature is -1 in column 3, must not be negative".
void check_not_negative(FloatView points, const std::string& who);

}  // namespace milieu::internal
