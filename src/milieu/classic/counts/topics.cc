// SPDX-License-Identifier: Apache-2.0
// Latent Dirichlet allocation.
//
// Problem   maximise the variational lower bound of log p(counts | alpha, eta) over gamma and
//           lambda, or draw topics from p(topics | counts) by collapsed Gibbs sampling.
// Given     counts n_dv >= 0 of V words in n rows, the number of topics K, symmetric Dirichlet
//           priors alpha (topics of a row) and eta (words of a topic).
// Find      lambda (words of topics) and gamma (topics of rows); label of a row: its strongest
//           topic.
// Symbols   see topics_steps.h.
// Conventions
//   start   variational: lambda = eta + draws of mean 1 scaled to the mean count; Gibbs: random
//           topics.
//   rows    start from gamma = alpha + N / K each time, so that prediction repeats training; they
//           settle roughly until the bound hardly rises, then to the last digit.
//   ties    labels go to the lowest index; a row without words has equal shares and label 0.
// See       [Blei03], [Griffiths04], docs/algorithms/topics.md.
#include "milieu/classic/counts/topics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/classic/counts/counts_internal.h"
#include "milieu/classic/counts/topics_steps.h"

namespace milieu {

namespace {

using namespace internal;

using TopicsRun = CountsRun<TopicsModel>;

double sum_of(const CountRows& counts, int num_threads) {
  return parallel_reduce(
      counts.rows, num_threads, 0.0,
      [&](const Block& block, double& total) {
        for (int64_t d = block.begin; d < block.end; ++d)
          for (const float n : counts.own.row_span(d)) total += static_cast<double>(n);
      },
      [](double& total, double part) { total += part; });
}

Matrix<double> start_lambda(const CountRows& counts, const TopicsOptions& options, Random random) {
  const double total = sum_of(counts, options.num_threads);
  Matrix<double> lambda(options.num_clusters, counts.own.cols());
  const double scale = std::max(1.0, total / static_cast<double>(lambda.size()));
  for (int64_t i = 0; i < lambda.size(); ++i)
    lambda.data()[i] = options.word_prior + scale * (0.5 + random.uniform());
  return lambda;
}

// [Blei03, Sec. 5.3 with the smoothing of 5.4]: rows given topics, then topics given rows.
TopicsRun run_variational(const CountRows& counts, const TopicsOptions& options, int restart,
                          int num_restarts, const Stopwatch& watch, Monitor& monitor) {
  TopicsRun run;
  run.model.topic_prior = options.topic_prior;
  run.model.words = start_lambda(counts, options, Random(options.seed).child(restart));
  Matrix<double> gamma(counts.own.rows(), options.num_clusters);
  Matrix<double>& lambda = run.model.words;
  bool is_coarse = true;
  for (int iteration = 1; iteration <= options.max_iterations; ++iteration) {
    const std::optional<TopicStats> stats =
        infer_rows(counts, lambda, options.topic_prior, is_coarse ? kCoarseRounds : RowRounds{},
                   gamma, options.num_threads, monitor);
    if (!stats) {
      run.termination = termination_from(counts.rows.agree(monitor.stop_reason()));
      break;
    }
    const double bound = stats->bound + topic_bound(lambda, options.word_prior);
    const double change = run.trace.empty() ? 0 : bound - run.objective;
    run.objective = bound;
    run.trace.push_back(bound);
    monitor.on_iteration(
        {restart, num_restarts, iteration, options.max_iterations, bound, change, watch.seconds()});
    if (run.trace.size() > 1 && change <= options.rel_tolerance * std::abs(bound)) {
      if (!is_coarse && options.rel_tolerance > 0) {
        run.termination = Termination::Converged;
        break;
      }
      is_coarse = false;
    }
    for (int64_t i = 0; i < lambda.size(); ++i)
      lambda.data()[i] = options.word_prior + stats->words.data()[i];
  }
  run.rows = std::move(gamma);
  return run;
}

TopicsRun run_gibbs(const CountRows& counts, const TopicsOptions& options, int restart,
                    int num_restarts, const Stopwatch& watch, Monitor& monitor) {
  Random random = Random(options.seed).child(restart);
  GibbsState state = start_gibbs(counts.own, options.num_clusters, random);
  TopicsRun run;
  run.model.topic_prior = options.topic_prior;
  run.objective = gibbs_log_joint(state, options.topic_prior, options.word_prior);
  for (int iteration = 1; iteration <= options.max_iterations; ++iteration) {
    if (!sweep_gibbs(state, options.topic_prior, options.word_prior, random, monitor)) {
      run.termination = termination_from(monitor.stop_reason());
      break;
    }
    const double before = run.objective;
    run.objective = gibbs_log_joint(state, options.topic_prior, options.word_prior);
    run.trace.push_back(run.objective);
    monitor.on_iteration({restart, num_restarts, iteration, options.max_iterations, run.objective,
                          run.objective - before, watch.seconds()});
  }
  run.model.words = state.topic_words;
  for (int64_t i = 0; i < run.model.words.size(); ++i)
    run.model.words.data()[i] += options.word_prior;
  run.rows = std::move(state.row_topics);
  return run;
}

void describe(const CountRows& counts, const TopicsOptions& options, const TopicsRun& run,
              const std::vector<int>& labels, RunSummary& summary) {
  summary.method = TopicsModel::kKind;
  summary.seed = options.seed;
  describe_counts_run(run, counts, labels, options.num_clusters, options.max_iterations, "bound",
                      "topics", "not the strongest of any row", summary);
  if (options.inference == TopicsInference::Gibbs && run.termination == Termination::IterationLimit)
    summary.message = "max_iterations sweeps were made";
}

}  // namespace

TopicsResult fit_topics(const TopicsInput& input, const TopicsOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  validate_options(options);
  const bool is_gibbs = options.inference == TopicsInference::Gibbs;
  const CountRows counts(input.counts, input.rows, TopicsInput::kBlockRows);
  check_counts(counts, is_gibbs);
  require(!is_gibbs || !counts.rows.is_shared(),
          "inference is gibbs, which goes from row to row on one machine: several ranks need "
          "inference variational");
  check_num_clusters(options.num_clusters, counts.rows.size());
  check_topics_memory(options.num_clusters, input.counts, counts.rows.size());
  TopicsResult result;
  TopicsRun best = best_restart(
      options.restart_range, options.num_restarts,
      [&](int restart) {
        return (is_gibbs ? run_gibbs : run_variational)(counts, options, restart,
                                                        options.num_restarts, watch, monitor);
      },
      counts.rows, result.summary, monitor);
  Matrix<double> shares(input.counts.rows(), options.num_clusters);
  const auto infer = [&](Monitor& until) {
    return infer_rows(counts, best.model.words, options.topic_prior, RowRounds{}, shares,
                      options.num_threads, until);
  };
  if (infer(monitor)) {
    result.labels = strongest_columns(shares);
  } else {  // another pass over all rows may take long
    best.termination = termination_from(counts.rows.agree(monitor.stop_reason()));
    Monitor grace;
    grace.set_time_limit(kGraceSeconds);
    infer(grace);
    result.labels = reached_labels(shares, best.rows);
  }
  result.proportions = row_shares(std::move(shares));
  describe(counts, options, best, result.labels, result.summary);
  result.model = std::move(best.model);
  result.summary.seconds = watch.seconds();
  return result;
}

Matrix<double> infer_topics(const TopicsModel& model, FloatView counts, int num_threads) {
  check_counts(counts, false);
  check_num_words(counts, model.words.cols());
  for (int64_t i = 0; i < model.words.size(); ++i)
    if (!(model.words.data()[i] > 0) || !(model.topic_prior > 0))
      throw DataError("topics model: words and topic_prior must be above 0");
  Matrix<double> shares(counts.rows(), model.words.rows());
  infer_rows({counts, nullptr, TopicsInput::kBlockRows}, model.words, model.topic_prior,
             RowRounds{}, shares, num_threads, silent_monitor());
  return row_shares(std::move(shares));
}

std::vector<int> predict(const TopicsModel& model, FloatView counts, int num_threads) {
  return strongest_columns(infer_topics(model, counts, num_threads));
}

}  // namespace milieu
