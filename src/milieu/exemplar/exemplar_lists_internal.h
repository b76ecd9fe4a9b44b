// SPDX-License-Identifier: Apache-2.0
// From what the caller gave (points, a cost matrix, lists) to lists for any penalty.
#pragma once

#include <string>
#include <vector>

#include "milieu/exemplar/exemplar.h"

namespace milieu::internal {

// Makes lists for different penalties from one input; keeps the last ones to cut smaller from them.
class ListSource {
 public:
  ListSource(const ExemplarInput& input, const ExemplarOptions& options,
             std::vector<std::string>& warnings, Monitor& monitor);

  int64_t num_samples() const;
  // The penalty that options.penalty asks for: its number, or the median of the distances (their
  // mean where the median is not positive, 1 where that is not either).
  double asked_penalty() const;
  // Lists for one penalty for all samples, or for the caller's own penalties and lists.
  const ServiceLists& lists_for(double penalty);
  // Cost of serving p by q, straight from the input (for lists that were cut).
  float cost(int64_t p, int64_t q) const;

 private:
  ServiceLists build(std::vector<double> penalty);
  ServiceLists build_from_points(std::vector<double> penalty);
  int choose_num_neighbors(double highest_penalty);

  const ExemplarInput& input_;
  const ExemplarOptions& options_;
  std::vector<std::string>& warnings_;
  Monitor& monitor_;
  ServiceLists widest_;  // for the largest penalty asked so far
  ServiceLists cut_;
  double widest_penalty_ = 0;
  bool has_widest_ = false;
};

}  // namespace milieu::internal
