// SPDX-License-Identifier: Apache-2.0
// The hot loops of context-aware clustering, compiled for each instruction set (linalg/isa.h).
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

namespace milieu::internal {

// Scores stand in rows of a multiple of this many floats; what is beyond the last word is infinite.
inline constexpr int64_t kScoreLanes = 16;

// Some of the words: how many, and which is the first.
struct WordCount {
  int count = 0;
  int first = -1;
};

// Counts of up to 8 phrases, one in each byte: as long as no list has more than 255 entries they
// are added up all at once.
inline constexpr int kPackedPhrases = 8;
inline constexpr int64_t kMaxPackedCount = 255;

// The sum of all counts, at most 255.
inline int sum_packed(uint64_t counts) {
  return static_cast<int>((counts * 0x0101010101010101u) >> 56);
}

// Lists (groups of primitives, or groups around a primitive) [offsets[i], offsets[i + 1]) of
// `members`; those with is_stale[i] == 0 are passed over.
struct PackedLists {
  const int64_t* offsets = nullptr;
  const int* members = nullptr;
  const uint8_t* is_stale = nullptr;
};

// What nearest_phrases compares: `sizes` are |u_k| for each of 8 phrases, kNoPhrase beyond the
// last.
struct PackedPhrases {
  static constexpr uint16_t kNoPhrase = 0x7000;
  uint16_t sizes[kPackedPhrases] = {};
};

}  // namespace milieu::internal

// score_words: scores[m] = distances[m] - sum over t of weights[t] * signs[t][m], for `stride`
//   words; returns the lowest score. count_within: the words whose score is at most `limit`.
// add_rows: sums[k] += table[words[members[e]] * stride + k] for each of `count` members, with
//   stride a multiple of 8; the order of the terms is that of the members.
// count_packed: sums[i - begin] = sum of table[codes[m]] over the members m of each stale list i in
//   [begin, end).
// nearest_phrases: for each stale list i the phrase k of lowest d = |t| + |u_k| - 2 counts_k and d
//   itself; ties keep current[i], else go to the lowest index.
MILIEU_DECLARE_ISA(
    float score_words(const float* distances, int64_t stride, const float* const* signs,
                      const float* weights, int num_signs, float* scores);
    internal::WordCount count_within(const float* scores, int64_t stride, float limit);
    void add_rows(const int* members, int64_t count, const int* words, const double* table,
                  int64_t stride, double* sums);
    void count_packed(const internal::PackedLists& lists, int64_t begin, int64_t end,
                      const uint8_t* codes, const uint64_t* table, uint64_t* sums);
    void nearest_phrases(const internal::PackedLists& lists, int64_t begin, int64_t end,
                         const uint64_t* counts, const internal::PackedPhrases& phrases,
                         const int* current, int* labels, double* values);)
