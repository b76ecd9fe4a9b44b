// SPDX-License-Identifier: Apache-2.0
// A wished number of exemplars: search over the penalty, then exact.
#pragma once

#include <string>
#include <vector>

#include "milieu/exemplar/exemplar_lists_internal.h"
#include "milieu/exemplar/exemplar_solve_internal.h"

namespace milieu::internal {

struct CountSearch {
  ExemplarSolution solution;
  double penalty = 0;      // the penalty whose optimum comes nearest to the wished number
  double total_cost = 0;   // sum of the costs to the exemplars, without penalties
  double lower_bound = 0;  // of that sum, over all choices of exactly as many exemplars
  std::vector<PenaltyTrial> curve;
};

// For every penalty f, L_f - f k bounds the cost of any k exemplars from below; the best of all
// penalties tried is reported.
CountSearch solve_for_count(ListSource& source, const ExemplarInput& input,
                            const ExemplarOptions& options, double first_penalty,
                            std::vector<std::string>& warnings, Monitor& monitor);

}  // namespace milieu::internal
