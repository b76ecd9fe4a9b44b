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
//              part. Parts are numbered by their first sample, unless constraints or initial labels
//              name them.
//              A restart with a part smaller than min_part counts only when all have one. J1 +
//              (K - 1) Je can always be had: the zero of the gain.
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
#include "milieu/dcp/dcp_finish_internal.h"
#include "milieu/dcp/dcp_report_internal.h"
#include "milieu/dcp/dcp_search_internal.h"
#include "milieu/metrics/metrics.h"

namespace milieu {
namespace {

using internal::Constraints;
using internal::DcpProblem;
using internal::ExactRows;
using internal::Found;
using internal::Solution;

constexpr int kMaxRounds = 100;
constexpr int64_t kSmallProblem = 20000;  // features in all: every restart is finished exactly
constexpr int64_t kFewSamples = 64;       // up to this many, single samples are moved as well
constexpr double kRelGap = 1e-8;
constexpr double kNoGain = 1e-7;  // smaller gains may come from the gaps of the classifiers

int64_t smallest_part(const std::vector<int>& labels, int num_parts) {
  std::vector<int64_t> sizes(num_parts);
  for (const int label : labels) ++sizes[label];
  return *std::min_element(sizes.begin(), sizes.end());
}

// Restarts worth an exact finish, best first: those near the best (a rounded hinge and float sums
// blur the order), each split once; all of them in small problems.
std::vector<int> choose_candidates(const DcpProblem& problem, const DcpOptions& options,
                                   const std::vector<Found>& found) {
  const bool is_small = problem.num_rows() * problem.d <= kSmallProblem ||
                        options.search.optimizer == DcpOptimizer::Alternation;
  const bool is_blurred = problem.loss.loss == DcpLoss::Hinge;
  std::vector<int> order(found.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<char> is_whole(found.size());
  for (size_t i = 0; i < found.size(); ++i)
    is_whole[i] = smallest_part(found[i].labels, problem.num_parts) >= options.min_part;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    if (is_whole[a] != is_whole[b]) return is_whole[a] > is_whole[b];
    return found[a].objective < found[b].objective;
  });
  const double limit = found[order[0]].objective * (is_blurred ? 1.1 : 1.001);
  const size_t most = is_small ? found.size() : is_blurred ? 5 : 2;
  std::vector<int> chosen;
  for (const int i : order) {
    if (chosen.size() == most || (!is_small && found[i].objective > limit)) break;
    if (is_whole[i] != is_whole[order[0]] && !is_small) break;
    const bool is_new = std::none_of(chosen.begin(), chosen.end(),
                                     [&](int j) { return found[i].labels == found[j].labels; });
    if (is_new) chosen.push_back(i);
  }
  return chosen;
}

struct Best {
  Solution solution;
  int restart = 0;
  bool is_whole = false;  // no part below min_part
};

// Finishes the candidates by exact alternation and keeps the best.
Best finish_candidates(const DcpProblem& problem, const ExactRows& rows, const DcpOptions& options,
                       const std::vector<Found>& found, const Constraints& constraints,
                       const Stopwatch& watch, Monitor& monitor) {
  Best best;
  for (const int i : choose_candidates(problem, options, found)) {
    Solution solution;
    solution.labels = found[i].labels;
    solution.objective = found[i].objective;
    solution.planes = Matrix<double>(problem.num_parts, problem.d);
    std::copy(found[i].planes.begin(), found[i].planes.end(), solution.planes.data());
    const auto report = [&](int round, double objective) {
      IterationReport r{i, static_cast<int>(found.size()), round, kMaxRounds, objective, 0, 0};
      r.change = round > 1 ? objective - solution.trace[solution.trace.size() - 2] : 0;
      r.seconds = watch.seconds();
      monitor.on_iteration(r);
    };
    alternate(problem, rows, constraints, kMaxRounds, monitor, report, solution);
    if (problem.n <= kFewSamples && constraints.empty() &&
        options.search.optimizer != DcpOptimizer::Alternation)
      improve_by_moves(problem, rows, kMaxRounds, monitor, solution);
    const bool is_whole = smallest_part(solution.labels, problem.num_parts) >= options.min_part;
    if (best.solution.labels.empty() || is_whole > best.is_whole ||
        (is_whole == best.is_whole && solution.objective < best.solution.objective))
      best = {std::move(solution), i, is_whole};
    if (monitor.should_stop()) break;
  }
  return best;
}

// What is left of a search that was stopped.
Best take_unfinished(const DcpProblem& problem, const std::vector<Found>& found) {
  Best best;
  for (size_t i = 1; i < found.size(); ++i)
    if (found[i].objective < found[best.restart].objective) best.restart = static_cast<int>(i);
  const Found& chosen = found[best.restart];
  Solution& solution = best.solution;
  solution.planes = Matrix<double>(problem.num_parts, problem.d);
  std::copy(chosen.planes.begin(), chosen.planes.end(), solution.planes.data());
  internal::Lane lane;
  lane.planes = chosen.planes;
  lane.cost = problem.cost;
  lane.loss = problem.loss;
  evaluate(problem, {&lane, 1}, silent_monitor());
  solution.objective = lane.value;
  solution.labels = label_samples(problem, {chosen.planes})[0];
  return best;
}

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

}  // namespace

DcpResult fit_dcp(const DcpInput& input, const DcpOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  const DcpProblem problem = internal::make_dcp_problem(input, options, monitor);
  const Constraints constraints = internal::make_constraints(input, options);
  if (problem.source == nullptr) return stopped_before_the_search(input, options, monitor);
  const std::vector<Found> found = run_search(problem, input, options, constraints, monitor);
  const bool is_searched = !monitor.should_stop();
  const ExactRows rows(problem, monitor);
  Best best = is_searched
                  ? finish_candidates(problem, rows, options, found, constraints, watch, monitor)
                  : take_unfinished(problem, found);
  order_parts(input, options, best.solution);

  DcpResult result;
  result.model = problem.source->to_model(best.solution.planes);
  result.gap = best.solution.gap;
  result.summary.objective = best.solution.objective;
  result.summary.trace = best.solution.trace;
  result.summary.restart = best.restart;
  result.summary.num_restarts = static_cast<int>(found.size());
  result.summary.iterations =
      std::max(found[best.restart].iterations, static_cast<int>(best.solution.trace.size()));
  result.labels = std::move(best.solution.labels);
  internal::fill_decisions(input, options, constraints.empty(), result);
  for (const Found& one : found) result.restart_objectives.push_back(one.objective);
  if (!monitor.should_stop()) {
    compare_with_trivial(problem, rows, options, monitor, result);
    result.agreement = mean_agreement(found, best.restart, result.labels);
  }
  result.summary.termination = monitor.should_stop()      ? termination_from(monitor.stop_reason())
                               : best.solution.is_settled ? Termination::Converged
                                                          : Termination::IterationLimit;
  internal::summarise(input, options, constraints, count_evaluations(found), result);
  result.summary.seconds = watch.seconds();
  return result;
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
