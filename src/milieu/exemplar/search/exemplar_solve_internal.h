// SPDX-License-Identifier: Apache-2.0
// The loop of exemplar clustering on ready lists: start, search, bound, round the bound's point,
// search again, until energy and bound meet or the budget is spent.
#pragma once

#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/exemplar/search/dual_bound_internal.h"
#include "milieu/exemplar/search/exemplar.h"
#include "milieu/exemplar/search/service_lists.h"

namespace milieu::internal {

struct ExemplarSolution {
  std::vector<int> server;  // exemplar of each sample; exemplars serve themselves
  double energy = 0;
  DualPoint dual;               // best bound found
  std::vector<char> is_closed;  // n: no better solution opens these (their rho is not kept up)
  std::vector<double> trace;    // energy after the start and after each round
  int iterations = 0;           // dual steps made
  Termination termination = Termination::Converged;

  std::vector<int> exemplars() const;  // ascending
};

struct SolveOptions {
  ExemplarSolver solver = ExemplarSolver::Search;
  ExemplarInit init = ExemplarInit::Greedy;
  double rel_gap = 1e-4;
  int max_iterations = 1000;
  uint64_t seed = 1;
  int trial = 0;  // reported as the restart
  int num_trials = 1;
  Stopwatch watch;  // started when the fit began; copies continue from there
  int num_threads = 0;
};

ExemplarSolution solve_exemplars(const ServiceLists& lists, const SolveOptions& options,
                                 Monitor& monitor);

std::vector<int> all_candidates(int64_t n);

// The samples that the bound finds cheapest to open, and the exemplars of the best set: nearly all
// moves that help are among them.
std::vector<int> likely_candidates(const ExemplarSolution& best);

// The search alone, from a given set, with the bound that its assignment suggests.
ExemplarSolution search_exemplars(const ServiceLists& lists, const std::vector<int>& open,
                                  const std::vector<int>& candidates, int num_threads,
                                  Monitor& monitor);

// The exemplars of affinity propagation [Frey07] and its rounds.
struct MessageExemplars {
  std::vector<int> open;  // ascending
  int iterations = 0;
  bool has_converged = false;
};
MessageExemplars propagate_affinity(const ServiceLists& lists, int max_iterations, uint64_t seed,
                                    Monitor& monitor);

// First exemplars by stabilities, from duals that are raised until every sample has a tight
// exemplar (the primal-dual start of the paper's reference [9], in the form of [Erlenkotter78]).
std::vector<int> stable_exemplars(const ServiceLists& lists, Monitor& monitor);

}  // namespace milieu::internal
