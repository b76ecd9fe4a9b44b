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
//   starts  share the codebook; each gets start_rounds rounds of the cluster layer on the first
//           counts, the highest bound goes on. Words may then move (word_moves.cc).
//   empty   a word of weight below 1e-3 keeps its parameters; a cluster of weight below 1e-10 takes
//           the pooled prior; an image without patches has label -1.
//   labels  are inferred anew from the final model alone, so that prediction repeats them.
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

constexpr double kAfterStop = 0.1;   // seconds that a stopped fit may spend on labels
constexpr double kFirstGamma = 0.1;  // where learning of gamma begins
constexpr double kStillGamma = 1e-3, kMostGamma = 10, kMostGammaStep = 0.5;

// A Newton step of the pseudo-likelihood; a step too small to matter is not made, so that the
// bounds of passes can be compared.
double next_gamma(const WordStats& stats, double gamma) {
  if (!(stats.gamma_curvature > 0)) return gamma;
  const double step =
      std::clamp(stats.gamma_slope / stats.gamma_curvature, -kMostGammaStep, kMostGammaStep);
  const double next = std::clamp(gamma + step, kStillGamma, kMostGamma);
  return std::abs(next - gamma) < kStillGamma ? gamma : next;
}

DlgmmModel empty_model(const DlgmmOptions& options) {
  DlgmmModel model;
  model.posterior = options.posterior;
  model.covariance = options.covariance;
  model.num_bands = std::max(options.num_bands, 1);
  model.gamma = options.gamma < 0 ? kFirstGamma : options.gamma;
  model.beta = options.beta;
  model.kappa = options.kappa;
  return model;
}

// Passes until the bound stands still; the last complete state is in `state`.
Termination run_passes(const DlgmmRun& run, const DlgmmInput& input, DlgmmState& state,
                       PassReport& report, const Stopwatch& watch, Monitor& monitor) {
  const DlgmmOptions& options = run.options;
  while (state.iteration < options.max_iterations) {
    DlgmmState next = state;
    PassReport next_report;
    if (!make_pass(run, next, next_report, monitor)) return termination_from(monitor.stop_reason());
    const double bound = next_report.bound.total();
    if (!std::isfinite(bound)) return Termination::NumericalIssue;
    // Bounds under another gamma are no measure of progress.
    const bool is_first = state.trace.empty() || state.model.gamma != state.last_gamma;
    const double change = is_first ? INFINITY : bound - state.trace.back();
    const bool has_fallen = state.model.gamma > 0 && change < 0;
    if (!has_fallen) {
      next.iteration = state.iteration + 1;
      next.trace.push_back(bound);
      state = std::move(next);
      report = next_report;
      monitor.on_iteration({state.restart, options.num_restarts, state.iteration,
                            options.max_iterations, bound, std::isfinite(change) ? change : 0,
                            watch.seconds()});
      if (input.on_pass) input.on_pass(state);
    }
    if (has_fallen ||
        (options.rel_tolerance > 0 && change <= options.rel_tolerance * std::abs(bound)))
      return Termination::Converged;
  }
  return Termination::IterationLimit;
}

void check_state(const DlgmmState& state, const DlgmmRun& run) {
  check_model(state.model);
  const bool fits = state.alpha.rows() == run.table.num_images &&
                    state.alpha.cols() == state.model.means.cols() &&
                    state.probabilities.rows() == run.table.num_images &&
                    state.probabilities.cols() == state.model.num_clusters() &&
                    static_cast<size_t>(state.iteration) == state.trace.size();
  if (!fits || state.fingerprint != run.fingerprint)
    throw DataError(
        "the state to resume is of another run: options and patches must be the same; remove it to "
        "begin anew");
}

}  // namespace

bool make_pass(const DlgmmRun& run, DlgmmState& state, PassReport& report, Monitor& monitor) {
  const DlgmmOptions& options = run.options;
  const std::optional<PassResult> pass = run_data_pass(
      run.table, state.model, state.alpha, run.pass_options(state.model.gamma), monitor);
  if (!pass) return false;
  DlgmmState next = state;
  if (options.fix != DlgmmFix::Codebook) update_words(pass->stats, run.word_floor, next.model);
  for (int round = 0; round < options.layer_rounds; ++round) {
    const Matrix<double> old_means = next.model.means;
    const std::optional<ClusterStats> stats =
        update_images(run.table, next.model, pass->counts, next.probabilities, next.alpha,
                      options.num_threads, monitor);
    if (!stats) return false;
    if (options.fix != DlgmmFix::Clusters)
      update_clusters(*stats, options.min_cluster_variance, next.model);
    report.bound = stats->bound;
    report.bound.terms[0] = weight_term(*stats, next.model);
    report.bound.terms[1] = cluster_term(*stats, old_means, next.model);
  }
  report.bound.terms[3] = word_term(pass->stats, state.model.words, next.model);
  report.bound.terms[6] = options.kappa * pass->stats.entropy;
  report.bound.terms[7] = options.kappa * state.model.gamma * pass->stats.agreement;
  next.last_gamma = state.model.gamma;
  if (run.learns_gamma()) next.model.gamma = next_gamma(pass->stats, state.model.gamma);
  report.loss = pass->stats.loss;
  report.num_scored = pass->stats.num_scored;
  report.words_in_use = static_cast<int64_t>(
      std::ranges::count_if(pass->stats.mass, [](double mass) { return mass >= 0.5; }));
  state = std::move(next);
  return true;
}

PassOptions DlgmmRun::pass_options(double gamma) const {
  return {options.word_loss, gamma, options.coherence_sweeps, options.num_threads, learns_gamma()};
}

DlgmmResult fit_dlgmm(const DlgmmInput& input, const DlgmmOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  if (options.num_clusters < 0) {
    validate_options(options);
    const ClusterChoice choice = choose_num_clusters(input, options, monitor);
    DlgmmOptions chosen = options;
    chosen.num_clusters = choice.num_clusters;
    DlgmmResult result = fit_dlgmm(input, chosen, monitor);
    result.summary.extra.emplace_back("clusters_tried", choice.tried);
    result.summary.extra.emplace_back("penalised_bounds", choice.scores);
    result.summary.seconds = watch.seconds();
    return result;
  }
  const DlgmmRun run = check_dlgmm(input, options);
  DlgmmState state;
  if (input.resume) {
    check_state(*input.resume, run);
    state = *input.resume;
  } else {
    state.model = empty_model(options);
    state.fingerprint = run.fingerprint;
    start_state(run, input, monitor, state);
    if (!input.initial_model && input.initial_words.empty()) move_words(run, state, monitor);
    if (options.batch_images > 0 && !monitor.should_stop()) run_batches(run, state, monitor);
  }
  PassReport report;
  Termination termination = monitor.should_stop()
                                ? termination_from(monitor.stop_reason())
                                : run_passes(run, input, state, report, watch, monitor);
  DlgmmResult result;
  Monitor hurried;  // a stopped fit labels what it can in a moment
  hurried.set_time_limit(kAfterStop);
  if (monitor.should_stop()) termination = termination_from(monitor.stop_reason());
  result.prediction = infer_images(state.model, input.images, options.num_threads,
                                   monitor.should_stop() ? hurried : monitor);
  if (monitor.should_stop()) termination = termination_from(monitor.stop_reason());
  result.labels = result.prediction.labels;
  describe_dlgmm(run, state, report, termination, result);
  result.model = std::move(state.model);
  result.summary.seconds = watch.seconds();
  return result;
}

}  // namespace milieu
