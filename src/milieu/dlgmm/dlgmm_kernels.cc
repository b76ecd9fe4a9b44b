// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): loops over fixed lanes that the compiler vectorises.
//
// exp(x) = 2^k exp(r), k = round(x / ln 2), |r| <= ln(2) / 2; exp(r) is its Taylor polynomial of
// degree 13, whose remainder is below 1e-17.
#include "milieu/dlgmm/dlgmm_kernels.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace milieu::MILIEU_ISA {
namespace {

constexpr int kLanes = 8;
constexpr int kFloatLanes = 16;

// Eight doubles and sixteen floats, by the vector extension that GCC and Clang share: one register
// with AVX-512, several without.
typedef double Doubles __attribute__((vector_size(64)));
typedef float Floats __attribute__((vector_size(64)));
typedef float HalfFloats __attribute__((vector_size(32)));

template <class Vector, class T>
inline Vector load(const T* from) {
  Vector values;
  __builtin_memcpy(&values, from, sizeof(values));
  return values;
}

template <class Vector, class T>
inline void store(const Vector& values, T* to) {
  __builtin_memcpy(to, &values, sizeof(values));
}

// Eight floats as doubles; the compiler's own conversion of vectors takes three times as
// long.
inline Doubles widened(const float* from) {
#if defined(__AVX512F__)
  return reinterpret_cast<Doubles>(_mm512_cvtps_pd(_mm256_loadu_ps(from)));
#else
  return __builtin_convertvector(load<HalfFloats>(from), Doubles);
#endif
}

union DoubleBits {
  double value;
  int64_t bits;
};

// For x <= 0; 0 below about -708.
inline double exp_of(double x) {
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2High = 6.93147180369123816490e-01;  // 21 bits of zeros at its end
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  const double clipped = x < -708.0 ? -708.0 : x;
  DoubleBits shifted;
  shifted.value = clipped * kLog2E + kRound;
  const double k = shifted.value - kRound;
  const double r = (clipped - k * kLn2High) - k * kLn2Low;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  DoubleBits scale;
  scale.bits = (shifted.bits + 1023) << 52;  // the bits above the exponent fall off
  return x < -708.0 ? 0.0 : p * scale.value;
}

inline double total_of(const double* lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
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

inline double larger(double a, double b) { return a > b ? a : b; }

// What dlgmm_theta_direction finds for one coordinate.
struct Direction {
  double xa, xt, ua, ut;
  double gx, ux, rest;  // its shares of the three totals
};

inline Direction direction_of(double a, double t, double n, double precision, double mean, double s,
                              double total) {
  const double h = total * s;
  const double inverse_t = 1.0 / t;
  const double k = 0.5 * inverse_t * inverse_t;
  const double ga = n - h - precision * (a - mean);
  const double gt = 0.5 * (inverse_t - h - precision);
  const double p = precision + h;
  const double r = 0.5 * h;
  const double q = 0.25 * h + k;
  const double inverse = 1.0 / (0.25 * precision * h + precision * k + h * k);
  Direction d;
  d.xa = (q * ga - r * gt) * inverse;
  d.xt = (p * gt - r * ga) * inverse;
  d.ua = s * k * inverse;
  d.ut = 0.5 * s * precision * inverse;
  d.gx = ga * d.xa + gt * d.xt;
  d.ux = s * (d.xa + 0.5 * d.xt);
  d.rest = s * precision * k * inverse;
  return d;
}

}  // namespace

int64_t dlgmm_select(const float* scores, const float* bias, int64_t count, float cut, int* words) {
#if defined(__AVX512F__)
  return select_wide(scores, bias, count, cut, words);
#else
  float largest = scores[0] + bias[0];
  int64_t v = 0;
  if (count >= kFloatLanes) {
    Floats best = load<Floats>(scores) + load<Floats>(bias);
    for (v = kFloatLanes; v + kFloatLanes <= count; v += kFloatLanes) {
      const Floats x = load<Floats>(scores + v) + load<Floats>(bias + v);
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
  Floats lanes = {};
  int64_t r = 0;
  for (; r + kFloatLanes <= dim; r += kFloatLanes) {
    const Floats y = load<Floats>(x + r) - load<Floats>(center + r);
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
    Doubles lanes = {};
    int64_t r = 0;
    for (; r + kLanes <= dim; r += kLanes) {
      const Doubles difference = widened(x + r) - load<Doubles>(w + r);
      lanes += difference * difference;
    }
    for (int l = 0; r < dim; ++r, ++l) {
      const double difference = static_cast<double>(x[r]) - w[r];
      lanes[l] += difference * difference;
    }
    double sums[kLanes];
    store(lanes, sums);
    out[k] = total_of(sums);
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
  return total_of(lanes);
}

void dlgmm_add(const float* patches, int64_t stride, const int* rows, const double* shares,
               int64_t count, const double* w, int64_t dim, double* first) {
  constexpr int kChains = 4;
  int64_t r = 0;
  for (; r + kChains * kLanes <= dim; r += kChains * kLanes) {
    Doubles sums[kChains], word[kChains];
    for (int c = 0; c < kChains; ++c) {
      sums[c] = load<Doubles>(first + r + c * kLanes);
      word[c] = load<Doubles>(w + r + c * kLanes);
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
  for (int64_t a = 1; a < count; ++a) largest = larger(largest, scores[a]);
  double lanes[kLanes] = {};
  int64_t a = 0;
  for (; a + kLanes <= count; a += kLanes) {
    for (int l = 0; l < kLanes; ++l) phi[a + l] = exp_of(scores[a + l] - largest);
    for (int l = 0; l < kLanes; ++l) lanes[l] += phi[a + l];
  }
  if (a < count) {  // the rest with zeros behind it: adding them changes no sum
    double rest[kLanes];
    for (int l = 0; l < kLanes; ++l) rest[l] = a + l < count ? scores[a + l] - largest : -1e3;
    for (int l = 0; l < kLanes; ++l) rest[l] = exp_of(rest[l]);
    for (int l = 0; l < kLanes; ++l) lanes[l] += rest[l];
    for (int l = 0; a + l < count; ++l) phi[a + l] = rest[l];
  }
  const double sum = total_of(lanes);
  const double scale = 1.0 / sum;
  const double log_sum = largest + __builtin_log(sum);
  for (a = 0; a < count; ++a) {
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

double dlgmm_exponents(const double* a, const double* t, int64_t count, double* exponents,
                       double* sum) {
  double lanes[kLanes];
  for (int l = 0; l < kLanes; ++l) lanes[l] = a[0] + 0.5 * t[0];
  int64_t v = 0;
  for (; v + kLanes <= count; v += kLanes)
    for (int l = 0; l < kLanes; ++l) lanes[l] = larger(lanes[l], a[v + l] + 0.5 * t[v + l]);
  for (; v < count; ++v) lanes[0] = larger(lanes[0], a[v] + 0.5 * t[v]);
  double shift = lanes[0];
  for (int l = 1; l < kLanes; ++l) shift = larger(shift, lanes[l]);
  for (int l = 0; l < kLanes; ++l) lanes[l] = 0;
  for (v = 0; v + kLanes <= count; v += kLanes) {
    for (int l = 0; l < kLanes; ++l) exponents[v + l] = exp_of(a[v + l] + 0.5 * t[v + l] - shift);
    for (int l = 0; l < kLanes; ++l) lanes[l] += exponents[v + l];
  }
  for (int l = 0; v < count; ++v, ++l) {
    exponents[v] = exp_of(a[v] + 0.5 * t[v] - shift);
    lanes[l] += exponents[v];
  }
  *sum = total_of(lanes);
  return shift;
}

double dlgmm_theta_value(const double* a, const double* t, const double* n, const double* precision,
                         const double* mean, int64_t count) {
  double lanes[kLanes] = {};
  int64_t v = 0;
  for (; v + kLanes <= count; v += kLanes)
    for (int l = 0; l < kLanes; ++l) {
      const double away = a[v + l] - mean[v + l];
      lanes[l] += n[v + l] * a[v + l] - 0.5 * precision[v + l] * (away * away + t[v + l]);
    }
  for (int l = 0; v < count; ++v, ++l) {
    const double away = a[v] - mean[v];
    lanes[l] += n[v] * a[v] - 0.5 * precision[v] * (away * away + t[v]);
  }
  return total_of(lanes);
}

void dlgmm_theta_direction(const double* a, const double* t, const double* n,
                           const double* precision, const double* mean, const double* exponents,
                           double sum, double total, int64_t count, double* xa, double* xt,
                           double* ua, double* ut, double* totals) {
  const double scale = 1.0 / sum;
  double gx[kLanes] = {}, ux[kLanes] = {}, rest[kLanes] = {};
  int64_t v = 0;
  for (; v + kLanes <= count; v += kLanes)
    for (int l = 0; l < kLanes; ++l) {
      const int64_t i = v + l;
      const Direction d =
          direction_of(a[i], t[i], n[i], precision[i], mean[i], exponents[i] * scale, total);
      xa[i] = d.xa, xt[i] = d.xt, ua[i] = d.ua, ut[i] = d.ut;
      gx[l] += d.gx, ux[l] += d.ux, rest[l] += d.rest;
    }
  for (int l = 0; v < count; ++v, ++l) {
    const Direction d =
        direction_of(a[v], t[v], n[v], precision[v], mean[v], exponents[v] * scale, total);
    xa[v] = d.xa, xt[v] = d.xt, ua[v] = d.ua, ut[v] = d.ut;
    gx[l] += d.gx, ux[l] += d.ux, rest[l] += d.rest;
  }
  totals[0] = total_of(gx);
  totals[1] = total_of(ux);
  totals[2] = total_of(rest);
}

double dlgmm_theta_aim(double factor, const double* ua, const double* ut, const double* t,
                       int64_t count, double* xa, double* xt) {
  double lanes[kLanes] = {};
  int64_t v = 0;
  const auto aim = [&](int64_t i, int l) {
    xa[i] += factor * ua[i];
    xt[i] += factor * ut[i];
    const double slope = xt[i] / t[i];
    lanes[l] = slope < lanes[l] ? slope : lanes[l];
  };
  for (; v + kLanes <= count; v += kLanes)
    for (int l = 0; l < kLanes; ++l) aim(v + l, l);
  for (int l = 0; v < count; ++v, ++l) aim(v, l);
  double least = 0;
  for (const double lane : lanes) least = lane < least ? lane : least;
  return least;
}

void dlgmm_theta_move(const double* a, const double* t, double length, const double* xa,
                      const double* xt, int64_t count, double* next_a, double* next_t) {
  for (int64_t v = 0; v < count; ++v) next_a[v] = a[v] + length * xa[v];
  for (int64_t v = 0; v < count; ++v) next_t[v] = t[v] + length * xt[v];
}

double dlgmm_theta_gap(const double* a, const double* t, const double* n, const double* precision,
                       const double* mean, const double* exponents, double sum, double total,
                       int64_t count) {
  const double scale = total / sum;
  double lanes[kLanes] = {};
  int64_t v = 0;
  const auto gap = [&](int64_t i) {
    const double h = scale * exponents[i];
    const double ga = n[i] - h - precision[i] * (a[i] - mean[i]);
    const double y = t[i] * (precision[i] + h);
    return 0.5 * (ga * ga / precision[i] + (y - 1) * (y - 1) / y);
  };
  for (; v + kLanes <= count; v += kLanes)
    for (int l = 0; l < kLanes; ++l) lanes[l] += gap(v + l);
  for (int l = 0; v < count; ++v, ++l) lanes[l] += gap(v);
  return total_of(lanes);
}

}  // namespace milieu::MILIEU_ISA
