// SPDX-License-Identifier: Apache-2.0
// The hot loops of context-aware clustering, compiled for each instruction set (linalg/isa.h).
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

namespace milieu::internal {

// Scores stand in rows of a multiple of this many floats; what is beyond the last word is infinite.
inline constexpr int64_t kScoreLanes = 16;

// Some of the words: how many, and the sum of their indices (the index itself when it is one).
struct WordCount {
  int count = 0;
  int index_sum = 0;
};

}  // namespace milieu::internal

// score_words: scores[m] = distances[m] - sum over t of weights[t] * signs[t][m], for `stride`
//   words; returns the lowest score. count_within: the words whose score is at most `limit`.
// add_rows: sums[k] += table[words[members[e]] * stride + k] for each of `count` members, with
//   stride a multiple of 8; the order of the terms is that of the members.
MILIEU_DECLARE_ISA(float score_words(const float* distances, int64_t stride,
                                     const float* const* signs, const float* weights, int num_signs,
                                     float* scores);
                   internal::WordCount count_within(const float* scores, int64_t stride,
                                                    float limit);
                   void add_rows(const int* members, int64_t count, const int* words,
                                 const double* table, int64_t stride, double* sums);)
