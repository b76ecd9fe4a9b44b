// SPDX-License-Identifier: Apache-2.0
// Problem      The density of the samples at y is f(y) = 1/n sum_i k(|y - x_i|^2 / h^2). Find its
//              modes by repeated moves of seeds to the weighted mean of the samples around them
//              [Fukunaga75; Comaniciu02, Eq. 20]; no move lowers f [Comaniciu02, Theorem 1].
// Given        n samples x_i as rows; the bandwidth h, or the rule that estimates it.
// Find         the modes and, for each sample, the nearest one.
// Symbols      g = -k' up to a factor: the weight of a sample in the mean. Flat kernel: g = 1 and
//              k(u) = 1 - u for u <= 1, 0 beyond. Gaussian: g(u) = exp(-u / 2) and
//              k(u) = exp(-u / 2) - exp(-25 / 2) for u <= 25, 0 beyond. Both k are convex and do
//              not rise, which is what the theorem asks.
// Conventions  A seed rests when its next move would be at most rel_tolerance h long; it does not
//              make that move. Modes are merged densest first, ties to the seed of lowest row: one
//              within h of a mode already kept is dropped, as is one that is nearest to no sample.
//              Distances of exactly h count as within. Samples go to the nearest mode, ties to the
//              denser one. Equal samples make one seed. Estimated bandwidth 0 (every sample has
//              many duplicates): a thousandth of the widest range of a coordinate, 1 when there is
//              none. A stopped run uses the seeds that rest, or the densest one when none does.
// See          docs/algorithms/meanshift.md
#include "milieu/classic/meanshift/mean_shift.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/meanshift/mean_shift_steps.h"
#include "milieu/neighbors/check_points.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu {

using internal::Seeds;
using internal::ShiftKernel;

double estimate_bandwidth(FloatView points, const MeanShiftOptions& options, Monitor& monitor) {
  validate_options(options);
  const int64_t m = std::min<int64_t>(points.rows(), options.bandwidth_samples);
  std::vector<int64_t> rows = Random(options.seed).sample_without_replacement(points.rows(), m);
  std::sort(rows.begin(), rows.end());
  Matrix<float> sample(m, points.cols());
  for (int64_t i = 0; i < m; ++i) std::copy_n(points.row(rows[i]), points.cols(), sample.row(i));
  // The sample itself is its first neighbour; at least one other is considered.
  const int k = std::max(2, static_cast<int>(options.quantile * static_cast<double>(m)));
  const NeighborLists lists =
      nearest_neighbors(sample, sample, k, {.num_threads = options.num_threads}, monitor);
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < m; ++i) {
    if (lists.indices(i, 0) < 0) continue;  // not searched: the monitor stopped it
    sum += std::sqrt(lists.squared_distances(i, lists.indices.cols() - 1));
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

namespace {

void check(const MeanShiftInput& input, const MeanShiftOptions& options) {
  validate_options(options);
  require(std::isfinite(options.bandwidth),
          [&] { return fmt::format("bandwidth is {}, must be finite", options.bandwidth); });
  check_points(input.points);
}

double choose_bandwidth(FloatView points, const MeanShiftOptions& options, Monitor& monitor,
                        std::vector<std::string>& warnings) {
  if (options.bandwidth > 0) return options.bandwidth;
  const double estimate = estimate_bandwidth(points, options, monitor);
  if (estimate > 0) return estimate;
  const double range = widest_range(points);
  const double fallback = range > 0 ? 1e-3 * range : 1;
  warnings.push_back(
      fmt::format("the estimated bandwidth is 0, because every sample has many duplicates (or the "
                  "run was stopped): {:.4g} is used instead; set bandwidth or a larger quantile",
                  fallback));
  return fallback;
}

Seeds start_seeds(FloatView points, std::span<const int> rows) {
  Seeds seeds;
  seeds.positions = Matrix<float>(static_cast<int64_t>(rows.size()), points.cols());
  for (size_t s = 0; s < rows.size(); ++s)
    std::copy_n(points.row(rows[s]), points.cols(), seeds.positions.row(static_cast<int64_t>(s)));
  seeds.density.resize(rows.size());
  seeds.is_resting.resize(rows.size());
  return seeds;
}

int64_t num_moving(const Seeds& seeds) {
  return std::count(seeds.is_resting.begin(), seeds.is_resting.end(), 0);
}

double mean_density(const Seeds& seeds) {
  return std::accumulate(seeds.density.begin(), seeds.density.end(), 0.0) /
         static_cast<double>(seeds.density.size());
}

// Moves all seeds until they rest; fills in trace, iterations and termination.
void climb(FloatView points, const MeanShiftOptions& options, double bandwidth, Monitor& monitor,
           Seeds& seeds, RunSummary& summary) {
  const Stopwatch stopwatch;
  const NeighborIndex index(points);
  const ShiftKernel kernel(options.kernel, bandwidth);
  summary.termination = Termination::IterationLimit;
  for (int t = 1; t <= options.max_iterations; ++t) {
    const bool is_complete =
        move_seeds(index, points, kernel, options.rel_tolerance * bandwidth,
                   t < options.max_iterations, options.num_threads, monitor, seeds);
    if (!is_complete) {
      summary.termination = termination_from(monitor.stop_reason());
      return;
    }
    const double objective = mean_density(seeds);
    const double before = summary.trace.empty() ? 0 : summary.trace.back();
    summary.trace.push_back(objective);
    summary.iterations = t;
    monitor.on_iteration({.iteration = t,
                          .max_iterations = options.max_iterations,
                          .objective = objective,
                          .change = objective - before,
                          .seconds = stopwatch.seconds()});
    if (num_moving(seeds) == 0) {
      summary.termination = Termination::Converged;
      return;
    }
  }
}

// Seeds whose positions count as modes.
std::vector<int> mode_candidates(const Seeds& seeds, Termination termination) {
  std::vector<int> candidates;
  const bool takes_all = termination == Termination::IterationLimit;
  for (size_t s = 0; s < seeds.is_resting.size(); ++s)
    if (takes_all || seeds.is_resting[s]) candidates.push_back(static_cast<int>(s));
  if (candidates.empty())
    candidates.push_back(static_cast<int>(
        std::max_element(seeds.density.begin(), seeds.density.end()) - seeds.density.begin()));
  return candidates;
}

std::vector<int> labels_from(const MeanShiftModel& model, const NeighborLists& nearest) {
  std::vector<int> labels(nearest.indices.rows());
  for (int64_t i = 0; i < nearest.indices.rows(); ++i) {
    const bool is_orphan = model.cluster_all == 0 &&
                           nearest.squared_distances(i, 0) > model.bandwidth * model.bandwidth;
    labels[i] = is_orphan ? -1 : nearest.indices(i, 0);
  }
  return labels;
}

// What predict() says of the points. After a stop the densest modes must do: there may be as many
// modes as points, and the user does not want to wait.
std::vector<int> label_points(FloatView points, int num_threads, Monitor& monitor,
                              MeanShiftModel& model) {
  constexpr int64_t kMaxModesOfStoppedRun = 64;
  if (!monitor.should_stop() || model.modes.rows() <= kMaxModesOfStoppedRun) {
    const NeighborLists nearest =
        nearest_neighbors(model.modes, points, 1, {.num_threads = num_threads},
                          model.modes.rows() <= kMaxModesOfStoppedRun ? silent_monitor() : monitor);
    if (nearest.is_complete) return labels_from(model, nearest);
  }
  model.modes = Matrix<float>(model.modes.view().rows_between(0, kMaxModesOfStoppedRun));
  return labels_from(model,
                     nearest_neighbors(model.modes, points, 1, {.num_threads = num_threads}));
}

// Removes modes that no label names; the order of the others stays.
void drop_empty_modes(std::vector<int>& labels, Matrix<float>& modes) {
  std::vector<int> new_label(modes.rows(), -1);
  for (const int label : labels)
    if (label >= 0) new_label[label] = 0;
  int num_kept = 0;
  for (int& label : new_label)
    if (label == 0) label = num_kept++;
  // No sample is near any mode: the densest one stays, so that the model can predict.
  if (num_kept == 0) new_label[0] = num_kept++;
  Matrix<float> kept(num_kept, modes.cols());
  for (int64_t m = 0; m < modes.rows(); ++m)
    if (new_label[m] >= 0) std::copy_n(modes.row(m), modes.cols(), kept.row(new_label[m]));
  for (int& label : labels)
    if (label >= 0) label = new_label[label];
  modes = std::move(kept);
}

void describe(const Seeds& seeds, const MeanShiftResult& result, RunSummary& summary) {
  const int64_t moving = num_moving(seeds);
  if (summary.termination == Termination::Converged)
    summary.message = "every seed has reached a mode";
  else if (summary.termination == Termination::IterationLimit)
    summary.message =
        fmt::format("{} of {} seeds {} still moving: raise max_iterations or rel_tolerance", moving,
                    seeds.is_resting.size(), by_number(moving, "is", "are"));
  else
    summary.message = fmt::format(
        "stopped when {} of {} seeds had reached a mode; the modes of the others are missing",
        seeds.is_resting.size() - moving, seeds.is_resting.size(), by_number(moving, "is", "are"));
  summary.objective = mean_density(seeds);
  summary.extra.emplace_back("bandwidth", result.model.bandwidth);
  summary.extra.emplace_back("seeds", static_cast<int64_t>(seeds.is_resting.size()));
  summary.extra.emplace_back(
      "orphans", static_cast<int64_t>(std::count(result.labels.begin(), result.labels.end(), -1)));
}

}  // namespace

MeanShiftResult fit_mean_shift(const MeanShiftInput& input, const MeanShiftOptions& options,
                               Monitor& monitor) {
  const Stopwatch stopwatch;
  check(input, options);
  const FloatView points = input.points;
  MeanShiftResult result;
  RunSummary& summary = result.summary;
  MeanShiftModel& model = result.model;
  summary.method = "meanshift";
  summary.version = version();
  summary.seed = options.seed;
  summary.n = points.rows();
  summary.d = points.cols();

  model.bandwidth = choose_bandwidth(points, options, monitor, summary.warnings);
  model.cluster_all = options.cluster_all ? 1 : 0;
  Seeds seeds = start_seeds(points, internal::choose_seeds(points, model.bandwidth, options));
  climb(points, options, model.bandwidth, monitor, seeds, summary);
  model.modes = internal::merge_modes(seeds, mode_candidates(seeds, summary.termination),
                                      model.bandwidth, monitor);
  result.labels = label_points(points, options.num_threads, monitor, model);
  if (monitor.should_stop()) summary.termination = termination_from(monitor.stop_reason());
  drop_empty_modes(result.labels, model.modes);

  set_sizes(summary, result.labels, static_cast<int>(model.modes.rows()));
  describe(seeds, result, summary);
  summary.seconds = stopwatch.seconds();
  return result;
}

std::vector<int> predict(const MeanShiftModel& model, FloatView points, int num_threads) {
  require(points.cols() == model.modes.cols(), [&] {
    return fmt::format("points has {}, the model was fitted on {}: they must match",
                       counted(points.cols(), "column"), model.modes.cols());
  });
  check_points(points);
  return labels_from(model,
                     nearest_neighbors(model.modes, points, 1, {.num_threads = num_threads}));
}

}  // namespace milieu
