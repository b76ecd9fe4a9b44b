// SPDX-License-Identifier: Apache-2.0
// The start of a run: the first counts, and the start of the clusters with the highest bound.
#include <algorithm>
#include <cmath>

#include "milieu/dlgmm/dlgmm_run_internal.h"

namespace milieu::internal {

namespace {

// A valid model whose clusters are all alike, for a run that is stopped before its first counts.
void blank_clusters(const DlgmmOptions& options, DlgmmModel& model) {
  const Matrix<double> none(options.num_clusters, model.num_bands * model.num_words());
  const Matrix<double> vectors(options.num_clusters,
                               std::max<int64_t>(model.image_projection.rows() - 1, 0));
  std::vector<int> labels(options.num_clusters);
  for (int j = 0; j < options.num_clusters; ++j) labels[j] = j;
  start_clusters(none.view(), labels, options, model, Team::alone(), vectors);
}

void use_projection(const DlgmmRun& run, DlgmmModel& model) {
  if (run.image_projection.empty()) return;
  model.image_projection = run.image_projection;
  model.image_weight = {run.options.image_weight};
}

std::vector<int64_t> images_with_patches(const ImageTable& table) {
  std::vector<int64_t> kept;
  for (int64_t d = 0; d < table.num_own(); ++d)
    if (table.num_patches(table.own_begin() + d) > 0) kept.push_back(d);
  return kept;
}

FirstCounts gather_counts(const DlgmmRun& run, PassResult pass, int64_t width) {
  FirstCounts first{std::move(pass), images_with_patches(run.table), {}};
  first.counts = Matrix<double>(static_cast<int64_t>(first.kept.size()), width);
  for (size_t i = 0; i < first.kept.size(); ++i)
    std::copy_n(first.pass.counts.row(first.kept[i]), width,
                first.counts.row(static_cast<int64_t>(i)));
  gather_points(run, first);
  return first;
}

// Weights, means (up to a shift of each band) and covariances that the data decide.
int64_t num_free_numbers(const DlgmmModel& model) {
  const int64_t num_words = model.num_words();
  const int64_t vectors = model.image_means.size() + std::ssize(model.image_variances);
  int64_t covariances = model.covariances.size();
  if (model.is_low_rank())
    return model.num_clusters() - 1 + vectors + model.factor_means.size() + covariances +
           std::ssize(model.factor_variances) + model.origin.size();
  if (model.covariance == DlgmmCovariance::Full || model.covariance == DlgmmCovariance::Tied)
    covariances = model.covariances.rows() * num_words * (num_words + 1) / 2;
  return model.num_clusters() - 1 + vectors +
         model.num_clusters() * model.num_bands * (num_words - 1) + covariances;
}

// zeta of the kept images by label; no label means equal shares.
void set_zeta(const std::vector<int64_t>& kept, const std::vector<int>& labels,
              Matrix<double>& zeta) {
  std::fill_n(zeta.data(), zeta.size(), 0.0);
  for (size_t i = 0; i < kept.size(); ++i) zeta(kept[i], labels[i]) = 1;
}

// Where the rounds of a low-rank model begin: theta at the log counts.
void set_alpha(const FirstCounts& first, int num_bands, Matrix<double>& alpha) {
  const Matrix<float> points = log_counts(first.counts, num_bands);
  for (size_t i = 0; i < first.kept.size(); ++i)
    std::ranges::copy(points.row_span(static_cast<int64_t>(i)), alpha.row(first.kept[i]));
}

// Rounds of the cluster layer on fixed counts; the bound of the layer, nothing when stopped.
std::optional<double> run_rounds(const DlgmmRun& run, DoubleView counts, int num_rounds,
                                 DlgmmState& state, Monitor& monitor) {
  double bound = 0;
  for (int round = 0; round < num_rounds; ++round) {
    const std::optional<ClusterStats> stats =
        update_images(run.table, state.model, counts, state.probabilities, state.alpha,
                      run.options.num_threads, monitor);
    if (!stats) return std::nullopt;
    const double before = bound;
    bound = stats->bound.total();
    if (run.options.fix == DlgmmFix::Clusters) break;
    if (round > 0 && bound - before <= run.options.rel_tolerance * std::abs(bound)) break;
    update_clusters(*stats, run.options.min_cluster_variance, state.model);
  }
  return bound;
}

}  // namespace

void start_state(const DlgmmRun& run, const DlgmmInput& input, Monitor& monitor,
                 DlgmmState& state) {
  const DlgmmOptions& options = run.options;
  Monitor stop_only(monitor);  // stops with it but does not report k-means
  if (input.initial_model)
    state.model = *input.initial_model;
  else
    start_words(input, options, stop_only, state.model);
  const int64_t width = state.model.num_bands * state.model.num_words();
  state.alpha = Matrix<double>(run.table.num_own(), width);
  state.probabilities = Matrix<double>(run.table.num_own(), options.num_clusters);
  if (!input.initial_model) {
    use_projection(run, state.model);
    blank_clusters(options, state.model);
  }
  std::optional<PassResult> pass = run_data_pass(run.table, state.model, state.alpha,
                                                 run.pass_options(state.model.gamma), monitor);
  if (!pass) return;
  const FirstCounts first = gather_counts(run, std::move(*pass), width);
  if (input.initial_model) {
    if (state.model.is_low_rank()) set_alpha(first, state.model.num_bands, state.alpha);
    std::fill_n(state.probabilities.data(), state.probabilities.size(), 1.0 / options.num_clusters);
    update_images(run.table, state.model, first.pass.counts, state.probabilities, state.alpha,
                  options.num_threads, monitor);
    return;
  }
  best_start(run, input, first, monitor, state);
}

std::optional<double> best_start(const DlgmmRun& run, const DlgmmInput& input,
                                 const FirstCounts& first, Monitor& monitor, DlgmmState& state) {
  const DlgmmOptions& options = run.options;
  Monitor stop_only(monitor);
  const int num_restarts = input.initial_labels.empty() ? options.num_restarts : 1;
  std::optional<double> best;
  CutStart cut(run, first);
  DlgmmState blank = state;
  if (blank.model.is_low_rank()) {
    blank.model.factors = first.factors;
    blank.model.origin = first.origin;
    set_alpha(first, blank.model.num_bands, blank.alpha);
  }
  for (int restart = 0; restart < num_restarts && !monitor.should_stop(); ++restart) {
    monitor.on_progress("starts", restart, num_restarts);
    DlgmmState tried = blank;
    std::vector<int> labels;
    for (const int64_t d : first.kept)
      if (!input.initial_labels.empty())
        labels.push_back(input.initial_labels[run.table.own_begin() + d]);
    if (input.initial_labels.empty() && options.init == DlgmmInit::NormalizedCut)
      labels = cut.labels(restart, cluster_seed(options, restart), stop_only);
    else if (input.initial_labels.empty())
      labels = start_labels(first.counts, state.model.num_bands, options, restart, stop_only,
                            *run.table.team);
    if (monitor.should_stop()) break;
    start_clusters(first.counts, labels, options, tried.model, *run.table.team, first.vectors);
    set_zeta(first.kept, labels, tried.probabilities);
    tried.restart = restart;
    const std::optional<double> bound =
        run_rounds(run, first.pass.counts, options.init_rounds, tried, monitor);
    if (!bound) break;
    if (!std::isfinite(*bound) || (best && *bound <= *best)) continue;
    best = bound;
    state = std::move(tried);
  }
  return best;
}

ClusterChoice choose_num_clusters(const DlgmmInput& input, const DlgmmOptions& options,
                                  Monitor& monitor) {
  DlgmmOptions one = options;
  one.num_clusters = 1;
  one.init = options.init == DlgmmInit::Lda ? DlgmmInit::LogCounts : options.init;
  DlgmmRun run = check_dlgmm(input, one);
  Monitor stop_only(monitor);
  DlgmmState words;
  words.model.num_bands = std::max(options.num_bands, 1);
  words.model.posterior = options.posterior, words.model.covariance = options.covariance;
  words.model.beta = options.beta, words.model.kappa = options.kappa;
  start_words(input, one, stop_only, words.model);
  use_projection(run, words.model);
  const int64_t width = words.model.num_bands * words.model.num_words();
  words.alpha = Matrix<double>(run.table.num_own(), width);
  blank_clusters(one, words.model);
  ClusterChoice choice;
  choice.num_clusters = 1;
  std::optional<PassResult> pass =
      run_data_pass(run.table, words.model, words.alpha, run.pass_options(0), monitor);
  if (!pass) return choice;
  const FirstCounts first = gather_counts(run, std::move(*pass), width);
  const int64_t num_images = run.table.num_images - run.table.num_without_patches;
  double best = -INFINITY;
  const auto try_number = [&](int64_t number) {
    if (number < 1 || number > num_images || monitor.should_stop() ||
        std::ranges::find(choice.tried, number) != choice.tried.end())
      return;
    DlgmmOptions these = one;
    these.num_clusters = static_cast<int>(number);
    const DlgmmRun trial{these, run.table, run.word_floor, run.image_projection};
    DlgmmState state = words;
    state.probabilities = Matrix<double>(run.table.num_own(), number);
    const std::optional<double> bound = best_start(trial, input, first, stop_only, state);
    if (!bound) return;
    const double score = *bound - 0.5 * static_cast<double>(num_free_numbers(state.model)) *
                                      std::log(static_cast<double>(num_images));
    choice.tried.push_back(number);
    choice.scores.push_back(score);
    if (score <= best) return;
    best = score;
    choice.num_clusters = static_cast<int>(number);
  };
  // Two numbers in a row that are worse end the search: the penalty rises by the same amount for
  // each cluster, the gain falls.
  int64_t before = 0, number = 1;
  for (int worse = 0; worse < 2 && number <= num_images && !monitor.should_stop();) {
    try_number(number);
    worse = choice.num_clusters == number ? 0 : worse + 1;
    before = number;
    number = std::max(before + 1, before * 7 / 5);
  }
  const int64_t middle = choice.num_clusters;
  const int64_t reach = std::max<int64_t>(1, middle * 2 / 5);
  for (int64_t other = middle - reach; other <= middle + reach; ++other) try_number(other);
  return choice;
}

}  // namespace milieu::internal
