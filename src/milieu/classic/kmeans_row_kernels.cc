// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): what is done once with each row that is scored.
#include "milieu/classic/kmeans_kernels.h"
#include "milieu/classic/kmeans_vectors_internal.h"

namespace milieu::MILIEU_ISA {
namespace {

using internal::kQuantisedNorm;
using internal::QuantisedRow;

constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer

typedef int16_t Short8 __attribute__((vector_size(16)));

// Eight numbers from `from`; where fewer are left, the rest is 0.
inline Float8 load_part(const float* from, int64_t left) {
  if (left >= 8) return load<Float8>(from);
  Float8 values = {};
  for (int64_t l = 0; l < left; ++l) values[l] = from[l];
  return values;
}

// Sum of ((a - b) * factor)^2 over d numbers.
inline float sum_of_squares(const float* a, const float* b, float factor, int64_t d) {
  Float8 even = {}, odd = {};
  int64_t t = 0;
  for (; t + 16 <= d; t += 16) {
    const Float8 first = (load<Float8>(a + t) - load<Float8>(b + t)) * factor;
    const Float8 last = (load<Float8>(a + t + 8) - load<Float8>(b + t + 8)) * factor;
    even += first * first;
    odd += last * last;
  }
  for (; t < d; t += 8) {
    const Float8 part = (load_part(a + t, d - t) - load_part(b + t, d - t)) * factor;
    even += part * part;
  }
  return sum_of(even + odd);
}

inline Short8 round_to_integers(Float8 values) {
  return __builtin_convertvector(__builtin_convertvector((values + kRound) - kRound, Int8), Short8);
}

}  // namespace

QuantisedRow quantise_row(const float* x, const float* shift, float factor, int64_t d,
                          int64_t row_length, int16_t* out) {
  QuantisedRow row;
  row.squared_norm = sum_of_squares(x, shift, factor, d);
  const float norm = __builtin_sqrtf(row.squared_norm);
  row.scale = norm / kQuantisedNorm;
  const float multiplier = norm > 0 ? factor * (kQuantisedNorm / norm) : 0.0f;
  int64_t t = 0;
  for (; t + 8 <= d; t += 8)
    store(round_to_integers((load<Float8>(x + t) - load<Float8>(shift + t)) * multiplier), out + t);
  for (; t < row_length; t += 8)
    store(round_to_integers((load_part(x + t, d - t) - load_part(shift + t, d - t)) * multiplier),
          out + t);
  return row;
}

float scaled_squared_distance(const float* a, const float* b, float factor, int64_t d) {
  return sum_of_squares(a, b, factor, d);
}

}  // namespace milieu::MILIEU_ISA
