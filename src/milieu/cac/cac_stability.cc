// SPDX-License-Identifier: Apache-2.0
// Choices without labels: a value is good when runs from different starts agree on the phrases.
#include <algorithm>
#include <cmath>

#include "milieu/cac/cac_evidence_internal.h"
#include "milieu/cac/cac_run_internal.h"
#include "milieu/metrics/metrics.h"

namespace milieu::internal {
namespace {

constexpr int kSweepStarts = 5;  // for each number that is tried

// About 1.6 times the one before, up to what the samples can fill.
std::vector<double> word_candidates(const CacProblem& problem) {
  const double most = std::min<double>(100, static_cast<double>(problem.views[0].size()) / 4);
  std::vector<double> candidates;
  for (const double count : {3., 5., 8., 12., 20., 32., 50., 80.})
    if (count <= most) candidates.push_back(count);
  if (candidates.empty()) candidates.push_back(1);
  return candidates;
}

std::vector<double> phrase_candidates(const CacProblem& problem) {
  const double most = std::min<double>(12, static_cast<double>(problem.groups.num_groups()) / 4);
  std::vector<double> candidates;
  for (double count = 2; count <= most; ++count) candidates.push_back(count);
  if (candidates.empty()) candidates.push_back(1);
  return candidates;
}

// How well phrases by shares agree between single runs of k-means; nothing when stopped.
std::optional<double> stability_of_shares(CacProblem& problem, CacOptions options, int num_phrases,
                                          Monitor& monitor) {
  set_numbers(problem, options.num_words, num_phrases);
  const int num_runs = std::min(options.num_restarts, kSweepStarts);
  options.num_restarts = 1;
  std::vector<std::vector<int>> labellings;
  for (int run = 0; run < num_runs; ++run) {
    auto found = find_phrases_by_shares(problem, options, monitor);
    if (!found) return std::nullopt;
    labellings.push_back(std::move(found->labels));
    ++options.seed;
  }
  return stability_of(labellings);
}

// How well runs from a few starts agree under these numbers; nothing when stopped. Where phrases
// are fixed, they agree on words.
std::optional<double> stability_under(CacProblem& problem, CacOptions options, int num_words,
                                      int num_phrases, Monitor& monitor) {
  options.num_words = num_words;
  options.num_phrases = num_phrases;
  options.num_restarts = std::min(options.num_restarts, kSweepStarts);
  set_numbers(problem, num_words, num_phrases);
  Monitor quiet = monitor;
  const std::vector<CacState> starts = make_starts(problem, {}, options, quiet);
  if (monitor.should_stop() || starts.empty()) return std::nullopt;
  std::vector<double> ratios;
  for (const CacState& start : starts) ratios.push_back(balance_of(problem, start).ratio);
  std::nth_element(ratios.begin(), ratios.begin() + ratios.size() / 2, ratios.end());
  const double tau = options.tau > 0 ? options.tau : CacOptions{}.tau;
  const double lambda = options.lambda >= 0 ? options.lambda : tau * ratios[ratios.size() / 2];
  std::vector<std::vector<int>> labellings;
  const Stopwatch watch;
  for (const CacState& start : starts) {
    CacListener listener{quiet, nullptr, watch, 0, 1};
    CacState state = run_nested_em(problem, start, lambda, options, listener).state;
    labellings.push_back(std::move(problem.has_fixed_phrases() ? state.words : state.phrases));
    if (monitor.should_stop()) return std::nullopt;
  }
  return stability_of(labellings);
}

}  // namespace

double stability_of(const std::vector<std::vector<int>>& labellings) {
  double sum = 0;
  int pairs = 0;
  for (size_t a = 0; a < labellings.size(); ++a)
    for (size_t b = 0; b < a; ++b, ++pairs)
      sum += compute_metrics(labellings[a], labellings[b]).ari;
  return pairs > 0 ? sum / pairs : 1;
}

std::vector<double> tau_candidates() { return {0.1, 0.25, 0.5, 1, 2}; }

void choose_most_stable(StabilityCurve& curve) {
  const auto best = std::max_element(curve.stability.begin(), curve.stability.end());
  if (best != curve.stability.end()) curve.chosen = curve.values[best - curve.stability.begin()];
}

// Phrases first, under a middling number of words where that is open too; then words.
NumberSweep choose_numbers(CacProblem& problem, CacOptions& options, Monitor& monitor) {
  NumberSweep sweep;
  const bool words_are_open = options.num_words < 0, phrases_are_open = options.num_phrases < 0;
  if (!words_are_open && !phrases_are_open) return sweep;
  const std::vector<double> words = word_candidates(problem);
  if (words_are_open) options.num_words = static_cast<int>(words[words.size() / 2]);
  const auto explore = [&](std::vector<double> candidates, int& number, StabilityCurve& curve,
                           bool is_by_shares) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      monitor.on_progress("numbers", static_cast<int64_t>(i),
                          static_cast<int64_t>(candidates.size()));
      number = static_cast<int>(candidates[i]);
      const auto stability =
          is_by_shares
              ? stability_of_shares(problem, options, options.num_phrases, monitor)
              : stability_under(problem, options, options.num_words, options.num_phrases, monitor);
      if (!stability) break;
      curve.values.push_back(candidates[i]);
      curve.stability.push_back(*stability);
    }
    choose_most_stable(curve);
    number = static_cast<int>(curve.values.empty() ? candidates[0] : curve.chosen);
  };
  if (phrases_are_open)
    explore(phrase_candidates(problem), options.num_phrases, sweep.phrases, problem.is_by_shares());
  if (words_are_open) {
    set_numbers(problem, options.num_words, options.num_phrases);
    fix_phrases(problem, options, monitor);
    explore(words, options.num_words, sweep.words, false);
  }
  set_numbers(problem, options.num_words, options.num_phrases);
  return sweep;
}

}  // namespace milieu::internal
