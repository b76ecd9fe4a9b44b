// SPDX-License-Identifier: Apache-2.0
// Shared by the verdicts and their evidence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/icc/advise/icc_advise.h"
#include "milieu/icc/icc_classifier.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// All samples on principal axes.
struct Space {
  Matrix<float> rows;
  std::span<const int> classes;
  int num_classes = 0;
};

// Places of a label.
std::vector<int64_t> rows_of(const std::vector<int>& labels, int wanted);
// Rows on their first `dims` columns.
Matrix<float> gather(const Matrix<float>& points, std::span<const int64_t> rows, int64_t dims);
// Parts of every class, 0, 1, ... in the order of its rows, as sub-classes numbered class by class.
Subclasses number_parts(const Space& space, const std::vector<std::vector<int>>& parts);

// What a classifier gains on held-out samples: fills in gains and contexts of classes that have a
// gap, and gives classes without one the parts of ICC or of two Gaussians where that gains clearly.
void add_evidence(const Space& space, const IccAdviseOptions& options,
                  std::vector<std::vector<int>>& parts, IccAdvice& advice, Monitor& monitor);

}  // namespace milieu::internal
