// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/search/kmedoids.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/exemplar/search/medoid_search_internal.h"
#include "milieu/exemplar/search/nearest_exemplar_internal.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {

namespace {

using internal::MedoidProblem;
using internal::MedoidSearch;

void check_costs(FloatView costs) {
  require(costs.rows() == costs.cols(), [&] {
    return fmt::format("the cost matrix is {} x {}, must be square", costs.rows(), costs.cols());
  });
  for (int64_t p = 0; p < costs.rows(); ++p)
    for (int64_t q = 0; q < costs.cols(); ++q)
      if (p != q && !std::isfinite(costs(p, q)))
        throw DataError(
            fmt::format("cost of serving row {} by column {} is {}, must be a finite number", p, q,
                        costs(p, q)));
}

void check_input(const KMedoidsInput& input, const KMedoidsOptions& options) {
  validate_options(options);
  require(input.points.empty() != input.costs.empty(),
          "k-medoids needs exactly one of points and costs");
  if (!input.points.empty()) check_points(input.points);
  check_costs(input.costs);
  const int64_t n = input.points.empty() ? input.costs.rows() : input.points.rows();
  require(options.num_clusters <= n, [&] {
    return fmt::format("num_clusters is {}, there are only {}: use at most {}",
                       options.num_clusters, counted(n, "sample"), n);
  });
  std::vector<int> given = input.initial_medoids;
  std::sort(given.begin(), given.end());
  const bool are_valid =
      given.empty() ||
      (static_cast<int>(given.size()) == options.num_clusters && given.front() >= 0 &&
       given.back() < n && std::adjacent_find(given.begin(), given.end()) == given.end());
  require(are_valid, "initial_medoids must be num_clusters different rows");
}

std::vector<int> first_medoids(const MedoidProblem& problem, const KMedoidsInput& input,
                               const KMedoidsOptions& options, int restart, Monitor& monitor) {
  if (!input.initial_medoids.empty()) return input.initial_medoids;
  if (restart == 0) return internal::build_medoids(problem, options.num_clusters, monitor);
  Random random = Random(options.seed).child(restart);
  const std::vector<int64_t> drawn =
      random.sample_without_replacement(problem.served.rows(), options.num_clusters);
  return {drawn.begin(), drawn.end()};
}

MedoidSearch run_restart(const MedoidProblem& problem, std::vector<int> medoids,
                         const KMedoidsOptions& options, Monitor& monitor) {
  // One medoid: the greedy start tries them all, and no swap is left.
  if (options.num_clusters == 1) medoids = internal::build_medoids(problem, 1, monitor);
  const int passes = options.num_clusters == 1 ? 0 : options.max_iterations;
  MedoidSearch search = internal::swap_medoids(problem, std::move(medoids), passes, monitor);
  if (passes == 0) {
    search.trace.push_back(search.cost);
    search.is_converged = !monitor.should_stop();
  }
  return search;
}

void fill_summary(const KMedoidsInput& input, const KMedoidsOptions& options,
                  const MedoidSearch& search, const Monitor& monitor, KMedoidsResult& result) {
  RunSummary& summary = result.summary;
  summary.method = "kmedoids";
  summary.version = version();
  summary.seed = options.seed;
  summary.objective = search.cost;
  summary.trace = search.trace;
  summary.iterations = static_cast<int>(search.trace.size());
  summary.n = static_cast<int64_t>(result.labels.size());
  summary.d = input.points.empty() ? summary.n : input.points.cols();
  summary.termination = Termination::Converged;
  if (monitor.should_stop())
    summary.termination = termination_from(monitor.stop_reason());
  else if (!search.is_converged)
    summary.termination = Termination::IterationLimit;
  summary.message = search.is_converged
                        ? "no swap of a medoid for another sample lowers the sum of distances"
                        : "stopped before every swap was tried: the medoids may still improve";
  set_sizes(summary, result.labels, options.num_clusters);
  if (summary.clusters < options.num_clusters)
    summary.warnings.push_back(
        fmt::format("num_clusters is {}, but only {}: the others repeat them", options.num_clusters,
                    counted(summary.clusters, "medoid differs", "medoids differ")));
  summary.extra = {{"exemplars", result.model.rows}};
}

}  // namespace

KMedoidsResult fit_kmedoids(const KMedoidsInput& given, const KMedoidsOptions& options,
                            Monitor& monitor) {
  const Stopwatch watch;
  KMedoidsInput input = given;
  if (options.distance == Distance::Precomputed && input.costs.empty())
    std::swap(input.points, input.costs);
  check_input(input, options);
  const MedoidProblem problem =
      internal::medoid_problem(input.points, options.distance, input.costs, options.max_memory_gb,
                               options.num_threads, monitor);
  const int restarts = input.initial_medoids.empty() ? options.num_restarts : 1;
  KMedoidsResult result;
  MedoidSearch best;
  for (int restart = 0; restart < restarts; ++restart) {
    MedoidSearch search = run_restart(
        problem, first_medoids(problem, input, options, restart, monitor), options, monitor);
    result.summary.num_restarts = restart + 1;
    if (best.medoids.empty() || search.cost < best.cost) {
      best = std::move(search);
      result.summary.restart = restart;
    }
    monitor.on_iteration({restart, restarts, static_cast<int>(best.trace.size()),
                          options.max_iterations, best.cost, 0, watch.seconds()});
    if (monitor.should_stop()) break;
  }
  result.model.rows.assign(best.medoids.begin(), best.medoids.end());
  result.model.distance =
      input.points.empty() ? "precomputed" : internal::distance_name(options.distance);
  if (!input.points.empty()) {
    result.model.medoids = Matrix<float>(options.num_clusters, input.points.cols());
    for (int m = 0; m < options.num_clusters; ++m)
      std::copy_n(input.points.row(best.medoids[m]), input.points.cols(),
                  result.model.medoids.row(m));
  }
  if (input.points.empty() || !monitor.should_stop()) {
    result.labels = internal::medoid_labels(problem, best.medoids);
  } else {  // the distances may be incomplete: assign by the features
    std::vector<float> costs;
    const double gamma =
        internal::distance_gamma(options.distance, input.points, options.num_threads);
    result.labels = internal::nearest_exemplars(options.distance, result.model.medoids,
                                                input.points, options.num_threads, gamma, &costs);
    best.cost = std::accumulate(costs.begin(), costs.end(), 0.0);
    best.trace = {best.cost};
  }
  fill_summary(input, options, best, monitor, result);
  result.summary.seconds = watch.seconds();
  return result;
}

std::vector<int> predict(const KMedoidsModel& model, FloatView points, int num_threads) {
  require(!model.medoids.empty(),
          "this model was fitted on a cost matrix and has no features to predict from");
  return internal::nearest_exemplars(internal::distance_from_name(model.distance), model.medoids,
                                     points, num_threads);
}

}  // namespace milieu
