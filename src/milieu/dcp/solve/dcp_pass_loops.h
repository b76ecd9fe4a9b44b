// SPDX-License-Identifier: Apache-2.0
// The gradient of a pass over the data where most slopes are 0: there a big matrix product does not
// pay. One copy for each instruction set; sums run in a fixed order.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

// count_slopes: how many of the num_planes x count entries of f are not 0.
// add_slopes: gradient_p += sum_i f[p * stride + i] x_i for every plane; entries of 0 cost nothing.
MILIEU_DECLARE_ISA(int64_t count_slopes(const float* f, int64_t stride, int64_t num_planes,
                                        int64_t count);
                   void add_slopes(const float* f, int64_t stride, int64_t num_planes,
                                   const float* rows, int64_t count, int64_t d, float* gradient);)
