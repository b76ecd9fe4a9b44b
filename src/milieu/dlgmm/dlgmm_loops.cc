// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): loops over fixed lanes that the compiler vectorises.
#include "milieu/dlgmm/dlgmm_loops.h"

#include "milieu/linalg/simd_exp.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

constexpr int kFloatLanes = 16;
constexpr int kLanes = 8;

// Eight floats as doubles. With AVX-512 GCC 12 takes three times as long for its own conversion.
inline Double8 widened(const float* from) {
#if defined(__AVX512F__)
  return reinterpret_cast<Double8>(_mm512_cvtps_pd(_mm256_loadu_ps(from)));
#else
  return __builtin_convertvector(load<Float8>(from), Double8);
#endif
}

#if defined(__AVX512F__)
// Which of the sixteen numbers from v on are there.
inline __mmask16 lanes_at(int64_t v, int64_t count) {
  return static_cast<__mmask16>(count - v >= 16 ? 0xffffu : (1u << (count - v)) - 1u);
}

// Sixteen of the sums scores + bias from v on; those behind the end are -inf.
inline __m512 sums_at(const float* scores, const float* bias, int64_t v, int64_t count) {
  const __m512 nothing = _mm512_set1_ps(-__builtin_inff());
  const __mmask16 mask = lanes_at(v, count);
  return _mm512_mask_add_ps(nothing, mask, _mm512_maskz_loadu_ps(mask, scores + v),
                            _mm512_maskz_loadu_ps(mask, bias + v));
}

// dlgmm_select without branches that depend on the scores: they would be guessed wrongly.
inline int64_t select_wide(const float* scores, const float* bias, int64_t count, float cut,
                           int* words) {
  __m512 best[2] = {sums_at(scores, bias, 0, count), _mm512_set1_ps(-__builtin_inff())};
  int64_t v = 16;
  for (; v + 32 <= count; v += 32)
    for (int c = 0; c < 2; ++c)
      best[c] = _mm512_max_ps(best[c], _mm512_add_ps(_mm512_loadu_ps(scores + v + 16 * c),
                                                     _mm512_loadu_ps(bias + v + 16 * c)));
  for (; v < count; v += 16) best[0] = _mm512_max_ps(best[0], sums_at(scores, bias, v, count));
  const __m512 least = _mm512_set1_ps(_mm512_reduce_max_ps(_mm512_max_ps(best[0], best[1])) - cut);
  __m512i ids = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  int64_t found = 0;
  for (v = 0; v < count; v += 16) {
    // Huge patches may leave -inf for all words: what lies behind the end is masked out.
    const __mmask16 bits = _mm512_mask_cmp_ps_mask(
        lanes_at(v, count), sums_at(scores, bias, v, count), least, _CMP_GE_OQ);
    _mm512_storeu_si512(words + found, _mm512_maskz_compress_epi32(bits, ids));
    found += __builtin_popcount(bits);
    ids = _mm512_add_epi32(ids, _mm512_set1_epi32(16));
  }
  return found;
}
#else
// Bit l is set when scores[l] + bias[l] >= least, l < kFloatLanes.
inline uint32_t bits_at_least(const float* scores, const float* bias, float least) {
  uint32_t bits = 0;
#if defined(__AVX2__)
  for (int half = 0; half < 2; ++half) {
    const __m256 sums =
        _mm256_add_ps(_mm256_loadu_ps(scores + 8 * half), _mm256_loadu_ps(bias + 8 * half));
    const __m256 found = _mm256_cmp_ps(sums, _mm256_set1_ps(least), _CMP_GE_OQ);
    bits |= static_cast<uint32_t>(_mm256_movemask_ps(found)) << (8 * half);
  }
#else
  for (int l = 0; l < kFloatLanes; ++l) bits |= (scores[l] + bias[l] >= least ? 1u : 0u) << l;
#endif
  return bits;
}
#endif

}  // namespace

int64_t dlgmm_select(const float* scores, const float* bias, int64_t count, float cut, int* words) {
#if defined(__AVX512F__)
  return select_wide(scores, bias, count, cut, words);
#else
  float largest = scores[0] + bias[0];
  int64_t v = 0;
  if (count >= kFloatLanes) {
    Float16 best = load<Float16>(scores) + load<Float16>(bias);
    for (v = kFloatLanes; v + kFloatLanes <= count; v += kFloatLanes) {
      const Float16 x = load<Float16>(scores + v) + load<Float16>(bias + v);
      best = x > best ? x : best;
    }
    for (int l = 0; l < kFloatLanes; ++l) largest = best[l] > largest ? best[l] : largest;
  }
  for (; v < count; ++v) {
    const float x = scores[v] + bias[v];
    largest = x > largest ? x : largest;
  }
  const float least = largest - cut;
  int64_t found = 0;
  for (v = 0; v + kFloatLanes <= count; v += kFloatLanes)
    for (uint32_t bits = bits_at_least(scores + v, bias + v, least); bits != 0; bits &= bits - 1)
      words[found++] = static_cast<int>(v) + __builtin_ctz(bits);
  for (; v < count; ++v)
    if (scores[v] + bias[v] >= least) words[found++] = static_cast<int>(v);
  return found;
#endif
}

float dlgmm_center(const float* x, const float* center, int64_t dim, float* out) {
  Float16 lanes = {};
  int64_t r = 0;
  for (; r + kFloatLanes <= dim; r += kFloatLanes) {
    const Float16 y = load<Float16>(x + r) - load<Float16>(center + r);
    store(y, out + r);
    lanes += y * y;
  }
  for (int l = 0; r < dim; ++r, ++l) {
    const float y = x[r] - center[r];
    out[r] = y;
    lanes[l] += y * y;
  }
  float sums[kFloatLanes];
  store(lanes, sums);
  for (int half = kFloatLanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) sums[l] += sums[l + half];
  return sums[0];
}

void dlgmm_distances(const float* patches, int64_t stride, const int* rows, int64_t count,
                     const double* w, int64_t dim, double* out) {
  for (int64_t k = 0; k < count; ++k) {
    const float* x = patches + rows[k] * stride;
    Double8 lanes = {};
    int64_t r = 0;
    for (; r + kLanes <= dim; r += kLanes) {
      const Double8 difference = widened(x + r) - load<Double8>(w + r);
      lanes += difference * difference;
    }
    for (int l = 0; r < dim; ++r, ++l) {
      const double difference = static_cast<double>(x[r]) - w[r];
      lanes[l] += difference * difference;
    }
    out[k] = sum_lanes(lanes);
  }
}

double dlgmm_weighted_distance(const float* x, const double* w, const double* s, int64_t count) {
  double lanes[kLanes] = {};
  int64_t r = 0;
  for (; r + kLanes <= count; r += kLanes)
    for (int l = 0; l < kLanes; ++l) {
      const double difference = static_cast<double>(x[r + l]) - w[r + l];
      lanes[l] += difference * difference * s[r + l];
    }
  for (int l = 0; r < count; ++r, ++l) {
    const double difference = static_cast<double>(x[r]) - w[r];
    lanes[l] += difference * difference * s[r];
  }
  return sum_lanes(load<Double8>(lanes));
}

void dlgmm_add(const float* patches, int64_t stride, const int* rows, const double* shares,
               int64_t count, const double* w, int64_t dim, double* first) {
  constexpr int kChains = 4;
  int64_t r = 0;
  for (; r + kChains * kLanes <= dim; r += kChains * kLanes) {
    Double8 sums[kChains], word[kChains];
    for (int c = 0; c < kChains; ++c) {
      sums[c] = load<Double8>(first + r + c * kLanes);
      word[c] = load<Double8>(w + r + c * kLanes);
    }
    for (int64_t k = 0; k < count; ++k) {
      const float* x = patches + rows[k] * stride + r;
      for (int c = 0; c < kChains; ++c) sums[c] += shares[k] * (widened(x + c * kLanes) - word[c]);
    }
    for (int c = 0; c < kChains; ++c) store(sums[c], first + r + c * kLanes);
  }
  for (; r < dim; ++r)
    for (int64_t k = 0; k < count; ++k)
      first[r] += shares[k] * (static_cast<double>(patches[rows[k] * stride + r]) - w[r]);
}

void dlgmm_softmax(const double* scores, int64_t count, double* phi, double* log_phi) {
  if (count == 1) {
    phi[0] = 1, log_phi[0] = 0;
    return;
  }
  double largest = scores[0];
  for (int64_t a = 1; a < count; ++a) largest = scores[a] > largest ? scores[a] : largest;
  Double8 lanes = {};
  for (int64_t a = 0; a < count; a += kLanes) {
    const Double8 parts =
        exp_of(load_part<Double8>(scores + a, count - a, -__builtin_inf()) - largest);
    lanes += parts;  // zeros behind the end change no sum
    store_part(parts, count - a, phi + a);
  }
  const double sum = sum_lanes(lanes);
  const double scale = 1.0 / sum;
  const double log_sum = largest + __builtin_log(sum);
  for (int64_t a = 0; a < count; ++a) {
    phi[a] *= scale;
    log_phi[a] = scores[a] - log_sum;
  }
}

void dlgmm_add_squares(double share, const float* x, const double* w, int64_t count,
                       double* second) {
  for (int64_t r = 0; r < count; ++r) {
    const double difference = static_cast<double>(x[r]) - w[r];
    second[r] += share * difference * difference;
  }
}

}  // namespace milieu::internal::MILIEU_ISA
