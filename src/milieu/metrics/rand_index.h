// SPDX-License-Identifier: Apache-2.0
// The adjusted Rand index alone: what compute_metrics gives, at the cost of one pass over a table.
#pragma once

#include <cstdint>
#include <span>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// `table` is what contingency_table (metrics.h) returns for two labellings: num_rows x num_cols.
// 1 for equal partitions, 0 on average for independent ones.
double adjusted_rand_index(std::span<const int64_t> table, int num_rows, int num_cols);

}  // namespace milieu
