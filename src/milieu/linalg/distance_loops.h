// SPDX-License-Identifier: Apache-2.0
// The loops of distance.h and finite.h, compiled for each instruction set. All sets give the same
// bits: the order of additions is fixed by kLanes partial sums and nothing is fused.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

MILIEU_DECLARE_ISA(double squared_distance(const float* a, const float* b, int64_t d);
                   // From one row to `count` points given as d columns, 1 <= d <= 16: the
                   // bits of squared_distance, many points at a time.
                   void squared_distances_to(const float* a, const float* columns, int64_t stride,
                                             int64_t d, int64_t count, double* out);
                   double squared_norm(const float* a, int64_t d);
                   bool all_finite(const float* values, int64_t count);)
