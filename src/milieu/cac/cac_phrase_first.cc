// SPDX-License-Identifier: Apache-2.0
// Starts that find phrases first and words inside them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/cac/cac_start_internal.h"
#include "milieu/classic/kmeans/kmeans.h"

namespace milieu::internal {
namespace {

constexpr double kFinerLexicon = 2.4;  // words of the first lexicon for each word

std::optional<KMeansResult> cluster(FloatView points, int num_clusters, const Random& random,
                                    const CacProblem& problem, Monitor& monitor) {
  KMeansOptions options;
  options.num_clusters = static_cast<int>(std::min<int64_t>(num_clusters, points.rows()));
  options.num_restarts = num_phrase_restarts(points.rows());
  options.seed = Random(random).next_bits() >> 1;
  options.num_threads = problem.num_threads;
  KMeansInput input;
  input.points = points;
  KMeansResult result = fit_kmeans(input, options, monitor);
  if (std::find(result.labels.begin(), result.labels.end(), -1) != result.labels.end())
    return std::nullopt;
  return result;
}

// All views concatenated, each in the units of J1.
Matrix<float> join_views(const CacProblem& problem) {
  int64_t d = 0;
  for (const CacView& view : problem.views) d += view.points().cols();
  Matrix<float> joined(problem.views[0].size(), d);
  int64_t column = 0;
  for (const CacView& view : problem.views) {
    const double factor = std::sqrt(view.scale);
    for (int64_t i = 0; i < joined.rows(); ++i)
      for (int64_t t = 0; t < view.points().cols(); ++t)
        joined(i, column + t) =
            static_cast<float>(factor * (view.points()(i, t) - view.problem.mean[t]));
    column += view.points().cols();
  }
  return joined;
}

// Square roots of each group's word frequencies: groups of any size, compared as histograms.
Matrix<float> share_roots(Matrix<float> counts) {
  for (int64_t i = 0; i < counts.rows(); ++i) {
    const std::span<float> row = counts.row_span(i);
    const float total = std::accumulate(row.begin(), row.end(), 0.0f);
    if (total > 0)
      for (float& count : row) count = std::sqrt(count / total);
  }
  return counts;
}

// The phrase most of a primitive's groups have, by weight; ties to the lowest. -1: in no group.
std::vector<int> phrases_of_primitives(const CacProblem& problem, std::span<const int> phrases) {
  std::vector<int> result(static_cast<size_t>(problem.num_primitives), -1);
  std::vector<double> votes(static_cast<size_t>(problem.num_phrases));
  for (int64_t p = 0; p < problem.num_primitives; ++p) {
    const ContextGroups& groups_of = problem.groups_of;
    if (groups_of.size_of(p) == 0) continue;
    std::fill(votes.begin(), votes.end(), 0.0);
    for (int64_t e = groups_of.offsets[p]; e < groups_of.offsets[p + 1]; ++e)
      votes[phrases[groups_of.members[e]]] +=
          groups_of.member_weight(e) * problem.groups.group_weight(groups_of.members[e]);
    result[p] = static_cast<int>(std::max_element(votes.begin(), votes.end()) - votes.begin());
  }
  return result;
}

// How many words each phrase gets: at least one each, the rest by the number of its primitives.
std::vector<int> split_by_size(int num_words, std::span<const int64_t> sizes) {
  const auto parts = static_cast<int>(sizes.size());
  const double total = std::max<double>(
      1, static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), int64_t{0})));
  std::vector<int> split(sizes.size(), 1);
  for (int given = parts; given < num_words; ++given) {
    int neediest = 0;
    for (int k = 1; k < parts; ++k)
      if (static_cast<double>(sizes[k]) / total / split[k] >
          static_cast<double>(sizes[neediest]) / total / split[neediest])
        neediest = k;
    ++split[neediest];
  }
  return split;
}

std::vector<int> choose_split(int num_words, std::span<const int64_t> sizes, int attempt) {
  const auto splits = splits_of(num_words, static_cast<int>(sizes.size()), kMaxSplits);
  if (splits.empty()) return split_by_size(num_words, sizes);
  return splits[static_cast<size_t>(attempt) % splits.size()];
}

// Words of one view inside the phrases of its primitives; false when stopped.
bool find_words_inside(const CacProblem& problem, const CacView& view,
                       std::span<const int> phrase_of, int attempt, const Random& random,
                       Monitor& monitor, CacState& state) {
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(problem.num_phrases));
  for (int64_t i = 0; i < view.size(); ++i)
    if (phrase_of[view.first_primitive + i] >= 0)
      rows[phrase_of[view.first_primitive + i]].push_back(i);
  std::vector<int64_t> sizes;
  for (const auto& part : rows) sizes.push_back(static_cast<int64_t>(part.size()));
  const std::vector<int> split = choose_split(view.num_words(), sizes, attempt);
  int first = view.first_word;
  for (size_t k = 0; k < rows.size(); ++k) {
    if (!rows[k].empty()) {
      Matrix<float> points(sizes[k], view.points().cols());
      for (int64_t i = 0; i < points.rows(); ++i)
        std::copy_n(view.points().row(rows[k][i]), points.cols(), points.row(i));
      const auto found = cluster(points, split[k], random.child(k), problem, monitor);
      if (!found) return false;
      for (size_t i = 0; i < rows[k].size(); ++i)
        state.words[view.first_primitive + rows[k][i]] = first + found->labels[i];
    }
    first += split[k];
  }
  return true;
}

// Primitives in no group take the nearest of the words that were found.
void label_the_rest(const CacProblem& problem, CacState& state) {
  for (size_t v = 0; v < problem.views.size(); ++v) {
    const CacView& view = problem.views[v];
    const auto words = std::span(state.words).subspan(view.first_primitive, view.size());
    if (std::find(words.begin(), words.end(), -1) == words.end()) continue;
    std::vector<int> local(words.begin(), words.end());
    for (int& word : local)
      if (word >= 0) word -= view.first_word;
    ClusterSums sums(view.problem);
    sums.update(local);
    KMeansModel model{Matrix<float>(view.num_words(), view.points().cols())};
    const std::vector<int> empty_words = update_centers(sums, model.centers);
    int first_used = 0;
    while (sums.is_empty(first_used)) ++first_used;
    for (const int word : empty_words)
      std::copy_n(model.centers.row(first_used), model.centers.cols(), model.centers.row(word));
    const std::vector<int> nearest = predict(model, view.points(), problem.num_threads);
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] < 0) words[i] = view.first_word + nearest[i];
  }
}

// Phrases of all groups, found before there are words. Nothing when stopped.
std::optional<std::vector<int>> find_phrases_of_views(const CacProblem& problem,
                                                      const Random& random, Monitor& monitor) {
  const auto found = cluster(join_views(problem), problem.num_phrases, random, problem, monitor);
  if (!found) return std::nullopt;
  std::vector<int> phrases = found->labels;
  const int64_t n = problem.views[0].size();
  std::vector<double> votes(static_cast<size_t>(problem.num_phrases));
  for (int64_t g = n; g < problem.groups.num_groups(); ++g) {  // groups beside the views
    std::fill(votes.begin(), votes.end(), 0.0);
    for (const int p : problem.groups.members_of(g)) ++votes[found->labels[p % n]];
    phrases.push_back(
        static_cast<int>(std::max_element(votes.begin(), votes.end()) - votes.begin()));
  }
  return phrases;
}

std::optional<std::vector<int>> find_phrases_of_groups(const CacProblem& problem,
                                                       const Random& random, Monitor& monitor) {
  const CacView& view = problem.views[0];
  const int fine = static_cast<int>(std::min<double>(static_cast<double>(view.size()),
                                                     std::round(kFinerLexicon * view.num_words())));
  const auto lexicon = cluster(view.points(), fine, random.child(0), problem, monitor);
  if (!lexicon) return std::nullopt;
  const int64_t num_groups = problem.groups.num_groups();
  const std::vector<int64_t> chosen = groups_to_cluster(num_groups, random.child(1));
  const auto features = [&](std::span<const int64_t> groups) {
    return share_roots(count_words(problem, lexicon->labels, fine, groups));
  };
  auto found = cluster(features(chosen), problem.num_phrases, random.child(2), problem, monitor);
  if (!found) return std::nullopt;
  if (num_groups <= kMaxStartGroups) return std::move(found->labels);
  std::vector<int> phrases;
  constexpr int64_t kRows = 65536;
  for (int64_t begin = 0; begin < num_groups; begin += kRows) {
    std::vector<int64_t> groups(static_cast<size_t>(std::min(kRows, num_groups - begin)));
    std::iota(groups.begin(), groups.end(), begin);
    const auto part = predict(found->model, features(groups), problem.num_threads);
    phrases.insert(phrases.end(), part.begin(), part.end());
    if (monitor.should_stop()) return std::nullopt;
  }
  return phrases;
}

}  // namespace

std::vector<std::vector<int>> splits_of(int total, int parts, int64_t limit) {
  std::vector<std::vector<int>> splits;
  std::vector<int> split(static_cast<size_t>(parts), 1);
  const auto place = [&](auto&& self, int at, int left) -> bool {
    if (at == parts - 1) {
      split[at] = left;
      splits.push_back(split);
      return static_cast<int64_t>(splits.size()) <= limit;
    }
    for (int count = 1; count <= left - (parts - 1 - at); ++count) {
      split[at] = count;
      if (!self(self, at + 1, left - count)) return false;
    }
    return true;
  };
  if (total < parts || !place(place, 0, total)) return {};
  return splits;
}

bool can_start_from_phrases(const CacProblem& problem) {
  return problem.has_context() && std::ranges::all_of(problem.views, [&](const CacView& view) {
           return view.num_words() >= problem.num_phrases;
         });
}

std::optional<CacState> start_from_phrases(const CacProblem& problem, int attempt,
                                           const Random& random, Monitor& monitor) {
  const bool has_views = problem.views.size() > 1;
  std::optional<std::vector<int>> phrases = problem.fixed_phrases;
  if (!problem.has_fixed_phrases())
    phrases = has_views ? find_phrases_of_views(problem, random.child(0), monitor)
                        : find_phrases_of_groups(problem, random.child(0), monitor);
  if (!phrases) return std::nullopt;
  CacState state;
  state.phrases = std::move(*phrases);
  state.words.assign(static_cast<size_t>(problem.num_primitives), -1);
  std::vector<int> phrase_of;
  if (!has_views) phrase_of = phrases_of_primitives(problem, state.phrases);
  for (size_t v = 0; v < problem.views.size() && has_views; ++v)  // of the sample, for each view
    phrase_of.insert(phrase_of.end(), state.phrases.begin(),
                     state.phrases.begin() + problem.views[v].size());
  for (size_t v = 0; v < problem.views.size(); ++v) {
    const CacView& view = problem.views[v];
    if (!find_words_inside(problem, view, phrase_of, attempt, random.child(v + 1), monitor, state))
      return std::nullopt;
    state.prototypes.emplace_back(view.num_words(), view.points().cols());
  }
  label_the_rest(problem, state);
  state = settle_start(problem, std::move(state));
  if (can_refine(problem)) return refine_start(problem, state, monitor);
  return state;
}

}  // namespace milieu::internal
