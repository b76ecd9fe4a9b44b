// SPDX-License-Identifier: Apache-2.0
// Shared by the classifier, its choice by cross-validation and comparisons.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/base/random.h"
#include "milieu/icc/icc_classifier.h"

namespace milieu::internal {

double accuracy_of(std::span<const int> predicted, std::span<const int> classes);

// LDA and quadratic classifier on given sub-classes.
IccClassifierModel fit_on_subclasses(const IccClassifierInput& input, const Subclasses& subclasses,
                                     const IccClassifierOptions& options);

// The rounds of options.refine.
void refine(const IccClassifierInput& input, const IccClassifierOptions& options,
            Subclasses& subclasses, Monitor& monitor);

// A fold of 0 .. num_folds - 1 for every sample: classes are spread evenly, in random order.
// Groups (empty, or one per sample) stay together: then groups are spread.
std::vector<int> make_folds(std::span<const int> classes, std::span<const int> groups,
                            int num_folds, Random& random);

// Rows with is_test false and true; false when a class has no row to train on.
struct TrainTest {
  Matrix<float> train, test;
  std::vector<int> train_classes, test_classes;
  std::vector<int> train_groups;  // empty without groups
};
bool split_rows(FloatView points, std::span<const int> classes, std::span<const int> groups,
                const std::vector<char>& is_test, TrainTest& parts);

}  // namespace milieu::internal
