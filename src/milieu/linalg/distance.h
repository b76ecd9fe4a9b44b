// SPDX-License-Identifier: Apache-2.0
// Squared Euclidean distances and row norms. The block forms are fast and work through the product
// |a|^2 + |b|^2 - 2 a.b in float; the pair form is exact to double rounding.
#pragma once

#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// Squared norms of the rows, summed in double, rounded once to float.
std::vector<float> squared_row_norms(FloatView a);
void squared_row_norms(FloatView a, std::span<float> out);

// out(i, j) = |a_i - b_j|^2, clipped at 0; a is m x d, b is n x d, out is m x n. The error is about
// 1e-7 * sqrt(d) * (|a_i|^2 + |b_j|^2): subtract a common mean first where points lie far from the
// origin compared with their distances. Single-threaded: call it on blocks of rows.
void squared_distances(FloatView a, FloatView b, MatrixView<float> out);
// The same with norms that the caller already has.
void squared_distances(FloatView a, std::span<const float> squared_norms_a, FloatView b,
                       std::span<const float> squared_norms_b, MatrixView<float> out);

// |a - b|^2 of one pair: differences and sum in double, partial sums in a fixed order, so that
// bits are the same on every CPU. Equal rows give exactly 0.
double squared_distance(const float* a, const float* b, int64_t d);
double squared_distance(std::span<const float> a, std::span<const float> b);

}  // namespace milieu
