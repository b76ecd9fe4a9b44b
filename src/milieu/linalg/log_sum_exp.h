// SPDX-License-Identifier: Apache-2.0
// log(sum(exp(x))) without overflow, and the row-wise softmax that mixtures use.
#pragma once

#include <span>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// log of the sum of exp(values), shifted by the largest; double throughout, error of a few ulp.
// Empty input, or only -inf, gives -inf; a +inf gives +inf; a NaN gives NaN.
double log_sum_exp(std::span<const double> values);

// Replaces each row x of `block` by exp(x - log_sum_exp(x)): non-negative, sum 1 within 1e-6.
// Writes log_sum_exp(x) of each row to log_sums (rows entries). Entries may be -inf (they become
// 0), but each row must have a finite entry and no +inf or NaN.
//
// Accuracy: the exponential is a float polynomial (3e-7 relative for results above 1e-37, 0 below
// about exp(-87)), the sum is accumulated in double, so that a log sum is within 4e-7 of the exact
// one of the same float row. Sums run in a fixed order: the same bits on every instruction set.
void softmax_rows(MatrixView<float> block, std::span<double> log_sums);

// values[i] = exp(values[i]) with the same polynomial; values above 88 give exp(88).
void exp_in_place(std::span<float> values);

}  // namespace milieu
