// SPDX-License-Identifier: Apache-2.0
// The steps of nested EM where counts of phrases fit into bytes (cac_loops.h): no weights, at
// most 8 phrases, no group of more than 255 members, no primitive in more than 255 groups. The same
// results as in cac_steps.cc and cac_words.cc, bit for bit.
#include <algorithm>
#include <array>

#include "milieu/cac/cac_loops.h"
#include "milieu/cac/cac_work_internal.h"
#include "milieu/linalg/distance.h"

namespace milieu::internal {
namespace {

// A byte that is 1: one group of phrase k.
constexpr uint64_t kPhraseByte[kPackedPhrases] = {1ull,       1ull << 8,  1ull << 16, 1ull << 24,
                                                  1ull << 32, 1ull << 40, 1ull << 48, 1ull << 56};

// Bytes that are 1 where a bit of the code is set: u_k of a word, by its code.
const std::array<uint64_t, 256> kCodeBytes = [] {
  std::array<uint64_t, 256> bytes{};
  for (size_t code = 0; code < bytes.size(); ++code)
    for (int k = 0; k < kPackedPhrases; ++k)
      if (code >> k & 1) bytes[code] |= kPhraseByte[k];
  return bytes;
}();

bool has_longer_list(const ContextGroups& lists, int64_t length) {
  for (int64_t i = 0; i < lists.num_groups(); ++i)
    if (lists.size_of(i) > length) return true;
  return false;
}

}  // namespace

bool NestedEm::can_pack() const {
  return !problem_.is_binary && !problem_.is_weighted() && problem_.num_phrases <= kPackedPhrases &&
         problem_.num_words < PackedPhrases::kNoPhrase &&
         !has_longer_list(problem_.groups, kMaxPackedCount) &&
         !has_longer_list(problem_.groups_of, kMaxPackedCount);
}

void NestedEm::refresh_codes() {
  word_codes_.assign(static_cast<size_t>(problem_.num_words), 0);
  for (int m = 0; m < problem_.num_words; ++m)
    for (int k = 0; k < problem_.num_phrases; ++k)
      word_codes_[m] |= static_cast<uint8_t>(state_.compositions[k * problem_.num_words + m] << k);
  primitive_codes_.resize(state_.words.size());
  for (size_t p = 0; p < state_.words.size(); ++p)
    primitive_codes_[p] = word_codes_[state_.words[p]];
}

// d(t, u) of the groups to the phrases they have.
void NestedEm::measure_packed(const Block& block) {
  const ContextGroups& groups = problem_.groups;
  std::vector<uint64_t> counts(static_cast<size_t>(block.size()));
  const std::vector<uint8_t> all(counts.size(), 1);
  MILIEU_SELECT_ISA(count_packed)
  ({groups.offsets.data() + block.begin, groups.members.data(), all.data()}, 0, block.size(),
   primitive_codes_.data(), kCodeBytes.data(), counts.data());
  for (int64_t g = block.begin; g < block.end; ++g) {
    const int k = state_.phrases[g];
    const auto shared = static_cast<double>((counts[g - block.begin] >> (8 * k)) & 255);
    group_distances_[g] = static_cast<double>(groups.size_of(g)) + phrase_sizes_[k] - 2 * shared;
  }
}

// [Yuan08, Eq. 13].
void NestedEm::choose_packed_phrases_in(const Block& block) {
  const ContextGroups& groups = problem_.groups;
  const PackedLists lists{groups.offsets.data(), groups.members.data(), is_stale_group_.data()};
  PackedPhrases phrases;
  std::fill(std::begin(phrases.sizes), std::end(phrases.sizes), PackedPhrases::kNoPhrase);
  for (int k = 0; k < problem_.num_phrases; ++k)
    phrases.sizes[k] = static_cast<uint16_t>(phrase_sizes_[k]);
  std::vector<uint64_t> counts(static_cast<size_t>(block.size()));
  MILIEU_SELECT_ISA(count_packed)
  (lists, block.begin, block.end, primitive_codes_.data(), kCodeBytes.data(), counts.data());
  MILIEU_SELECT_ISA(nearest_phrases)
  (lists, block.begin, block.end, counts.data(), phrases, state_.phrases.data(),
   next_labels_.data(), next_values_.data());
}

// [Yuan08, Eq. 15].
void NestedEm::choose_packed_words_in(size_t v, const Block& block, FloatView distances,
                                      WordScratch& scratch) {
  const CacView& view = problem_.views[v];
  const int64_t first = view.first_primitive + block.begin;
  std::vector<uint64_t> counts(static_cast<size_t>(block.size()));
  MILIEU_SELECT_ISA(count_packed)
  ({problem_.groups_of.offsets.data(), problem_.groups_of.members.data(),
    is_stale_primitive_.data()},
   first, first + block.size(), group_codes_.data(), kPhraseByte, counts.data());
  PackedWords job;
  job.distances = distances.data();
  job.stride = views_[v].stride;
  job.signs = views_[v].signs.data();
  job.norms = scratch.norms.data();
  job.is_stale = is_stale_primitive_.data() + first;
  job.counts = counts.data();
  job.weight = sign_weight(v);
  job.distance_error = distance_error(view.points().cols(), 1);
  job.largest_norm = views_[v].largest_norm;
  job.scores = scratch.scores.data();
  int* const labels = next_labels_.data() + first;
  MILIEU_SELECT_ISA(choose_packed_words)(job, block.size(), labels);
  for (int64_t i = 0; i < block.size(); ++i) {
    if (!job.is_stale[i]) continue;
    if (labels[i] < 0) labels[i] = choose_word(v, block.begin + i, distances.row(i), i, scratch);
    labels[i] += view.first_word;
    const uint64_t own = counts[i] & (kCodeBytes[word_codes_[labels[i]]] * 255);
    next_gains_[first + i] = 2 * sum_packed(own) - sum_packed(counts[i]);
  }
}

}  // namespace milieu::internal
