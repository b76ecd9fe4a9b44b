// SPDX-License-Identifier: Apache-2.0
// The search under constraints: along the path of costs, a few steps on the planes for the current
// split, then the best split for the planes that obeys all constraints, until the split stays.
#include <algorithm>
#include <memory>

#include "milieu/base/error.h"
#include "milieu/dcp/dcp_search_internal.h"
#include "milieu/linalg/lbfgs.h"

namespace milieu::internal {
namespace {

constexpr double kWidth = 0.1;  // of a hinge's rounded corner
constexpr int kSteps = 15;      // on the planes for one split
constexpr int kMaxRounds = 30;  // splits at one cost

std::vector<int> assign_samples(const DcpProblem& problem, const Constraints& constraints,
                                const Matrix<float>& values, double cost) {
  const LossShape loss = smoothed(problem.loss, kWidth);
  Matrix<double> costs(problem.n, problem.num_parts);
  for (int k = 0; k < problem.num_parts; ++k)
    for (int64_t i = 0; i < problem.n; ++i)
      costs(i, k) = problem.weight(i) * cost * (loss.value(1 - values(k, i)) - 1e-8 * values(k, i));
  const auto labels = constraints.assign(costs);
  require(labels.has_value(),
          "no split that obeys all constraints was found within the limits of the search: drop "
          "some of them");
  return *labels;
}

// Minimises the planes of all restarts for their labels, together.
void step_planes(const DcpProblem& problem, double cost, int max_iterations, double rel_tolerance,
                 const Monitor& monitor, std::vector<Found*>& active) {
  LbfgsOptions options;
  options.max_iterations = max_iterations;
  options.rel_tolerance = rel_tolerance;
  std::vector<std::unique_ptr<Lbfgs>> solvers;
  for (const Found* found : active)
    solvers.push_back(std::make_unique<Lbfgs>(found->planes, options));
  while (!monitor.should_stop()) {
    std::vector<Lane> lanes;
    std::vector<size_t> which;
    for (size_t i = 0; i < active.size(); ++i) {
      if (solvers[i]->has_ended()) continue;
      Lane lane;
      lane.planes = solvers[i]->trial();
      lane.rule = PartRule::Given;
      lane.cost = cost;
      lane.loss = smoothed(problem.loss, kWidth);
      lane.labels = active[i]->labels.data();
      lanes.push_back(std::move(lane));
      which.push_back(i);
    }
    if (lanes.empty()) break;
    if (!evaluate(problem, lanes, monitor)) break;
    for (size_t j = 0; j < which.size(); ++j) {
      solvers[which[j]]->update(lanes[j].value, lanes[j].gradient);
      ++active[which[j]]->evaluations;
    }
  }
  for (size_t i = 0; i < active.size(); ++i) {
    active[i]->planes = solvers[i]->point();
    active[i]->objective = solvers[i]->value();
    active[i]->iterations += solvers[i]->iterations();
  }
}

void descend_at_cost(const DcpProblem& problem, const DcpOptions& options, double cost,
                     const Constraints& constraints, const Monitor& monitor,
                     std::vector<Found>& found) {
  std::vector<Found*> active;
  for (Found& one : found) active.push_back(&one);
  for (int round = 0; round < kMaxRounds && !active.empty() && !monitor.should_stop(); ++round) {
    step_planes(problem, cost, kSteps, options.rel_tolerance, monitor, active);
    std::vector<Found*> changed;
    for (Found* one : active) {
      std::vector<int> labels =
          assign_samples(problem, constraints, sample_values(problem, one->planes), cost);
      if (labels == one->labels) continue;
      one->labels = std::move(labels);
      changed.push_back(one);
    }
    active = std::move(changed);
  }
  std::vector<Found*> all;
  for (Found& one : found) all.push_back(&one);
  step_planes(problem, cost, options.max_iterations, options.rel_tolerance, monitor, all);
}

}  // namespace

std::vector<Found> constrained_search(const DcpProblem& problem, const DcpOptions& options,
                                      const std::vector<Start>& starts,
                                      const Constraints& constraints, Monitor& monitor) {
  std::vector<Found> found(starts.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    found[i].planes = starts[i].planes;
    found[i].planes.resize(problem.num_parts * problem.d);
    // The split nearest to the start's: a label that must change costs 1.
    Matrix<float> values(problem.num_parts, problem.n);
    if (starts[i].labels.empty())
      values = sample_values(problem, found[i].planes);
    else
      for (int64_t j = 0; j < problem.n; ++j) values(starts[i].labels[j], j) = 1;
    found[i].labels = assign_samples(problem, constraints, values, 1);
  }
  const std::vector<double> path = cost_path(problem, options);
  for (size_t stage = 0; stage < path.size() && !monitor.should_stop(); ++stage) {
    monitor.on_progress("searching", static_cast<int64_t>(stage),
                        static_cast<int64_t>(path.size()));
    descend_at_cost(problem, options, path[stage], constraints, monitor, found);
  }
  for (Found& one : found) one.is_complete = !monitor.should_stop();
  return found;
}

}  // namespace milieu::internal
