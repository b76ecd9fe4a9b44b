// SPDX-License-Identifier: Apache-2.0
// The parts of --auto: a race of candidates over the folds of repeated cross-validations, and the
// candidates that do not split classes, which are so many that they share all their sums.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/base/random.h"
#include "milieu/icc/icc_classifier.h"

namespace milieu::internal {

// One fold: rows to learn from and rows to test on.
struct Fold {
  std::vector<int64_t> train, test;
};

// The folds of one cross-validation; those with a class that cannot be learned are left out.
std::vector<Fold> folds_of(const IccClassifierInput& input, int num_folds, Random& random);

// Which of its test rows a candidate classified correctly: an entry per row of Fold::test.
using Report = std::function<void(size_t candidate, std::span<const int> predicted)>;
// Tests the candidates that still race on a fold.
using TestFold =
    std::function<void(const Fold& fold, const std::vector<char>& is_racing, const Report& report)>;

struct Race {
  size_t winner = 0;
  double accuracy = 0;        // of the winner
  std::vector<double> right;  // n: how often the winner was right about each row
  bool is_complete = true;    // false: the monitor stopped it
};

// Few rows are cross-validated again on other folds, so that the choice depends less on chance;
// after every fold clearly worse candidates are dropped. Ties go to the first. Folds follow from
// the seed alone: races on the same samples have the same folds.
Race race(const IccClassifierInput& input, const IccClassifierOptions& options,
          size_t num_candidates, const TestFold& test, Monitor& monitor);

// By how many standard errors of the difference the second race's winner is ahead of the first's.
double lead_of(const Race& first, const Race& second);

// Gaussians of whole classes on the first principal axes.
struct SpaceChoice {
  int num_dims = 0;
  double shrinkage = 0;  // kPooled: linear discriminant analysis
};
inline constexpr double kPooled = 1e9;
inline constexpr int kMostFullDims = 100;  // for covariances of single classes

std::vector<SpaceChoice> spaces(int64_t num_axes, int64_t num_rows);
// `rows` n x m: coordinates on the principal axes.
TestFold test_spaces(const Matrix<float>& rows, std::span<const int> classes, Priors priors,
                     std::vector<SpaceChoice> candidates);

struct Candidate {
  IccClassifierOptions options;
  std::string text;
};

// Whole classes in a space.
Candidate whole_classes(const IccClassifierOptions& base, const SpaceChoice& space);
// Ways to split, each with a few classifiers on top; whole classes first: ties go to the simplest.
// Of equal splits all classifiers stand together. `own_dims`: axes of the best classifier of whole
// classes.
std::vector<Candidate> candidates_of(const IccClassifierInput& input,
                                     const IccClassifierOptions& base, int own_dims);
// The winner unchanged, and with smaller sub-classes, moved samples or other shrinkage.
std::vector<Candidate> refinements_of(const Candidate& winner);

}  // namespace milieu::internal
