// SPDX-License-Identifier: Apache-2.0
// Problem: choose exemplars S that minimise E(S) = sum_{q in S} d_qq + sum_{p not in S} min_{q in
// S} d_pq
//   [Komodakis11, Eq. 1].
// Given: points with a distance, a cost matrix, or lists; a penalty d_qq, or a target |S|.
// Find: S, the assignment, and a bound L <= min E.
// Conventions: an exemplar serves itself; ties to the lowest index; a sample whose cheapest service
//   costs its own penalty or more becomes an exemplar.
// See: docs/algorithms/exemplar.md; exemplar_solve.cc (the loop), dual_bound.cc (the bound),
//   exemplar_search.cc (moves), exemplar_count.cc (a target number).
#include "milieu/exemplar/search/exemplar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/exemplar/search/exemplar_count_internal.h"
#include "milieu/exemplar/search/exemplar_lists_internal.h"
#include "milieu/exemplar/search/exemplar_solve_internal.h"
#include "milieu/exemplar/search/nearest_exemplar_internal.h"
#include "milieu/exemplar/search/sample_order_internal.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {

namespace {

using internal::ExemplarSolution;
using internal::ListSource;

constexpr int64_t kMinOrderedSamples = 20'000;

void check_input(const ExemplarInput& input, const ExemplarOptions& options) {
  validate_options(options);
  const int given = !input.points.empty() + !input.costs.empty() + (input.lists != nullptr);
  require(given == 1, "exemplar clustering needs exactly one of points, costs and lists");
  if (!input.points.empty()) check_points(input.points);
  require(input.costs.rows() == input.costs.cols(), [&] {
    return fmt::format("the cost matrix is {} x {}, must be square", input.costs.rows(),
                       input.costs.cols());
  });
  require(options.grouping != ExemplarGrouping::Cut,
          "grouping is cut, which needs a learned distance: give --model, or use milieu ncut");
  require(input.exemplar_features.empty(),
          "exemplar_features are given, but only a learned distance uses them: give --model");
  require(options.solver == ExemplarSolver::Search || options.num_clusters == 0,
          "solver is affinity-propagation, which has no target number: leave num_clusters out and "
          "give a penalty");
  const bool has_own_penalties = input.lists != nullptr || !input.penalties.empty();
  require(!(has_own_penalties && options.num_clusters > 0),
          "num_clusters searches for one penalty for all samples: give either it, or penalties or "
          "lists");
}

ExemplarResult result_from(const ExemplarInput& input, const ExemplarOptions& options,
                           const ExemplarSolution& solution) {
  ExemplarResult result;
  const std::vector<int> exemplars = solution.exemplars();
  std::vector<int> place(solution.server.size(), -1);
  for (size_t i = 0; i < exemplars.size(); ++i) place[exemplars[i]] = static_cast<int>(i);
  for (int q : solution.server) result.labels.push_back(place[q]);
  result.model.rows.assign(exemplars.begin(), exemplars.end());
  result.model.distance = internal::distance_name(options.distance);
  if (input.points.empty()) {
    result.model.distance = "precomputed";
  } else {
    result.model.exemplars =
        Matrix<float>(static_cast<int64_t>(exemplars.size()), input.points.cols());
    for (size_t i = 0; i < exemplars.size(); ++i)
      std::copy_n(input.points.row(exemplars[i]), input.points.cols(),
                  result.model.exemplars.row(static_cast<int64_t>(i)));
  }
  return result;
}

// Reduced costs [Komodakis11, section 3]: opening q raises the bound by rho_q, closing it by
// -rho_q; past the best energy neither can be part of a better solution.
void count_fixed(const ExemplarSolution& solution, ExemplarResult& result) {
  const double slack = std::max(0.0, solution.energy - solution.dual.bound);
  for (size_t q = 0; q < solution.dual.rho.size(); ++q) {
    result.num_fixed_closed += solution.is_closed[q] || solution.dual.rho[q] > slack;
    result.num_fixed_open += solution.dual.rho[q] < -slack;
  }
}

// Results that are correct but seldom intended.
void warn_of_extremes(const ExemplarOptions& options, const ExemplarResult& result,
                      std::vector<std::string>& warnings) {
  const size_t n = result.labels.size(), k = result.model.rows.size();
  if (n < 2 || options.num_clusters > 0) return;
  if (k == n)
    warnings.push_back(
        "every sample is its own exemplar: serving others never pays off; raise the penalty");
  else if (k == 1)
    warnings.push_back("one exemplar serves all samples: lower the penalty for more");
}

double relative_gap(double energy, double bound) {
  if (!std::isfinite(bound)) return std::numeric_limits<double>::infinity();  // stopped too early
  const double gap = std::max(0.0, energy - bound);
  return gap == 0 ? 0.0 : gap / std::max(std::abs(bound), 1e-300);
}

std::string describe_end(const ExemplarResult& result, Termination termination) {
  if (!std::isfinite(result.gap)) return "stopped before a lower bound was found";
  if (termination == Termination::Converged && result.gap <= 1e-9)
    return "the result is optimal: energy and lower bound meet";
  return fmt::format("no choice of exemplars has an energy more than {:.3g} % lower",
                     100 * result.gap / (1 + result.gap));
}

void fill_summary(const ExemplarInput& input, const ExemplarOptions& options,
                  const ExemplarSolution& solution, double penalty, ExemplarResult& result) {
  RunSummary& summary = result.summary;
  summary.method = "exemplar";
  summary.version = version();
  summary.seed = options.seed;
  summary.termination = solution.termination;
  summary.objective = result.energy;
  summary.trace = solution.trace;
  summary.iterations = solution.iterations;
  summary.n = static_cast<int64_t>(result.labels.size());
  summary.d = input.points.empty() ? summary.n : input.points.cols();
  set_sizes(summary, result.labels, static_cast<int>(result.model.rows.size()));
  summary.message = describe_end(result, solution.termination);
  summary.extra = {{"energy", result.energy},
                   {"lower_bound", result.lower_bound},
                   {"gap", result.gap},
                   {"exemplars", result.model.rows},
                   {"num_fixed_open", result.num_fixed_open},
                   {"num_fixed_closed", result.num_fixed_closed}};
  if (input.lists == nullptr && input.penalties.empty())
    summary.extra.emplace_back("penalty", penalty);
  if (result.curve.empty()) return;
  std::vector<double> penalties, counts;
  for (const PenaltyTrial& trial : result.curve) {
    penalties.push_back(trial.penalty);
    counts.push_back(trial.num_exemplars);
  }
  summary.extra.emplace_back("curve_penalties", penalties);
  summary.extra.emplace_back("curve_num_exemplars", counts);
}

}  // namespace

namespace {

// Large sets on short lists are solved in a separate order.
struct OrderedInput {
  ExemplarInput input;
  std::vector<int> order;  // empty: as given
  Matrix<float> points;
  std::vector<double> penalties;

  OrderedInput(const ExemplarInput& given, const ExemplarOptions& options, const Monitor& monitor)
      : input(given) {
    const int64_t n = given.points.rows();
    if (n < kMinOrderedSamples || options.num_neighbors == 0 || options.num_clusters > 0) return;
    order = internal::spatial_order(given.points, monitor);
    points = internal::rows_in_order(given.points, order);
    input.points = points;
    if (given.penalties.empty()) return;
    for (int p : order) penalties.push_back(given.penalties[p]);
    input.penalties = penalties;
  }

  // Back to the caller's numbers.
  std::vector<int> servers(const std::vector<int>& server) const {
    if (order.empty()) return server;
    std::vector<int> original(server.size());
    for (size_t p = 0; p < server.size(); ++p) original[order[p]] = order[server[p]];
    return original;
  }
};

}  // namespace

ExemplarResult fit_exemplar(const ExemplarInput& given, const ExemplarOptions& options,
                            Monitor& monitor) {
  const Stopwatch watch;
  ExemplarInput input = given;
  if (options.distance == Distance::Precomputed && input.costs.empty())
    std::swap(input.points, input.costs);
  check_input(input, options);
  std::vector<std::string> warnings;
  const OrderedInput ordered(input, options, monitor);
  ListSource source(ordered.input, options, warnings, monitor);
  const bool has_own_penalties = input.lists != nullptr || !input.penalties.empty();
  const double asked = has_own_penalties ? 0.0 : source.asked_penalty();
  ExemplarResult result;
  ExemplarSolution solution;
  double penalty = asked;
  if (options.num_clusters > 0) {
    internal::CountSearch found =
        internal::solve_for_count(source, input, options, asked, warnings, monitor);
    solution = std::move(found.solution);
    penalty = found.penalty;
    result = result_from(input, options, solution);
    result.curve = std::move(found.curve);
    result.energy = found.total_cost;
    result.lower_bound = found.lower_bound;
  } else {
    const ServiceLists& lists = source.lists_for(asked);
    solution = internal::solve_exemplars(lists, internal::solve_options(options), monitor);
    if (!lists.is_complete())
      internal::serve_by_true_nearest(ordered.input, options, lists, solution, monitor);
    solution.server = ordered.servers(solution.server);
    result = result_from(input, options, solution);
    result.energy = solution.energy;
    result.lower_bound = std::min(solution.dual.bound, solution.energy);
    count_fixed(solution, result);
  }
  if (monitor.should_stop()) solution.termination = termination_from(monitor.stop_reason());
  result.gap = relative_gap(result.energy, result.lower_bound);
  if (!monitor.should_stop()) warn_of_extremes(options, result, warnings);
  fill_summary(input, options, solution, penalty, result);
  result.summary.warnings = std::move(warnings);
  result.summary.seconds = watch.seconds();
  return result;
}

std::vector<int> predict(const ExemplarModel& model, FloatView points, int num_threads) {
  require(!model.exemplars.empty(),
          "this model was fitted on a cost matrix and has no features to predict from");
  return internal::nearest_exemplars(internal::distance_from_name(model.distance), model.exemplars,
                                     points, num_threads);
}

}  // namespace milieu
