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
std::optional<double> stability_of_shares(CacProblem& problem, CacOptions options,
                                          Monitor& monitor) {
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

// How well runs from a few starts agree under the problem's numbers; nothing when stopped. Where
// phrases are fixed, they agree on words.
std::optional<double> stability_of_runs(CacProblem& problem, CacOptions options, Monitor& monitor) {
  options.num_restarts = std::min(options.num_restarts, kSweepStarts);
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

namespace {

// Tries numbers for what `set` sets and leaves the most stable one set.
class NumberSearch {
 public:
  NumberSearch(CacProblem& problem, CacOptions& options, Monitor& monitor)
      : problem_(problem),
        options_(options),
        monitor_(monitor),
        words_(options.num_words.per_view(problem.views.size())) {}

  // Views that share an open number: all of them under a single auto, else each by itself.
  std::vector<std::vector<size_t>> open_views() const {
    std::vector<std::vector<size_t>> open;
    const bool is_shared = options_.num_words.find(',') == std::string::npos;
    for (size_t v = 0; v < words_.size(); ++v) {
      if (words_[v] > 0) continue;
      if (open.empty() || !is_shared) open.emplace_back();
      open.back().push_back(v);
    }
    return open;
  }

  void set_words(const std::vector<size_t>& views, int number) {
    for (const size_t v : views) words_[v] = number;
  }
  void apply() { set_numbers(problem_, words_, options_.num_phrases); }

  template <class Set>
  StabilityCurve explore(const std::vector<double>& candidates, bool is_by_shares, Set&& set) {
    StabilityCurve curve;
    for (size_t i = 0; i < candidates.size(); ++i) {
      monitor_.on_progress("numbers", static_cast<int64_t>(i), std::ssize(candidates));
      set(static_cast<int>(candidates[i]));
      apply();
      const auto stability = is_by_shares ? stability_of_shares(problem_, options_, monitor_)
                                          : stability_of_runs(problem_, options_, monitor_);
      if (!stability) break;
      curve.values.push_back(candidates[i]);
      curve.stability.push_back(*stability);
    }
    choose_most_stable(curve);
    set(static_cast<int>(curve.values.empty() ? candidates[0] : curve.chosen));
    apply();
    return curve;
  }

 private:
  CacProblem& problem_;
  CacOptions& options_;
  Monitor& monitor_;
  std::vector<int> words_;  // one per view
};

}  // namespace

// Phrases first, under a middling number of words where that is open too; then words, view by view
// where each has its own.
NumberSweep choose_numbers(CacProblem& problem, CacOptions& options, Monitor& monitor) {
  NumberSweep sweep;
  NumberSearch search(problem, options, monitor);
  const std::vector<std::vector<size_t>> open = search.open_views();
  const std::vector<double> candidates = word_candidates(problem);
  for (const std::vector<size_t>& views : open)
    search.set_words(views, static_cast<int>(candidates[candidates.size() / 2]));
  if (options.num_phrases < 0)
    sweep.phrases = search.explore(phrase_candidates(problem), problem.is_by_shares(),
                                   [&](int number) { options.num_phrases = number; });
  if (open.empty()) return sweep;
  search.apply();
  fix_phrases(problem, options, monitor);
  const bool is_shared = options.num_words.find(',') == std::string::npos;
  if (!is_shared) sweep.words_of_views.resize(problem.views.size());
  for (const std::vector<size_t>& views : open)
    (is_shared ? sweep.words : sweep.words_of_views[views[0]]) =
        search.explore(candidates, false, [&](int number) { search.set_words(views, number); });
  return sweep;
}

}  // namespace milieu::internal
