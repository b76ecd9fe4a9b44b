// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): loops over fixed lanes that the compiler vectorises.
#include "milieu/dlgmm/dlgmm_loops.h"

#include "milieu/linalg/simd_bits.h"
#include "milieu/linalg/simd_exp.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

constexpr int kFloatLanes = 16;
constexpr int kLanes = 8;

#if defined(__AVX512F__)
// Sixteen of the sums scores + bias from v on; those behind the end are -inf.
inline Float16 sums_at(const float* scores, const float* bias, int64_t v, int64_t count) {
  return load_part<Float16>(scores + v, count - v, -__builtin_inff()) +
         load_part<Float16>(bias + v, count - v);
}

// dlgmm_select without branches that depend on the scores: they would be guessed wrongly.
inline int64_t select_wide(const float* scores, const float* bias, int64_t count, float cut,
                           int* words) {
  Float16 best[2] = {sums_at(scores, bias, 0, count), broadcast<Float16>(-__builtin_inff())};
  int64_t v = 16;
  for (; v + 32 <= count; v += 32)
    for (int c = 0; c < 2; ++c)
      best[c] =
          max_of(best[c], load<Float16>(scores + v + 16 * c) + load<Float16>(bias + v + 16 * c));
  for (; v < count; v += 16) best[0] = max_of(best[0], sums_at(scores, bias, v, count));
  const float least = largest_lane(max_of(best[0], best[1])) - cut;
  Int16 ids = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  int64_t found = 0;
  for (v = 0; v < count; v += 16, ids += 16) {
    // Huge patches may leave -inf for all words: what lies behind the end is masked out.
    const uint32_t bits =
        bits_at_least(sums_at(scores, bias, v, count), least) & low_bits16(count - v);
    found += store_where(bits, ids, words + found);
  }
  return found;
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
    for (uint32_t bits = bits_at_least(load<Float16>(scores + v) + load<Float16>(bias + v), least);
         bits != 0; bits &= bits - 1)
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
      const Double8 difference = load_doubles(x + r) - load<Double8>(w + r);
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
      for (int c = 0; c < kChains; ++c)
        sums[c] += shares[k] * (load_doubles(x + c * kLanes) - word[c]);
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
