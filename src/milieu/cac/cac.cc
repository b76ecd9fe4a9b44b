// SPDX-License-Identifier: Apache-2.0
// Context-aware clustering by nested EM, restarted.
//
// Problem      minimise J = J1 + J2 over words, phrases and their prototypes [Yuan08, Eq. 3]:
//              J1 = sum_i s |f_i - u_w(i)|^2,  J2 = lambda sum_j w_j d(t_j, u~_p(j)),
//              d(t, u~) = |t| + |u~| - 2 t.u~ [Yuan08, Eq. 5]
// Given        primitives f_i in one or more views with a scale s each; groups j of primitives with
//              weights; M words per view, M~ phrases; lambda, or tau = lambda J2 / J1 at the start
// Find         labels and prototypes that no step of nested EM can improve
// Symbols      cac_steps.h
// Conventions  t counts words: a word of the phrase seen t times costs 1 - t, so d and J2 may be
//              negative. A primitive takes only words of its own view. Ties keep the label, else go
//              to the lowest index; a tie of the vote puts the word into the phrase. A group is its
//              sample and the K nearest others: K + 1 members. Empty groups have t = 0; primitives
//              in no group follow their features alone. An empty word or phrase keeps its prototype
//              or is reseeded; neither changes J.
//              One lambda for all starts: tau times the median over the starts of J1 / J2 (J2
//              without lambda; where it is not positive, on sets of words instead). lambda = 0: the
//              words are those of fit_kmeans with the same seed and restarts, bit for bit.
//              By default, phrases of positions and views are found first, by the shares of words
//              in groups (cac_evidence.cc), and stay fixed: the steps then find words alone.
//              Without context it is fit_kmeans, scaling left out: there is nothing to balance.
//              A run stopped by the monitor returns its last complete half step.
// See          [Yuan08, Algorithm 1]; docs/algorithms/cac.md
#include "milieu/cac/cac.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "milieu/cac/cac_evidence_internal.h"
#include "milieu/cac/cac_result_internal.h"
#include "milieu/cac/cac_run_internal.h"
#include "milieu/cac/cac_start_internal.h"
#include "milieu/cac/cac_steps.h"
#include "milieu/classic/kmeans/kmeans.h"

namespace milieu {
namespace {

using internal::CacListener;
using internal::CacProblem;
using internal::CacReport;
using internal::CacRun;
using internal::CacState;

constexpr const char* kNeighboursDoNotHelp =
    "neighbours in the views do not agree on phrases: samples are labelled by their features "
    "alone, "
    "as k-means on the scaled views does; compare with ncut, or set rounds";

// Words by features alone, as fit_kmeans finds them. Nothing when it was stopped before it labelled
// all samples.
struct PlainWords {
  CacState state;
  RunSummary summary;  // of the last view
  bool is_complete = true;
};

PlainWords cluster_without_context(const CacProblem& problem, const CacOptions& options,
                                   Monitor& monitor) {
  PlainWords plain;
  for (const internal::CacView& view : problem.views) {
    KMeansOptions kmeans;
    kmeans.num_clusters = view.num_words();
    kmeans.num_restarts = options.num_restarts;
    kmeans.seed = options.seed;
    kmeans.num_threads = options.num_threads;
    KMeansInput input;
    input.points = view.points();
    KMeansResult result = fit_kmeans(input, kmeans, monitor);
    for (const int label : result.labels) {
      plain.state.words.push_back(label < 0 ? -1 : view.first_word + label);
      plain.is_complete = plain.is_complete && label >= 0;
    }
    plain.state.prototypes.push_back(std::move(result.model.centers));
    plain.summary = std::move(result.summary);
  }
  return plain;
}

CacResult fit_without_context(const CacProblem& problem, const CacOptions& options,
                              Monitor& monitor) {
  PlainWords plain = cluster_without_context(problem, options, monitor);
  CacReport report;
  report.run.words_objective = plain.summary.objective;
  report.run.trace = plain.summary.trace;
  report.run.iterations = plain.summary.iterations;
  report.run.termination = plain.summary.termination;
  report.run.state = std::move(plain.state);
  report.restart = plain.summary.restart;
  report.num_restarts = plain.summary.num_restarts;
  report.warnings = std::move(plain.summary.warnings);
  return make_result(problem, options, std::move(report), monitor);
}

// The best of the starts under one lambda.
struct BestRun {
  CacRun run;
  int restart = 0;
  std::vector<double> objectives;            // of all starts
  std::vector<std::vector<int>> labellings;  // phrases of all starts; words where those are fixed
};

BestRun run_starts(const CacProblem& problem, const std::vector<CacState>& starts, double lambda,
                   const CacOptions& options, CacListener& listener) {
  BestRun best;
  for (size_t s = 0; s < starts.size(); ++s) {
    CacRun run = run_nested_em(problem, starts[s], lambda, options, listener);
    const bool is_stopped = run.is_stopped();
    best.objectives.push_back(run.objective());
    best.labellings.push_back(problem.has_fixed_phrases() ? run.state.words : run.state.phrases);
    // The J of a run stopped under a smaller lambda cannot be compared.
    const bool is_comparable = !is_stopped || !run.trace.empty();
    if (s == 0 || (is_comparable && run.objective() < best.run.objective())) {
      best.run = std::move(run);
      best.restart = listener.restart;
    }
    ++listener.restart;
    if (is_stopped) {
      best.run.termination = termination_from(listener.monitor.stop_reason());
      break;
    }
  }
  return best;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

// J1 / J2 of the starts; adds a warning when one had to be corrected.
double balance_of_starts(const CacProblem& problem, const std::vector<CacState>& starts,
                         std::vector<std::string>& warnings) {
  std::vector<double> ratios;
  std::string trouble;
  for (const CacState& start : starts) {
    const internal::CacBalance balance = balance_of(problem, start);
    ratios.push_back(balance.ratio);
    if (trouble.empty()) trouble = balance.trouble;
  }
  // Under fixed phrases groups may well equal them.
  if (!trouble.empty() && !problem.has_fixed_phrases()) warnings.push_back(trouble);
  return median_of(std::move(ratios));
}

// Tries every tau on the same starts and keeps the one whose runs agree most.
BestRun run_most_stable_tau(const CacProblem& problem, const std::vector<CacState>& starts,
                            double balance, const CacOptions& options, CacListener& listener,
                            CacReport& report) {
  BestRun kept;
  double highest = -2;
  const std::vector<double> candidates = internal::tau_candidates();
  listener.num_restarts = static_cast<int>(candidates.size() * starts.size());
  for (const double tau : candidates) {
    BestRun best = run_starts(problem, starts, tau * balance, options, listener);
    report.tau_curve.values.push_back(tau);
    report.tau_curve.stability.push_back(internal::stability_of(best.labellings));
    const bool is_stopped = best.run.is_stopped();
    if (report.tau_curve.stability.back() > highest) {
      highest = report.tau_curve.stability.back();
      report.tau = tau;
      report.lambda = tau * balance;
      kept = std::move(best);
    }
    if (is_stopped) {
      kept.run.termination = termination_from(listener.monitor.stop_reason());
      break;
    }
  }
  choose_most_stable(report.tau_curve);
  return kept;
}

CacResult fit_with_context(const CacProblem& problem, const CacInput& input,
                           const CacOptions& options, CacReport report, Monitor& monitor,
                           CacObserver* observer, const Stopwatch& watch) {
  std::vector<CacState> starts = make_starts(problem, input, options, monitor);
  if (starts.empty()) return make_stopped_result(problem, options, monitor);
  double balance = 0;
  if (options.lambda < 0) balance = balance_of_starts(problem, starts, report.warnings);
  CacListener listener{monitor, observer, watch, 0, static_cast<int>(starts.size())};
  BestRun best;
  if (options.lambda < 0 && options.tau < 0) {
    best = run_most_stable_tau(problem, starts, balance, options, listener, report);
  } else {
    report.tau = options.lambda < 0 ? options.tau : 0;
    report.lambda = options.lambda < 0 ? options.tau * balance : options.lambda;
    best = run_starts(problem, starts, report.lambda, options, listener);
  }
  report.run = std::move(best.run);
  report.restart = best.restart;
  report.num_restarts = listener.restart;
  report.objectives = std::move(best.objectives);
  report.start = std::move(starts[static_cast<size_t>(best.restart) % starts.size()]);
  return make_result(problem, options, std::move(report), monitor);
}

// lambda 0: the context does not affect the words, so one start per set of phrases is enough.
CacResult fit_plain_words(const CacProblem& problem, const CacOptions& options, CacReport report,
                          Monitor& monitor, CacObserver* observer, const Stopwatch& watch) {
  Monitor quiet = monitor;
  PlainWords plain = cluster_without_context(problem, options, quiet);
  CacState start = std::move(plain.state);
  if (!plain.is_complete ||
      !cluster_groups(problem, options.phrase_init, Random(options.seed), quiet, start))
    return make_stopped_result(problem, options, monitor);
  CacListener listener{monitor, observer, watch, 0, 1};
  report.run = run_nested_em(problem, start, 0, options, listener);
  report.start = std::move(start);
  return make_result(problem, options, std::move(report), monitor);
}

}  // namespace

CacResult fit_cac(const CacInput& input, const CacOptions& options, Monitor& monitor,
                  CacObserver* observer) {
  const Stopwatch watch;
  CacProblem problem = internal::make_cac_problem(input, options, monitor);
  CacOptions chosen = options;
  CacReport report;
  CacResult result;
  if (!problem.has_context()) {
    result = fit_without_context(problem, chosen, monitor);
  } else {
    report.numbers = internal::choose_numbers(problem, chosen, monitor);
    if (auto phrases = internal::fix_phrases(problem, chosen, monitor)) {
      if (phrases->is_without_neighbours) report.warnings.emplace_back(kNeighboursDoNotHelp);
      report.evidence = std::move(phrases->evidence);
    }
    if (problem.is_by_shares() && !problem.has_fixed_phrases())
      result = make_stopped_result(problem, chosen, monitor);
    else if (chosen.lambda == 0 && input.initial_words.empty())
      result = fit_plain_words(problem, chosen, std::move(report), monitor, observer, watch);
    else
      result =
          fit_with_context(problem, input, chosen, std::move(report), monitor, observer, watch);
  }
  result.summary.seconds = watch.seconds();
  return result;
}

}  // namespace milieu
