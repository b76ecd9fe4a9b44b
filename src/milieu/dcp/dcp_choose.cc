// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/dcp_choose_internal.h"

#include <algorithm>
#include <numeric>

#include "milieu/dcp/dcp_separation_internal.h"

namespace milieu::internal {
namespace {

constexpr int kMaxRounds = 100;
constexpr int64_t kSmallProblem = 20000;  // features in all: every restart is finished exactly
constexpr int64_t kFewSamples = 64;       // up to this many, single samples are moved as well
constexpr double kUnevenShare = 0.5;      // of an even share: splits with a smaller part are uneven

int64_t smallest_part(const std::vector<int>& labels, int num_parts) {
  std::vector<int64_t> sizes(num_parts);
  for (const int label : labels) ++sizes[label];
  return *std::min_element(sizes.begin(), sizes.end());
}

bool is_whole_split(const std::vector<int>& labels, const DcpOptions& options) {
  const double even = static_cast<double>(labels.size()) / options.num_clusters;
  const int64_t smallest = smallest_part(labels, options.num_clusters);
  return smallest >= options.min_part && static_cast<double>(smallest) >= options.min_share * even;
}

bool is_uneven(const std::vector<int>& labels, int num_parts) {
  const double even = static_cast<double>(labels.size()) / num_parts;
  return static_cast<double>(smallest_part(labels, num_parts)) < kUnevenShare * even;
}

// What lowers J from that of no planes by nearly as much as the best is as good: the differences
// are those of other samples of the same kind.
constexpr double kEqualGain = 0.002;
constexpr int kMostOfABalance = 4;

// Restarts, those without small parts first, then by J.
std::vector<int> order_by_objective(const DcpOptions& options, const std::vector<Found>& found) {
  std::vector<int> order(found.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<char> is_whole;
  for (const Found& one : found) is_whole.push_back(is_whole_split(one.labels, options));
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    if (is_whole[a] != is_whole[b]) return is_whole[a] > is_whole[b];
    return found[a].objective < found[b].objective;
  });
  return order;
}

// J of planes that are all 0.
double objective_of_nothing(const DcpProblem& problem) {
  double sum = 0;
  for (int64_t i = 0; i < problem.num_rows(); ++i)
    sum += problem.weight(i) * (i < problem.n ? 1 : problem.num_parts);
  return problem.cost * problem.loss.value(1) * sum;
}

// With whitening: of the even and of the uneven splits those whose J is as good as the lowest, each
// split once.
std::vector<int> choose_by_balance(const DcpProblem& problem, const DcpOptions& options,
                                   const std::vector<Found>& found) {
  const double nothing = objective_of_nothing(problem);
  std::vector<int> chosen;
  double best_gain[2] = {0, 0};
  int count[2] = {0, 0};
  for (const int i : order_by_objective(options, found)) {
    if (!chosen.empty() && !is_whole_split(found[i].labels, options)) break;
    const bool uneven = is_uneven(found[i].labels, options.num_clusters);
    const double gain = nothing - found[i].objective;
    if (count[uneven] == 0) best_gain[uneven] = gain;
    const bool is_near = gain >= (1 - kEqualGain) * best_gain[uneven];
    const bool is_new = std::none_of(chosen.begin(), chosen.end(),
                                     [&](int j) { return found[i].labels == found[j].labels; });
    if (count[uneven] > 0 && (!is_near || !is_new || count[uneven] == kMostOfABalance)) continue;
    chosen.push_back(i);
    ++count[uneven];
  }
  return chosen;
}

// Without: those near the best (a rounded hinge and float sums blur the order), each split once;
// all of them in small problems.
std::vector<int> choose_by_objective(const DcpProblem& problem, const DcpOptions& options,
                                     const std::vector<Found>& found) {
  const bool is_small = problem.num_rows() * problem.d <= kSmallProblem ||
                        options.search.optimizer == DcpOptimizer::Alternation;
  const bool is_blurred = problem.loss.loss == DcpLoss::Hinge;
  const std::vector<int> order = order_by_objective(options, found);
  const bool is_whole = is_whole_split(found[order[0]].labels, options);
  const double limit = found[order[0]].objective * (is_blurred ? 1.1 : 1.001);
  const size_t most = is_small ? found.size() : is_blurred ? 5 : 2;
  std::vector<int> chosen;
  for (const int i : order) {
    if (chosen.size() == most || (!is_small && found[i].objective > limit)) break;
    if (is_whole_split(found[i].labels, options) != is_whole && !is_small) break;
    const bool is_new = std::none_of(chosen.begin(), chosen.end(),
                                     [&](int j) { return found[i].labels == found[j].labels; });
    if (is_new) chosen.push_back(i);
  }
  return chosen;
}

double separation_of(const DcpProblem& problem, const ExactRows& rows, const DcpInput& input,
                     const Solution& solution) {
  Matrix<double> values(problem.n, problem.num_parts), context(problem.m, problem.num_parts);
  for (int k = 0; k < problem.num_parts; ++k) {
    const std::vector<double> f = rows.products(solution.planes.row_span(k));
    for (int64_t i = 0; i < problem.n; ++i) values(i, k) = f[i];
    for (int64_t i = 0; i < problem.m; ++i) context(i, k) = f[problem.n + i];
  }
  return measure_separation(values, solution.labels, context, input.weights, input.context_weights);
}

}  // namespace

bool is_better(const Choice& one, const Choice& other, bool is_whitened) {
  if (one.is_whole != other.is_whole) return one.is_whole;
  if (is_whitened) return one.separation > other.separation;
  return one.solution.objective < other.solution.objective;
}

Choice choose_restart(const DcpProblem& problem, const ExactRows& rows, const DcpInput& input,
                      const DcpOptions& options, const std::vector<Found>& found,
                      const Constraints& constraints, const RestartCount& count, Monitor& monitor) {
  const bool is_whitened = problem.is_whitened();
  Choice best;
  for (const int i : is_whitened ? choose_by_balance(problem, options, found)
                                 : choose_by_objective(problem, options, found)) {
    Solution solution;
    solution.labels = found[i].labels;
    solution.objective = found[i].objective;
    solution.planes = Matrix<double>(problem.num_parts, problem.d);
    std::copy(found[i].planes.begin(), found[i].planes.end(), solution.planes.data());
    const auto report = [&](int round, double objective) {
      IterationReport r{count.before + i, count.total, round, kMaxRounds, objective, 0, 0};
      r.change = round > 1 ? objective - solution.trace[solution.trace.size() - 2] : 0;
      r.seconds = count.watch.seconds();
      monitor.on_iteration(r);
    };
    alternate(problem, rows, constraints, kMaxRounds, monitor, report, solution);
    if (problem.n <= kFewSamples && constraints.empty() && !is_whitened &&
        options.search.optimizer != DcpOptimizer::Alternation)
      improve_by_moves(problem, rows, kMaxRounds, monitor, solution);
    Choice choice{std::move(solution), i, false, 0};
    choice.is_whole = is_whole_split(choice.solution.labels, options);
    choice.separation = separation_of(problem, rows, input, choice.solution);
    if (best.solution.labels.empty() || is_better(choice, best, is_whitened))
      best = std::move(choice);
    if (monitor.should_stop()) break;
  }
  return best;
}

Choice take_unfinished(const DcpProblem& problem, const std::vector<Found>& found) {
  Choice best;
  for (size_t i = 1; i < found.size(); ++i)
    if (found[i].objective < found[best.restart].objective) best.restart = static_cast<int>(i);
  const Found& chosen = found[best.restart];
  Solution& solution = best.solution;
  solution.planes = Matrix<double>(problem.num_parts, problem.d);
  std::copy(chosen.planes.begin(), chosen.planes.end(), solution.planes.data());
  Lane lane;
  lane.planes = chosen.planes;
  lane.cost = problem.cost;
  lane.loss = problem.loss;
  evaluate(problem, {&lane, 1}, silent_monitor());
  solution.objective = lane.value;
  solution.labels = label_samples(problem, {chosen.planes})[0];
  return best;
}

}  // namespace milieu::internal
