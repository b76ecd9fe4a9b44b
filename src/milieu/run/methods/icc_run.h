// SPDX-License-Identifier: Apache-2.0
// A run of icc: the fit, what is said about it, comparisons, pictures.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/icc/icc_classifier.h"
#include "milieu/icc/icc_compare.h"
#include "milieu/linalg/matrix.h"
#include "milieu/run/method.h"

namespace MILIEU_API milieu {

struct IccRunOptions {
  IccClassifierOptions classifier;
  int cv = 0;          // folds; 0: none
  double holdout = 0;  // fraction; 0: none
  int repeat = 1;
};

template <class Visitor>
void visit_fields(IccRunOptions& o, Visitor&& v) {
  visit_fields(o.classifier, v);
  v("cv", o.cv, at_least(0),
    "compare classifiers with and without sub-classes by cross-validation with this many folds");
  v("holdout", o.holdout, between(0, 0.99),
    "the same by testing a random fraction of the rows, as in the paper");
  v("repeat", o.repeat, at_least(1), "trials of --cv or --holdout");
}

struct IccRunInput : IccInput {
  std::vector<std::string> class_names;  // of the classes
  std::span<const int> groups;           // n: rows of a group are tested together; empty: none
};

// Labels, summary with overlaps and comparison, model, pictures. Throws InvalidArgument for --auto,
// --cv and --holdout without classes.
RunOutcome run_icc(const IccRunInput& input, const IccRunOptions& options, Monitor& monitor);

// Compares classifiers on the rows that have a class; `groups` may be empty.
IccComparison compare_labelled(FloatView points, std::span<const int> classes,
                               std::span<const int> groups, const IccCompareOptions& options,
                               Monitor& monitor);

// The table as comma-separated values; without rows when no trial was completed.
std::string comparison_csv(const IccComparison& comparison);

// The entries cv_methods, cv_accuracy, ... of a summary.
void add_comparison(const IccComparison& table, RunSummary& summary);

// The values of [Yu13, section 3]: 600 x 200 cells, s 25, z 100, gradient ascent, no merging.
void apply_paper_preset(IccClassifierOptions& options);

}  // namespace milieu
