// SPDX-License-Identifier: Apache-2.0
// From what the caller gave (points, a cost matrix, lists) to lists for any penalty.
#pragma once

#include <string>
#include <vector>

#include "milieu/exemplar/search/exemplar.h"

namespace milieu::internal {

// Makes lists for different penalties from one input; keeps those of the largest.
class ListSource {
 public:
  ListSource(const ExemplarInput& input, const ExemplarOptions& options,
             std::vector<std::string>& warnings, Monitor& monitor);

  int64_t num_samples() const;
  // The penalty that options.penalty asks for: its number, the median of the distances (their mean
  // where the median is not positive, 1 where that is not either), or the stable one from there on.
  double asked_penalty() const;
  // Lists for one penalty for all samples, or for the caller's own penalties and lists. The next
  // call changes them. Refuses what max_memory_gb cannot hold before it is allocated.
  const ServiceLists& lists_for(double penalty);
  // Makes lists that serve any penalty up to those with this many exemplars, so that lists_for need
  // not make them again and again.
  void prepare_for_count(int num_exemplars);

 private:
  ServiceLists build(std::vector<double> penalty, int64_t wanted);
  ServiceLists build_by_tree(std::vector<double> penalty, int kept);
  void fill_rows(const Block& block, MatrixView<float> out) const;
  double estimate_num_entries(double highest_penalty) const;
  int choose_num_neighbors(double highest_penalty, bool is_symmetric, int64_t wanted);
  float cost(int64_t p, int64_t q) const;  // of serving p by q, straight from the input

  const ExemplarInput& input_;
  const ExemplarOptions& options_;
  std::vector<std::string>& warnings_;
  Monitor& monitor_;
  double gamma_;  // of rbf
  ServiceLists lists_;
  double highest_penalty_ = 0;
  bool has_lists_ = false;
};

}  // namespace milieu::internal
