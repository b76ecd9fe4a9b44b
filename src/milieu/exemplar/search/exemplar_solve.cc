// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "milieu/base/random.h"
#include "milieu/exemplar/search/exemplar_search_internal.h"
#include "milieu/exemplar/search/exemplar_solve_internal.h"

namespace milieu::internal {

namespace {

constexpr int kStepsPerRound = 100;
// A round that closes less than this share of the gap is useless; on large problems, where rounds
// are expensive, also one that closes less than this share of the energy.
constexpr double kUsefulShare = 0.05;
constexpr double kUsefulShareLarge = 0.1;
constexpr double kUsefulChangeLarge = 1e-4;
// Useless rounds after which the search ends: many where rounds are cheap, one where they are not.
constexpr int kPatience = 4;
constexpr int64_t kSmallProblem = 1'500'000;  // entries
constexpr size_t kMinCandidates = 500;
constexpr int kMaxShakes = 600;
constexpr int64_t kShakeWork = 4'000'000;  // list entries that all shakes together may read

std::vector<int> servers_of(const SearchState& state, int64_t n) {
  std::vector<int> server(n);
  for (int p = 0; p < static_cast<int>(n); ++p) {
    const int q = state.service(p).server;
    server[p] = q < 0 ? p : q;
  }
  return server;
}

// Searches from `open` and keeps the result if it is better.
void try_open(const ServiceLists& lists, const std::vector<int>& open,
              const std::vector<int>& candidates, ExemplarSolution& best, Monitor& monitor) {
  SearchState state(lists, open);
  improve(state, lists, candidates, monitor);
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
  const std::vector<int> candidates = likely_candidates(best);
  for (int64_t i = 0; i < shakes && !monitor.should_stop(); ++i)
    try_open(lists, shaken(best, random), candidates, best, monitor);
}

double gap_of(const ExemplarSolution& solution) { return solution.energy - solution.dual.bound; }

bool is_solved(const ExemplarSolution& solution, double rel_gap) {
  // Rounding keeps a closed gap from being exactly 0.
  return gap_of(solution) <= std::max(rel_gap, 1e-9) * std::abs(solution.dual.bound);
}

// Marks candidates that no better solution opens: opening q raises the bound by rho_q [Komodakis11,
// section 3]. True when lists without them are worth making.
bool close_candidates(const ServiceLists& lists, ExemplarSolution& best) {
  const double slack = gap_of(best) + 1e-9 * std::abs(best.energy);
  int64_t entries = 0;
  for (int64_t q = 0; q < lists.n; ++q)
    if (!best.is_closed[q] && best.dual.rho[q] > slack) {
      best.is_closed[q] = 1;
      entries += lists.column(q).size;
    }
  return 10 * entries > lists.num_entries();
}

// Searches from the sets that the bound's point suggests; where that is cheap, also from one of
// them together with the best set.
void round_and_search(const ServiceLists& lists, const std::vector<double>& usage, bool is_small,
                      ExemplarSolution& best, Monitor& monitor) {
  const std::vector<int> likely = likely_candidates(best);
  const std::vector<int> rounded = round_dual(best.dual), chosen = best.exemplars();
  std::vector<std::vector<int>> starts = {rounded, round_usage(usage)};
  if (is_small) {
    starts.emplace_back();
    std::set_union(rounded.begin(), rounded.end(), chosen.begin(), chosen.end(),
                   std::back_inserter(starts.back()));
  }
  for (const std::vector<int>& open : starts)
    if (!monitor.should_stop()) try_open(lists, open, likely, best, monitor);
}

// Ascent, closing and search in turns. `active` ends as the lists without closed candidates: they
// hold every solution that is better than the best one, so that their bound, where it is below the
// best energy, bounds the whole problem.
void alternate(const SolveOptions& options, const ServiceLists*& active, ServiceLists& rest,
               ExemplarSolution& best, Monitor& monitor) {
  const bool is_small = active->num_entries() <= kSmallProblem;
  const int patience = is_small ? kPatience : 1;
  int useless_rounds = 0;
  while (!is_solved(best, options.rel_gap) && best.iterations < options.max_iterations &&
         (useless_rounds < patience || options.rel_gap == 0) && !monitor.should_stop()) {
    const double gap_before = gap_of(best);
    DualOptions steps;
    steps.max_iterations = std::min(kStepsPerRound, options.max_iterations - best.iterations);
    steps.target = best.energy;
    steps.rel_gap = options.rel_gap;
    steps.num_threads = options.num_threads;
    DualAscent ascent = maximise_dual(*active, best.dual, steps, monitor);
    best.dual = std::move(ascent.best);
    best.iterations += ascent.iterations;
    if (monitor.should_stop() || ascent.iterations == 0) break;  // none: the relaxation is solved
    if (close_candidates(*active, best)) {
      ServiceLists smaller = without_candidates(*active, best.is_closed, monitor);
      if (monitor.should_stop()) break;
      rest = std::move(smaller);
      active = &rest;
    }
    round_and_search(*active, ascent.usage, is_small, best, monitor);
    const double closed = gap_before - gap_of(best);
    const bool is_useful = is_small ? closed >= kUsefulShare * gap_before
                                    : closed >= kUsefulShareLarge * gap_before &&
                                          closed >= kUsefulChangeLarge * std::abs(best.energy);
    useless_rounds = is_useful ? 0 : useless_rounds + 1;
    best.trace.push_back(best.energy);
    monitor.on_iteration(
        {options.trial, options.num_trials, best.iterations, options.max_iterations, best.energy,
         best.energy - best.trace[best.trace.size() - 2], options.watch.seconds()});
  }
}

// Messages, then the bound alone: what is found is not improved.
ExemplarSolution solve_by_messages(const ServiceLists& lists, const SolveOptions& options,
                                   Monitor& monitor) {
  const MessageExemplars found =
      propagate_affinity(lists, options.max_iterations, options.seed, monitor);
  const SearchState state(lists, found.open);
  ExemplarSolution best;
  best.energy = state.energy();
  best.server = servers_of(state, lists.n);
  best.is_closed.assign(lists.n, 0);
  best.trace.push_back(best.energy);
  best.iterations = found.iterations;
  best.dual = evaluate_dual(lists, dual_from_solution(lists, best.server, monitor),
                            options.num_threads, monitor);
  DualOptions steps;
  steps.max_iterations = options.max_iterations;
  steps.target = best.energy;
  steps.rel_gap = options.rel_gap;
  steps.num_threads = options.num_threads;
  if (!monitor.should_stop()) best.dual = maximise_dual(lists, best.dual, steps, monitor).best;
  if (monitor.should_stop())
    best.termination = termination_from(monitor.stop_reason());
  else if (!found.has_converged)
    best.termination = Termination::IterationLimit;
  return best;
}

}  // namespace

std::vector<int> ExemplarSolution::exemplars() const {
  std::vector<int> chosen;
  for (int p = 0; p < static_cast<int>(server.size()); ++p)
    if (server[p] == p) chosen.push_back(p);
  return chosen;
}

std::vector<int> all_candidates(int64_t n) {
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> likely_candidates(const ExemplarSolution& best) {
  std::vector<double> rho = best.dual.rho;
  const size_t kept = std::min(rho.size() - 1, std::max<size_t>(kMinCandidates, rho.size() / 4));
  std::nth_element(rho.begin(), rho.begin() + kept, rho.end());
  std::vector<int> likely;
  for (int q = 0; q < static_cast<int>(rho.size()); ++q)
    if (best.server[q] == q || (best.dual.rho[q] <= rho[kept] && !best.is_closed[q]))
      likely.push_back(q);
  return likely;
}

ExemplarSolution search_exemplars(const ServiceLists& lists, const std::vector<int>& open,
                                  const std::vector<int>& candidates, int num_threads,
                                  Monitor& monitor) {
  ExemplarSolution best;
  try_open(lists, open, candidates, best, monitor);
  best.is_closed.assign(lists.n, 0);
  best.dual =
      evaluate_dual(lists, dual_from_solution(lists, best.server, monitor), num_threads, monitor);
  best.trace.push_back(best.energy);
  return best;
}

ExemplarSolution solve_exemplars(const ServiceLists& lists, const SolveOptions& options,
                                 Monitor& monitor) {
  if (options.solver == ExemplarSolver::AffinityPropagation)
    return solve_by_messages(lists, options, monitor);
  const bool is_greedy = options.init == ExemplarInit::Greedy;
  const std::vector<int> open = is_greedy ? greedy_exemplars(lists, options.num_threads, monitor)
                                          : stable_exemplars(lists, monitor);
  ExemplarSolution best =
      search_exemplars(lists, open, all_candidates(lists.n), options.num_threads, monitor);
  ServiceLists rest;
  const ServiceLists* active = &lists;
  alternate(options, active, rest, best, monitor);
  if (!is_solved(best, options.rel_gap) && !monitor.should_stop()) {
    try_open(*active, best.exemplars(), all_candidates(lists.n), best, monitor);
    shake(*active, options, best, monitor);
    best.trace.push_back(best.energy);
  }
  if (monitor.should_stop())
    best.termination = termination_from(monitor.stop_reason());
  else if (!is_solved(best, options.rel_gap) && best.iterations >= options.max_iterations)
    best.termination = Termination::IterationLimit;
  return best;
}

}  // namespace milieu::internal
