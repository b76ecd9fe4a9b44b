// SPDX-License-Identifier: Apache-2.0
#include "milieu/cac/cac_start_internal.h"

#include <algorithm>
#include <numeric>

#include "milieu/base/parallel.h"
#include "milieu/cac/cac_steps.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/kmodes/kmodes.h"

namespace milieu::internal {
namespace {

uint64_t seed_of(const Random& random, uint64_t index) {
  return random.child(index).next_bits() >> 1;  // options hold 63 bits
}

Matrix<float> presence_of(Matrix<float> counts) {
  for (float& count : std::span(counts.data(), static_cast<size_t>(counts.size())))
    count = count > 0 ? 1.0f : 0.0f;
  return counts;
}

// Labels of all groups by a model fitted to some; `features` turns counts into the model's rows.
template <class Model, class Features>
std::vector<int> label_groups(const CacProblem& problem, std::span<const int> words,
                              const Model& model, Features features) {
  constexpr int64_t kRows = 4096;
  const int64_t num_groups = problem.groups.num_groups();
  std::vector<int> labels(static_cast<size_t>(num_groups));
  parallel_for(num_groups, kRows, problem.num_threads, [&](const Block& block) {
    std::vector<int64_t> groups(static_cast<size_t>(block.size()));
    std::iota(groups.begin(), groups.end(), block.begin);
    const std::vector<int> part =
        predict(model, features(count_words(problem, words, problem.num_words, groups)), 1);
    std::copy(part.begin(), part.end(), labels.begin() + block.begin);
  });
  return labels;
}

CacState vote_on_compositions(const CacProblem& problem, CacState state) {
  state.compositions.assign(static_cast<size_t>(problem.num_phrases) * problem.num_words, 0);
  NestedEm em(problem, 0, std::move(state));
  em.update_compositions();
  return em.take_state();
}

bool is_complete(std::span<const int> labels) {
  return std::find(labels.begin(), labels.end(), -1) == labels.end();
}

}  // namespace

std::vector<int64_t> groups_to_cluster(int64_t num_groups, Random random) {
  if (num_groups > kMaxStartGroups) {
    std::vector<int64_t> sample = random.sample_without_replacement(num_groups, kMaxStartGroups);
    std::sort(sample.begin(), sample.end());
    return sample;
  }
  std::vector<int64_t> all(static_cast<size_t>(num_groups));
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

CacState settle_start(const CacProblem& problem, CacState state) {
  state.compositions.assign(static_cast<size_t>(problem.num_phrases) * problem.num_words, 0);
  NestedEm em(problem, 0, std::move(state));
  em.update_prototypes(silent_monitor());
  if (problem.has_context()) em.update_compositions();
  return em.take_state();
}

Matrix<float> count_words(const CacProblem& problem, std::span<const int> words, int num_words,
                          std::span<const int64_t> groups) {
  Matrix<float> counts(static_cast<int64_t>(groups.size()), num_words);
  for (size_t row = 0; row < groups.size(); ++row)
    for (int64_t e = problem.groups.offsets[groups[row]];
         e < problem.groups.offsets[groups[row] + 1]; ++e)
      counts(static_cast<int64_t>(row), words[problem.groups.members[e]]) +=
          static_cast<float>(problem.groups.member_weight(e));
  return counts;
}

bool cluster_groups(const CacProblem& problem, CacPhraseInit kind, const Random& random,
                    Monitor& monitor, CacState& state) {
  if (problem.has_fixed_phrases()) {
    state.phrases = problem.fixed_phrases;
    state = vote_on_compositions(problem, std::move(state));
    return true;
  }
  const std::vector<int64_t> chosen =
      groups_to_cluster(problem.groups.num_groups(), random.child(0));
  const bool is_sample = static_cast<int64_t>(chosen.size()) < problem.groups.num_groups();
  const Matrix<float> counts = count_words(problem, state.words, problem.num_words, chosen);
  state.compositions.assign(static_cast<size_t>(problem.num_phrases) * problem.num_words, 0);
  if (kind == CacPhraseInit::KMeans) {
    KMeansOptions options;
    options.num_clusters = problem.num_phrases;
    options.num_restarts = num_phrase_restarts(counts.rows());
    options.seed = seed_of(random, 1);
    options.num_threads = problem.num_threads;
    KMeansInput input;
    input.points = counts;
    KMeansResult result = fit_kmeans(input, options, monitor);
    state.phrases = is_sample ? label_groups(problem, state.words, result.model,
                                             [](Matrix<float> rows) { return rows; })
                              : std::move(result.labels);
  } else {
    KModesOptions options;
    options.num_clusters = problem.num_phrases;
    options.num_restarts = num_phrase_restarts(counts.rows());
    options.seed = seed_of(random, 1);
    options.num_threads = problem.num_threads;
    const Matrix<float> presence = presence_of(counts);
    KModesInput input;
    input.points = presence;
    KModesResult result = fit_kmodes(input, options, monitor);
    state.phrases = is_sample ? label_groups(problem, state.words, result.model, presence_of)
                              : std::move(result.labels);
    for (int64_t i = 0; i < result.model.modes.size(); ++i)
      state.compositions[i] = result.model.modes.data()[i] > 0;
  }
  if (!is_complete(state.phrases) || monitor.should_stop()) return false;
  if (kind == CacPhraseInit::KModes) return true;
  state = vote_on_compositions(problem, std::move(state));
  return true;
}

std::optional<CacState> start_from_words(const CacProblem& problem, const CacOptions& options,
                                         const Random& random, Monitor& monitor) {
  CacState state;
  for (size_t v = 0; v < problem.views.size(); ++v) {
    const CacView& view = problem.views[v];
    KMeansOptions kmeans;
    kmeans.num_clusters = view.num_words();
    kmeans.num_restarts = 1;
    kmeans.seed = seed_of(random, v);
    kmeans.num_threads = problem.num_threads;
    KMeansInput input;
    input.points = view.points();
    KMeansResult result = fit_kmeans(input, kmeans, monitor);
    if (!is_complete(result.labels)) return std::nullopt;
    for (const int label : result.labels) state.words.push_back(view.first_word + label);
    state.prototypes.push_back(std::move(result.model.centers));
  }
  if (!problem.has_context()) return state;
  if (!cluster_groups(problem, options.phrase_init, random.child(problem.views.size()), monitor,
                      state))
    return std::nullopt;
  return state;
}

CacState start_at_random(const CacProblem& problem, Random random) {
  CacState state;
  for (const CacView& view : problem.views) {
    state.prototypes.emplace_back(view.num_words(), view.points().cols());
    for (int64_t i = 0; i < view.size(); ++i)
      state.words.push_back(view.first_word +
                            static_cast<int>(random.uniform_index(view.num_words())));
  }
  for (int64_t g = 0; g < problem.groups.num_groups(); ++g)
    state.phrases.push_back(problem.has_fixed_phrases()
                                ? problem.fixed_phrases[g]
                                : static_cast<int>(random.uniform_index(problem.num_phrases)));
  return settle_start(problem, std::move(state));
}

std::optional<CacState> start_from_labels(const CacProblem& problem, const CacOptions& options,
                                          std::span<const int> words, std::span<const int> phrases,
                                          Monitor& monitor) {
  CacState state;
  for (const CacView& view : problem.views) {
    state.prototypes.emplace_back(view.num_words(), view.points().cols());
    for (int64_t i = 0; i < view.size(); ++i)
      state.words.push_back(view.first_word + words[view.first_primitive + i]);
  }
  state.phrases.assign(phrases.begin(), phrases.end());
  if (phrases.empty()) state.phrases.assign(static_cast<size_t>(problem.groups.num_groups()), 0);
  // One per sample: the groups of neighbours start with the group of their sample.
  for (size_t g = phrases.size(); g < static_cast<size_t>(problem.groups.num_groups()); ++g)
    if (!phrases.empty()) state.phrases.push_back(phrases[g - phrases.size()]);
  state = settle_start(problem, std::move(state));
  if (problem.has_context() && phrases.empty() &&
      !cluster_groups(problem, options.phrase_init, Random(options.seed), monitor, state))
    return std::nullopt;
  return state;
}

}  // namespace milieu::internal
