// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake). Vectors are as wide as the set has them, so sums may
// differ in the last bits between instruction sets, as those of the product before them do.
#include "milieu/exemplar/learn/learn_loops.h"

#include "milieu/linalg/simd.h"

namespace milieu::internal::MILIEU_ISA {

namespace {

constexpr int kLanes = kFloatWidth;

}  // namespace

float slave_row(const float* distance, const float* charge, const int32_t* label, int64_t n,
                int32_t own, float beta, float step, float* dual, int32_t* count, double* gained,
                int64_t* where, bool* is_open) {
  const Floats zero = {}, steps = broadcast<Floats>(step), betas = broadcast<Floats>(beta);
  const Ints owns = own - Ints{};
  Floats least = broadcast<Floats>(3e38f), sums = {};
  Ints place = {};   // where each lane's chunk with its least value begins
  Ints opened = {};  // -1 where theta of that one is below 0
  for (int64_t q = 0; q < n; q += kLanes) {
    const Floats old = load<Floats>(dual + q);
    const Floats theta = load<Floats>(charge + q) + old;
    const Ints is_negative = theta < zero;
    const Floats through = load<Floats>(distance + q) +
                           (load<Ints>(label + q) == owns ? betas : zero) +
                           (is_negative ? zero : theta);
    store(is_negative ? old + steps : old, dual + q);
    store(load<Ints>(count + q) - is_negative, count + q);
    sums += is_negative ? theta : zero;
    const Ints is_less = through < least;
    least = is_less ? through : least;
    place = is_less ? static_cast<int32_t>(q) - Ints{} : place;
    opened = is_less ? is_negative : opened;
  }
  float lowest = 3e38f;
  double sum = 0;
  int64_t first = n;
  for (int l = 0; l < kLanes; ++l) {
    const int64_t index = place[l] + l;
    if (least[l] < lowest || (least[l] == lowest && index < first)) {
      lowest = least[l];
      first = index;
      *is_open = opened[l] != 0;
    }
    sum += sums[l];
  }
  *gained = sum;
  *where = first;
  return lowest;
}

void distances_from_products(float first, const float* norms, float least, int64_t n, float* out) {
  for (int64_t q = 0; q < n; ++q) {
    const float value = first + norms[q] - 2.0f * out[q];
    out[q] = value > least ? value : least;
  }
}

void add_scaled(const float* values, float factor, int64_t n, float* sum) {
  for (int64_t q = 0; q < n; ++q) sum[q] += factor * values[q];
}

void add_squared_differences(const float* a, const float* b, double factor, int64_t n,
                             double* sum) {
  for (int64_t t = 0; t < n; ++t) {
    const double difference = static_cast<double>(a[t]) - b[t];
    sum[t] += factor * (difference * difference);
  }
}

double weigh_row(const float* x, const float* w, int64_t n, float* out) {
  Floats sums = {};
  int64_t t = 0;
  for (; t + kLanes <= n; t += kLanes) {
    const Floats values = load<Floats>(x + t), weighted = load<Floats>(w + t) * values;
    store(weighted, out + t);
    sums += weighted * values;
  }
  double sum = 0;
  for (int l = 0; l < kLanes; ++l) sum += sums[l];
  for (; t < n; ++t) {
    out[t] = w[t] * x[t];
    sum += out[t] * x[t];
  }
  return sum;
}

namespace {

inline void transpose_four(const float* in, int64_t stride, float* out) {
  Float4 row[4];
  for (int i = 0; i < 4; ++i) row[i] = load<Float4>(in + i * stride);
  const Float4 a = __builtin_shuffle(row[0], row[1], Int4{0, 4, 1, 5});
  const Float4 b = __builtin_shuffle(row[0], row[1], Int4{2, 6, 3, 7});
  const Float4 c = __builtin_shuffle(row[2], row[3], Int4{0, 4, 1, 5});
  const Float4 d = __builtin_shuffle(row[2], row[3], Int4{2, 6, 3, 7});
  store(__builtin_shuffle(a, c, Int4{0, 1, 4, 5}), out);
  store(__builtin_shuffle(a, c, Int4{2, 3, 6, 7}), out + stride);
  store(__builtin_shuffle(b, d, Int4{0, 1, 4, 5}), out + 2 * stride);
  store(__builtin_shuffle(b, d, Int4{2, 3, 6, 7}), out + 3 * stride);
}

}  // namespace

void transpose(const float* in, int64_t rows, int64_t cols, int64_t stride, float* out) {
  const int64_t full_rows = rows / 4 * 4, full_cols = cols / 4 * 4;
  for (int64_t q = 0; q < full_cols; q += 4)
    for (int64_t p = 0; p < full_rows; p += 4)
      transpose_four(in + p * stride + q, stride, out + q * stride + p);
  for (int64_t p = 0; p < rows; ++p)
    for (int64_t q = p < full_rows ? full_cols : 0; q < cols; ++q)
      out[q * stride + p] = in[p * stride + q];
}

}  // namespace milieu::internal::MILIEU_ISA
