// SPDX-License-Identifier: Apache-2.0
// The stages of a restart, by optimiser:
//   lbfgs        planes for the start's labels at the first cost, then the hard maximum along the
//                path of costs
//   soft-max     the same with a soft maximum, which hardens at the full cost
//   annealing    free energy at the first cost while the temperature falls, then as lbfgs
//   entropy      shares of a falling entropy at the first cost, then as lbfgs
//   subgradient  the hard maximum along the path of costs by subgradient descent
// But for the last, a hinge is searched with a rounded corner, which sharpens at the full cost.
// Then planes of different restarts are crossed (dcp_cross.cc) and continue together.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "milieu/dcp/dcp_descent_internal.h"
#include "milieu/dcp/dcp_search_internal.h"
#include "milieu/linalg/log_sum_exp.h"

namespace milieu::internal {

std::vector<double> cost_path(const DcpProblem& problem, const DcpOptions& options) {
  if (!options.search.cost_path) return {problem.cost};
  std::vector<double> path;
  for (double cost = 1 / std::max(problem.mean_square, 1e-30); cost < problem.cost; cost *= 10)
    path.push_back(cost);
  path.push_back(problem.cost);
  return path;
}

namespace {

constexpr double kFirstWidth = 0.5;
constexpr double kSharperWidths[] = {0.1, 0.02};
constexpr double kSoftMaxLevels[] = {2, 10};
constexpr int kAnnealingIterations = 30;
constexpr double kRoughTolerance = 1e-3;  // of stages that others follow
constexpr size_t kAllCosts = std::numeric_limits<size_t>::max();
constexpr size_t kCrossingCosts = 3;  // crossed planes find together at a hundredth of the cost
constexpr int kCrossingRounds = 3;

struct Stage {
  PartRule rule = PartRule::HardMax;
  double level = 0;  // tau, T, or the entropy in nats that the shares are to have
  double cost = 0;
  double width = kFirstWidth;  // of a hinge's rounded corner
  int max_iterations = 0;
};

bool is_plain(const DcpOptions& options) {
  return options.search.optimizer == DcpOptimizer::Subgradient;
}

std::vector<Stage> annealing_stages(const DcpOptions& options, double cost) {
  std::vector<Stage> stages;
  if (options.search.optimizer == DcpOptimizer::Annealing)
    for (double share = 1; share > 1e-3; share *= 0.5)
      stages.push_back(
          {PartRule::FreeEnergy, share * cost, cost, kFirstWidth, kAnnealingIterations});
  if (options.search.optimizer == DcpOptimizer::Entropy)
    for (const double share : {0.95, 0.8, 0.6, 0.4, 0.2, 0.1, 0.03})
      for (int round = 0; round < 3; ++round)
        stages.push_back({PartRule::Shared, share * std::log(options.num_clusters), cost,
                          kFirstWidth, kAnnealingIterations});
  return stages;
}

std::vector<Stage> make_stages(const DcpProblem& problem, const DcpOptions& options,
                               bool has_labels, size_t num_costs) {
  std::vector<double> path = cost_path(problem, options);
  if (num_costs < path.size())
    path.erase(path.begin(), path.end() - static_cast<int64_t>(num_costs));
  const bool is_soft = options.search.optimizer == DcpOptimizer::SoftMax;
  const int limit = options.max_iterations;
  std::vector<Stage> stages;
  if (has_labels) stages.push_back({PartRule::Given, 0, path[0], kFirstWidth, limit});
  if (num_costs == kAllCosts)
    for (const Stage& stage : annealing_stages(options, path[0])) stages.push_back(stage);
  for (const double cost : path)
    stages.push_back({is_soft ? PartRule::SoftMax : PartRule::HardMax, kSoftMaxLevels[0], cost,
                      kFirstWidth, limit});
  if (is_soft) {
    stages.push_back({PartRule::SoftMax, kSoftMaxLevels[1], problem.cost, kFirstWidth, limit});
    stages.push_back({PartRule::HardMax, 0, problem.cost, kFirstWidth, limit});
  }
  if (problem.loss.loss == DcpLoss::Hinge && !is_plain(options))
    for (const double width : kSharperWidths)
      stages.push_back({PartRule::HardMax, 0, problem.cost, width, limit});
  return stages;
}

// p_ik ~ exp(-C phi_ik / T) with T such that the mean entropy is `entropy`, by bisection
// [Lampert08, section 3.2.1].
Matrix<float> shares_of_entropy(const DcpProblem& problem, const Matrix<float>& values,
                                const LossShape& loss, double cost, double entropy) {
  const int num_parts = problem.num_parts;
  std::vector<double> logs(num_parts);
  Matrix<float> shares(num_parts, problem.n);
  const auto mean_entropy = [&](double temperature) {
    double sum = 0;
    for (int64_t i = 0; i < problem.n; ++i) {
      for (int k = 0; k < num_parts; ++k)
        logs[k] = -cost * loss.value(1 - values(k, i)) / temperature;
      const double total = log_sum_exp(logs);
      for (int k = 0; k < num_parts; ++k) {
        const double p = std::exp(logs[k] - total);
        shares(k, i) = static_cast<float>(p);
        if (p > 0) sum -= p * (logs[k] - total);
      }
    }
    return sum / static_cast<double>(problem.n);
  };
  double low = 1e-9 * cost, high = 1e3 * cost;
  for (int step = 0; step < 40; ++step) {
    const double middle = std::sqrt(low * high);
    (mean_entropy(middle) < entropy ? low : high) = middle;
  }
  mean_entropy(high);
  return shares;
}

// One restart on its way through the stages.
class Restart {
 public:
  // Goes through the last `num_costs` steps of the path of costs only.
  Restart(const DcpProblem& problem, const DcpOptions& options, const Start& start, Random random,
          size_t num_costs = kAllCosts)
      : problem_(problem), options_(options), labels_(start.labels), random_(random) {
    stages_ = make_stages(problem, options, !labels_.empty(), num_costs);
    planes_ = start.planes;
    planes_.resize(problem.num_parts * problem.d);
    begin_stage();
  }

  bool has_ended() const { return at_ == stages_.size(); }
  int stages_done() const { return static_cast<int>(at_); }
  int num_stages() const { return static_cast<int>(stages_.size()); }
  // Of the objective of the last complete stage; infinite before the end.
  double last_value() const { return last_value_; }
  int iterations() const { return iterations_ + (descent_ ? descent_->iterations() : 0); }
  const std::vector<double>& planes() const { return has_ended() ? planes_ : descent_->point(); }

  Lane lane() const {
    const Stage& stage = stages_[at_];
    Lane lane;
    lane.planes = descent_->trial();
    lane.rule = stage.rule;
    lane.level = stage.level;
    lane.cost = stage.cost;
    lane.loss = is_plain(options_) ? problem_.loss : smoothed(problem_.loss, stage.width);
    lane.labels = labels_.data();
    lane.shares = &shares_;
    return lane;
  }

  int64_t evaluations() const { return evaluations_; }

  void update(const Lane& lane) {
    ++evaluations_;
    descent_->update(lane.value, lane.gradient);
    if (!descent_->has_ended()) return;
    iterations_ += descent_->iterations();
    planes_ = descent_->point();
    if (++at_ == stages_.size()) last_value_ = descent_->value();
    descent_.reset();
    if (!has_ended()) begin_stage();
  }

 private:
  void begin_stage() {
    const Stage& stage = stages_[at_];
    if (stage.rule == PartRule::FreeEnergy || stage.rule == PartRule::Shared) shake();
    if (stage.rule == PartRule::Shared)
      shares_ = shares_of_entropy(problem_, sample_values(problem_, planes_),
                                  smoothed(problem_.loss, stage.width), stage.cost, stage.level);
    if (is_plain(options_)) {
      descent_ = std::make_unique<Descent>(Subgradient(planes_, stage.max_iterations));
      return;
    }
    LbfgsOptions options;
    options.max_iterations = stage.max_iterations;
    options.rel_tolerance = options_.rel_tolerance;
    if (at_ + 1 < stages_.size())
      options.rel_tolerance = std::max(options_.rel_tolerance, kRoughTolerance);
    descent_ = std::make_unique<Descent>(planes_, options);
  }
  // Equal planes are stationary at every temperature: a little noise parts them.
  void shake() {
    double squared = 1e-12;
    for (const double value : planes_) squared += value * value;
    const double size = 1e-3 * std::sqrt(squared / static_cast<double>(planes_.size()));
    for (double& value : planes_) value += size * random_.normal();
  }

  const DcpProblem& problem_;
  const DcpOptions& options_;
  std::vector<Stage> stages_;
  std::vector<int> labels_;
  std::vector<double> planes_;  // where the current stage began
  Matrix<float> shares_;
  Random random_;
  std::unique_ptr<Descent> descent_;
  size_t at_ = 0;
  int iterations_ = 0;
  int64_t evaluations_ = 0;
  double last_value_ = std::numeric_limits<double>::infinity();
};

std::vector<Found> collect(const DcpProblem& problem,
                           const std::vector<std::unique_ptr<Restart>>& restarts,
                           const Monitor& monitor) {
  std::vector<Found> found(restarts.size());
  std::vector<std::span<const double>> planes;
  std::vector<Lane> lanes(restarts.size());
  for (size_t i = 0; i < restarts.size(); ++i) {
    found[i].planes = restarts[i]->planes();
    found[i].iterations = restarts[i]->iterations();
    found[i].evaluations = restarts[i]->evaluations();
    found[i].is_complete = restarts[i]->has_ended();
    found[i].objective = restarts[i]->last_value();
    planes.push_back(found[i].planes);
    lanes[i].planes = found[i].planes;
    lanes[i].cost = problem.cost;
    lanes[i].loss = problem.loss;
  }
  if (!evaluate(problem, lanes, monitor)) return found;
  std::vector<std::vector<int>> labels = label_samples(problem, planes);
  for (size_t i = 0; i < restarts.size(); ++i) {
    found[i].objective = lanes[i].value;
    found[i].labels = std::move(labels[i]);
  }
  return found;
}

using Restarts = std::vector<std::unique_ptr<Restart>>;

// All of them together, until all have ended or the monitor stops them.
std::vector<Found> run_together(const DcpProblem& problem, const Restarts& restarts,
                                Monitor& monitor) {
  std::vector<Lane> lanes;
  std::vector<Restart*> active;
  while (!monitor.should_stop()) {
    lanes.clear();
    active.clear();
    int64_t done = 0, total = 0;
    for (const auto& restart : restarts) {
      done += restart->stages_done();
      total += restart->num_stages();
      if (restart->has_ended()) continue;
      lanes.push_back(restart->lane());
      active.push_back(restart.get());
    }
    monitor.on_progress("searching", done, total);
    if (active.empty()) break;
    if (!evaluate(problem, lanes, monitor)) break;
    for (size_t i = 0; i < active.size(); ++i) active[i]->update(lanes[i]);
  }
  return collect(problem, restarts, monitor);
}

// Continues from crossed planes; a crossing that ends lower replaces its restart.
void improve_by_crossing(const DcpProblem& problem, const DcpOptions& options, Monitor& monitor,
                         std::vector<Found>& found) {
  if (options.search.num_crossings == 0) return;
  for (int round = 0; round < kCrossingRounds && !monitor.should_stop(); ++round) {
    const std::vector<CrossedStart> crossed =
        cross_restarts(problem, found, options.search.num_crossings, monitor);
    Restarts restarts;
    for (size_t i = 0; i < crossed.size(); ++i)
      restarts.push_back(std::make_unique<Restart>(
          problem, options, Start{{}, crossed[i].planes},
          Random(options.seed).child(3000000 + 100000 * round + i), kCrossingCosts));
    if (restarts.empty()) return;
    const std::vector<Found> ended = run_together(problem, restarts, monitor);
    bool is_better = false;
    for (size_t i = 0; i < crossed.size(); ++i) {
      Found& place = found[crossed[i].restart];
      place.evaluations += ended[i].evaluations;
      if (!ended[i].is_complete || !(ended[i].objective < place.objective)) continue;
      const int iterations = place.iterations + ended[i].iterations;
      const int64_t evaluations = place.evaluations;
      place = ended[i];
      place.iterations = iterations;
      place.evaluations = evaluations;
      is_better = true;
    }
    if (!is_better) return;
  }
}

}  // namespace

std::vector<Found> search(const DcpProblem& problem, const DcpOptions& options,
                          const std::vector<Start>& starts, Monitor& monitor) {
  Restarts restarts;
  for (size_t i = 0; i < starts.size(); ++i)
    restarts.push_back(std::make_unique<Restart>(problem, options, starts[i],
                                                 Random(options.seed).child(1000000 + i)));
  std::vector<Found> found = run_together(problem, restarts, monitor);
  improve_by_crossing(problem, options, monitor, found);
  return found;
}

std::vector<double> train_roughly(const DcpProblem& problem, const DcpOptions& options,
                                  const std::vector<int>& labels, const Monitor& monitor) {
  std::vector<double> planes(problem.num_parts * problem.d);
  LbfgsOptions steps;
  steps.max_iterations = options.max_iterations;
  steps.rel_tolerance = kRoughTolerance;
  for (const double cost : cost_path(problem, options)) {
    Lbfgs lbfgs(planes, steps);
    Lane lane;
    lane.rule = PartRule::Given;
    lane.cost = cost;
    lane.loss = smoothed(problem.loss, kSharperWidths[0]);
    lane.labels = labels.data();
    while (!lbfgs.has_ended()) {
      lane.planes = lbfgs.trial();
      if (!evaluate(problem, {&lane, 1}, monitor)) return planes;
      lbfgs.update(lane.value, lane.gradient);
    }
    planes = lbfgs.point();
  }
  return planes;
}

}  // namespace milieu::internal
