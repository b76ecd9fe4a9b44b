// SPDX-License-Identifier: Apache-2.0
// Mixture of multinomials.
//
// Problem   maximise sum_d log sum_j pi_j prod_v theta_jv^n_dv + s sum_jv log theta_jv.
// Given     counts n_dv >= 0 of V words in n rows, the number of clusters k, smoothing s > 0.
// Find      pi (weights), theta_j (frequencies); label of a row: argmax_j of its shares.
// Symbols   r_dj the share of cluster j in row d.
// Conventions
//   start   k-means of the square roots of the frequencies, one start each.
//   empty   a cluster that loses all rows has equal frequencies and weight 0.
//   ties    labels go to the lowest index; a row without words has the weights as its shares.
// See       [Nigam00], docs/algorithms/multinomials.md.
#include "milieu/classic/counts/multinomials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/classic/counts/counts_internal.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/linalg/log_sum_exp.h"

namespace milieu {

namespace {

using namespace internal;

// What a pass over the rows leaves.
struct Tally {
  std::vector<double> mass;  // k: sum_d r_dj
  Matrix<double> words;      // k x V: sum_d r_dj n_dv
  double log_likelihood = 0;

  Tally(int64_t num_clusters, int64_t num_words)
      : mass(num_clusters, 0.0), words(num_clusters, num_words) {}
  void add(std::span<const float> counts, std::span<const double> shares) {
    for (size_t j = 0; j < mass.size(); ++j) {
      mass[j] += shares[j];
      double* row = words.row(static_cast<int64_t>(j));
      for (size_t v = 0; v < counts.size(); ++v)
        row[v] += shares[j] * static_cast<double>(counts[v]);
    }
  }
  int64_t num_bytes() const { return words.size() * static_cast<int64_t>(sizeof(double)); }
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(mass, words, log_likelihood);
  }
  void merge(const Tally& other) {
    for (size_t j = 0; j < mass.size(); ++j) mass[j] += other.mass[j];
    for (int64_t i = 0; i < words.size(); ++i) words.data()[i] += other.words.data()[i];
    log_likelihood += other.log_likelihood;
  }
};

Matrix<double> log_of(const Matrix<double>& words) {
  Matrix<double> logs(words.rows(), words.cols());
  for (int64_t i = 0; i < words.size(); ++i) logs.data()[i] = std::log(words.data()[i]);
  return logs;
}

// r_d and the row's log likelihood, which is returned.
double share_row(const MultinomialsModel& model, const Matrix<double>& logs,
                 std::span<const float> counts, std::span<double> shares) {
  for (size_t j = 0; j < shares.size(); ++j) {
    const double* row = logs.row(static_cast<int64_t>(j));
    double score = std::log(model.weights[j]);
    for (size_t v = 0; v < counts.size(); ++v) score += static_cast<double>(counts[v]) * row[v];
    shares[j] = score;
  }
  const double log_sum = log_sum_exp(shares);
  for (double& r : shares) r = std::exp(r - log_sum);
  return log_sum;
}

// E-step of all rows.
Tally expect(const MultinomialsModel& model, const CountRows& counts, Matrix<double>& shares,
             int num_threads) {
  const Matrix<double> logs = log_of(model.words);
  return parallel_reduce(
      counts.rows, num_threads, Tally(model.words.rows(), counts.own.cols()),
      [&](const Block& block, Tally& part) {
        for (int64_t d = block.begin; d < block.end; ++d) {
          part.log_likelihood += share_row(model, logs, counts.own.row_span(d), shares.row_span(d));
          part.add(counts.own.row_span(d), shares.row_span(d));
        }
      },
      [](Tally& total, const Tally& part) { total.merge(part); });
}

// M-step.
void maximize(const Tally& tally, double smoothing, MultinomialsModel& model) {
  double rows = 0;
  for (const double mass : tally.mass) rows += mass;
  for (int64_t j = 0; j < tally.words.rows(); ++j) {
    model.weights[j] = tally.mass[j] / rows;
    double total = 0;
    for (const double n : tally.words.row_span(j)) total += n + smoothing;
    for (int64_t v = 0; v < tally.words.cols(); ++v)
      model.words(j, v) = (tally.words(j, v) + smoothing) / total;
  }
}

double prior_term(const MultinomialsModel& model, double smoothing) {
  double sum = 0;
  for (int64_t i = 0; i < model.words.size(); ++i) sum += std::log(model.words.data()[i]);
  return smoothing * sum;
}

// What rows shared out by labels leave; a row without one counts for cluster 0.
Tally tally_labels(const CountRows& counts, std::span<const int> labels, int num_clusters,
                   int num_threads) {
  return parallel_reduce(
      counts.rows, num_threads, Tally(num_clusters, counts.own.cols()),
      [&](const Block& block, Tally& part) {
        std::vector<double> shares(num_clusters, 0.0);
        for (int64_t d = block.begin; d < block.end; ++d) {
          const size_t label = labels[d] < 0 ? 0 : static_cast<size_t>(labels[d]);
          shares[label] = 1;
          part.add(counts.own.row_span(d), shares);
          shares[label] = 0;
        }
      },
      [](Tally& total, const Tally& part) { total.merge(part); });
}

MultinomialsModel start_model(const CountRows& counts, const Matrix<float>& roots,
                              const MultinomialsOptions& options, int restart, Monitor& monitor) {
  KMeansOptions kmeans;
  kmeans.num_clusters = options.num_clusters;
  kmeans.num_restarts = 1;
  kmeans.seed = Random(options.seed).child(restart).next_bits() >> 2;
  kmeans.num_threads = options.num_threads;
  Monitor stop_only(monitor);
  const KMeansInput input{roots.view(), {}, {}, &counts.rows};
  const std::vector<int> labels = fit_kmeans(input, kmeans, stop_only).labels;
  MultinomialsModel model;
  model.weights.resize(options.num_clusters);
  model.words = Matrix<double>(options.num_clusters, counts.own.cols());
  maximize(tally_labels(counts, labels, options.num_clusters, options.num_threads),
           options.smoothing, model);
  return model;
}

using Attempt = CountsRun<MultinomialsModel>;

Attempt attempt(const CountRows& counts, const Matrix<float>& roots,
                const MultinomialsOptions& options, int restart, const Stopwatch& watch,
                Monitor& monitor) {
  Attempt run;
  run.model = start_model(counts, roots, options, restart, monitor);
  Matrix<double> shares(counts.own.rows(), options.num_clusters);
  for (int iteration = 1; iteration <= options.max_iterations; ++iteration) {
    const StopReason reason = counts.rows.agree(monitor.stop_reason());
    if (reason != StopReason::None) {
      run.termination = termination_from(reason);
      break;
    }
    const Tally tally = expect(run.model, counts, shares, options.num_threads);
    const double objective = tally.log_likelihood + prior_term(run.model, options.smoothing);
    const double change = run.trace.empty() ? 0 : objective - run.objective;
    run.objective = objective;
    run.trace.push_back(objective);
    monitor.on_iteration({restart, options.num_restarts, iteration, options.max_iterations,
                          objective, change, watch.seconds()});
    if (run.trace.size() > 1 && options.rel_tolerance > 0 &&
        change <= options.rel_tolerance * std::abs(objective)) {
      run.termination = Termination::Converged;
      break;
    }
    maximize(tally, options.smoothing, run.model);
  }
  return run;
}

void describe(const CountRows& counts, const MultinomialsOptions& options, const Attempt& run,
              const std::vector<int>& labels, RunSummary& summary) {
  summary.method = MultinomialsModel::kKind;
  summary.seed = options.seed;
  describe_counts_run(run, counts, labels, options.num_clusters, options.max_iterations,
                      "objective", "clusters", "empty", summary);
}

}  // namespace

MultinomialsResult fit_multinomials(const MultinomialsInput& input,
                                    const MultinomialsOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  validate_options(options);
  const CountRows counts(input.counts, input.rows, MultinomialsInput::kBlockRows);
  check_counts(counts);
  check_num_clusters(options.num_clusters, counts.rows.size());
  const Matrix<float> roots = root_frequencies(input.counts);
  MultinomialsResult result;
  Attempt best = best_restart(
      options.restart_range, options.num_restarts,
      [&](int restart) { return attempt(counts, roots, options, restart, watch, monitor); },
      counts.rows, result.summary, monitor);
  result.probabilities = Matrix<double>(input.counts.rows(), options.num_clusters);
  expect(best.model, counts, result.probabilities, options.num_threads);
  result.labels = strongest_columns(result.probabilities);
  describe(counts, options, best, result.labels, result.summary);
  result.model = std::move(best.model);
  result.summary.seconds = watch.seconds();
  return result;
}

Matrix<double> cluster_probabilities(const MultinomialsModel& model, FloatView counts,
                                     int num_threads) {
  check_counts(counts);
  check_num_words(counts, model.words.cols());
  bool is_valid = model.weights.size() == static_cast<size_t>(model.words.rows());
  for (const double weight : model.weights) is_valid = is_valid && weight >= 0;
  for (int64_t i = 0; i < model.words.size(); ++i) is_valid = is_valid && model.words.data()[i] > 0;
  if (!is_valid)
    throw DataError(
        "multinomials model: must have one weight of at least 0 per cluster, and words above 0");
  Matrix<double> shares(counts.rows(), model.words.rows());
  expect(model, {counts, nullptr, MultinomialsInput::kBlockRows}, shares, num_threads);
  return shares;
}

std::vector<int> predict(const MultinomialsModel& model, FloatView counts, int num_threads) {
  return strongest_columns(cluster_probabilities(model, counts, num_threads));
}

}  // namespace milieu
