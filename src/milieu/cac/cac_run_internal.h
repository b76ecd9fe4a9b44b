// SPDX-License-Identifier: Apache-2.0
// One start of context-aware clustering from beginning to end, and how starts are compared.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/cac/cac_problem_internal.h"

namespace milieu::internal {

struct CacRun {
  CacState state;
  CacSnapshot first;           // labels after the first nested EM round; empty before it
  std::vector<CacStep> steps;  // every half step
  std::vector<double> trace;   // J after each round under the full lambda
  int iterations = 0;          // nested EM rounds, of all lambdas
  int inner_iterations = 0;    // phrase and word steps
  double words_objective = 0;
  double context_objective = 0;
  Termination termination = Termination::Converged;

  double objective() const { return words_objective + context_objective; }
  bool is_stopped() const {
    return termination == Termination::Cancelled || termination == Termination::TimeLimit;
  }
};

// What the caller learns about a run.
struct CacListener {
  Monitor& monitor;
  CacObserver* observer = nullptr;
  const Stopwatch& watch;
  int restart = 0;
  int num_restarts = 1;
};

// [Yuan08, Algorithm 1] from `start` on; with continuation for rising parts of lambda, the last of
// them lambda itself. With lambda 0 the words stay and only phrases are found.
CacRun run_nested_em(const CacProblem& problem, const CacState& start, double lambda,
                     const CacOptions& options, CacListener& listener);

// J1 and J2 without lambda of a start: lambda = tau J1 / J2 [Yuan08, Sec. 3.2].
struct CacBalance {
  double ratio = 0;     // J1 / J2
  std::string trouble;  // why J2 was replaced; empty: it was not
};
CacBalance balance_of(const CacProblem& problem, const CacState& start);

// The starts that `options` ask for; fewer when the monitor stopped.
std::vector<CacState> make_starts(const CacProblem& problem, const CacInput& input,
                                  const CacOptions& options, Monitor& monitor);

// The mean adjusted Rand index of all pairs of labellings; 1 for a single one.
double stability_of(const std::vector<std::vector<int>>& labellings);

// What a sweep over tau, or over numbers of words or phrases, found.
struct StabilityCurve {
  std::vector<double> values;
  std::vector<double> stability;
  double chosen = 0;  // the value of highest stability, the lowest of equals
};

// The most stable numbers of words and of phrases, where the options leave them open; sets them in
// the problem, phrases in `options` too. Stops early with the monitor.
struct NumberSweep {
  StabilityCurve words, phrases;  // empty where the number was given
  // In place of `words`: of every view, where a list leaves some of them open.
  std::vector<StabilityCurve> words_of_views;
};
NumberSweep choose_numbers(CacProblem& problem, CacOptions& options, Monitor& monitor);

// The weights that --tau auto tries.
std::vector<double> tau_candidates();
void choose_most_stable(StabilityCurve& curve);

}  // namespace milieu::internal
