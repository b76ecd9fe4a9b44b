// SPDX-License-Identifier: Apache-2.0
// Problem: choose exactly k exemplars that minimise the sum of costs, with a bound.
// Find: a penalty f whose search ends near k (the curve of what was tried is a result), k exemplars
//   near those, improved by swaps, and the bound: for every v, with base_q = rho_q - f,
//     sum_p v_p + sum of the k smallest base_q
//   is at most the cost of any k exemplars; it is never below L(v) - f k. v comes from the ascent
//   of dual_bound.h, f moves to where exactly k samples have rho_q <= 0.
#include "milieu/base/counted.h"
#include "milieu/exemplar/search/exemplar_count_internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/exemplar/search/exemplar_search_internal.h"
#include "milieu/exemplar/search/medoid_search_internal.h"
#include "milieu/exemplar/search/nearest_exemplar_internal.h"

namespace milieu::internal {

namespace {

constexpr int kMaxTrials = 24;
constexpr double kClosePenalties = 1.002;  // ratio at which the bracket is narrow enough
constexpr int kStepsPerRound = 100;
constexpr double kUsefulShare = 0.05;
constexpr int kMaxSwapPasses = 100;

struct Trial {
  PenaltyTrial figures;
  ExemplarSolution solution;
};

// Everything that the stages share.
struct Context {
  ListSource& source;
  const ExemplarInput& input;
  const ExemplarOptions& options;
  Monitor& monitor;
  int64_t n = 0;
  int target = 0;
};

Trial try_penalty(const Context& c, double penalty, const Trial& last) {
  const ServiceLists& lists = c.source.lists_for(penalty);
  const bool is_first = last.solution.server.empty();
  const std::vector<int> open = is_first ? greedy_exemplars(lists, c.options.num_threads, c.monitor)
                                         : last.solution.exemplars();
  Trial trial;
  trial.solution = search_exemplars(
      lists, open, is_first ? all_candidates(c.n) : likely_candidates(last.solution),
      c.options.num_threads, c.monitor);
  if (!lists.is_complete())
    serve_by_true_nearest(c.input, c.options, lists, trial.solution, c.monitor);
  trial.figures = {penalty, static_cast<int>(trial.solution.exemplars().size()),
                   trial.solution.energy, trial.solution.dual.bound};
  return trial;
}

// The number nearest to the target is better; among equals the lower total cost.
bool is_better(const Trial& a, const Trial& b, int target) {
  const int a_off = std::abs(a.figures.num_exemplars - target);
  const int b_off = std::abs(b.figures.num_exemplars - target);
  if (a_off != b_off) return a_off < b_off;
  const auto total = [](const Trial& t) {
    return t.figures.energy - t.figures.penalty * t.figures.num_exemplars;
  };
  return total(a) < total(b);
}

// Bisection of log(penalty); the number of exemplars falls as the penalty grows.
Trial search_penalty(const Context& c, double first_penalty, std::vector<PenaltyTrial>& curve) {
  double penalty = first_penalty > 0 ? first_penalty : 1.0;
  double too_small = 0, too_large = INFINITY;
  const Stopwatch watch;
  Trial best, last;
  for (int t = 0; t < kMaxTrials; ++t) {
    last = try_penalty(c, penalty, last);
    curve.push_back(last.figures);
    const int found = last.figures.num_exemplars;
    if (best.solution.server.empty() || is_better(last, best, c.target)) best = last;
    c.monitor.on_iteration(
        {t, kMaxTrials, t + 1, kMaxTrials, last.figures.energy, 0, watch.seconds()});
    if (found == c.target || c.monitor.should_stop()) break;
    (found > c.target ? too_small : too_large) = penalty;
    if (std::isinf(too_large)) {
      penalty *= 4;
    } else if (too_small == 0) {
      penalty /= 4;
    } else {
      if (too_large / too_small < kClosePenalties) break;
      penalty = std::sqrt(too_small * too_large);
    }
  }
  std::sort(curve.begin(), curve.end(),
            [](const PenaltyTrial& a, const PenaltyTrial& b) { return a.penalty < b.penalty; });
  return best;
}

// Swaps from `medoids`, made exactly k, and keeps the result if it is better.
void try_medoids(const Context& c, const MedoidProblem& problem, std::vector<int> medoids,
                 CountSearch& found, bool is_first) {
  fit_medoid_count(problem, c.target, medoids, c.monitor);
  if (c.monitor.should_stop()) return;
  if (c.target > 1) medoids = swap_medoids(problem, medoids, kMaxSwapPasses, c.monitor).medoids;
  std::sort(medoids.begin(), medoids.end());
  const std::vector<int> labels = medoid_labels(problem, medoids);
  double total = 0;
  for (int64_t p = 0; p < c.n; ++p) total += problem.served(medoids[labels[p]], p);
  if (!is_first && total >= found.total_cost) return;
  found.total_cost = total;
  for (int64_t p = 0; p < c.n; ++p) found.solution.server[p] = medoids[labels[p]];
}

std::vector<int> smallest(const std::vector<double>& rho, int count) {
  std::vector<int> order(rho.size());
  for (size_t q = 0; q < rho.size(); ++q) order[q] = static_cast<int>(q);
  std::nth_element(order.begin(), order.begin() + (count - 1), order.end(),
                   [&](int a, int b) { return rho[a] != rho[b] ? rho[a] < rho[b] : a < b; });
  order.resize(count);  // the last one is the largest of them
  return order;
}

// The bound of this file's head, with the margin for rounding of dual_bound.cc.
double count_bound(const DualPoint& dual, double penalty, const std::vector<int>& chosen) {
  double sum = 0, magnitude = 0;
  for (double v : dual.v) {
    sum += v;
    magnitude += std::abs(v);
  }
  for (int q : chosen) sum += dual.rho[q] - penalty;
  magnitude += penalty * static_cast<double>(chosen.size());
  return sum - 1e-13 * magnitude;
}

// Raises the bound, and searches from what its point suggests where an exact search is possible.
void certify(const Context& c, int count, const MedoidProblem* problem, CountSearch& found) {
  double penalty = std::max(found.penalty, 1e-300);
  DualPoint dual;
  double gap = INFINITY;
  const int rounds = std::max(1, c.options.max_iterations / kStepsPerRound);
  for (int round = 0; round < rounds && !c.monitor.should_stop(); ++round) {
    const ServiceLists& lists = c.source.lists_for(penalty);
    dual = evaluate_dual(lists,
                         round == 0 ? dual_from_solution(lists, found.solution.server, c.monitor)
                                    : std::move(dual.v),
                         c.options.num_threads, c.monitor);
    DualOptions steps;
    steps.max_iterations = kStepsPerRound;
    steps.target = found.total_cost + penalty * count;
    steps.rel_gap = 0;
    steps.num_threads = c.options.num_threads;
    DualAscent ascent = maximise_dual(lists, dual, steps, c.monitor);
    dual = std::move(ascent.best);
    if (c.monitor.should_stop()) break;
    found.solution.iterations += ascent.iterations;
    const std::vector<int> chosen = smallest(dual.rho, count);
    found.lower_bound = std::max(found.lower_bound, count_bound(dual, penalty, chosen));
    if (problem) try_medoids(c, *problem, chosen, found, false);
    const double last_gap = gap;
    gap = found.total_cost - found.lower_bound;
    if (gap <= c.options.rel_gap * std::abs(found.total_cost)) break;
    if (gap > (1 - kUsefulShare) * last_gap) break;
    penalty = std::max(penalty - dual.rho[chosen.back()], 1e-300);
  }
}

void warn_of_count(const Context& c, int count, bool is_exact, std::vector<std::string>& warnings) {
  if (c.monitor.should_stop() || count == c.target) return;
  if (is_exact)
    warnings.push_back(fmt::format("num_clusters is {}, but only {}: the others would repeat them",
                                   c.target,
                                   counted(count, "exemplar differs", "exemplars differ")));
  else
    warnings.push_back(fmt::format(
        "no penalty gave {}, the nearest number is {}; an exact search needs {:.1f} GB, "
        "max_memory_gb is {}",
        counted(c.target, "exemplar"), count, exact_gigabytes(c.n), c.options.max_memory_gb));
}

}  // namespace

double exact_gigabytes(int64_t n) {
  return static_cast<double>(n) * static_cast<double>(n) * (2 * sizeof(float) + sizeof(int)) / 1e9;
}

CountSearch solve_for_count(ListSource& source, const ExemplarInput& input,
                            const ExemplarOptions& options, double first_penalty,
                            std::vector<std::string>& warnings, Monitor& monitor) {
  Context c{source, input, options, monitor, source.num_samples(), options.num_clusters};
  require(c.target <= c.n, [&] {
    return fmt::format("num_clusters is {}, there are only {}: use at most {}", c.target,
                       counted(c.n, "sample"), c.n);
  });
  source.prepare_for_count(c.target);
  CountSearch found;
  Trial best = search_penalty(c, first_penalty, found.curve);
  found.penalty = best.figures.penalty;
  found.total_cost = best.figures.energy - best.figures.penalty * best.figures.num_exemplars;
  found.solution = std::move(best.solution);
  found.lower_bound = -INFINITY;
  MedoidProblem problem;
  const bool is_exact = exact_gigabytes(c.n) <= options.max_memory_gb && !monitor.should_stop();
  if (is_exact) {
    const ServiceLists& lists = source.lists_for(found.penalty);
    problem = lists.num_entries() == c.n * (c.n - 1)
                  ? medoid_problem(lists, options.num_threads, monitor)
                  : medoid_problem(input.points, options.distance, input.costs,
                                   options.max_memory_gb, options.num_threads, monitor);
    if (!monitor.should_stop()) try_medoids(c, problem, found.solution.exemplars(), found, true);
  }
  int count = static_cast<int>(found.solution.exemplars().size());
  certify(c, is_exact ? c.target : count, is_exact ? &problem : nullptr, found);
  count = static_cast<int>(found.solution.exemplars().size());
  warn_of_count(c, count, is_exact, warnings);
  for (const PenaltyTrial& trial : found.curve)
    found.lower_bound = std::max(found.lower_bound, trial.lower_bound - trial.penalty * count);
  found.lower_bound = std::min(found.lower_bound, found.total_cost);
  found.solution.energy = found.total_cost;
  found.solution.trace = {found.total_cost};
  found.solution.termination = Termination::Converged;
  return found;
}

}  // namespace milieu::internal
