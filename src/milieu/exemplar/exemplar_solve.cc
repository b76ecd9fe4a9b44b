// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "milieu/base/random.h"
#include "milieu/exemplar/exemplar_search_internal.h"
#include "milieu/exemplar/exemplar_solve_internal.h"

namespace milieu::internal {

namespace {

constexpr int kStepsPerRound = 100;
constexpr int kPatience = 4;  // rounds that close less than kUsefulShare of the gap
constexpr double kUsefulShare = 0.02;
constexpr int kMaxShakes = 600;
constexpr int64_t kShakeWork = 4'000'000;  // list entries that all shakes together may look at

std::vector<int> servers_of(const SearchState& state, int64_t n) {
  std::vector<int> server(n);
  for (int p = 0; p < static_cast<int>(n); ++p) {
    const int q = state.service(p).server;
    server[p] = q < 0 ? p : q;
  }
  return server;
}

// Searches from `open` and keeps the result if it is better.
void try_open(const ServiceLists& lists, const std::vector<int>& open, ExemplarSolution& best,
              Monitor& monitor) {
  SearchState state(lists, open);
  improve(state, lists, monitor);
  const double energy = state.energy();
  if (!best.server.empty() && energy >= best.energy) return;
  best.energy = energy;
  best.server = servers_of(state, lists.n);
}

// Samples that the bound's relaxation would open.
std::vector<int> round_dual(const DualPoint& dual) {
  std::vector<int> open;
  for (int q = 0; q < static_cast<int>(dual.rho.size()); ++q)
    if (dual.rho[q] < 0) open.push_back(q);
  return open;
}

// Samples that were open in at least half of the steps.
std::vector<int> round_usage(const std::vector<double>& usage) {
  const double most = *std::max_element(usage.begin(), usage.end());
  std::vector<int> open;
  for (int q = 0; q < static_cast<int>(usage.size()); ++q)
    if (most > 0 && usage[q] >= 0.5 * most) open.push_back(q);
  return open;
}

// The best set with a few exemplars closed and a few others opened: a start that the search from
// the best set cannot reach by single moves.
std::vector<int> shaken(const ExemplarSolution& best, Random& random) {
  std::vector<int> open = best.exemplars();
  const int64_t n = static_cast<int64_t>(best.server.size());
  const int64_t toggles = 2 + random.uniform_index(4);
  for (int64_t t = 0; t < toggles; ++t) {
    const int q = static_cast<int>(random.uniform_index(n));
    if (random.bernoulli(0.5) && open.size() > 1)
      open.erase(open.begin() + random.uniform_index(static_cast<int64_t>(open.size())));
    else if (std::find(open.begin(), open.end(), q) == open.end())
      open.push_back(q);
  }
  return open;
}

// Small problems whose gap stays open: many cheap searches from shaken sets. The number of shakes
// depends on the size of the problem only.
void shake(const ServiceLists& lists, const SolveOptions& options, ExemplarSolution& best,
           Monitor& monitor) {
  const int64_t work = std::max<int64_t>(1, lists.num_entries() + lists.n);
  const int64_t shakes = std::min<int64_t>(kMaxShakes, kShakeWork / work);
  Random random = Random(options.seed).child(1);
  for (int64_t i = 0; i < shakes && !monitor.should_stop(); ++i)
    try_open(lists, shaken(best, random), best, monitor);
}

double gap_of(const ExemplarSolution& solution) { return solution.energy - solution.dual.bound; }

bool is_solved(const ExemplarSolution& solution, double rel_gap) {
  // Rounding keeps a closed gap from being exactly 0.
  return gap_of(solution) <= std::max(rel_gap, 1e-9) * std::abs(solution.dual.bound);
}

}  // namespace

std::vector<int> ExemplarSolution::exemplars() const {
  std::vector<int> chosen;
  for (int p = 0; p < static_cast<int>(server.size()); ++p)
    if (server[p] == p) chosen.push_back(p);
  return chosen;
}

ExemplarSolution solve_exemplars(const ServiceLists& lists, const SolveOptions& options,
                                 Monitor& monitor) {
  ExemplarSolution best;
  const bool is_greedy = options.start == ExemplarStart::Greedy;
  try_open(lists, is_greedy ? greedy_exemplars(lists, monitor) : stable_exemplars(lists, monitor),
           best, monitor);
  best.dual = evaluate_dual(lists, dual_from_solution(lists, best.server), options.num_threads);
  best.trace.push_back(best.energy);
  int useless_rounds = 0;
  while (!is_solved(best, options.rel_gap) && best.iterations < options.max_iterations &&
         useless_rounds < kPatience && !monitor.should_stop()) {
    const double gap_before = gap_of(best);
    DualOptions steps;
    steps.max_iterations = std::min(kStepsPerRound, options.max_iterations - best.iterations);
    steps.target = best.energy;
    steps.rel_gap = options.rel_gap;
    steps.num_threads = options.num_threads;
    std::vector<double> usage;
    best.dual = maximise_dual(lists, best.dual, steps, &usage, monitor);
    best.iterations += steps.max_iterations;
    try_open(lists, round_dual(best.dual), best, monitor);
    try_open(lists, round_usage(usage), best, monitor);
    useless_rounds = gap_of(best) > (1 - kUsefulShare) * gap_before ? useless_rounds + 1 : 0;
    best.trace.push_back(best.energy);
    monitor.on_iteration(
        {options.trial, options.num_trials, best.iterations, options.max_iterations, best.energy,
         best.energy - best.trace[best.trace.size() - 2], options.watch.seconds()});
  }
  if (!is_solved(best, options.rel_gap)) {
    shake(lists, options, best, monitor);
    best.trace.push_back(best.energy);
  }
  if (monitor.should_stop())
    best.termination = termination_from(monitor.stop_reason());
  else if (!is_solved(best, options.rel_gap) && best.iterations >= options.max_iterations)
    best.termination = Termination::IterationLimit;
  return best;
}

// Every v_p climbs its sorted list from the bottom: a sample whose v reaches d_pq starts to pay for
// opening q; q opens when its clients have paid d_qq, and the samples that pay for it stop
// climbing.
std::vector<int> stable_exemplars(const ServiceLists& lists, Monitor& monitor) {
  std::vector<double> slack = lists.penalty;  // what is still missing to open q
  std::vector<double> v(lists.n);
  std::vector<int64_t> next(lists.begin.begin(), lists.begin.end() - 1);
  for (int64_t p = 0; p < lists.n; ++p)
    v[p] = next[p] < lists.begin[p + 1] ? std::min<double>(lists.cost[next[p]], lists.penalty[p])
                                        : lists.penalty[p];
  for (int64_t p = 0; p < lists.n; ++p) slack[p] -= std::max(0.0, v[p]);
  bool has_moved = true;
  while (has_moved && !monitor.should_stop()) {
    has_moved = false;
    for (int64_t p = 0; p < lists.n; ++p) {
      while (next[p] < lists.begin[p + 1] && lists.cost[next[p]] <= v[p]) ++next[p];
      const double ceiling = next[p] < lists.begin[p + 1] ? lists.cost[next[p]] : lists.penalty[p];
      double rise = std::min(ceiling - v[p], slack[p]);
      for (int64_t e = lists.begin[p]; e < next[p]; ++e)
        rise = std::min(rise, slack[lists.server[e]]);
      if (rise <= 1e-12 * std::abs(lists.penalty[p])) continue;
      v[p] += rise;
      slack[p] -= rise;
      for (int64_t e = lists.begin[p]; e < next[p]; ++e) slack[lists.server[e]] -= rise;
      has_moved = true;
    }
  }
  std::vector<int> open;
  for (int q = 0; q < static_cast<int>(lists.n); ++q)
    if (slack[q] <= 1e-9 * std::abs(lists.penalty[q])) open.push_back(q);
  return open;
}

}  // namespace milieu::internal
