// SPDX-License-Identifier: Apache-2.0
// The phrase step and the M-step of nested EM, and the bookkeeping of J. The word step is in
// cac_words.cc, binary transactions in cac_binary.cc.
#include "milieu/cac/cac_steps.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "milieu/base/parallel.h"
#include "milieu/cac/cac_loops.h"
#include "milieu/cac/cac_work_internal.h"
#include "milieu/linalg/distance.h"

namespace milieu::internal {
namespace {

constexpr int64_t kTableLanes = 8;

int64_t round_up(int64_t count, int64_t lanes) { return (count + lanes - 1) / lanes * lanes; }

// Ties keep the current label, else go to the lowest index.
int lowest_of(std::span<const double> values, int current) {
  const auto lowest = std::min_element(values.begin(), values.end());
  return values[current] == *lowest ? current : static_cast<int>(lowest - values.begin());
}

}  // namespace

// Four independent sums: a single one would wait for every addition.
double sum_of(std::span<const double> values, int num_threads) {
  return parallel_reduce(
      static_cast<int64_t>(values.size()), kPrimitiveBlock, num_threads, 0.0,
      [&](const Block& block, double& sum) {
        double parts[4] = {};
        int64_t i = block.begin;
        for (; i + 4 <= block.end; i += 4)
          for (int q = 0; q < 4; ++q) parts[q] += values[i + q];
        for (; i < block.end; ++i) parts[0] += values[i];
        sum += (parts[0] + parts[1]) + (parts[2] + parts[3]);
      },
      [](double& all, double part) { all += part; });
}

NestedEm::NestedEm(const CacProblem& problem, double lambda, CacState state)
    : problem_(problem), lambda_(lambda), state_(std::move(state)) {
  const auto num_primitives = static_cast<size_t>(problem.num_primitives);
  const auto num_groups = static_cast<size_t>(problem.groups.num_groups());
  own_distances_.resize(num_primitives);
  context_gains_.resize(num_primitives);
  group_distances_.resize(num_groups);
  is_stale_primitive_.assign(num_primitives, 1);
  is_stale_group_.assign(num_groups, 1);
  next_labels_.resize(std::max(num_primitives, num_groups));
  next_values_.resize(next_labels_.size());
  next_gains_.resize(num_primitives);
  for (const CacView& view : problem.views) {
    views_.emplace_back(view);
    views_.back().stride = round_up(view.num_words(), kScoreLanes);
    views_.back().signs = Matrix<float>(problem.num_phrases, views_.back().stride);
  }
  word_table_ = Matrix<double>(problem.num_words, round_up(problem.num_phrases, kTableLanes));
  if (problem.is_binary) count_transactions();
  is_packed_ = can_pack();
  if (is_packed_) group_codes_.assign(state_.phrases.begin(), state_.phrases.end());
  refresh_tables();
  measure_own_distances();
  sum_context();
}

NestedEm::~NestedEm() = default;

// The forms of U~ that the steps read.
void NestedEm::refresh_tables() {
  phrase_sizes_.assign(static_cast<size_t>(problem_.num_phrases), 0);
  for (int k = 0; k < problem_.num_phrases; ++k)
    for (size_t v = 0; v < views_.size(); ++v)
      for (int m = 0; m < problem_.views[v].num_words(); ++m) {
        const int word = problem_.views[v].first_word + m;
        const bool holds = state_.compositions[k * problem_.num_words + word];
        word_table_(word, k) = holds;
        views_[v].signs(k, m) = holds ? 1.0f : -1.0f;
        phrase_sizes_[k] += holds;
      }
  if (is_packed_) refresh_codes();
}

void NestedEm::mark_all_primitives() {
  std::fill(is_stale_primitive_.begin(), is_stale_primitive_.end(), uint8_t{1});
}

void NestedEm::set_lambda(double lambda) {
  if (lambda == lambda_) return;
  lambda_ = lambda;
  mark_all_primitives();
}

void NestedEm::measure_own_distances() {
  for (size_t v = 0; v < views_.size(); ++v) {
    const CacView& view = problem_.views[v];
    const auto measure = [&](const Block& block) {
      for (int64_t i = block.begin; i < block.end; ++i) {
        const int word = state_.words[view.first_primitive + i] - view.first_word;
        own_distances_[view.first_primitive + i] =
            squared_distance(view.points().row_span(i), state_.prototypes[v].view().row_span(word));
      }
    };
    problem_.team->parallel_for(view.size(), kPrimitiveBlock, problem_.num_threads, measure);
    complete(view, own_distances_);
  }
  sum_words_objective();
}

// J1 [Yuan08, Eq. 1], with the scale of each view.
void NestedEm::sum_words_objective() {
  words_objective_ = 0;
  for (const CacView& view : problem_.views)
    words_objective_ +=
        view.scale * sum_of(std::span(own_distances_).subspan(view.first_primitive, view.size()),
                            problem_.num_threads);
}

// J2 without lambda, from the current groups; their phrases do not change.
void NestedEm::sum_context() {
  parallel_for(problem_.groups.num_groups(), kGroupBlock, problem_.num_threads,
               [&](const Block& block) {
                 if (is_packed_) return measure_packed(block);
                 std::vector<double> distances(static_cast<size_t>(word_table_.cols()));
                 for (int64_t g = block.begin; g < block.end; ++g) {
                   group_distances_to(g, distances);
                   group_distances_[g] = distances[state_.phrases[g]];
                 }
               });
  sum_group_distances();
}

void NestedEm::sum_group_distances() {
  if (problem_.groups.group_weights.empty()) {
    context_sum_ = sum_of(group_distances_, problem_.num_threads);
    return;
  }
  context_sum_ = parallel_reduce(
      problem_.groups.num_groups(), kGroupBlock, problem_.num_threads, 0.0,
      [&](const Block& block, double& sum) {
        for (int64_t g = block.begin; g < block.end; ++g)
          sum += problem_.groups.group_weight(g) * group_distances_[g];
      },
      [](double& all, double part) { all += part; });
}

// d(t, u_k) = |t| + |u_k| - 2 t.u_k for every phrase k [Yuan08, Eq. 5]; t.u_k is the sum of u_mk
// over the words m of the members. `out` is as long as a row of the table.
void NestedEm::group_distances_to(int64_t g, std::span<double> out) const {
  if (problem_.is_binary) return binary_distances_to(g, out);
  const ContextGroups& groups = problem_.groups;
  std::fill(out.begin(), out.end(), 0.0);
  double size = 0;
  if (groups.weights.empty()) {
    size = static_cast<double>(groups.size_of(g));
    MILIEU_SELECT_ISA(add_rows)
    (groups.members.data() + groups.offsets[g], groups.size_of(g), state_.words.data(),
     word_table_.data(), word_table_.cols(), out.data());
  } else {
    for (int64_t e = groups.offsets[g]; e < groups.offsets[g + 1]; ++e) {
      const double weight = groups.weights[e];
      const double* row = word_table_.row(state_.words[groups.members[e]]);
      for (int k = 0; k < problem_.num_phrases; ++k) out[k] += weight * row[k];
      size += weight;
    }
  }
  for (int k = 0; k < problem_.num_phrases; ++k) out[k] = size + phrase_sizes_[k] - 2 * out[k];
}

bool NestedEm::update_phrases(const Monitor& monitor) {
  const int64_t num_groups = problem_.groups.num_groups();
  parallel_for(num_groups, kGroupBlock, problem_.num_threads, [&](const Block& block) {
    if (!monitor.should_stop()) choose_phrases_in(block);
  });
  if (monitor.should_stop()) return false;
  commit_phrases();
  return true;
}

// [Yuan08, Eq. 13] for the groups whose words, or whose phrases' words, may have changed.
void NestedEm::choose_phrases_in(const Block& block) {
  if (is_packed_) return choose_packed_phrases_in(block);
  std::vector<double> distances(static_cast<size_t>(word_table_.cols()));
  for (int64_t g = block.begin; g < block.end; ++g) {
    if (!is_stale_group_[g]) continue;
    group_distances_to(g, distances);
    const int phrase =
        lowest_of(std::span(distances).first(problem_.num_phrases), state_.phrases[g]);
    next_labels_[g] = phrase;
    next_values_[g] = distances[phrase];
  }
}

// Takes over what was found and marks the primitives around which a phrase changed.
void NestedEm::commit_phrases() {
  parallel_for(problem_.groups.num_groups(), kGroupBlock, problem_.num_threads,
               [&](const Block& block) {
                 for (int64_t g = block.begin; g < block.end; ++g) {
                   if (!is_stale_group_[g]) continue;
                   is_stale_group_[g] = 0;
                   group_distances_[g] = next_values_[g];
                   if (next_labels_[g] == state_.phrases[g]) continue;
                   state_.phrases[g] = next_labels_[g];
                   if (is_packed_) group_codes_[g] = static_cast<uint8_t>(next_labels_[g]);
                   for (const int p : problem_.groups.members_of(g))
                     std::atomic_ref(is_stale_primitive_[p]).store(1, std::memory_order_relaxed);
                 }
               });
  sum_group_distances();
}

// [Yuan08, Algorithm 1, line 11]. An empty word keeps its prototype or, where the problem reseeds,
// takes the place of the primitive farthest from its own: no primitive has that word, so J does not
// change.
bool NestedEm::update_prototypes(const Monitor& monitor) {
  for (size_t v = 0; v < views_.size(); ++v) {
    if (monitor.should_stop()) return false;
    const CacView& view = problem_.views[v];
    std::vector<int> labels(state_.words.begin() + view.first_primitive,
                            state_.words.begin() + view.first_primitive + view.size());
    for (int& label : labels) label -= view.first_word;
    if (views_[v].sums.update(labels) == 0) continue;
    MatrixView<float> prototypes = state_.prototypes[v];
    const std::vector<int> empty_words = update_centers(views_[v].sums, prototypes);
    if (problem_.reseeds) reseed_empty_clusters(view.problem, labels, empty_words, prototypes);
    views_[v].distances_are_current = false;
    std::fill_n(is_stale_primitive_.begin() + view.first_primitive, view.size(), uint8_t{1});
  }
  measure_own_distances();
  return true;
}

// [Yuan08, Appendix]: S_mk is the weight of word m in the groups of phrase k, n_k the weight of
// these groups; a tie gives 1. A phrase without groups keeps its words or is reseeded.
void NestedEm::update_compositions() {
  const VoteSums votes = sum_votes();
  std::vector<uint8_t> compositions = state_.compositions;
  for (int k = 0; k < problem_.num_phrases; ++k) {
    if (votes.weights[k] == 0) continue;
    for (int m = 0; m < problem_.num_words; ++m)
      compositions[k * problem_.num_words + m] = 2 * votes.words(k, m) >= votes.weights[k];
  }
  set_compositions(std::move(compositions));
  sum_context();
  if (problem_.reseeds) reseed_phrases(votes.weights);
}

void NestedEm::set_compositions(std::vector<uint8_t> compositions) {
  if (compositions == state_.compositions) return;
  state_.compositions = std::move(compositions);
  refresh_tables();
  mark_all_primitives();
  std::fill(is_stale_group_.begin(), is_stale_group_.end(), uint8_t{1});
}

NestedEm::VoteSums NestedEm::sum_votes() const {
  const ContextGroups& groups = problem_.groups;
  const VoteSums zero{Matrix<double>(problem_.num_phrases, problem_.num_words),
                      std::vector<double>(static_cast<size_t>(problem_.num_phrases))};
  return parallel_reduce(
      groups.num_groups(), kGroupBlock, problem_.num_threads, zero,
      [&](const Block& block, VoteSums& sums) {
        for (int64_t g = block.begin; g < block.end; ++g) {
          const int k = state_.phrases[g];
          const double weight = groups.group_weight(g);
          sums.weights[k] += weight;
          if (problem_.is_binary) {
            for (int m = 0; m < problem_.num_words; ++m)
              sums.words(k, m) += weight * (transactions_(g, m) > 0);
          } else {
            for (int64_t e = groups.offsets[g]; e < groups.offsets[g + 1]; ++e)
              sums.words(k, state_.words[groups.members[e]]) += weight * groups.member_weight(e);
          }
        }
      },
      [](VoteSums& all, const VoteSums& part) {
        for (int64_t i = 0; i < all.words.size(); ++i) all.words.data()[i] += part.words.data()[i];
        for (size_t k = 0; k < all.weights.size(); ++k) all.weights[k] += part.weights[k];
      });
}

// Each phrase without groups takes the words of the group that gains most by it (ties to the lowest
// index), each group once. No group has that phrase yet, so J does not change.
void NestedEm::reseed_phrases(std::span<const double> weights) {
  if (std::count(weights.begin(), weights.end(), 0.0) == 0) return;
  const ContextGroups& groups = problem_.groups;
  std::vector<double> gains(group_distances_.size());
  std::vector<std::vector<int>> words_of(group_distances_.size());
  for (int64_t g = 0; g < groups.num_groups(); ++g) {
    std::vector<int>& words = words_of[g];
    double size = 0;
    for (int64_t e = groups.offsets[g]; e < groups.offsets[g + 1]; ++e) {
      words.push_back(state_.words[groups.members[e]]);
      size += groups.member_weight(e);
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    const double best = problem_.is_binary ? 0 : static_cast<double>(words.size()) - size;
    gains[g] = groups.group_weight(g) * (group_distances_[g] - best);
  }
  std::vector<uint8_t> compositions = state_.compositions;
  for (size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] != 0) continue;
    const auto worst = std::max_element(gains.begin(), gains.end());
    if (*worst <= 0) break;
    uint8_t* row = compositions.data() + k * problem_.num_words;
    std::fill_n(row, problem_.num_words, uint8_t{0});
    for (const int word : words_of[worst - gains.begin()]) row[word] = 1;
    *worst = 0;
  }
  set_compositions(std::move(compositions));
}

// The distance of each group's set of words from its phrase, as [Yuan08, Eq. 5] has it for binary
// t.
double NestedEm::hamming_sum() const {
  const ContextGroups& groups = problem_.groups;
  double sum = 0;
  std::vector<int64_t> last_seen(static_cast<size_t>(problem_.num_words), -1);
  for (int64_t g = 0; g < groups.num_groups(); ++g) {
    const int k = state_.phrases[g];
    double distance = phrase_sizes_[k];
    for (const int p : groups.members_of(g)) {
      const int word = state_.words[p];
      if (last_seen[word] == g) continue;
      last_seen[word] = g;
      distance += 1 - 2 * word_table_(word, k);
    }
    sum += groups.group_weight(g) * distance;
  }
  return sum;
}

}  // namespace milieu::internal
