// SPDX-License-Identifier: Apache-2.0
// exp and log for ISA sources; see simd.h. They take plain numbers and vectors alike.
//
// exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2)/2. Adding kRound leaves n in the low bits
// of the sum; n ln 2 is subtracted in two parts, the first of which is exact. exp(r) is its Taylor
// polynomial: of degree 13 in double, odd and even powers apart (two short chains instead of a long
// one); of degree 7 in float, whose remainder is below 1e-8 of the value.
#pragma once

#include "milieu/linalg/simd.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

template <class T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  static constexpr float kLowest = -87.0f;  // results below would leave the normal floats
  static constexpr float kHighest = 88.0f;
  static constexpr float kLog2E = 1.44269504088896341f;
  static constexpr float kLn2High = 0.693359375f;  // nine bits
  static constexpr float kLn2Low = -2.12194440e-4f;
  static constexpr float kRound = 12582912.0f;  // 1.5 * 2^23
  static constexpr int kBias = 127;
  static constexpr int kMantissaBits = 23;
};

template <>
struct ExpConstants<double> {
  static constexpr double kLowest = -708.0;
  static constexpr double kHighest = 709.0;
  static constexpr double kLog2E = 1.4426950408889634074;
  static constexpr double kLn2High = 0x1.62e42fefa38p-1;
  static constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  static constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr int kBias = 1023;
  static constexpr int kMantissaBits = 52;
};

template <bool is_fused, class V>
inline V multiply_add(V a, V b, V c) {
  if constexpr (is_fused)
    return fused_multiply_add(a, b, c);
  else
    return a * b + c;
}

template <bool is_fused, class V>
inline V exp_of_small(V r) {
  if constexpr (__is_same(Lane<V>, float)) {
    constexpr float kFactors[] = {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f};
    V p = 1.0f / 5040 - V{};
    for (const float factor : kFactors) p = multiply_add<is_fused>(p, r, factor - V{});
    return p;
  } else {
    constexpr double kEven[] = {1.0 / 3628800, 1.0 / 40320, 1.0 / 720, 1.0 / 24, 0.5};
    constexpr double kOdd[] = {1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6};
    const V r2 = r * r;
    V even = 1.0 / 479001600 - V{};
    V odd = 1.0 / 6227020800 - V{};
    for (int i = 0; i < 5; ++i) {
      even = multiply_add<is_fused>(even, r2, kEven[i] - V{});
      odd = multiply_add<is_fused>(odd, r2, kOdd[i] - V{});
    }
    return 1.0 + multiply_add<is_fused>(r2, multiply_add<is_fused>(r, odd, even), r);
  }
}

template <bool is_fused, class V>
inline V exp_with(V x) {
  using C = ExpConstants<Lane<V>>;
  using Bits = typename LaneOf<V>::Mask;
  // What is not a number stays so: it is the second argument.
  const V clipped = min_of(C::kHighest - V{}, max_of(C::kLowest - V{}, x));
  const V shifted = clipped * C::kLog2E + C::kRound;
  const V n = shifted - C::kRound;
  const V r = (clipped - n * C::kLn2High) - n * C::kLn2Low;
  // The bits of kRound and the sign of n are shifted out.
  const Bits scale = (__builtin_bit_cast(Bits, shifted) + C::kBias) << C::kMantissaBits;
  return x < C::kLowest ? V{} : exp_of_small<is_fused>(r) * __builtin_bit_cast(V, scale);
}

// exp(x): double within 1 ulp, 0 below -708, exp(709) above 709; float within 3e-7, 0 below -87,
// exp(88) above 88. The same bits on every instruction set.
template <class V>
inline V exp_of(V x) {
  return by_register(x, [](auto part) { return exp_with<false>(part); });
}

// The same within 1.1 ulp for one register of doubles, a quarter faster where there is FMA; its
// last bits depend on whether there is.
inline Doubles fused_exp_of(Doubles x) { return exp_with<true>(x); }

// log(x) for x >= 1, fused: x = m 2^e with m in (sqrt(1/2), sqrt(2)], log m = 2 atanh((m - 1) /
// (m + 1)) by its series. Within 2 ulp, or 1e-16 near 0.
inline Doubles fused_log_of(Doubles x) {
  using C = ExpConstants<double>;
  typedef Vector<uint64_t, kDoubleWidth> Bits;
  const Bits bits = __builtin_bit_cast(Bits, x);
  const Bits biased = (bits >> 52) | 0x4330000000000000u;  // 2^52 + exponent, as a double
  Doubles e = __builtin_bit_cast(Doubles, biased) - (4503599627370496.0 + 1023);
  Doubles m = __builtin_bit_cast(Doubles, (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
  const auto is_large = m > 1.4142135623730951;
  m = is_large ? m * 0.5 : m;
  e = is_large ? e + 1.0 : e;
  const Doubles s = (m - 1.0) / (m + 1.0);
  const Doubles s2 = s * s;
  Doubles series = broadcast<Doubles>(1.0 / 23);
  for (int i = 21; i >= 1; i -= 2)
    series = fused_multiply_add(series, s2, broadcast<Doubles>(1.0 / i));
  return e * C::kLn2High + (e * C::kLn2Low + 2.0 * s * series);
}

}  // namespace
}  // namespace milieu::internal::MILIEU_ISA
