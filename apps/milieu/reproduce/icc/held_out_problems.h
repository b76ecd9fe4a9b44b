// SPDX-License-Identifier: Apache-2.0
// The problems of `milieu reproduce icc held-out`: sets to train on and to test on.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/linalg/matrix.h"
#include "reproduce/dcp/held_out_problems.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

struct ClassifierSet {
  std::string name;
  bool has_chosen = false;  // candidates and limits of --auto were chosen with it
  std::function<LabelledRows()> load;
};

// Sets are named in full before the first is read. Throws MissingData.
std::vector<ClassifierSet> classifier_sets(ReproduceRun& run);

struct ClassifierProblem {
  Matrix<float> train, test;
  std::vector<int> train_classes, test_classes;
};

// At most 1,500 rows to train on and as many to test on. With `is_merged` some classes are unions:
// of classes in random order four become one, three become one, three stay, and again from the
// start.
ClassifierProblem make_problem(const LabelledRows& rows, bool is_merged, Random random);

// Classes that are unions of Gaussians beside classes that are single ones.
LabelledRows made_unions(uint64_t seed);

// For bench/quality/icc_rivals.py: rows and classes, and the accuracies of our classifiers.
void export_problem(const ReproduceRun& run, const std::string& name,
                    const ClassifierProblem& problem, std::span<const double> accuracies);

}  // namespace milieu::cli
