// SPDX-License-Identifier: Apache-2.0
// The hot loops of ICC, compiled for each instruction set. All sets give the same bits: every sum
// has a fixed order and a*b+c is rounded twice.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

// out[j] += sum over k of taps[k] * in[j + k * step] for j in [0, length), k in [0, num_taps).
MILIEU_DECLARE_ISA(void add_weighted_rows(const double* in, int64_t step, const double* taps,
                                          int64_t num_taps, double* out, int64_t length);)

// t[i * p + a] = offset[a] + sum over j of axes[a * d + j] * points[i * stride + j], j ascending.
MILIEU_DECLARE_ISA(void project_rows(const float* points, int64_t rows, int64_t stride, int64_t d,
                                     const double* axes, const double* offset, int64_t p,
                                     double* t);)

// Cell of each row of t (rows x p, in cell units): the nearest one, outliers on the border;
// row-major over `size`.
MILIEU_DECLARE_ISA(void nearest_cells(const double* t, int64_t rows, int64_t p, const int* size,
                                      int32_t* cells);)

// For cells row[0 .. length): the largest (row[k + offsets[o]] - row[k]) * factors[o] above 0 and
// steps[o] of that o, the first of equals; 0 and 0 where none is above 0.
MILIEU_DECLARE_ISA(void steepest_steps(const double* row, int64_t length, const int64_t* offsets,
                                       const int64_t* steps, const double* factors, int64_t count,
                                       double* slopes, int64_t* step_of);)

// The sums that mean and covariance follow from, about `pivot` (d): sums[j] += x_j and
// products[j * d + k] += x_j x_k for k <= j, x = row - pivot. For few columns.
MILIEU_DECLARE_ISA(void add_moments(const float* points, int64_t rows, int64_t stride, int64_t d,
                                    const double* pivot, double* sums, double* products);)
