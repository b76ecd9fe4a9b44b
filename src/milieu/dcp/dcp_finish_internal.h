// SPDX-License-Identifier: Apache-2.0
// Exact alternation: train the K classifiers for a split, split again by them, until nothing
// changes. In double, with a proven gap; never raises J.
#pragma once

#include <functional>
#include <vector>

#include "milieu/dcp/dcp_constraints_internal.h"
#include "milieu/dcp/solve/dcp_svm_internal.h"

namespace milieu::internal {

struct Solution {
  std::vector<int> labels;    // n
  Matrix<double> planes;      // K x D
  double objective = 0;       // J of labels and planes together
  double gap = 0;             // of the K classifiers, absolute
  std::vector<double> trace;  // J after each round of training
  bool is_settled = false;    // the last round changed no label
};

// The planes that are best for `labels` [Lampert08, Eq. 5]; `solution.planes`, when not empty, are
// where the classifiers start.
void train_planes(const DcpProblem& problem, const ExactRows& rows, Solution& solution,
                  const Monitor& monitor);

// Called after each round of training with the rounds done and J.
using RoundReport = std::function<void(int round, double objective)>;

// Alternates from solution.labels (and planes, when there are any) for at most max_rounds rounds.
void alternate(const DcpProblem& problem, const ExactRows& rows, const Constraints& constraints,
               int max_rounds, const Monitor& monitor, const RoundReport& report,
               Solution& solution);

// For small problems without constraints: moves single samples to other parts, retraining, as long
// as one of the moves lowers J. Never raises J.
void improve_by_moves(const DcpProblem& problem, const ExactRows& rows, int max_rounds,
                      const Monitor& monitor, Solution& solution);

}  // namespace milieu::internal
