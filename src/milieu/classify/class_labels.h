// SPDX-License-Identifier: Apache-2.0
// Shared by the classifiers of this folder: checked classes of samples, and posteriors from
// scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// Number of samples per class; classes are 0 .. largest label. Throws InvalidArgument when there
// are not `n` labels, when one is negative and when a class below the largest has no sample.
std::vector<int64_t> count_classes(std::span<const int> labels, int64_t n);

// Rows of log scores to probabilities that sum to 1.
void normalize_log_scores(Matrix<double>& scores);

// Column of the largest entry of each row; ties go to the lowest column.
std::vector<int> argmax_rows(DoubleView scores);

// The rows as double.
Matrix<double> widen(FloatView points);

}  // namespace milieu
