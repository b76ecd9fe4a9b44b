// SPDX-License-Identifier: Apache-2.0
// k-means by Lloyd's algorithm, restarted.
//
// Problem      minimise J = sum_i w_i |x_i - c_{l_i}|^2 over centres c_1..c_k and labels l_i
// Given        points x_i (n x d), weights w_i >= 0, k, or starting centres
// Find         a pair of centres and labels that neither step below can improve
// Symbols      S_j, W_j: sums of w x and w over the points labelled j; m_j = S_j / W_j
// Conventions  one iteration is: label every point with its nearest centre (in double; ties to the
//              lowest index); move each centre to its m_j. J of an iteration is taken after the
//              move. A cluster is empty when no point of positive weight is labelled with it: it is
//              re-seeded (kmeans_centers.h) and, when no point is left for it, kept empty.
//              An iteration that changes no label, or that rounding keeps from lowering J, ends the
//              run. The labels returned belong to the centres returned.
//              Distance cosine: x_i stands for x_i / |x_i| throughout, and m_j = S_j / |S_j|; an
//              S_j of length 0 leaves its centre where it is. A row of zeros has no direction: it
//              has weight 0 and label 0, and a warning counts such rows. Fewer distinct points than
//              k: a warning; the surplus clusters are empty. Stopped by the monitor: the last
//              complete pair of centres and labels is returned; points that were never labelled
//              have label -1.
// See          [Lloyd82], [Arthur07], [Dhillon01]; docs/algorithms/kmeans.md
#include "milieu/classic/kmeans/kmeans.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/kmeans/kmeans_assign_internal.h"
#include "milieu/classic/kmeans/kmeans_centers.h"
#include "milieu/classic/kmeans/kmeans_seed_steps.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {
namespace {

void validate(const KMeansInput& input, const KMeansOptions& options) {
  validate_options(options);
  const int64_t n = input.rows ? input.rows->size() : input.points.rows();
  const int64_t own = input.points.rows(), d = input.points.cols();
  // Whether all points are finite is checked later, at no cost, by make_kmeans_problem.
  if (n == 0 || own > 0) check_points(input.points.rows_between(0, std::min<int64_t>(own, 1)));
  require(n <= std::numeric_limits<int>::max(), [&] {
    return fmt::format("points has {}, k-means takes at most {}: use a subsample",
                       counted(n, "row"), std::numeric_limits<int>::max());
  });
  require(options.num_clusters <= n, [&] {
    return fmt::format("num_clusters is {}, must be at most the number of samples, {}",
                       options.num_clusters, n);
  });
  check_weights(input.weights, input.rows ? *input.rows : Rows(own, KMeansInput::kBlockRows));
  const FloatView start = input.initial_centers;
  if (!start.empty()) {
    require(start.rows() == options.num_clusters && start.cols() == d, [&] {
      return fmt::format("initial_centers is {} x {}, must be {} x {} (num_clusters x dimensions)",
                         start.rows(), start.cols(), options.num_clusters, d);
    });
    check_points(start, "initial_centers");
  }
}

// The given centres; for the distance cosine their directions.
Matrix<float> given_centers(const KMeansInput& input, const KMeansOptions& options) {
  Matrix<float> centers(input.initial_centers);
  if (options.distance == KMeansDistance::Euclidean) return centers;
  const std::vector<double> scales = inverse_norms(centers, options.num_threads);
  for (int64_t j = 0; j < centers.rows(); ++j) {
    require(scales[j] > 0, [&] {
      return fmt::format(
          "row {} of initial_centers is zero and has no direction: for the distance cosine give "
          "another centre",
          j);
    });
    scale_row(input.initial_centers.row_span(j), scales[j], centers.row_span(j));
  }
  return centers;
}

// One start from beginning to end.
struct Run {
  std::vector<int> labels;
  Matrix<float> centers;
  std::vector<double> trace;
  double objective = 0;
  Termination termination = Termination::IterationLimit;
};

internal::Scaling scaling_of(const KMeansProblem& problem) {
  const double size = std::sqrt(problem.scatter / problem.total_weight);
  return {std::vector<float>(problem.mean.begin(), problem.mean.end()),
          internal::scaling_factor(size)};
}

Matrix<float> starting_centers(const KMeansProblem& problem, const KMeansInput& input,
                               const KMeansOptions& options, int restart, const Monitor& monitor) {
  if (!input.initial_centers.empty()) return given_centers(input, options);
  Random random = Random(options.seed).child(static_cast<uint64_t>(restart));
  return options.init == KMeansInit::Random
             ? internal::draw_random_centers(problem, random)
             : internal::draw_plus_plus_centers(problem, scaling_of(problem), random, monitor);
}

bool has_converged(const std::vector<double>& trace, double rel_tolerance) {
  if (rel_tolerance <= 0 || trace.size() < 2) return false;
  const double before = trace[trace.size() - 2];
  return before - trace.back() <= rel_tolerance * before;
}

void report(Monitor& monitor, const KMeansOptions& options, const Run& run, int restart,
            double seconds) {
  IterationReport report;
  report.restart = restart;
  report.num_restarts = options.num_restarts;
  report.iteration = static_cast<int>(run.trace.size());
  report.max_iterations = options.max_iterations;
  report.objective = run.trace.back();
  report.change = run.trace.size() > 1 ? run.trace.back() - run.trace[run.trace.size() - 2] : 0;
  report.seconds = seconds;
  monitor.on_iteration(report);
}

// Lloyd's iterations from run.centers on. Leaves labels that belong to the centres.
void iterate(const KMeansProblem& problem, const KMeansOptions& options, int restart,
             Monitor& monitor, const Stopwatch& watch, Run& run) {
  ClusterSums sums(problem);
  internal::NearestCenters nearest(problem.points, scaling_of(problem), problem.num_threads,
                                   problem.scales);
  const auto assign = [&] {
    const bool is_stopped = !nearest.assign(run.centers, monitor, run.labels);
    return !problem.rows.any(is_stopped);
  };
  const auto stop_at_last_complete_pair = [&] {
    run.termination = termination_from(problem.rows.agree(monitor.stop_reason()));
    if (run.trace.empty()) return;
    run.labels = sums.labels();
    run.centers = Matrix<float>(nearest.centers());
  };
  run.labels.assign(problem.points.rows(), -1);
  while (true) {
    if (!assign()) return stop_at_last_complete_pair();
    const int64_t num_changed = sums.update(run.labels);
    const double objective = num_changed > 0 ? sums.objective() : run.trace.back();
    const bool is_fixed = !run.trace.empty() && objective >= run.trace.back();
    run.trace.push_back(is_fixed ? run.trace.back() : objective);
    report(monitor, options, run, restart, watch.seconds());
    if (is_fixed) {
      run.termination = Termination::Converged;
      return;
    }
    const std::vector<int> empty_clusters = update_centers(sums, run.centers);
    reseed_empty_clusters(problem, run.labels, empty_clusters, run.centers);
    if (has_converged(run.trace, options.rel_tolerance)) {
      run.termination = Termination::Converged;
      break;
    }
    if (static_cast<int>(run.trace.size()) >= options.max_iterations) break;
  }
  if (!assign()) stop_at_last_complete_pair();
}

void add_warnings(const KMeansProblem& problem, RunSummary& summary) {
  if (problem.num_zero_rows > 0)
    summary.warnings.push_back(
        fmt::format("{} only zeros and no direction: label 0, without influence on the centres",
                    counted(problem.num_zero_rows, "row has", "rows have")));
  const int num_empty = problem.num_clusters - summary.clusters;
  if (num_empty == 0 || summary.termination == Termination::Cancelled ||
      summary.termination == Termination::TimeLimit)
    return;
  if (summary.objective == 0)
    summary.warnings.push_back(fmt::format("num_clusters is {}, but there are only {}: {} empty",
                                           problem.num_clusters,
                                           counted(summary.clusters, "distinct point"),
                                           counted(num_empty, "cluster is", "clusters are")));
  else
    summary.warnings.push_back(fmt::format("{} of {} clusters {} empty", num_empty,
                                           problem.num_clusters,
                                           by_number(num_empty, "is", "are")));
}

std::string message_of(const RunSummary& summary, const KMeansOptions& options) {
  switch (summary.termination) {
    case Termination::Converged:
      return "the centres have settled";
    case Termination::IterationLimit:
      return fmt::format(
          "max_iterations ({}) was reached before the centres settled: raise it or rel_tolerance",
          options.max_iterations);
    default:
      return "stopped early: the result is the last complete iteration";
  }
}

RunSummary summarise(const KMeansProblem& problem, const KMeansOptions& options, const Run& run) {
  RunSummary summary;
  summary.method = KMeansModel::kKind;
  summary.version = version();
  summary.seed = options.seed;
  summary.termination = run.termination;
  summary.objective = run.objective;
  summary.trace = run.trace;
  summary.iterations = static_cast<int>(run.trace.size());
  summary.n = problem.rows.size();
  summary.d = problem.points.cols();
  set_sizes(summary, problem.rows, run.labels, problem.num_clusters);
  summary.message = message_of(summary, options);
  add_warnings(problem, summary);
  return summary;
}

bool is_stopped(const Run& run) {
  return run.termination == Termination::Cancelled || run.termination == Termination::TimeLimit;
}

}  // namespace

KMeansResult fit_kmeans(const KMeansInput& input, const KMeansOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  validate(input, options);
  const KMeansProblem problem = make_kmeans_problem(input, options);
  const int num_restarts = input.initial_centers.empty() ? options.num_restarts : 1;
  Run best;
  int best_restart = 0, restarts_run = 0;
  Termination stopped = Termination::Converged;
  for (int restart = 0; restart < num_restarts; ++restart) {
    Run run;
    run.centers = starting_centers(problem, input, options, restart, monitor);
    iterate(problem, options, restart, monitor, watch, run);
    ++restarts_run;
    run.objective = kmeans_objective(problem, run.centers, run.labels);
    if (is_stopped(run)) stopped = run.termination;
    // A run stopped before it labelled every point is no better than a complete one.
    const bool is_complete = !is_stopped(run) || !run.trace.empty();
    if (restart == 0 || (is_complete && run.objective < best.objective)) {
      best = std::move(run);
      best_restart = restart;
    }
    if (stopped != Termination::Converged) break;
  }
  if (stopped != Termination::Converged) best.termination = stopped;
  KMeansResult result;
  result.summary = summarise(problem, options, best);
  result.summary.restart = best_restart;
  result.summary.num_restarts = restarts_run;
  result.labels = std::move(best.labels);
  result.model.centers = std::move(best.centers);
  result.model.distance = options.distance;
  result.summary.seconds = watch.seconds();
  return result;
}

}  // namespace milieu
