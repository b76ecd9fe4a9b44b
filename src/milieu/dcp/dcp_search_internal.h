// SPDX-License-Identifier: Apache-2.0
// The search: many restarts together, each through its stages, sharing every pass over the
// data.
#pragma once

#include <vector>

#include "milieu/base/random.h"
#include "milieu/dcp/dcp_constraints_internal.h"
#include "milieu/dcp/solve/dcp_objective_internal.h"

namespace milieu::internal {

// Where a restart begins: labels (turned into planes at the first cost), or planes.
struct Start {
  std::vector<int> labels;
  std::vector<double> planes;
};

// Starts of all restarts, by their kind [Lampert08, section 3.2.2]; `initial_labels` make it one.
std::vector<Start> draw_starts(const DcpProblem& problem, const DcpInput& input,
                               const DcpOptions& options, const Monitor& monitor);

// Costs from 1 / mean |x|^2, where the problem is nearly convex, to C, tenfold each; or C alone.
std::vector<double> cost_path(const DcpProblem& problem, const DcpOptions& options);

// Where a restart ended.
struct Found {
  std::vector<double> planes;  // K x D
  std::vector<int> labels;     // n: the part of each sample under the planes; empty when stopped
  double objective = 0;        // J at the full cost, in float; infinite when stopped before
  int iterations = 0;
  int64_t evaluations = 0;   // of J and its gradient, with those of crossings that did not help
  bool is_complete = false;  // all stages were run
};

// Planes of two restarts together, and the better one of the two.
struct CrossedStart {
  int restart = 0;
  std::vector<double> planes;  // K x D
  double objective = 0;        // J there
};

// The crossings of lowest J, at most `max_num_crossings`, each with a different base: one plane of
// one of the best restarts is replaced by a plane of another restart.
std::vector<CrossedStart> cross_restarts(const DcpProblem& problem, const std::vector<Found>& found,
                                         int max_num_crossings, const Monitor& monitor);

// Runs all restarts; stopped by the monitor, each is left where it was.
std::vector<Found> search(const DcpProblem& problem, const DcpOptions& options,
                          const std::vector<Start>& starts, Monitor& monitor);

// Planes (K x D) that are nearly the best for `labels` at the full cost [Lampert08, Eq. 5]: where
// an exact solver starts.
std::vector<double> train_roughly(const DcpProblem& problem, const DcpOptions& options,
                                  const std::vector<int>& labels, const Monitor& monitor);

// The same under constraints: the split is a constrained assignment, recomputed every few steps.
std::vector<Found> constrained_search(const DcpProblem& problem, const DcpOptions& options,
                                      const std::vector<Start>& starts,
                                      const Constraints& constraints, Monitor& monitor);

}  // namespace milieu::internal
