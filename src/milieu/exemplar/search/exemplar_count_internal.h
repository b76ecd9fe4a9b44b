// SPDX-License-Identifier: Apache-2.0
// A target number of exemplars: search over the penalty, then exact.
#pragma once

#include <string>
#include <vector>

#include "milieu/exemplar/search/exemplar_lists_internal.h"
#include "milieu/exemplar/search/exemplar_solve_internal.h"

namespace milieu::internal {

struct CountSearch {
  ExemplarSolution solution;
  double penalty = 0;      // the penalty whose optimum comes nearest to the target number
  double total_cost = 0;   // sum of the costs to the exemplars, without penalties
  double lower_bound = 0;  // of that sum, over all choices of exactly as many exemplars
  std::vector<PenaltyTrial> curve;
};

// What lists and matrix of an exact search for a number of exemplars take.
double exact_gigabytes(int64_t n);

CountSearch solve_for_count(ListSource& source, const ExemplarInput& input,
                            const ExemplarOptions& options, double first_penalty,
                            std::vector<std::string>& warnings, Monitor& monitor);

}  // namespace milieu::internal
