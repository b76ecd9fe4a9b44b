// SPDX-License-Identifier: Apache-2.0
// The loop of dual_bound.cc over one column, compiled for each instruction set. All sets give the
// same bits: the order of additions is fixed by eight partial sums.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

// Sum of min(0, cost[i] - v[index[i]]) over i < count.
MILIEU_DECLARE_ISA(double sum_below(const int* index, const float* cost, int64_t count,
                                    const double* v);)
