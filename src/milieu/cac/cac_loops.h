// SPDX-License-Identifier: Apache-2.0
// The hot loops of context-aware clustering, compiled for each instruction set (linalg/isa.h).
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

namespace milieu::internal {

// Rows of scores are a multiple of this many floats; those beyond the last word are infinite.
inline constexpr int64_t kScoreLanes = 16;

// A subset of the words: how many, and the first one.
struct WordCount {
  int count = 0;
  int first = -1;
};

// Counts of up to 8 phrases, one in each byte: as long as no list has more than 255 entries they
// are added up all at once.
inline constexpr int kPackedPhrases = 8;
inline constexpr int64_t kMaxPackedCount = 255;

// Functions of this header are static: each instruction set has its own.

// The sum of all counts, at most 255.
static inline int sum_packed(uint64_t counts) {
  return static_cast<int>((counts * 0x0101010101010101u) >> 56);
}

// Lists (groups of primitives, or groups around a primitive) [offsets[i], offsets[i + 1]) of
// `members`; those with is_stale[i] == 0 are skipped.
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

// A bound of the error of a float distance between rows of these squared lengths: the rounding of
// both rows, of a product of d terms in any order, and of the sum of three numbers.
inline constexpr double kRounding = 0x1p-24;  // of one float operation
static inline double distance_error(int64_t d, double squared_norms) {
  return kRounding * static_cast<double>(d + 24) * squared_norms;
}

// Of a score: `size` bounds the numbers that are added up.
static inline double score_error(int num_signs, double size) {
  return 2 * kRounding * static_cast<double>(num_signs + 3) * size;
}

// Words whose score is above it cannot be the lowest, whatever the errors.
static inline float highest_close_score(float lowest, double error) {
  return static_cast<float>(lowest + 2.1 * error);
}

// Rows (primitives) whose words choose_packed_words finds.
struct PackedWords {
  const float* distances = nullptr;  // rows x stride
  int64_t stride = 0;
  const float* signs = nullptr;       // phrases x stride
  const float* norms = nullptr;       // squared lengths of the rows
  const uint8_t* is_stale = nullptr;  // rows
  const uint64_t* counts = nullptr;   // rows: groups of each phrase
  double weight = 0;                  // of one group
  double distance_error = 0;          // for rows and words of squared lengths that add up to 1
  double largest_norm = 0;            // squared length of a word
  float* scores = nullptr;            // room for stride
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
// choose_packed_words: the word of lowest score for each stale row, -1 where errors leave several.
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
                         const int* current, int* labels, double* values);
    void choose_packed_words(const internal::PackedWords& job, int64_t count, int* words);)
