// SPDX-License-Identifier: Apache-2.0
// Eight lanes of doubles for the ISA sources of DLGMM. Everything is done lane by lane and nothing
// is contracted: the same bits on every instruction set.
//
// exp(x) = 2^k exp(r), k = round(x / ln 2), |r| <= ln(2) / 2; exp(r) is its Taylor polynomial of
// degree 13, whose remainder is below 1e-17.
#pragma once

#include <cstdint>

#include "milieu/linalg/vector_memory.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

constexpr int kLanes = 8;

// By the vector extension that GCC and Clang share: one register with AVX-512, several without.
typedef double Doubles __attribute__((vector_size(64)));
typedef int64_t Longs __attribute__((vector_size(64)));

// Numbers v to v + 7 of `count` ones; `filler` behind the end.
inline Doubles load_from(const double* from, int64_t v, int64_t count, double filler) {
  if (v + kLanes <= count) return load<Doubles>(from + v);
  double values[kLanes];
  for (int l = 0; l < kLanes; ++l) values[l] = v + l < count ? from[v + l] : filler;
  return load<Doubles>(values);
}

// The other way; what lies behind the end is dropped.
inline void store_to(const Doubles& values, int64_t v, int64_t count, double* to) {
  if (v + kLanes <= count) return store(values, to + v);
  for (int l = 0; v + l < count; ++l) to[v + l] = values[l];
}

inline Doubles larger(const Doubles& a, const Doubles& b) { return a > b ? a : b; }
inline Doubles smaller(const Doubles& a, const Doubles& b) { return a < b ? a : b; }

// For x <= 0; 0 below about -708.
inline Doubles exp_of(const Doubles& x) {
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2High = 6.93147180369123816490e-01;  // 21 bits of zeros at its end
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  const Doubles zero = {}, lowest = zero - 708.0;
  const Doubles clipped = larger(x, lowest);
  const Doubles shifted = clipped * kLog2E + kRound;
  const Doubles k = shifted - kRound;
  const Doubles r = (clipped - k * kLn2High) - k * kLn2Low;
  Doubles p = zero + 1.0 / 6227020800.0;
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
  // The bits above the exponent fall off.
  const Longs scale = (load<Longs>(&shifted) + 1023) << 52;
  return x < lowest ? zero : p * load<Doubles>(&scale);
}

inline double total_of(const double* lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

inline double total_of(const Doubles& lanes) {
  double values[kLanes];
  store(lanes, values);
  return total_of(values);
}

}  // namespace
}  // namespace milieu::internal::MILIEU_ISA
