// SPDX-License-Identifier: Apache-2.0
// JSOM: topics whose prior belongs to the cluster of the row.
//
// Problem   maximise a variational lower bound of log p(counts | pi, alpha, eta) over the
//           parameters, q(cluster) q(theta) q(topics) of the rows and q(beta) of the topics.
// Given     counts n_dv >= 0 of V words in n rows, the numbers of clusters J and topics K.
// Find      pi_j, alpha_j (topics of cluster j), lambda_k (words of topic k); label of a row: its
//           most probable cluster.
// Symbols   see jsom_steps.h.
// Conventions
//   start   topics of groups of words, clusters by k-means of counts (jsom_start_internal.h).
//   empty   a cluster of weight below 1e-3 keeps its prior.
//   labels  are inferred from the model alone, so that prediction repeats them; ties go to the
//           lowest index.
// See       [Zhu10], [Xie15], docs/algorithms/jsom.md.
#include "milieu/classic/counts/jsom.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/counts/counts_internal.h"
#include "milieu/classic/counts/jsom_start_internal.h"
#include "milieu/classic/counts/jsom_steps.h"
#include "milieu/classic/counts/topics_steps.h"

namespace milieu {

namespace {

using namespace internal;

constexpr double kLightCluster = 1e-3;

void update_topics(const JsomStats& stats, double eta, JsomModel& model) {
  for (int64_t i = 0; i < model.words.size(); ++i)
    model.words.data()[i] = eta + stats.words.data()[i];
}

void update_priors(const JsomStats& stats, JsomModel& model) {
  double rows = 0;
  for (const double mass : stats.mass) rows += mass;
  for (int64_t j = 0; j < model.priors.rows(); ++j) {
    model.weights[j] = stats.mass[j] / rows;
    if (stats.mass[j] >= kLightCluster)
      fit_dirichlet(stats.mass[j], stats.logs.row_span(j), model.priors.row_span(j));
  }
}

using JsomRun = CountsRun<JsomModel>;

JsomRun run_jsom(FloatView counts, const JsomOptions& options, int restart, const Stopwatch& watch,
                 Monitor& monitor) {
  Random random = Random(options.seed).child(restart);
  JsomState state = start_jsom(counts, options, random, monitor);
  JsomRun run;
  for (int round = 1; round <= options.max_iterations; ++round) {
    const std::optional<JsomStats> stats =
        update_rows(state.model, counts, state.gamma, state.zeta, options.num_threads, monitor);
    if (!stats) {
      run.termination = termination_from(monitor.stop_reason());
      break;
    }
    const double bound = stats->bound + topic_bound(state.model.words, options.word_prior);
    const double change = run.trace.empty() ? 0 : bound - run.objective;
    run.objective = bound;
    run.trace.push_back(bound);
    monitor.on_iteration({restart, options.num_restarts, round, options.max_iterations, bound,
                          change, watch.seconds()});
    if (run.trace.size() > 1 && options.rel_tolerance > 0 &&
        change <= options.rel_tolerance * std::abs(bound)) {
      run.termination = Termination::Converged;
      break;
    }
    update_priors(*stats, state.model);
    update_topics(*stats, options.word_prior, state.model);
  }
  run.model = std::move(state.model);
  run.rows = std::move(state.zeta);
  return run;
}

constexpr int64_t kBlockRows = 32;

void describe(FloatView counts, const JsomOptions& options, const JsomRun& run,
              const std::vector<int>& labels, RunSummary& summary) {
  summary.method = JsomModel::kKind;
  summary.seed = options.seed;
  describe_counts_run(run, {counts, nullptr, kBlockRows}, labels, options.num_clusters,
                      options.max_iterations, "bound", "clusters", "empty", summary);
}

void check_model(const JsomModel& model) {
  bool is_valid = model.weights.size() == static_cast<size_t>(model.priors.rows()) &&
                  model.priors.cols() == model.words.rows() && !model.words.empty();
  for (const double weight : model.weights) is_valid = is_valid && weight >= 0;
  for (const Matrix<double>* m : {&model.priors, &model.words})
    for (int64_t i = 0; i < m->size(); ++i)
      is_valid = is_valid && m->data()[i] > 0 && std::isfinite(m->data()[i]);
  if (!is_valid)
    throw DataError(
        "jsom model: weights, priors and words must have matching sizes and be above 0");
}

}  // namespace

JsomResult fit_jsom(const JsomInput& input, const JsomOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  validate_options(options);
  check_counts(input.counts);
  check_num_clusters(options.num_clusters, input.counts.rows());
  check_topics_memory(options.num_topics, input.counts, input.counts.rows());
  JsomResult result;
  const CountRows all_rows(input.counts, nullptr, kBlockRows);
  JsomRun best = best_restart(
      options.restart_range, options.num_restarts,
      [&](int restart) { return run_jsom(input.counts, options, restart, watch, monitor); },
      all_rows.rows, result.summary, monitor);
  check_model(best.model);
  result.probabilities = infer_clusters(best.model, input.counts, options.num_threads, monitor);
  if (!monitor.should_stop()) {
    result.labels = strongest_columns(result.probabilities);
  } else {  // another pass over all rows may take long
    best.termination = termination_from(monitor.stop_reason());
    Monitor grace;
    grace.set_time_limit(kGraceSeconds);
    result.probabilities = infer_clusters(best.model, input.counts, options.num_threads, grace);
    result.labels = reached_labels(result.probabilities, best.rows);
  }
  describe(input.counts, options, best, result.labels, result.summary);
  result.model = std::move(best.model);
  result.summary.seconds = watch.seconds();
  return result;
}

Matrix<double> cluster_probabilities(const JsomModel& model, FloatView counts, int num_threads) {
  check_counts(counts);
  check_model(model);
  check_num_words(counts, model.words.cols());
  return infer_clusters(model, counts, num_threads, silent_monitor());
}

std::vector<int> predict(const JsomModel& model, FloatView counts, int num_threads) {
  return strongest_columns(cluster_probabilities(model, counts, num_threads));
}

}  // namespace milieu
