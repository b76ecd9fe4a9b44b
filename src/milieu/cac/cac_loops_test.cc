// SPDX-License-Identifier: Apache-2.0
#include "milieu/cac/cac_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/linalg/isa.h"

namespace milieu {
namespace {

using internal::kPackedPhrases;

// The loops of every instruction set against plain ones.
TEST(CacLoops, AllInstructionSetsScoreTheSame) {
  Random random(3);
  for (const int64_t stride : {16, 48}) {
    std::vector<float> distances(stride), signs_a(stride), signs_b(stride), scores(stride);
    for (int64_t m = 0; m < stride; ++m) {
      distances[m] = static_cast<float>(random.uniform_index(50));
      signs_a[m] = random.bernoulli(0.5) ? 1.0f : -1.0f;
      signs_b[m] = random.bernoulli(0.5) ? 1.0f : -1.0f;
    }
    const float* signs[] = {signs_a.data(), signs_b.data()};
    const float weights[] = {3, 0.5f};
    float lowest = std::numeric_limits<float>::infinity();
    for (int64_t m = 0; m < stride; ++m)
      lowest = std::min(lowest, distances[m] - 3 * signs_a[m] - 0.5f * signs_b[m]);
    for (const Isa isa : {Isa::Baseline, Isa::V3, Isa::V4}) {
      if (isa > best_isa()) continue;
      const ScopedIsa scoped(isa);
      EXPECT_EQ(MILIEU_SELECT_ISA(score_words)(distances.data(), stride, signs, weights, 2,
                                               scores.data()),
                lowest);
      int count = 0, first = -1;
      for (int64_t m = stride - 1; m >= 0; --m)
        if (scores[m] <= lowest + 1) {
          ++count;
          first = static_cast<int>(m);
        }
      const auto found = MILIEU_SELECT_ISA(count_within)(scores.data(), stride, lowest + 1);
      EXPECT_EQ(found.count, count);
      EXPECT_EQ(found.first, first);
      EXPECT_EQ(MILIEU_SELECT_ISA(count_within)(scores.data(), stride, lowest - 1).count, 0);
    }
  }
}

TEST(CacLoops, RowsOfManyPhrasesAreAddedUp) {
  Random random(4);
  for (const int64_t stride : {8, 16, 24}) {
    const int members[] = {2, 0, 2};
    const int words[] = {1, 0, 2};
    std::vector<double> table(3 * stride), sums(stride, 1.0);
    for (double& value : table) value = static_cast<double>(random.uniform_index(9));
    MILIEU_SELECT_ISA(add_rows)(members, 3, words, table.data(), stride, sums.data());
    for (int64_t k = 0; k < stride; ++k)
      EXPECT_EQ(sums[k], 1 + 2 * table[2 * stride + k] + table[stride + k]);
  }
}

// Groups of 0 to 255 members, many ties; every third group is skipped.
TEST(CacLoops, PackedPhrasesAreThoseOfPlainCounts) {
  Random random(5);
  constexpr int kMembers = 400, kGroups = 120;
  std::vector<uint64_t> table(16);
  for (uint64_t& bytes : table)
    for (int k = 0; k < kPackedPhrases; ++k)
      bytes |= static_cast<uint64_t>(random.bernoulli(0.5)) << (8 * k);
  std::vector<uint8_t> codes(kMembers), is_stale(kGroups);
  for (uint8_t& code : codes) code = static_cast<uint8_t>(random.uniform_index(16));
  std::vector<int64_t> offsets{0};
  std::vector<int> members, current(kGroups);
  for (int g = 0; g < kGroups; ++g) {
    const int64_t size = g == 1 ? 255 : g == 2 ? 0 : random.uniform_index(12);
    for (int64_t e = 0; e < size; ++e)
      members.push_back(static_cast<int>(random.uniform_index(kMembers)));
    offsets.push_back(static_cast<int64_t>(members.size()));
    is_stale[g] = g % 3 != 0;
    current[g] = static_cast<int>(random.uniform_index(5));
  }
  internal::PackedPhrases phrases;  // five of them
  std::fill_n(phrases.sizes, kPackedPhrases, internal::PackedPhrases::kNoPhrase);
  for (int k = 0; k < 5; ++k) phrases.sizes[k] = static_cast<uint16_t>(random.uniform_index(4));
  for (const Isa isa : {Isa::Baseline, Isa::V3, Isa::V4}) {
    if (isa > best_isa()) continue;
    const ScopedIsa scoped(isa);
    const internal::PackedLists lists{offsets.data(), members.data(), is_stale.data()};
    std::vector<uint64_t> counts(kGroups - 1, 77);
    std::vector<int> labels(kGroups, -1);
    std::vector<double> values(kGroups, -1);
    MILIEU_SELECT_ISA(count_packed)
    (lists, 1, kGroups, codes.data(), table.data(), counts.data());
    MILIEU_SELECT_ISA(nearest_phrases)
    (lists, 1, kGroups, counts.data(), phrases, current.data(), labels.data(), values.data());
    for (int g = 1; g < kGroups; ++g) {
      if (!is_stale[g]) {
        EXPECT_EQ(counts[g - 1], 77u);
        EXPECT_EQ(labels[g], -1);
        continue;
      }
      std::vector<int64_t> distances;
      const int64_t size = offsets[g + 1] - offsets[g];
      for (int k = 0; k < 5; ++k) {
        int64_t shared = 0;
        for (int64_t e = offsets[g]; e < offsets[g + 1]; ++e)
          shared += (table[codes[members[e]]] >> (8 * k)) & 255;
        distances.push_back(size + phrases.sizes[k] - 2 * shared);
      }
      const auto lowest = std::min_element(distances.begin(), distances.end());
      EXPECT_EQ(values[g], static_cast<double>(*lowest));
      EXPECT_EQ(labels[g], distances[current[g]] == *lowest
                               ? current[g]
                               : static_cast<int>(lowest - distances.begin()));
    }
  }
}

TEST(CacLoops, PackedCountsAddUp) {
  EXPECT_EQ(internal::sum_packed(0), 0);
  EXPECT_EQ(internal::sum_packed(0x0100000000000203u), 6);
  EXPECT_EQ(internal::sum_packed(0xff00000000000000u), 255);
}

}  // namespace
}  // namespace milieu
