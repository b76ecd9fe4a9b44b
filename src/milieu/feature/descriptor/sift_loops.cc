// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake); see sift_loops.h.
#include "milieu/feature/descriptor/sift_loops.h"

#include "milieu/linalg/simd.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

static_assert(kSiftBlock % kFloatWidth == 0);
typedef float Bin
    __attribute__((vector_size(kSiftDirections * sizeof(float)), aligned(4), may_alias));

// atan(z) * 4 / pi for 0 <= z <= 1, within 3e-6: the odd polynomial of degree 11 with the least
// largest error.
inline Floats eighth_turns(Floats z) {
  const Floats q = z * z;
  Floats p = broadcast<Floats>(-0.0149212963f);
  p = p * q + 0.0670327721f;
  p = p * q - 0.148238886f;
  p = p * q + 0.2464233f;
  p = p * q - 0.423508546f;
  p = p * q + 1.27321054f;
  return p * z;
}

// The angle of (dx, dy) in eighths of a turn, 0 to 8; 0 for (0, 0).
inline Floats direction_of(Floats dx, Floats dy) {
  constexpr float kTiny = 1e-30f;  // avoids 0/0 and loses nothing: grey values are not that small
  const Floats ax = abs_of(dx);
  const Floats ay = abs_of(dy);
  Floats t = eighth_turns(min_of(ax, ay) / max_of(max_of(ax, ay), broadcast<Floats>(kTiny)));
  t = ay > ax ? 2.0f - t : t;
  t = dx < 0.0f ? 4.0f - t : t;
  return dy < 0.0f ? 8.0f - t : t;
}

// An 8 x 8 transposition: from 8 rows `stride` apart to 8 pixels of 8 directions.
inline void transpose_block(const float* in, int64_t stride, float* out) {
  Bin r[8], s[8];
  for (int i = 0; i < 8; ++i) r[i] = *reinterpret_cast<const Bin*>(in + i * stride);
  for (int i = 0; i < 4; ++i) {
    s[2 * i] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    s[2 * i + 1] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      const Bin a = s[4 * i + j];
      const Bin b = s[4 * i + j + 2];
      r[4 * i + j] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
      r[4 * i + j + 2] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int j = 0; j < 4; ++j) {
    Bin* pixels = reinterpret_cast<Bin*>(out);
    pixels[j] = __builtin_shufflevector(r[j], r[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    pixels[j + 4] = __builtin_shufflevector(r[j], r[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

// The sum of measure(v) over a descriptor, in kSiftBlock partial sums on every width.
constexpr int kVectors = kSiftSize / kFloatWidth;
template <class Measure>
inline float sum_of(const Floats* descriptor, Measure measure) {
  constexpr int kParts = kSiftBlock / kFloatWidth;
  Floats part[kParts] = {};
  for (int i = 0; i < kVectors; ++i) part[i % kParts] += measure(descriptor[i]);
  for (int width = kParts / 2; width > 0; width /= 2)
    for (int p = 0; p < width; ++p) part[p] += part[p + width];
  return sum_lanes(part[0]);
}

// Vector i of a descriptor whose bins lie at 16 places.
inline Floats vector_of_bins(const float* const* bins, int i) {
#if defined(__AVX512F__)
  // Joined in a register: a wide load of two narrow stores would have to wait for them.
  const Bin a = *reinterpret_cast<const Bin*>(bins[2 * i]);
  const Bin b = *reinterpret_cast<const Bin*>(bins[2 * i + 1]);
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  const int place = i * kFloatWidth;
  return load<Floats>(bins[place / kSiftDirections] + place % kSiftDirections);
#endif
}

inline Floats same(Floats v) { return v; }
inline Floats square(Floats v) { return v * v; }

}  // namespace

void weighted_rows(const float* const* rows, const float* weights, int64_t count, int64_t width,
                   float* out) {
  int64_t x = 0;
  for (; x + kFloatWidth <= width; x += kFloatWidth) {
    Floats sum = weights[0] * load<Floats>(rows[0] + x);
    for (int64_t i = 1; i < count; ++i) sum += weights[i] * load<Floats>(rows[i] + x);
    store(sum, out + x);
  }
  for (; x < width; ++x) {
    float sum = weights[0] * rows[0][x];
    for (int64_t i = 1; i < count; ++i) sum += weights[i] * rows[i][x];
    out[x] = sum;
  }
}

void convolve_row(const float* in, const float* weights, int64_t count, int64_t width, float* out) {
  for (int64_t x = 0; x < width; x += kFloatWidth) {
    Floats sum = weights[0] * load<Floats>(in + x);
    for (int64_t i = 1; i < count; ++i) sum += weights[i] * load<Floats>(in + x + i);
    store(sum, out + x);
  }
}

void sift_votes(const float* above, const float* row, const float* below, int64_t stride,
                float* votes) {
  for (int64_t x = 0; x < stride; x += kFloatWidth) {
    const Floats dx = load<Floats>(row + x + 1) - load<Floats>(row + x - 1);
    const Floats dy = load<Floats>(above + x) - load<Floats>(below + x);
    const Floats length = sqrt_of(dx * dx + dy * dy);
    const Floats t = direction_of(dx, dy);
    store(max_of(length - length * min_of(t, 8.0f - t), Floats{}), votes + x);
    for (int64_t o = 1; o < kSiftDirections; ++o)
      store(max_of(length - length * abs_of(t - static_cast<float>(o)), Floats{}),
            votes + o * stride + x);
  }
}

void add_scaled(float* sum, const float* values, float weight, int64_t count) {
  for (int64_t i = 0; i < count; i += kFloatWidth)
    store(load<Floats>(sum + i) + weight * load<Floats>(values + i), sum + i);
}

void sift_bins(const float* votes, int64_t stride, const SiftBinTable& table, float* scratch,
               float* bins) {
  for (int64_t x = 0; x < stride; x += 8)
    transpose_block(votes + x, stride, scratch + x * kSiftDirections);
  const Bin* pixels = reinterpret_cast<const Bin*>(scratch);
  for (int64_t c = 0; c < table.num_bins; ++c) {
    const float* weights = table.weights + c * table.max_count;
    const Bin* first = pixels + table.firsts[c];
    Bin sum = {};
    for (int t = 0; t < table.counts[c]; ++t) sum += weights[t] * first[t];
    reinterpret_cast<Bin*>(bins)[c] = sum;
  }
}

void sift_finish(const float* const* bins, const SiftScaling& scaling, float* descriptor) {
  Floats x[kVectors];
  for (int i = 0; i < kVectors; ++i) x[i] = vector_of_bins(bins, i);
  const float norm = __builtin_sqrtf(sum_of(x, square));
  if (!(norm > 0)) {
    for (int i = 0; i < kVectors; ++i) store(Floats{}, descriptor + i * kFloatWidth);
    return;
  }
  const bool is_flat = norm < scaling.floor;
  const float factor = 1.0f / (is_flat ? scaling.floor : norm);
  const Floats clip = broadcast<Floats>(scaling.clip);
  for (Floats& v : x) v = min_of(v * factor, clip);
  float second = __builtin_sqrtf(sum_of(x, square));
  if (!is_flat) {
    const float again = 1.0f / second;
    for (Floats& v : x) v = v * again;
    second = 1.0f;
  }
  if (scaling.root) {
    const float inverse = 1.0f / sum_of(x, same);
    for (Floats& v : x) v = second * sqrt_of(v * inverse);
  }
  for (int i = 0; i < kVectors; ++i) store(x[i], descriptor + i * kFloatWidth);
}

}  // namespace milieu::internal::MILIEU_ISA
