// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/exemplar_count_internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/exemplar/medoid_search_internal.h"
#include "milieu/exemplar/nearest_exemplar_internal.h"

namespace milieu::internal {

namespace {

constexpr int kMaxTrials = 40;
constexpr double kClosePenalties = 1.0005;  // ratio at which the bracket is narrow enough

struct Trial {
  PenaltyTrial figures;
  ExemplarSolution solution;
};

Trial try_penalty(ListSource& source, const ExemplarInput& input, const ExemplarOptions& options,
                  double penalty, const SolveOptions& solve, Monitor& monitor) {
  const ServiceLists& lists = source.lists_for(penalty);
  Trial trial;
  trial.solution = solve_exemplars(lists, solve, monitor);
  if (!lists.is_complete()) serve_by_true_nearest(input, options, lists, trial.solution);
  trial.figures = {penalty, static_cast<int>(trial.solution.exemplars().size()),
                   trial.solution.energy, trial.solution.dual.bound};
  return trial;
}

// The number nearest to the wish wins; among equals the lower total cost.
bool is_better(const Trial& a, const Trial& b, int wished) {
  const int a_off = std::abs(a.figures.num_exemplars - wished);
  const int b_off = std::abs(b.figures.num_exemplars - wished);
  if (a_off != b_off) return a_off < b_off;
  const auto total = [](const Trial& t) {
    return t.figures.energy - t.figures.penalty * t.figures.num_exemplars;
  };
  return total(a) < total(b);
}

// Bisection of log(penalty); the number of exemplars falls as the penalty grows.
Trial search_penalty(ListSource& source, const ExemplarInput& input, const ExemplarOptions& options,
                     double first_penalty, std::vector<PenaltyTrial>& curve, Monitor& monitor) {
  const int wished = options.num_clusters;
  double penalty = first_penalty > 0 ? first_penalty : 1.0;
  double too_small = 0, too_large = INFINITY;
  SolveOptions solve = solve_options(options);
  solve.max_iterations = std::min(options.max_iterations, 200);
  solve.num_trials = kMaxTrials;
  Trial best;
  for (int t = 0; t < kMaxTrials; ++t) {
    solve.trial = t;
    Trial trial = try_penalty(source, input, options, penalty, solve, monitor);
    curve.push_back(trial.figures);
    const int found = trial.figures.num_exemplars;
    if (best.solution.server.empty() || is_better(trial, best, wished)) best = std::move(trial);
    if (found == wished || monitor.should_stop()) break;
    (found > wished ? too_small : too_large) = penalty;
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

// Exactly `wished` medoids near the found ones: the first of them, or more by greedy choice.
void make_exact(const ExemplarInput& input, const ExemplarOptions& options, Monitor& monitor,
                CountSearch& found) {
  const MedoidProblem problem = medoid_problem(input.points, options.distance, input.costs,
                                               options.max_memory_gb, options.num_threads, monitor);
  if (monitor.should_stop()) return;
  std::vector<int> medoids = found.solution.exemplars();
  fit_medoid_count(problem, options.num_clusters, medoids);
  if (options.num_clusters > 1) medoids = swap_medoids(problem, medoids, 100, monitor).medoids;
  const std::vector<int> labels = medoid_labels(problem, medoids);
  found.total_cost = 0;
  for (int64_t p = 0; p < static_cast<int64_t>(labels.size()); ++p) {
    found.solution.server[p] = medoids[labels[p]];
    found.total_cost += problem.served(medoids[labels[p]], p);
  }
}

}  // namespace

CountSearch solve_for_count(ListSource& source, const ExemplarInput& input,
                            const ExemplarOptions& options, double first_penalty,
                            std::vector<std::string>& warnings, Monitor& monitor) {
  const int wished = options.num_clusters;
  const int64_t n = source.num_samples();
  require(wished <= n, [&] {
    return fmt::format("num_clusters is {}, there are only {} samples: take at most {}", wished, n,
                       n);
  });
  CountSearch found;
  Trial best = search_penalty(source, input, options, first_penalty, found.curve, monitor);
  found.penalty = best.figures.penalty;
  found.total_cost = best.figures.energy - best.figures.penalty * best.figures.num_exemplars;
  found.solution = std::move(best.solution);
  const double gigabytes = static_cast<double>(n) * static_cast<double>(n) * sizeof(float) / 1e9;
  int count = best.figures.num_exemplars;
  if (gigabytes <= options.max_memory_gb) {
    if (!monitor.should_stop()) make_exact(input, options, monitor, found);
    count = static_cast<int>(found.solution.exemplars().size());
    if (count < wished && !monitor.should_stop())
      warnings.push_back(fmt::format(
          "num_clusters is {}, but only {} exemplars differ: the others would repeat them", wished,
          count));
  } else if (count != wished) {
    warnings.push_back(fmt::format(
        "no penalty gave {} exemplars, the nearest number is {}; an exact search needs {:.1f} GB, "
        "max_memory_gb is {}",
        wished, count, gigabytes, options.max_memory_gb));
  }
  found.lower_bound = -INFINITY;
  for (const PenaltyTrial& trial : found.curve)
    found.lower_bound = std::max(found.lower_bound, trial.lower_bound - trial.penalty * count);
  found.lower_bound = std::min(found.lower_bound, found.total_cost);
  found.solution.energy = found.total_cost;
  found.solution.trace = {found.total_cost};
  found.solution.termination = Termination::Converged;
  return found;
}

}  // namespace milieu::internal
