// SPDX-License-Identifier: Apache-2.0
// The tables of [Yu13]: test accuracy of PCA, LDA, EM + LDA and ICC + LDA before a quadratic
// classifier, on the same random splits, with paired t-tests against ICC.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/icc/icc_classifier.h"

namespace MILIEU_API milieu {

struct IccContender {
  std::string name;
  IccClassifierOptions options;
};

// The rows of the paper's tables: PCA only, LDA only, EM + LDA, ICC + LDA; all follow from the
// options of the last.
std::vector<IccContender> paper_contenders(const IccClassifierOptions& icc);

struct IccCompareOptions {
  IccClassifierOptions classifier;       // of the ICC row; its seed also draws the splits
  std::vector<IccContender> contenders;  // empty: paper_contenders(classifier)
  int cv = 0;                            // folds of the cross-validation; 0: hold out instead
  double holdout = 0.1;                  // fraction of the samples to test on; used when cv is 0
  int64_t num_train = 0;  // with holdout: samples to train on; 0: all that are not tested
  int repeat = 20;        // trials
};

template <class Visitor>
void visit_fields(IccCompareOptions& o, Visitor&& v) {
  visit_fields(o.classifier, v);
  v("cv", o.cv, at_least(0),
    "compare the classifiers by cross-validation with this many folds; 0 holds out a fraction");
  v("holdout", o.holdout, between(0, 1),
    "fraction of the rows to test on in each trial, drawn at random, as in the paper");
  v("num_train", o.num_train, at_least(0).advanced(),
    "with --holdout, rows to train on; 0 means all that are not tested");
  v("repeat", o.repeat, at_least(1), "number of trials");
}

struct IccCompareInput {
  FloatView points;
  std::span<const int> classes;      // n
  std::span<const int> groups = {};  // n or empty: rows of a group are tested together
};

struct IccCompareRow {
  std::string name;                // "ICC + LDA"
  std::vector<double> accuracies;  // one per trial (the mean of its folds)
  double mean = 0;
  double deviation = 0;   // of the trials
  double seconds = 0;     // of one fit and its predictions, on average
  double subclasses = 0;  // in all classes together, on average
  double overlap = 0;     // mean Bhattacharyya coefficient of the classes in the space of the
                          // densities, on average over trials [Bhattacharyya43]
  double p_value = 1;     // paired t-test against the last row; 1 for that row itself. Meaningless
                          // when the comparison was stopped
};

struct IccComparison {
  std::vector<IccCompareRow> rows;  // one per contender
  int num_trials = 0;               // complete ones; fewer than requested when stopped
  int num_wanted = 0;
  // Not Converged when the monitor stopped it: the figures are those of the complete trials, and
  // p-values are not given, since when to stop may depend on them.
  Termination termination = Termination::Converged;

  bool is_complete() const { return num_trials == num_wanted; }
};

// Throws InvalidArgument for options out of range, and when a class is too small for the splits.
IccComparison compare_icc(const IccCompareInput& input, const IccCompareOptions& options,
                          Monitor& monitor = silent_monitor());

// The table as text; without rows when no trial was completed.
std::string comparison_text(const IccComparison& comparison);

}  // namespace milieu
