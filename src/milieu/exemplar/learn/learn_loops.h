// SPDX-License-Identifier: Apache-2.0
// The loops of cluster_example.cc over one row of pairs, compiled for each instruction set.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

// Rows of slave_row are as long as a multiple of this: no vector crosses their ends.
namespace milieu::internal {
constexpr int64_t kSlaveLanes = 16;
}  // namespace milieu::internal

// One row of the slave of a sample [Komodakis11, Eq. 32 and 33]; theta[q] = charge[q] + dual[q] and
// through[q] = distance[q] + (label[q] == own ? beta : 0) + max(theta[q], 0). n is a multiple of
// kSlaveLanes. Adds 1 to count[q] and `step` to dual[q] where theta[q] < 0, puts the sum of
// min(theta[q], 0) into *gained, the lowest index of the least `through` into *where and whether
// its theta is below 0 into *is_open, and returns that least one.
MILIEU_DECLARE_ISA(float slave_row(const float* distance, const float* charge, const int32_t* label,
                                   int64_t n, int32_t own, float beta, float step, float* dual,
                                   int32_t* count, double* gained, int64_t* where, bool* is_open);)

// out[q] = max(least, first + norms[q] - 2 out[q]): distances from products.
MILIEU_DECLARE_ISA(void distances_from_products(float first, const float* norms, float least,
                                                int64_t n, float* out);)

// sum[q] += factor * values[q].
MILIEU_DECLARE_ISA(void add_scaled(const float* values, float factor, int64_t n, float* sum);)

// sum[t] += factor * (a[t] - b[t])^2.
MILIEU_DECLARE_ISA(void add_squared_differences(const float* a, const float* b, double factor,
                                                int64_t n, double* sum);)

// out[t] = w[t] x[t]; returns the sum of w[t] x[t]^2, in as many partial sums as a vector has
// lanes.
MILIEU_DECLARE_ISA(double weigh_row(const float* x, const float* w, int64_t n, float* out);)

// out(q, p) = in(p, q) for p < rows and q < cols; rows lie `stride` apart on both sides.
MILIEU_DECLARE_ISA(void transpose(const float* in, int64_t rows, int64_t cols, int64_t stride,
                                  float* out);)
