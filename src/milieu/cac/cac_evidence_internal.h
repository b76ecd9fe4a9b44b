// SPDX-License-Identifier: Apache-2.0
// Phrases by shares: groups are compared by what their members are on average, so groups of any
// size are commensurable, and a sample counts together with its neighbours.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/cac/cac_problem_internal.h"

namespace milieu::internal {

// Whether phrases are found by shares: in space or in several views, unless the options, initial
// labels or few words ask for the counts of the paper.
bool finds_phrases_by_shares(const CacProblem& problem, const CacInput& input,
                             const CacOptions& options);

// The groups that have evidence, over samples: those of positions or of neighbours in the views,
// one per sample; else every sample alone, then the groups that were given. `around` holds the
// groups over samples, and none where the views are the only context.
ContextGroups evidence_groups(const CacProblem& problem, const ContextGroups& around,
                              bool has_given_groups);

// One row per group, or with 0 rounds one per sample, of its features alone: square roots of the
// shares that the fine words of each view have among its members, and the mean of their features
// around the mean of all, each part times its factor. After the first round a sample stands for the
// mean of the groups that hold it. Empty when stopped.
Matrix<float> gather_evidence(const CacEvidence& evidence, std::span<const FloatView> views,
                              std::span<const double> scales, const ContextGroups& groups,
                              int num_threads, const Monitor& monitor);

void scale_columns(Matrix<float>& rows, int64_t first, int64_t last, double factor);

// Phrases of all groups of evidence, by k-means; nothing when stopped.
struct SharedPhrases {
  std::vector<int> labels;  // one per group of evidence
  CacEvidence evidence;
  bool is_without_neighbours =
      false;  // features alone decided, and otherwise than neighbours would
};
std::optional<SharedPhrases> find_phrases_by_shares(const CacProblem& problem,
                                                    const CacOptions& options, Monitor& monitor);

// Finds them and fixes them in the problem, where it is to have them by shares; nothing when it is
// not, or when stopped (the monitor says which).
std::optional<SharedPhrases> fix_phrases(CacProblem& problem, const CacOptions& options,
                                         Monitor& monitor);

// The same labels for the groups of the problem: groups beside those of the samples have the phrase
// that most of their members have.
std::vector<int> phrases_of_problem(const CacProblem& problem, std::vector<int> labels);

}  // namespace milieu::internal
