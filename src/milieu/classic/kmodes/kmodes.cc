// SPDX-License-Identifier: Apache-2.0
// k-modes for binary vectors.
//
// Problem   minimise sum_i w_i h(x_i, u_l(i)) over modes u_1 .. u_k in {0, 1}^d and labels l, where
//           h is the Hamming distance.
// Given     samples x_i in {0, 1}^d, weights w_i >= 0, k.
// Find      the modes u and the labels l.
// Symbols   n samples, d bits, k clusters; S_mc the weight of the members of cluster c with bit m.
// Conventions
//   ties    a label goes to the lowest index; a bit with exactly half the weight becomes 1, as in
//           context-aware clustering [Yuan08].
//   empty   a cluster without weight takes the sample farthest from its mode (reseed_empty_modes);
//           where all samples sit on their modes it keeps its mode and is reported.
//   stop    when the objective no longer falls, or by less than rel_tolerance.
// Each step is an exact minimum with the other side fixed, so the objective never rises.
// See       [Huang98], docs/algorithms/kmodes.md.
#include "milieu/classic/kmodes/kmodes.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/classic/kmodes/kmodes_steps.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {

namespace {

using namespace internal;

// The state of one restart: modes with the assignment under them.
struct KModesRun {
  BitMatrix modes;
  ModeAssignment assignment;
  std::vector<double> trace;
  Termination termination = Termination::IterationLimit;
};

constexpr int64_t kWeightBlock = 1024;  // of the sum of weights

void check(const KModesInput& input, const KModesOptions& options) {
  validate_options(options);
  check_points(input.points);
  const int64_t num_samples =
      check_weights(input.weights, Rows(input.points.rows(), kWeightBlock)).num_positive;
  require(options.num_clusters <= num_samples, [&] {
    return fmt::format("num_clusters is {}, there are only {}{}: use at most {}",
                       options.num_clusters, counted(num_samples, "sample"),
                       input.weights.empty() ? "" : " of positive weight", num_samples);
  });
  const FloatView modes = input.initial_modes;
  require(modes.empty() ||
              (modes.rows() == options.num_clusters && modes.cols() == input.points.cols()),
          [&] {
            return fmt::format("initial_modes is {} x {}, must be {} x {}", modes.rows(),
                               modes.cols(), options.num_clusters, input.points.cols());
          });
}

BitMatrix first_modes(const KModesInput& input, const KModesProblem& problem,
                      const KModesOptions& options, int restart, const Monitor& monitor) {
  if (!input.initial_modes.empty())
    return pack_bits(input.initial_modes, "initial_modes", options.num_threads);
  const Random random = Random(options.seed).child(restart);
  return options.init == KModesInit::PlusPlus
             ? seed_plus_plus(problem, options.num_clusters, random, monitor)
             : seed_random(problem, options.num_clusters, random);
}

// Rounds from the given modes. The first assignment of the first restart is always completed, so
// that there is a result; nothing is returned when another one is stopped before that.
std::optional<KModesRun> run_rounds(const KModesProblem& problem, const KModesOptions& options,
                                    BitMatrix modes, int restart, int num_restarts,
                                    const Stopwatch& watch, Monitor& monitor) {
  std::optional<ModeAssignment> first = assign_modes(
      problem, modes, restart == options.restart_range.first ? silent_monitor() : monitor);
  if (!first) return std::nullopt;
  KModesRun run{std::move(modes), std::move(*first), {}};
  for (int iteration = 1; iteration <= options.max_iterations; ++iteration) {
    BitMatrix next_modes = run.modes;
    const std::vector<double> cluster_weights =
        update_modes(problem, run.assignment.labels, next_modes);
    reseed_empty_modes(problem, run.assignment, cluster_weights, next_modes);
    std::optional<ModeAssignment> next = assign_modes(problem, next_modes, monitor);
    if (!next) {
      run.termination = termination_from(monitor.stop_reason());
      break;
    }
    const double previous = run.assignment.objective;
    const double change = next->objective - previous;
    run.modes = std::move(next_modes);
    run.assignment = std::move(*next);
    run.trace.push_back(run.assignment.objective);
    monitor.on_iteration({restart, num_restarts, iteration, options.max_iterations,
                          run.assignment.objective, change, watch.seconds()});
    if (-change <= options.rel_tolerance * previous) {
      run.termination = Termination::Converged;
      break;
    }
  }
  return run;
}

bool is_stop(Termination termination) {
  return termination == Termination::Cancelled || termination == Termination::TimeLimit;
}

std::string stop_message(Termination termination, const KModesOptions& options) {
  if (termination == Termination::Converged)
    return options.rel_tolerance > 0 ? "the objective falls by less than rel_tolerance"
                                     : "the objective no longer falls";
  if (termination == Termination::IterationLimit)
    return fmt::format("max_iterations = {} was reached: raise it to converge",
                       options.max_iterations);
  return "stopped early: the modes are the best complete ones";
}

void describe(const KModesProblem& problem, const KModesOptions& options, const KModesRun& run,
              RunSummary& summary) {
  summary.method = KModesModel::kKind;
  summary.version = version();
  summary.seed = options.seed;
  summary.termination = run.termination;
  summary.message = stop_message(run.termination, options);
  summary.objective = run.assignment.objective;
  summary.trace = run.trace;
  summary.iterations = static_cast<int>(run.trace.size());
  summary.n = problem.points.rows();
  summary.d = problem.points.cols();
  set_sizes(summary, run.assignment.labels, options.num_clusters);
  const int num_empty = options.num_clusters - summary.clusters;
  if (num_empty > 0)
    summary.warnings.push_back(
        fmt::format("{} of {} clusters {} empty: there may be fewer distinct samples than "
                    "num_clusters; use a smaller num_clusters",
                    num_empty, options.num_clusters, by_number(num_empty, "is", "are")));
}

}  // namespace

KModesResult fit_kmodes(const KModesInput& input, const KModesOptions& given, Monitor& monitor) {
  const Stopwatch watch;
  check(input, given);
  KModesOptions options = given;
  if (!input.initial_modes.empty()) {  // every restart would be the same
    options.num_restarts = 1;
    options.restart_range = {};
  }
  const KModesProblem problem{pack_bits(input.points, "points", options.num_threads), input.weights,
                              options.num_threads};
  KModesResult result;
  std::optional<KModesRun> best;
  bool is_stopped = false;
  const RestartRange& range = options.restart_range;
  for (int restart = range.first; restart < range.end(options.num_restarts) && !is_stopped;
       ++restart) {
    std::optional<KModesRun> run =
        run_rounds(problem, options, first_modes(input, problem, options, restart, monitor),
                   restart, options.num_restarts, watch, monitor);
    is_stopped = !run || is_stop(run->termination);
    if (!run) break;
    result.summary.num_restarts = restart - range.first + 1;
    if (best && run->assignment.objective >= best->assignment.objective) continue;
    best = std::move(run);
    result.summary.restart = restart;
  }
  if (is_stopped) best->termination = termination_from(monitor.stop_reason());
  describe(problem, options, *best, result.summary);
  result.labels = std::move(best->assignment.labels);
  result.model.modes = unpack_bits(best->modes);
  result.summary.seconds = watch.seconds();
  return result;
}

std::vector<int> predict(const KModesModel& model, FloatView points, int num_threads) {
  check_points(points);
  require(points.cols() == model.modes.cols() && model.modes.rows() >= 1, [&] {
    return fmt::format("points has {}, the model {} of {}: they must match",
                       counted(points.cols(), "column"), counted(model.modes.rows(), "mode"),
                       counted(model.modes.cols(), "bit"));
  });
  const KModesProblem problem{pack_bits(points, "points", num_threads), {}, num_threads};
  return assign_modes(problem, pack_bits(model.modes, "modes", num_threads), silent_monitor())
      ->labels;
}

}  // namespace milieu
