// SPDX-License-Identifier: Apache-2.0
// Vectors of doubles for the mixture's ISA sources, and only for them: everything here is private
// to the file that includes it and to its instruction set. The vectors are the compiler's own
// (vector_size), as wide as the set has them; a sum over samples runs in kLanes partial sums on
// every width, so that the width does not change its bits.
#pragma once

#include <cstdint>

#if defined(__FMA__)
#include <immintrin.h>
#endif

namespace milieu::internal::MILIEU_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 8;
#elif defined(__AVX2__)
constexpr int kWidth = 4;
#else
constexpr int kWidth = 2;
#endif
constexpr int kLanes = 8;
constexpr int kParts = kLanes / kWidth;

typedef double Vec __attribute__((vector_size(kWidth * sizeof(double))));
typedef uint64_t Bits __attribute__((vector_size(kWidth * sizeof(double))));

[[maybe_unused]] inline Vec load(const double* p) { return *reinterpret_cast<const Vec*>(p); }
[[maybe_unused]] inline void store(double* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }
[[maybe_unused]] inline Vec broadcast(double x) { return x - Vec{}; }

// a b + c, rounded once where the instruction set can.
[[maybe_unused]] inline Vec multiply_add(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#else
  return a * b + c;
#endif
}

// The sum of a vector's lanes: the upper half onto the lower half until one is left.
template <class V>
inline double add_lanes(V v) {
  if constexpr (sizeof(V) == 64) {
    return add_lanes(__builtin_shufflevector(v, v, 0, 1, 2, 3) +
                     __builtin_shufflevector(v, v, 4, 5, 6, 7));
  } else if constexpr (sizeof(V) == 32) {
    return add_lanes(__builtin_shufflevector(v, v, 0, 1) + __builtin_shufflevector(v, v, 2, 3));
  } else {
    return v[0] + v[1];
  }
}

// kLanes partial sums.
struct Sum {
  Vec part[kParts] = {};

  double total() const {
    if constexpr (kParts == 1) {
      return add_lanes(part[0]);
    } else if constexpr (kParts == 2) {
      return add_lanes(part[0] + part[1]);
    } else {
      return add_lanes((part[0] + part[2]) + (part[1] + part[3]));
    }
  }
};

constexpr double kLn2High = 0x1.62e42fefa38p-1;  // its product with any exponent is exact
constexpr double kLn2Low = 0x1.ef35793c7673p-45;

// exp(x) for x <= 0; 0 below -708. It is 2^n exp(r) with n = round(x / ln 2), which adding kRound
// leaves in the low bits of the sum; exp(r), |r| <= ln(2)/2, is its Taylor polynomial of degree 13,
// odd and even powers apart. Within 3 ulp.
[[maybe_unused]] inline Vec exp_of(Vec x) {
  constexpr double kLowest = -708.0;
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
  constexpr double kLog2E = 1.4426950408889634074;
  constexpr double kEven[] = {1.0 / 479001600, 1.0 / 3628800, 1.0 / 40320,
                              1.0 / 720,       1.0 / 24,      0.5};
  constexpr double kOdd[] = {1.0 / 6227020800, 1.0 / 39916800, 1.0 / 362880,
                             1.0 / 5040,       1.0 / 120,      1.0 / 6};
  const Vec clipped = x < kLowest ? broadcast(kLowest) : x;
  const Vec shifted = clipped * kLog2E + kRound;
  const Vec n = shifted - kRound;
  const Vec r = (clipped - n * kLn2High) - n * kLn2Low;
  const Vec r2 = r * r;
  Vec even = broadcast(kEven[0]);
  Vec odd = broadcast(kOdd[0]);
  for (int i = 1; i < 6; ++i) {
    even = multiply_add(even, r2, broadcast(kEven[i]));
    odd = multiply_add(odd, r2, broadcast(kOdd[i]));
  }
  const Vec value = 1.0 + multiply_add(r2, multiply_add(r, odd, even), r);
  const Bits scale = (reinterpret_cast<Bits>(shifted) + 1023) << 52;
  return x < kLowest ? Vec{} : value * reinterpret_cast<Vec>(scale);
}

// log(x) for x >= 1: x = m 2^e with m in (sqrt(1/2), sqrt(2)], log m = 2 atanh((m - 1)/(m + 1)) by
// its series. Within 2 ulp, or 1e-16 near 0.
[[maybe_unused]] inline Vec log_of(Vec x) {
  const Bits bits = reinterpret_cast<Bits>(x);
  const Bits biased = (bits >> 52) | 0x4330000000000000u;  // 2^52 + exponent, as a double
  Vec e = reinterpret_cast<Vec>(biased) - (4503599627370496.0 + 1023);
  Vec m = reinterpret_cast<Vec>((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
  const auto is_large = m > 1.4142135623730951;
  m = is_large ? m * 0.5 : m;
  e = is_large ? e + 1.0 : e;
  const Vec s = (m - 1.0) / (m + 1.0);
  const Vec s2 = s * s;
  Vec series = broadcast(1.0 / 23);
  for (int i = 21; i >= 1; i -= 2) series = multiply_add(series, s2, broadcast(1.0 / i));
  return e * kLn2High + (e * kLn2Low + 2.0 * s * series);
}

}  // namespace
}  // namespace milieu::internal::MILIEU_ISA
