// SPDX-License-Identifier: Apache-2.0
// DLGMM and SC-DLGMM.
//
// Problem   maximise a lower bound of log p(O | pi, mu, Sigma, omega, delta2, gamma) over these
//           parameters and the variational ones, eight terms T1 .. T8 (docs/algorithms/dlgmm.md).
// Given     D images of patches o_i in R^R, on grids where gamma > 0 or bands are used; the numbers
//           of clusters J and words V.
// Find      clusters (pi, mu_j, Sigma_j), words (omega_v, delta2_v); label of image d: argmax_j
//           zeta_dj.
// Symbols   see dlgmm_steps.h.
// Conventions
//   pass    Eq. 5 (14 with gamma) over all patches, Eqs. 9 and 10, then layer_rounds times theta,
//           Eq. 4, Eqs. 7 and 8. Each is an exact ascent, so the bound never falls; with gamma > 0
//           every pass begins at the softmax again, and the bound may fall where the field has
//           several optima: then the best pass is kept and the run ends.
//   starts  share the codebook; each gets init_rounds rounds of the cluster layer on the first
//           counts, the highest bound is kept. Words may then move (word_moves.cc).
//   empty   a word of weight below 1e-3 keeps its parameters; a cluster of weight below 1e-10 takes
//           the pooled prior; an image without patches has label -1.
//   labels  are inferred from the final model alone, so that prediction repeats them; images
//           for which a stop leaves no time keep the cluster of the fit.
// See       [Xie15], docs/algorithms/dlgmm.md.
#include "milieu/dlgmm/dlgmm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/dlgmm/dlgmm_run_internal.h"
#include "milieu/dlgmm/dlgmm_steps.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {

namespace {

using namespace internal;

constexpr double kSecondsAfterStop = 0.1;  // seconds that a stopped fit may spend on labels
constexpr double kMaxFall = 1e-6;          // of the bound by rounding, as a share of its terms
constexpr double kFirstGamma = 0.1;        // where learning of gamma begins
constexpr double kGammaTolerance = 1e-3, kMaxGamma = 10, kMaxGammaStep = 0.5;

// A Newton step of the pseudo-likelihood; a step too small to matter is not made, so that the
// bounds of passes can be compared.
double next_gamma(const WordStats& stats, double gamma) {
  if (!(stats.gamma_curvature > 0)) return gamma;
  const double step =
      std::clamp(stats.gamma_slope / stats.gamma_curvature, -kMaxGammaStep, kMaxGammaStep);
  const double next = std::clamp(gamma + step, kGammaTolerance, kMaxGamma);
  return std::abs(next - gamma) < kGammaTolerance ? gamma : next;
}

DlgmmModel empty_model(const DlgmmOptions& options) {
  DlgmmModel model;
  model.posterior = options.posterior;
  model.covariance = options.covariance;
  model.num_bands = std::max(options.num_bands, 1);
  model.gamma = options.gamma < 0 ? kFirstGamma : options.gamma;
  if (options.diagonal_neighbors) model.diagonal_neighbors = {1};
  model.beta = options.beta;
  model.kappa = options.kappa;
  return model;
}

void append_row(const BoundTerms& bound, Matrix<double>& terms) {
  Matrix<double> longer(terms.rows() + 1, kNumBoundTerms);
  std::copy_n(terms.data(), terms.size(), longer.data());
  std::ranges::copy(bound.terms, longer.row(terms.rows()));
  terms = std::move(longer);
}

// Adds a pass under `gamma` to the record of passes in the state.
void record_pass(const PassReport& report, double gamma, DlgmmState& state) {
  ++state.iteration;
  state.trace.push_back(report.bound.total());
  append_row(report.bound, state.terms);
  state.gammas.push_back(gamma);
  state.words_in_use = report.words_in_use;
  state.words_per_patch = report.words_per_patch;
  state.skipped_words_loss = report.loss;
}

// Whether the last pass raised the bound too little, in nats per value of a patch. (A fraction of
// the bound itself would depend on the unit of the descriptors.) Bounds under another gamma do not
// measure progress. It depends on the state alone, so that a resumed run stops where the whole one
// does.
bool has_converged(const DlgmmRun& run, const DlgmmState& state) {
  const size_t n = state.trace.size();
  const double tolerance = run.options.rel_tolerance;
  if (n < 2 || tolerance == 0 || state.gammas[n - 1] != state.gammas[n - 2]) return false;
  const FloatView& patches = run.table.images.patches;
  const double values = static_cast<double>(patches.rows()) * static_cast<double>(patches.cols());
  return state.trace[n - 1] - state.trace[n - 2] <= tolerance * values;
}

// Throws DataError where the bound has fallen by more than rounding and skipped words explain:
// every step is an exact ascent, so the patches differ from those of the previous pass.
void check_rise(double before, const PassReport& report, double kappa) {
  double size = 0;
  for (const double term : report.bound.terms) size += std::abs(term);
  const double bound = report.bound.total();
  if (bound >= before - kMaxFall * size - 2 * kappa * report.loss) return;
  throw DataError(
      fmt::format("the bound fell from {} to {}: the patches changed while they were being read",
                  before, bound));
}

// Passes until the bound settles; the last complete state is in `state`.
Termination run_passes(const DlgmmRun& run, const DlgmmInput& input, DlgmmState& state,
                       const Stopwatch& watch, Monitor& monitor) {
  const DlgmmOptions& options = run.options;
  while (!has_converged(run, state)) {
    if (state.iteration >= options.max_iterations) return Termination::IterationLimit;
    DlgmmState next = state;
    const std::optional<PassReport> report = make_pass(run, next, monitor);
    if (!report) return termination_from(monitor.stop_reason());
    const double bound = report->bound.total();
    if (!std::isfinite(bound)) return Termination::NumericalIssue;
    const double gamma = state.model.gamma;
    const bool is_comparable = !state.trace.empty() && state.gammas.back() == gamma;
    const double change = is_comparable ? bound - state.trace.back() : 0;
    if (gamma > 0 && change < 0) return Termination::Converged;  // the pass before is kept
    if (is_comparable) check_rise(state.trace.back(), *report, options.kappa);
    record_pass(*report, gamma, next);
    state = std::move(next);
    // The restarts are over: what remains are the passes of one, which may end at any time.
    monitor.on_iteration(
        {0, 1, state.iteration, options.max_iterations, bound, change, watch.seconds()});
    if (input.on_pass) input.on_pass(state);
  }
  return Termination::Converged;
}

// Of all images.
void check_state(const DlgmmState& state, const DlgmmRun& run, const std::string& fingerprint) {
  check_model(state.model);
  const auto num_passes = static_cast<int64_t>(state.trace.size());
  const bool fits = state.alpha.rows() == run.table.num_images &&
                    state.alpha.cols() == state.model.means.cols() &&
                    state.probabilities.rows() == run.table.num_images &&
                    state.probabilities.cols() == state.model.num_clusters() &&
                    state.iteration == num_passes && state.terms.rows() == num_passes &&
                    (num_passes == 0 || state.terms.cols() == kNumBoundTerms) &&
                    static_cast<int64_t>(state.gammas.size()) == num_passes;
  if (!fits || state.fingerprint != fingerprint)
    throw DataError(
        "the state to resume belongs to another run: options, patches and the version of Milieu "
        "must be the same; delete it to start over");
}

Matrix<double> own_rows(const Matrix<double>& all, const ImageTable& table) {
  return Matrix<double>(all.view().rows_between(table.own_begin(), table.own_end()));
}

// Where the passes begin.
DlgmmState first_state(const DlgmmRun& run, const DlgmmInput& input, Monitor& monitor) {
  std::string fingerprint;
  if (input.on_pass || input.resume) fingerprint = fingerprint_of(input, run.options);
  if (input.resume) {
    check_state(*input.resume, run, fingerprint);
    DlgmmState own = *input.resume;
    own.probabilities = own_rows(own.probabilities, run.table);
    own.alpha = own_rows(own.alpha, run.table);
    return own;
  }
  DlgmmState state;
  state.model = empty_model(run.options);
  state.fingerprint = std::move(fingerprint);
  start_state(run, input, monitor, state);
  if (!input.initial_model && input.initial_words.empty()) move_words(run, state, monitor);
  if (run.options.batch_images > 0 && !monitor.should_stop()) run_batches(run, state, monitor);
  return state;
}

// Images with patches that inference did not reach take zeta and alpha of the last pass, or the
// weights of the clusters where there was none; returns how many of all.
int64_t label_by_fit(const DlgmmRun& run, const DlgmmState& state, DlgmmPrediction& prediction) {
  int32_t num_left = 0;
  for (int64_t d = 0; d < run.table.num_own(); ++d) {
    if (prediction.labels[d] >= 0 || run.table.num_patches(run.table.own_begin() + d) == 0)
      continue;
    const std::span<double> zeta = prediction.probabilities.row_span(d);
    std::ranges::copy(state.probabilities.row_span(d), zeta.begin());
    if (*std::ranges::max_element(zeta) <= 0) std::ranges::copy(state.model.weights, zeta.begin());
    std::ranges::copy(state.alpha.row_span(d), prediction.alpha.row(d));
    prediction.labels[d] = static_cast<int>(std::ranges::max_element(zeta) - zeta.begin());
    ++num_left;
  }
  run.table.team->add_up({&num_left, 1});
  return num_left;
}

// The labels of the final model, on rank 0.
int64_t label_images(const DlgmmRun& run, const DlgmmState& state, Monitor& monitor,
                     DlgmmPrediction& all) {
  const ImageTable& table = run.table;
  all = infer_own(state.model, table, run.options.num_threads, monitor);
  if (table.team->is_shared()) {
    all.labels = table.team->move_rows(std::span<const int>(all.labels), 1, table.pass_borders,
                                       table.layer_borders);
    all.probabilities = table.to_layer(all.probabilities);
    all.alpha = table.to_layer(all.alpha);
  }
  const int64_t num_left = label_by_fit(run, state, all);
  const Team& team = *table.team;
  if (!team.is_shared()) return num_left;
  std::vector<int64_t> first(table.layer_borders.size(), table.num_images);
  first[0] = 0;
  all.labels = team.move_rows(std::span<const int>(all.labels), 1, table.layer_borders, first);
  all.probabilities = move_matrix(team, all.probabilities, table.layer_borders, first);
  all.alpha = move_matrix(team, all.alpha, table.layer_borders, first);
  return num_left;
}

}  // namespace

std::optional<PassReport> internal::make_pass(const DlgmmRun& run, DlgmmState& state,
                                              Monitor& monitor) {
  const DlgmmOptions& options = run.options;
  const std::optional<PassResult> pass = run_data_pass(
      run.table, state.model, state.alpha, run.pass_options(state.model.gamma), monitor);
  if (!pass) return std::nullopt;
  DlgmmState next = state;
  PassReport report;
  if (options.fix != DlgmmFix::Codebook) update_words(pass->stats, run.word_floor, next.model);
  for (int round = 0; round < options.layer_rounds; ++round) {
    const Matrix<double> old_means = next.model.means;
    const std::optional<ClusterStats> stats =
        update_images(run.table, next.model, pass->counts, next.probabilities, next.alpha,
                      options.num_threads, monitor);
    if (!stats) return std::nullopt;
    if (options.fix != DlgmmFix::Clusters)
      update_clusters(*stats, options.min_cluster_variance, next.model);
    report.bound = stats->bound;
    report.bound.terms[0] = weight_term(*stats, next.model);
    report.bound.terms[1] = cluster_term(*stats, old_means, next.model);
  }
  report.bound.terms[3] = word_term(pass->stats, state.model.words, next.model);
  report.bound.terms[6] = options.kappa * pass->stats.entropy;
  report.bound.terms[7] = options.kappa * state.model.gamma * pass->stats.agreement;
  if (run.learns_gamma()) next.model.gamma = next_gamma(pass->stats, state.model.gamma);
  report.loss = pass->stats.loss;
  report.words_per_patch = static_cast<double>(pass->stats.num_scored) /
                           static_cast<double>(run.table.images.patches.rows());
  report.words_in_use = static_cast<int64_t>(
      std::ranges::count_if(pass->stats.mass, [](double mass) { return mass >= 0.5; }));
  if (std::isfinite(report.bound.total())) state = std::move(next);
  return report;
}

PassOptions internal::DlgmmRun::pass_options(double gamma) const {
  return {.word_loss = options.word_loss,
          .gamma = gamma,
          .coherence_sweeps = options.coherence_sweeps,
          .num_threads = options.num_threads,
          .learns_gamma = learns_gamma(),
          .has_diagonals = options.diagonal_neighbors};
}

DlgmmState gather_state(const DlgmmState& own, const Team& team) {
  if (!team.is_shared()) return own;
  const std::vector<int64_t> from = team.borders_of(own.alpha.rows());
  std::vector<int64_t> to(from.size(), from.back());
  to[0] = 0;
  DlgmmState all = own;
  all.probabilities = move_matrix(team, own.probabilities, from, to);
  all.alpha = move_matrix(team, own.alpha, from, to);
  return all;
}

DlgmmResult fit_dlgmm(const DlgmmInput& input, const DlgmmOptions& given, Monitor& monitor) {
  const Stopwatch watch;
  const DlgmmOptions options = resolve_options(input, given);
  if (options.num_clusters < 0) {
    validate_options(options);
    const ClusterChoice choice = choose_num_clusters(input, options, monitor);
    DlgmmOptions chosen = options;
    chosen.num_clusters = choice.num_clusters;
    if (input.resume && monitor.should_stop())  // the choice is not complete
      chosen.num_clusters = std::max(1, input.resume->model.num_clusters());
    DlgmmResult result = fit_dlgmm(input, chosen, monitor);
    result.summary.extra.emplace_back("clusters_tried", choice.tried);
    result.summary.extra.emplace_back("penalised_bounds", choice.scores);
    result.summary.seconds = watch.seconds();
    return result;
  }
  const DlgmmRun run = check_dlgmm(input, options);
  DlgmmState state = first_state(run, input, monitor);
  Termination termination = monitor.should_stop() ? termination_from(monitor.stop_reason())
                                                  : run_passes(run, input, state, watch, monitor);
  DlgmmResult result;
  Monitor hurried;  // a stopped fit labels what it can in a short time
  hurried.set_time_limit(kSecondsAfterStop);
  if (monitor.should_stop()) termination = termination_from(monitor.stop_reason());
  const int64_t num_left =
      label_images(run, state, monitor.should_stop() ? hurried : monitor, result.prediction);
  if (monitor.should_stop()) termination = termination_from(monitor.stop_reason());
  result.labels = result.prediction.labels;
  describe_dlgmm(run, state, termination, result);
  if (num_left > 0)
    result.summary.warnings.push_back(
        fmt::format("stopped early: the labels of {} of {} images are those of the last pass",
                    num_left, run.table.num_images));
  result.model = std::move(state.model);
  result.summary.seconds = watch.seconds();
  return result;
}

}  // namespace milieu
