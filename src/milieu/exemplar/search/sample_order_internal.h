// SPDX-License-Identifier: Apache-2.0
// Samples in an order that keeps neighbours together, so that the passes over short lists of a
// large set read memory nearly in sequence.
#pragma once

#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// A permutation of the rows: cells of a tree of median cuts across the widest coordinate, one after
// the other. Depends on the points alone; when the monitor stops it, some permutation.
std::vector<int> spatial_order(FloatView points, const Monitor& monitor);

// The rows in the given order.
Matrix<float> rows_in_order(FloatView points, const std::vector<int>& order);

}  // namespace milieu::internal
