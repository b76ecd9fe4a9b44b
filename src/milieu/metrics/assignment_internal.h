// SPDX-License-Identifier: Apache-2.0
// The Hungarian method with weighted columns: what metrics.cc and maximum_assignment share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace milieu::internal {

// Holds sums of int64 values times a weight without rounding.
__extension__ using Wide = __int128;

// As maximum_assignment, for the profits profit[i * cols + j] * column_weights[j] (no weights: all
// 1). The sum of |weighted profit| over any min(rows, cols) entries must stay below 2^124.
std::vector<int> weighted_assignment(std::span<const int64_t> profit, int rows, int cols,
                                     std::span<const Wide> column_weights);

}  // namespace milieu::internal
