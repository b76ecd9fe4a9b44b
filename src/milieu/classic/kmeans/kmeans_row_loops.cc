// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): what is done once with each row that is scored.
#include "milieu/classic/kmeans/kmeans_loops.h"
#include "milieu/linalg/simd.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer

using Short8 = Vector<int16_t, 8>;

struct Squares {
  float sum = 0;
  float largest = 0;  // of the square roots
};

// Of ((a - b) * factor) over d numbers. The sum is not affected by whether the largest is needed.
template <bool wants_largest>
inline Squares squares_of(const float* a, const float* b, float factor, int64_t d) {
  Float8 even = {}, odd = {}, largest = {};
  const auto add = [&](Float8 x, Float8 y, Float8& sum) {
    const Float8 difference = (x - y) * factor;
    sum += difference * difference;
    if (wants_largest) largest = max_of(largest, max_of(-difference, difference));
  };
  int64_t t = 0;
  for (; t + 16 <= d; t += 16) {
    add(load<Float8>(a + t), load<Float8>(b + t), even);
    add(load<Float8>(a + t + 8), load<Float8>(b + t + 8), odd);
  }
  for (; t < d; t += 8) add(load_part<Float8>(a + t, d - t), load_part<Float8>(b + t, d - t), even);
  Squares squares;
  squares.sum = sum_lanes(even + odd);
  for (int l = 0; l < 8 && wants_largest; ++l)
    squares.largest = largest[l] > squares.largest ? largest[l] : squares.largest;
  return squares;
}

}  // namespace

QuantisedRow quantise_row(const float* x, const float* shift, float factor, int64_t d,
                          int64_t row_length, int16_t* out) {
  const Squares squares = squares_of<true>(x, shift, factor, d);
  const float norm = __builtin_sqrtf(squares.sum);
  const float by_norm = norm / kQuantisedNorm;
  const float by_largest = squares.largest / kQuantisedLargest;
  QuantisedRow row;
  row.squared_norm = squares.sum;
  row.scale = by_norm > by_largest ? by_norm : by_largest;
  const float multiplier = row.scale > 0 ? factor / row.scale : 0.0f;
  Float8 rest = {};
  const auto quantise = [&](Float8 a, Float8 b, int16_t* to) {
    const Float8 exact = (a - b) * multiplier;
    const Float8 rounded = (exact + kRound) - kRound;
    rest += (exact - rounded) * (exact - rounded);
    store(__builtin_convertvector(__builtin_convertvector(rounded, Int8), Short8), to);
  };
  int64_t t = 0;
  for (; t + 8 <= d; t += 8) quantise(load<Float8>(x + t), load<Float8>(shift + t), out + t);
  for (; t < row_length; t += 8)
    quantise(load_part<Float8>(x + t, d - t), load_part<Float8>(shift + t, d - t), out + t);
  // 0.05 steps cover the rounding of `exact` and of the scale.
  row.rest = row.scale * (1.001f * __builtin_sqrtf(sum_lanes(rest)) + 0.05f);
  return row;
}

float scaled_squared_distance(const float* a, const float* b, float factor, int64_t d) {
  return squares_of<false>(a, b, factor, d).sum;
}

}  // namespace milieu::internal::MILIEU_ISA
