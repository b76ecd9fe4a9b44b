// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): loops over lanes that the compiler vectorises, and what
// it does not find by itself.
#include "milieu/cac/cac_loops.h"

#include "milieu/linalg/simd_bits.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

using internal::PackedLists;

constexpr int64_t kLanes = internal::kScoreLanes;
constexpr int64_t kDoubles = 8;
static_assert(kLanes % kFloatWidth == 0);

inline float lowest_lane(Floats values) {
  Float4 quarters[kFloatWidth / 4];
  __builtin_memcpy(quarters, &values, sizeof(values));
  Float4 lowest = quarters[0];
#pragma GCC unroll 4
  for (int64_t q = 1; q < kFloatWidth / 4; ++q) lowest = min_of(quarters[q], lowest);
  lowest = min_of(__builtin_shufflevector(lowest, lowest, 2, 3, 2, 3), lowest);
  return min_of(lowest[1], lowest[0]);
}

inline float lowest_score(const float* distances, int64_t stride, const float* const* signs,
                          const float* weights, int num_signs, float* scores) {
  Floats lowest = load<Floats>(distances);
  for (int t = 0; t < num_signs; ++t) lowest -= weights[t] * load<Floats>(signs[t]);
  store(lowest, scores);
  for (int64_t m = kFloatWidth; m < stride; m += kFloatWidth) {
    Floats part = load<Floats>(distances + m);
    for (int t = 0; t < num_signs; ++t) part -= weights[t] * load<Floats>(signs[t] + m);
    store(part, scores + m);
    lowest = min_of(part, lowest);
  }
  return lowest_lane(lowest);
}

inline internal::WordCount words_within(const float* scores, int64_t stride, float limit) {
  internal::WordCount within;
  for (int64_t m = stride - kLanes; m >= 0; m -= kLanes) {  // no branches: words come in any order
    const uint32_t bits = bits_at_most(load<Float16>(scores + m), limit);
    within.count += __builtin_popcount(bits);
    within.first = bits != 0 ? static_cast<int>(m) + __builtin_ctz(bits | 1u << 31) : within.first;
  }
  return within;
}

}  // namespace

float score_words(const float* distances, int64_t stride, const float* const* signs,
                  const float* weights, int num_signs, float* scores) {
  return lowest_score(distances, stride, signs, weights, num_signs, scores);
}

internal::WordCount count_within(const float* scores, int64_t stride, float limit) {
  return words_within(scores, stride, limit);
}

void add_rows(const int* members, int64_t count, const int* words, const double* table,
              int64_t stride, double* sums) {
  if (stride == kDoubles) {  // the usual few phrases: the sums stay in registers
    double part[kDoubles];
    for (int64_t k = 0; k < kDoubles; ++k) part[k] = sums[k];
    for (int64_t e = 0; e < count; ++e) {
      const double* row = table + static_cast<int64_t>(words[members[e]]) * kDoubles;
      for (int64_t k = 0; k < kDoubles; ++k) part[k] += row[k];
    }
    for (int64_t k = 0; k < kDoubles; ++k) sums[k] = part[k];
    return;
  }
  for (int64_t e = 0; e < count; ++e) {
    const double* row = table + static_cast<int64_t>(words[members[e]]) * stride;
    for (int64_t k = 0; k < stride; ++k) sums[k] += row[k];
  }
}

void count_packed(const PackedLists& lists, int64_t begin, int64_t end, const uint8_t* codes,
                  const uint64_t* table, uint64_t* sums) {
  for (int64_t i = begin; i < end; ++i) {
    if (!lists.is_stale[i]) continue;
    const int* member = lists.members + lists.offsets[i];
    const int* const last = lists.members + lists.offsets[i + 1];
    uint64_t first = 0, second = 0;
    for (; last - member >= 2; member += 2) {
      first += table[codes[member[0]]];
      second += table[codes[member[1]]];
    }
    if (member != last) first += table[codes[*member]];
    sums[i - begin] = first + second;
  }
}

void choose_packed_words(const internal::PackedWords& job, int64_t count, int* words) {
  for (int64_t i = 0; i < count; ++i) {
    if (!job.is_stale[i]) continue;
    const float* signs[internal::kPackedPhrases];
    float weights[internal::kPackedPhrases];
    int num_signs = 0;
    for (uint64_t rest = job.counts[i]; rest != 0;) {
      const int k = __builtin_ctzll(rest) / 8;
      weights[num_signs] =
          static_cast<float>(job.weight * static_cast<int>((rest >> (8 * k)) & 255));
      signs[num_signs++] = job.signs + k * job.stride;
      rest &= ~(uint64_t{255} << (8 * k));
    }
    const float lowest = lowest_score(job.distances + i * job.stride, job.stride, signs, weights,
                                      num_signs, job.scores);
    const double total = job.weight * internal::sum_packed(job.counts[i]);
    const double error = job.distance_error * (job.norms[i] + job.largest_norm) +
                         internal::score_error(num_signs, __builtin_fabsf(lowest) + 2 * total);
    const internal::WordCount close =
        words_within(job.scores, job.stride, internal::highest_close_score(lowest, error));
    words[i] = close.count == 1 ? close.first : -1;
  }
}

void nearest_phrases(const PackedLists& lists, int64_t begin, int64_t end, const uint64_t* counts,
                     const internal::PackedPhrases& phrases, const int* current, int* labels,
                     double* values) {
  constexpr int kBias = 512;  // 2 counts are at most 510: what is compared stays positive
  for (int64_t i = begin; i < end; ++i) {
    if (!lists.is_stale[i]) continue;
    const uint64_t packed = counts[i - begin];
    const auto distance_to = [&](int k) {
      return phrases.sizes[k] + kBias - 2 * static_cast<int>((packed >> (8 * k)) & 255);
    };
    const Short8 counted = widen_bytes(packed);
    const auto [lowest, nearest] =
        smallest_of(load<Short8>(phrases.sizes) + uint16_t{kBias} - (counted + counted));
    labels[i] = distance_to(current[i]) == lowest ? current[i] : nearest;
    const int64_t size = lists.offsets[i + 1] - lists.offsets[i];
    values[i] = static_cast<double>(size + lowest - kBias);
  }
}

}  // namespace milieu::internal::MILIEU_ISA
