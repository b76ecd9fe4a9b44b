// SPDX-License-Identifier: Apache-2.0
// The hot loops of ICC, compiled for each instruction set. All sets give the same bits: every sum
// has a fixed order and a*b+c is rounded twice.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

namespace milieu::internal {
inline constexpr int64_t kSpreadRun = 32;
}  // namespace milieu::internal

// out[j] = sum over k of taps[k] * in[j + k * step] for j in [0, length), k in [0, num_taps).
MILIEU_DECLARE_ISA(void weigh_rows(const double* in, int64_t step, const double* taps,
                                   int64_t num_taps, double* out, int64_t length);)

// out[j] = sum over m of values[m] * table[j - places[m]] for j in [0, length), m in [0, count),
// places ascending. Entries of the table are 0 from distance `reach` on, and there are kSpreadRun
// of them to each side.
MILIEU_DECLARE_ISA(void spread_values(const double* values, const int32_t* places, int64_t count,
                                      const double* table, int64_t reach, double* out,
                                      int64_t length);)

// out[j] = a * object[j] - b * (everything[j] - object[j]); returns the largest of all terms and 0.
MILIEU_DECLARE_ISA(double subtract_context(const double* object, const double* everything, double a,
                                           double b, double* out, int64_t length);)

// Sum of whole numbers, exact in any order.
MILIEU_DECLARE_ISA(double sum_whole(const double* values, int64_t length);)

// Lowers least[a] and raises most[a] to the range of column a of `values` (rows x p).
MILIEU_DECLARE_ISA(void widen_range(const double* values, int64_t rows, int64_t p, double* least,
                                    double* most);)

// t[i * p + a] = offset[a] + sum over j of axes[a * d + j] * points[i * stride + j], j ascending.
MILIEU_DECLARE_ISA(void project_rows(const float* points, int64_t rows, int64_t stride, int64_t d,
                                     const double* axes, const double* offset, int64_t p,
                                     double* t);)

// Cell of each row of t (rows x p, in cell units): the nearest one, outliers on the border;
// row-major over `size`.
MILIEU_DECLARE_ISA(void nearest_cells(const double* t, int64_t rows, int64_t p, const int* size,
                                      int32_t* cells);)

// For cells row[0 .. length): the largest (row[k + offsets[o]] - row[k]) * factors[o] above 0, and
// first + k + steps[o] of that o, the first of equals; 0 and first + k where none is above 0. True
// when there is such a cell.
MILIEU_DECLARE_ISA(bool steepest_steps(const double* row, int64_t length, const int64_t* offsets,
                                       const int64_t* steps, const double* factors, int64_t count,
                                       int64_t first, double* slopes, int32_t* next);)

// out[i] = table[index[i]]; true when some out[i] is not index[i].
MILIEU_DECLARE_ISA(bool look_up(const int32_t* table, const int32_t* index, int64_t length,
                                int32_t* out);)

// next[i] <- next[next[i]] for all i in place, from the first to the last or the other way round.
// True when something changed.
MILIEU_DECLARE_ISA(bool follow_pointers(int32_t* next, int64_t length, bool is_backward);)

// Writes the k at which a[k] and b[k] differ, ascending; returns how many. `places` has
// room for all and one more.
MILIEU_DECLARE_ISA(int64_t find_differences(const int32_t* a, const int32_t* b, int64_t length,
                                            int32_t* places);)

// The sums that mean and covariance follow from, about `pivot` (d): sums[j] += x_j and
// products[j * d + k] += x_j x_k for k <= j, x = row - pivot. For few columns.
MILIEU_DECLARE_ISA(void add_moments(const float* points, int64_t rows, int64_t stride, int64_t d,
                                    const double* pivot, double* sums, double* products);)
