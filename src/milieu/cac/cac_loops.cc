// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): loops over lanes that the compiler vectorises, and what
// it does not find by itself.
#include "milieu/cac/cac_loops.h"

#include "milieu/linalg/simd.h"

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

// Bit l is set where values[l] <= limit.
inline uint32_t lanes_within(const float* values, float limit) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(_mm512_loadu_ps(values), _mm512_set1_ps(limit), _CMP_LE_OQ);
#elif defined(__SSE2__)
  uint32_t bits = 0;
  for (int part = 0; part < 4; ++part)
    bits |= static_cast<uint32_t>(
                _mm_movemask_ps(_mm_cmple_ps(_mm_loadu_ps(values + 4 * part), _mm_set1_ps(limit))))
            << (4 * part);
  return bits;
#else
  uint32_t bits = 0;
  for (int l = 0; l < kLanes; ++l) bits |= static_cast<uint32_t>(values[l] <= limit) << l;
  return bits;
#endif
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
    const uint32_t bits = lanes_within(scores + m, limit);
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
#if defined(__SSE4_1__)
    const __m128i wide = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(static_cast<int64_t>(packed)));
    const __m128i sizes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(phrases.sizes));
    const __m128i all =
        _mm_sub_epi16(_mm_add_epi16(sizes, _mm_set1_epi16(kBias)), _mm_add_epi16(wide, wide));
    const int found = _mm_cvtsi128_si32(_mm_minpos_epu16(all));  // the value, then its place
    const int lowest = found & 0xffff;
    const int nearest = (found >> 16) & 7;
#else
    int lowest = distance_to(0), nearest = 0;
    for (int k = 1; k < internal::kPackedPhrases; ++k) {
      const int distance = distance_to(k);
      nearest = distance < lowest ? k : nearest;
      lowest = distance < lowest ? distance : lowest;
    }
#endif
    labels[i] = distance_to(current[i]) == lowest ? current[i] : nearest;
    const int64_t size = lists.offsets[i + 1] - lists.offsets[i];
    values[i] = static_cast<double>(size + lowest - kBias);
  }
}

}  // namespace milieu::internal::MILIEU_ISA
