// SPDX-License-Identifier: Apache-2.0
// The assignment step of k-means.
#pragma once

#include <span>

#include "milieu/base/monitor.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// Sets labels[i] to the centre nearest to points[i]: smallest squared_distance (linalg/distance.h),
// lowest index on a tie. Returns false when the monitor stopped it; then only some labels are set.
bool assign_nearest(FloatView points, FloatView centers, int num_threads, const Monitor& monitor,
                    std::span<int> labels);

}  // namespace milieu::internal
