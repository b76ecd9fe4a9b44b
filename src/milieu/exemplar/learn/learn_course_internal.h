// SPDX-License-Identifier: Apache-2.0
// Everything that training needs, made from example sets: candidates, their scales, the metrics and
// the features of exemplars beside them. Problem and symbols: learn.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/exemplar/metric/learn_metric_internal.h"

namespace milieu::internal {

struct Course {
  LearnForm form = LearnForm::Coordinates;
  std::vector<CandidateDistance> candidates;
  std::optional<MetricCandidates> metrics;  // the last kNumMetrics features, where there are any
  std::vector<std::shared_ptr<PairFeatures>> features;  // of each set; empty if stopped
  OwnCosts own;  // of exemplars; unless they share weights, the features after the metrics
  std::vector<double> means;  // sizes over the pairs of all sets; 0 for features of exemplars
  std::vector<double> scale;  // 0 for a constant feature and one that was screened off
  std::vector<char> is_kept;  // candidates that were not screened off
  double penalty = 0;         // at the start
  bool is_signed = false;     // matrices may have negative entries
  std::vector<std::string> warnings;

  size_t num_candidates() const {
    return means.size() - (metrics ? static_cast<size_t>(kNumMetrics) : 0) - own.names.size();
  }
  bool is_own(size_t t) const { return t >= means.size() - own.names.size(); }
};

// Nothing in `features` when the monitor stops it.
Course make_course(const LearnInput& input, const ExemplarLearnOptions& options,
                   std::vector<char> is_kept, Monitor& monitor);

// The penalty where none is given.
double rule_penalty(const LearnInput& input, const ExemplarLearnOptions& options);

}  // namespace milieu::internal
