// SPDX-License-Identifier: Apache-2.0
// Gaussian mixture by expectation maximisation.
//
// Problem   maximise sum_i w_i log sum_c pi_c N(x_i | mu_c, Sigma_c), the log-likelihood, over pi,
//           mu, Sigma with pi >= 0, sum pi = 1 and Sigma_c >= diag(floors) in every direction.
// Given     samples x_i in R^d, weights w_i >= 0, the number of components k, the shape of Sigma.
// Find      pi (weights), mu (means), Sigma (covariances); label of x_i: argmax_c of its
//           responsibility.
// Symbols   n samples, d features, k components; N_c the weight that component c holds.
// Conventions
//   floors  regularization times each feature's variance over all samples. They bound the variance
//           from below instead of being added to it: the bounded M-step is still an exact maximum,
//           so the log-likelihood never falls.
//   ties    labels go to the lowest index.
//   empty   a component with N_c below 1e-10 of a mean sample is switched off: weight 0, no labels,
//           reported. It is not seeded again: that could lower the log-likelihood.
//   start   means from k-means, random samples or the caller; weights and covariances from the
//           samples nearest to each mean.
// See       [Dempster77], [Bishop06, Sec. 9.2], docs/algorithms/gmm.md.
#include "milieu/classic/gmm/gmm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/memory.h"
#include "milieu/base/parallel.h"
#include "milieu/classic/gmm/gmm_steps.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {

namespace {

using namespace internal;

// The state of one restart: after every round a model with its labels and log-likelihood.
struct GmmRun {
  GmmModel model;
  std::vector<int> labels;
  double objective = 0;
  std::vector<double> trace;
  Termination termination = Termination::IterationLimit;
};

void check_start(const GmmInput& input, const GmmOptions& options) {
  require(input.initial_means.empty() || !input.initial_model,
          "initial_means and initial_model are both given: give at most one");
  const int64_t k = options.num_clusters;
  const int64_t d = input.points.cols();
  if (!input.initial_means.empty()) {
    check_points(input.initial_means, "initial_means");
    require(input.initial_means.rows() == k && input.initial_means.cols() == d, [&] {
      return fmt::format("initial_means is {} x {}, must be {} x {}", input.initial_means.rows(),
                         input.initial_means.cols(), k, d);
    });
  }
  if (!input.initial_model) return;
  const GmmModel& start = *input.initial_model;
  require(start.covariance == options.covariance, [&] {
    return fmt::format("initial_model has covariance {}, the options have {}: they must match",
                       to_string(start.covariance), to_string(options.covariance));
  });
  require(start.means.rows() == k && start.means.cols() == d, [&] {
    return fmt::format("initial_model has {} of {}, must have {} of {}",
                       counted(start.means.rows(), "mean"), counted(start.means.cols(), "feature"),
                       k, d);
  });
  make_scorer(start);  // checks the rest
}

GmmProblem check(const GmmInput& input, const GmmOptions& options) {
  validate_options(options);
  GmmProblem problem;
  problem.rows = input.rows ? *input.rows : Rows(input.points.rows(), GmmInput::kBlockRows);
  check_points(input.points, problem.rows);
  const WeightTotals totals = check_weights(input.weights, problem.rows);
  problem.total_weight = totals.sum;
  const int64_t num_samples = totals.num_positive;
  require(options.num_clusters <= num_samples, [&] {
    return fmt::format("num_clusters is {}, there are only {}{}: use at most {}",
                       options.num_clusters, counted(num_samples, "sample"),
                       input.weights.empty() ? "" : " of positive weight", num_samples);
  });
  const double d = static_cast<double>(input.points.cols());
  const double each = options.covariance == GmmCovariance::Full ? d * d : 2 * d;
  const auto copies = static_cast<double>(
      2 + reduction_copies(problem.rows.size(), GmmInput::kBlockRows, options.num_threads));
  require_memory(
      {8.0 * copies * options.num_clusters * each,
       fmt::format("{} components of {} features", options.num_clusters, input.points.cols()),
       "use fewer components, or diagonal covariances"});
  check_start(input, options);
  problem.points = input.points;
  problem.weights = input.weights;
  problem.covariance = options.covariance;
  problem.num_threads = options.num_threads;
  return problem;
}

// EM rounds from `start`. Nothing is returned when it is stopped before its first pass.
std::optional<GmmRun> run_em(const GmmProblem& problem, const GmmOptions& options, GmmModel start,
                             int restart, int num_restarts, const Stopwatch& watch,
                             Monitor& monitor) {
  GmmRun run;
  run.model = std::move(start);
  run.labels.resize(problem.points.rows());
  std::vector<int> labels(problem.points.rows());
  std::optional<GmmStats> stats =
      run_expectation(problem, make_scorer(run.model), GmmSharing::Soft, monitor, run.labels);
  if (!stats) return std::nullopt;
  run.objective = stats->log_likelihood;
  for (int iteration = 1; iteration <= options.max_iterations; ++iteration) {
    GmmModel model = maximize(problem, run.model, *stats);
    stats = run_expectation(problem, make_scorer(model), GmmSharing::Soft, monitor, labels);
    if (!stats) {
      run.termination = termination_from(problem.rows.agree(monitor.stop_reason()));
      break;
    }
    const double change = stats->log_likelihood - run.objective;
    run.model = std::move(model);
    run.labels.swap(labels);
    run.objective = stats->log_likelihood;
    run.trace.push_back(run.objective);
    monitor.on_iteration({restart, num_restarts, iteration, options.max_iterations, run.objective,
                          change, watch.seconds()});
    const double scale = std::max(std::abs(run.objective), problem.total_weight);
    if (options.rel_tolerance > 0 && change <= options.rel_tolerance * scale) {
      run.termination = Termination::Converged;
      break;
    }
  }
  return run;
}

// What there is when the very first pass was stopped.
GmmRun stopgap_run(const GmmProblem& problem, const GmmModel& pooled, const Matrix<double>& means) {
  GmmRun run;
  run.labels.resize(problem.points.rows());
  run.model = make_stopgap(problem, pooled, means, run.labels, &run.objective);
  return run;
}

bool is_stop(Termination termination) {
  return termination == Termination::Cancelled || termination == Termination::TimeLimit;
}

std::string stop_message(const GmmRun& run, const GmmOptions& options) {
  switch (run.termination) {
    case Termination::Converged:
      return "the log-likelihood rises by less than rel_tolerance";
    case Termination::IterationLimit:
      return options.rel_tolerance > 0
                 ? fmt::format(
                       "max_iterations = {} was reached before rel_tolerance: raise either "
                       "to converge",
                       options.max_iterations)
                 : "max_iterations were made";
    default:
      return "stopped early: the model is the best complete one";
  }
}

double num_parameters(const GmmModel& model) {
  const double k = static_cast<double>(model.means.rows());
  const double d = static_cast<double>(model.means.cols());
  const double matrix = d * (d + 1) / 2;
  const double covariances = model.covariance == GmmCovariance::Spherical  ? k
                             : model.covariance == GmmCovariance::Diagonal ? k * d
                             : model.covariance == GmmCovariance::Full     ? k * matrix
                                                                           : matrix;
  return k - 1 + k * d + covariances;
}

void describe(const GmmProblem& problem, const GmmOptions& options, const GmmRun& run,
              RunSummary& summary) {
  summary.method = GmmModel::kKind;
  summary.version = version();
  summary.seed = options.seed;
  summary.termination = run.termination;
  summary.message = stop_message(run, options);
  summary.objective = run.objective;
  summary.trace = run.trace;
  summary.iterations = static_cast<int>(run.trace.size());
  summary.n = problem.rows.size();
  summary.d = problem.points.cols();
  set_sizes(summary, problem.rows, run.labels, options.num_clusters);
  const double parameters = num_parameters(run.model);
  summary.extra.emplace_back("mean_log_likelihood", run.objective / problem.total_weight);
  summary.extra.emplace_back("aic", 2 * parameters - 2 * run.objective);
  summary.extra.emplace_back("bic",
                             parameters * std::log(problem.total_weight) - 2 * run.objective);
  const auto num_empty = std::ranges::count(run.model.weights, 0.0);
  if (num_empty > 0)
    summary.warnings.push_back(fmt::format(
        "{} of {} components {} empty (weight 0): there may be fewer distinct samples than "
        "num_clusters; use a smaller num_clusters",
        num_empty, options.num_clusters, by_number(num_empty, "is", "are")));
}

}  // namespace

const char* to_string(GmmCovariance covariance) {
  switch (covariance) {
    case GmmCovariance::Spherical:
      return "spherical";
    case GmmCovariance::Diagonal:
      return "diagonal";
    case GmmCovariance::Full:
      return "full";
    case GmmCovariance::Tied:
      return "tied";
  }
  return "";
}

GmmCovariance gmm_covariance_from(std::string_view word) {
  for (const GmmCovariance covariance : {GmmCovariance::Spherical, GmmCovariance::Diagonal,
                                         GmmCovariance::Full, GmmCovariance::Tied})
    if (word == to_string(covariance)) return covariance;
  throw DataError(fmt::format(
      "gmm model: covariance is '{}', must be spherical, diagonal, full or tied", word));
}

GmmResult fit_gmm(const GmmInput& input, const GmmOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  GmmProblem problem = check(input, options);
  const GmmModel pooled = pool_samples(problem);
  problem.floors = variance_floors(pooled, options.regularization);
  const bool is_given = input.initial_model || !input.initial_means.empty();
  const int num_restarts = is_given ? 1 : options.num_restarts;

  GmmResult result;
  std::optional<GmmRun> best;
  bool is_stopped = false;
  for (int restart = 0; restart < num_restarts && !is_stopped; ++restart) {
    GmmModel start = first_model(input, problem, pooled, options, restart, monitor);
    const Matrix<double> means = start.means;
    std::optional<GmmRun> run =
        run_em(problem, options, std::move(start), restart, num_restarts, watch, monitor);
    is_stopped = !run || is_stop(run->termination);
    if (!run && restart > 0) break;
    if (!run) run = stopgap_run(problem, pooled, means);
    result.summary.num_restarts = restart + 1;
    if (best && run->objective <= best->objective) continue;
    best = std::move(run);
    result.summary.restart = restart;
  }
  if (is_stopped) best->termination = termination_from(problem.rows.agree(monitor.stop_reason()));
  describe(problem, options, *best, result.summary);
  result.labels = std::move(best->labels);
  result.model = std::move(best->model);
  result.summary.seconds = watch.seconds();
  return result;
}

}  // namespace milieu
