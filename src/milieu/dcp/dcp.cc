// SPDX-License-Identifier: Apache-2.0
// Discriminative context partitioning.
//
// Problem      minimise J = 1/2 sum_k |w_k|^2 + sum_k sum_z C phi(1 + f_k(z))
//                           + sum_x C phi(1 - max_k f_k(x))              [Lampert08, Eq. 8]
// Given        samples x (n), context z (m), K, C, a loss phi, perhaps a kernel and constraints
// Find         planes w_k, f_k(x) = <w_k, x>, and the parts {x : argmax_k f_k(x) = k}
// Symbols      J1: J of all samples as one part; Je: of a part without samples
// Conventions  sums, not means; the bias is a feature and is charged in |w|^2. Ties go to the
// lowest
//              part. Parts are numbered by their first sample, unless constraints or initial
//              labels name them.
//              A restart with a part smaller than min_part or min_share counts only when all have
//              one. J1 + (K - 1) Je can always be had: the zero of the gain. By default x and z
//              are whitened together and C = cost / n: see dcp_choose_internal.h for how the
//              result is chosen.
//              Stopped by the monitor: the best restart that came to its end, or the first as it
//              is; labels are those of its planes.
// See          [Lampert08]; docs/algorithms/dcp.md
#include "milieu/dcp/dcp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/dcp/dcp_choose_internal.h"
#include "milieu/dcp/dcp_report_internal.h"
#include "milieu/dcp/dcp_separation_internal.h"
#include "milieu/metrics/metrics.h"

namespace milieu {
namespace {

using internal::Choice;
using internal::Constraints;
using internal::DcpProblem;
using internal::ExactRows;
using internal::Found;
using internal::Solution;

constexpr double kRelGap = 1e-8;
constexpr double kNoGain = 1e-7;  // smaller gains may come from the gaps of the classifiers

// Parts by their first sample; empty ones last. Constraints and initial labels that name parts
// forbid it.
void order_parts(const DcpInput& input, const DcpOptions& options, Solution& solution) {
  if (!input.memberships.empty() || !options.sizes.empty() || !input.initial_labels.empty()) return;
  const int num_parts = static_cast<int>(solution.planes.rows());
  std::vector<int> place(num_parts, -1);
  int next = 0;
  for (const int label : solution.labels)
    if (place[label] < 0) place[label] = next++;
  for (int& p : place)
    if (p < 0) p = next++;
  Matrix<double> planes(num_parts, solution.planes.cols());
  for (int k = 0; k < num_parts; ++k)
    std::copy_n(solution.planes.row(k), planes.cols(), planes.row(place[k]));
  solution.planes = std::move(planes);
  for (int& label : solution.labels) label = place[label];
}

// J1 and Je, and what follows from them.
void compare_with_trivial(const DcpProblem& problem, const ExactRows& rows,
                          const DcpOptions& options, Monitor& monitor, DcpResult& result) {
  // All samples in part 0: its plane is near that of J1, those of the others near that of Je.
  const std::vector<double> near =
      train_roughly(problem, options, std::vector<int>(problem.n), monitor);
  const std::span<const double> all(near);
  std::vector<double> charges(problem.num_rows());
  for (int64_t i = 0; i < problem.num_rows(); ++i) charges[i] = problem.cost * problem.weight(i);
  result.joint_objective =
      solve_classifier(rows, problem, charges, all.first(problem.d), kRelGap, monitor).objective;
  std::fill_n(charges.begin(), problem.n, 0.0);
  const std::span<const double> of_empty =
      problem.num_parts > 1 ? all.last(problem.d) : std::span<const double>();
  result.empty_objective =
      solve_classifier(rows, problem, charges, of_empty, kRelGap, monitor).objective;
  const double trivial = result.joint_objective + (problem.num_parts - 1) * result.empty_objective;
  result.gain = trivial > 0 ? 1 - result.summary.objective / trivial : 0;
  if (std::abs(result.gain) < kNoGain) result.gain = 0;
}

double mean_agreement(const std::vector<Found>& found, int best, const std::vector<int>& labels) {
  double sum = 0;
  int count = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (static_cast<int>(i) == best || found[i].labels.empty()) continue;
    sum += compute_metrics(found[i].labels, labels).ari;
    ++count;
  }
  return count > 0 ? sum / count : 1;
}

int64_t count_evaluations(const std::vector<Found>& found) {
  int64_t count = 0;
  for (const Found& one : found) count += one.evaluations;
  return count;
}

std::vector<Found> run_search(const DcpProblem& problem, const DcpInput& input,
                              const DcpOptions& options, const Constraints& constraints,
                              Monitor& monitor) {
  const std::vector<internal::Start> starts = draw_starts(problem, input, options, monitor);
  if (!constraints.empty())
    return constrained_search(problem, options, starts, constraints, monitor);
  if (options.search.optimizer != DcpOptimizer::Alternation)
    return search(problem, options, starts, monitor);
  std::vector<Found> found(starts.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    found[i].labels = starts[i].labels;
    found[i].planes.resize(problem.num_parts * problem.d);
    if (starts[i].labels.empty()) {
      found[i].planes = starts[i].planes;
      found[i].labels = label_samples(problem, {starts[i].planes})[0];
    }
    found[i].objective = std::numeric_limits<double>::infinity();
  }
  return found;
}

// No features were made in time: a model that puts everything into part 0.
DcpResult stopped_before_the_search(const DcpInput& input, const DcpOptions& options,
                                    Monitor& monitor) {
  DcpResult result;
  const int64_t n = input.points.rows(), d = input.points.cols();
  result.labels.assign(n, 0);
  result.model.coefficients = Matrix<double>(options.num_clusters, d);
  result.model.offsets.assign(options.num_clusters, 0);
  result.decisions = Matrix<float>(n, options.num_clusters);
  result.margins.assign(n, 0);
  internal::summarise(input, options, {}, 0, result);
  result.summary.termination = termination_from(monitor.stop_reason());
  result.summary.message = "stopped before the kernel was ready: all samples are in one part";
  return result;
}

// The best split so far with the problem it belongs to.
struct Kept {
  std::unique_ptr<DcpProblem> problem;
  std::unique_ptr<ExactRows> rows;
  std::vector<Found> found;
  Choice choice;
  int restarts_before = 0;  // those of the floors before it
};

// What all floors together report.
struct SearchRecord {
  std::vector<double> restart_objectives;  // floor by floor
  int64_t num_evaluations = 0;
};

// Searches with every floor of the whitening, or once without it. No problem: stopped before any
// had features.
Kept search_all(const DcpInput& input, const DcpOptions& options, const Constraints& constraints,
                const Stopwatch& watch, Monitor& monitor, SearchRecord& record) {
  internal::DcpProblems problems(input, options, monitor);
  Kept kept;
  for (size_t which = 0; which < problems.size(); ++which) {
    if (kept.problem != nullptr && monitor.should_stop()) break;
    Kept next;
    next.problem = std::make_unique<DcpProblem>(problems.make(which));
    if (next.problem->source == nullptr) break;
    next.found = run_search(*next.problem, input, options, constraints, monitor);
    next.restarts_before = static_cast<int>(record.restart_objectives.size());
    record.num_evaluations += count_evaluations(next.found);
    for (const Found& one : next.found) record.restart_objectives.push_back(one.objective);
    const bool is_searched = !monitor.should_stop();
    if (kept.problem != nullptr && !is_searched) break;
    next.rows = std::make_unique<ExactRows>(*next.problem, monitor);
    const internal::RestartCount count{watch, next.restarts_before,
                                       static_cast<int>(problems.size() * next.found.size())};
    next.choice = is_searched ? choose_restart(*next.problem, *next.rows, input, options,
                                               next.found, constraints, count, monitor)
                              : take_unfinished(*next.problem, next.found);
    if (kept.problem == nullptr || is_better(next.choice, kept.choice, true))
      kept = std::move(next);
  }
  return kept;
}

}  // namespace

DcpResult fit_dcp(const DcpInput& input, const DcpOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  internal::validate_dcp(input, options);
  const Constraints constraints = internal::make_constraints(input, options);
  SearchRecord record;
  Kept kept = search_all(input, options, constraints, watch, monitor, record);
  if (kept.problem == nullptr) return stopped_before_the_search(input, options, monitor);
  Solution& solution = kept.choice.solution;
  order_parts(input, options, solution);

  DcpResult result;
  result.model = kept.problem->source->to_model(solution.planes);
  result.gap = solution.gap;
  result.separation = kept.choice.separation;
  result.floor = kept.problem->floor;
  result.summary.objective = solution.objective;
  result.summary.trace = solution.trace;
  result.summary.restart = kept.restarts_before + kept.choice.restart;
  result.summary.num_restarts = static_cast<int>(record.restart_objectives.size());
  result.summary.iterations =
      std::max(kept.found[kept.choice.restart].iterations, static_cast<int>(solution.trace.size()));
  result.labels = std::move(solution.labels);
  internal::fill_decisions(input, options, constraints.empty(), result);
  result.restart_objectives = std::move(record.restart_objectives);
  if (!monitor.should_stop()) {
    compare_with_trivial(*kept.problem, *kept.rows, options, monitor, result);
    result.agreement = mean_agreement(kept.found, kept.choice.restart, result.labels);
    result.confidence = internal::confidence_of(result.separation);
  }
  result.summary.termination = monitor.should_stop() ? termination_from(monitor.stop_reason())
                               : solution.is_settled ? Termination::Converged
                                                     : Termination::IterationLimit;
  internal::summarise(input, options, constraints, record.num_evaluations, result);
  result.summary.seconds = watch.seconds();
  return result;
}

DcpOptions margin_dcp_options() {
  DcpOptions options;
  options.cost = 100;
  options.cost_per = DcpCostPer::Sample;
  options.bias = 1;
  options.whiten = "none";
  options.search.num_crossings = 10;
  options.num_restarts = 20;
  options.min_share = 0;
  return options;
}

DcpSplitCost split_cost(const DcpInput& input, std::span<const int> labels,
                        const DcpOptions& options) {
  DcpInput given = input;
  given.initial_labels = labels;
  require(!labels.empty(), "labels are missing: give one per sample");
  const DcpProblem problem = internal::make_dcp_problem(given, options, silent_monitor());
  const ExactRows rows(problem, silent_monitor());
  Solution solution;
  solution.labels.assign(labels.begin(), labels.end());
  train_planes(problem, rows, solution, silent_monitor());
  DcpResult result;
  result.summary.objective = solution.objective;
  compare_with_trivial(problem, rows, options, silent_monitor(), result);
  return {solution.objective, result.joint_objective, result.empty_objective, solution.gap};
}

}  // namespace milieu
