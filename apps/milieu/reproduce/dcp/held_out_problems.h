// SPDX-License-Identifier: Apache-2.0
// The problems of `milieu reproduce dcp held-out`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/linalg/matrix.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

struct LabelledRows {
  std::string name;
  Matrix<float> points;
  std::vector<int> labels;
};

struct PairProblem {
  Matrix<float> set;
  std::vector<int> truth;
  std::vector<Matrix<float>> contexts;  // single classes, then some of each together
};

// Sets are named in full before the first piece. Throws MissingData.
std::vector<std::function<LabelledRows()>> held_out_sets(ReproduceRun& run);

// Pairs of classes; some of them where there are many.
std::vector<std::pair<int, int>> pairs_of(int num_classes, Random random);

PairProblem make_problem(const LabelledRows& rows, int first, int second, bool is_unequal,
                         Random random);

// For bench/quality/dcp_rivals.py: what is split, the truth, and the errors of dcp with single
// contexts, with all together, and with the first of the ranking.
void export_problem(const ReproduceRun& run, const std::string& name, const PairProblem& problem,
                    std::span<const double> dcp_errors);

}  // namespace milieu::cli
