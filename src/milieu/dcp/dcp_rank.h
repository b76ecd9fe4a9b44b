// SPDX-License-Identifier: Apache-2.0
// Ranks candidate contexts without labels. The paper leaves the choice of the context to a person;
// here each candidate splits the samples, and contexts whose split is like the most clearly
// separated one rank first.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/dcp/dcp.h"

namespace MILIEU_API milieu {

struct DcpContext {
  std::string name;
  FloatView points;  // m x d
  // With the precomputed kernel d is n + m, and the samples' own rows for this context are here:
  // n x (n + m), similarities with all samples, then all of the context.
  FloatView samples = {};
};

// The split of the samples by one context.
struct DcpContextSplit {
  std::string name;
  std::vector<int> labels;  // n; empty: not run
  double objective = 0;
  double separation = 0;  // as in DcpResult
  double confidence = 0;
  double agreement = 0;  // of the restarts
  double stability = 0;  // adjusted Rand index with the split of half the data
  double seconds = 0;
};

inline constexpr int64_t kMostComparedSplits = 512;

struct DcpRankedContext {
  DcpContextSplit split;
  double match = 0;  // adjusted Rand index with the split of the largest separation
  // Mean adjusted Rand index with the splits of the other contexts; of more than
  // kMostComparedSplits, with those of as many contexts spread evenly over the candidates.
  double consensus = 0;
  // A part is smaller than a tenth of an even share, or than min_share of one: the split finds
  // outliers rather than parts. Never where the sizes are given.
  bool is_outlier_split = false;
};

struct DcpRanking {
  std::vector<DcpRankedContext> contexts;  // those that were run, best first: by falling match,
                                           // then separation, then order; splits that
                                           // find outliers only after all others
  Termination termination = Termination::Converged;
  // The full result with the first context; none when it was known already or was stopped.
  std::optional<DcpResult> first_result;
};

struct DcpRankHooks {
  // A split that is known already (of an earlier, stopped ranking), or null.
  std::function<const DcpContextSplit*(const std::string& name)> find_known;
  // Called for each split that was run, one call at a time, from any thread.
  std::function<void(const DcpContextSplit&)> on_split;
};

// The splits of some candidates, in their order; without labels where the monitor stopped it. A
// ranking finds all of them through its hooks, whoever made them.
std::vector<DcpContextSplit> split_by_contexts(const DcpInput& input,
                                               std::span<const DcpContext> contexts,
                                               const DcpOptions& options,
                                               Monitor& monitor = silent_monitor(),
                                               const DcpRankHooks& hooks = {});

// `input` is what is split, with its weights and constraints; it has neither context nor initial
// labels, and no points with the precomputed kernel.
// Contexts run in parallel, each on one thread; the result does not depend on their number.
// When the monitor stops it, the contexts completed so far are ranked.
DcpRanking rank_contexts(const DcpInput& input, const std::vector<DcpContext>& contexts,
                         const DcpOptions& options, Monitor& monitor = silent_monitor(),
                         const DcpRankHooks& hooks = {});

}  // namespace milieu
