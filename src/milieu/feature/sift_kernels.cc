// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake); see sift_kernels.h.
#include "milieu/feature/sift_kernels.h"

#include "milieu/feature/lanes_internal.h"

namespace milieu::MILIEU_ISA {
namespace {

using internal::kSiftBlock;
using internal::kSiftDirections;
using internal::kSiftSize;

static_assert(kSiftBlock % kWidth == 0);
typedef float Bin
    __attribute__((vector_size(kSiftDirections * sizeof(float)), aligned(4), may_alias));

// atan(z) * 4 / pi for 0 <= z <= 1, within 3e-6: the odd polynomial of degree 11 with the least
// largest error.
inline Vec eighth_turns(Vec z) {
  const Vec q = z * z;
  Vec p = broadcast(-0.0149212963f);
  p = p * q + 0.0670327721f;
  p = p * q - 0.148238886f;
  p = p * q + 0.2464233f;
  p = p * q - 0.423508546f;
  p = p * q + 1.27321054f;
  return p * z;
}

// The angle of (dx, dy) in eighths of a turn, 0 to 8; 0 for (0, 0).
inline Vec direction_of(Vec dx, Vec dy) {
  constexpr float kTiny = 1e-30f;  // avoids 0/0 and loses nothing: grey values are not that small
  const Vec ax = abs_of(dx);
  const Vec ay = abs_of(dy);
  Vec t = eighth_turns(min_of(ax, ay) / max_of(max_of(ax, ay), broadcast(kTiny)));
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

// Sums over a descriptor run in kSiftBlock partial sums on every width.
struct LaneSum {
  Vec part[kSiftBlock / kWidth] = {};

  float total() const {
    float lanes[kSiftBlock];
    for (int p = 0; p < kSiftBlock / kWidth; ++p) store(lanes + p * kWidth, part[p]);
    for (int width = kSiftBlock / 2; width > 0; width /= 2)
      for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
    return lanes[0];
  }
};

// x becomes change(x) for each vector of the descriptor; the sum of measure(change(x)).
template <class Change, class Measure>
inline float map_and_sum(float* x, Change change, Measure measure) {
  LaneSum sum;
  for (int64_t t = 0; t < kSiftSize; t += kSiftBlock)
    for (int p = 0; p < kSiftBlock / kWidth; ++p) {
      float* at = x + t + p * kWidth;
      const Vec value = change(load(at));
      store(at, value);
      sum.part[p] += measure(value);
    }
  return sum.total();
}

inline Vec same(Vec v) { return v; }
inline Vec square(Vec v) { return v * v; }

}  // namespace

void weighted_rows(const float* const* rows, const float* weights, int64_t count, int64_t width,
                   float* out) {
  int64_t x = 0;
  for (; x + kWidth <= width; x += kWidth) {
    Vec sum = weights[0] * load(rows[0] + x);
    for (int64_t i = 1; i < count; ++i) sum += weights[i] * load(rows[i] + x);
    store(out + x, sum);
  }
  for (; x < width; ++x) {
    float sum = weights[0] * rows[0][x];
    for (int64_t i = 1; i < count; ++i) sum += weights[i] * rows[i][x];
    out[x] = sum;
  }
}

void convolve_row(const float* in, const float* weights, int64_t count, int64_t width, float* out) {
  for (int64_t x = 0; x < width; x += kWidth) {
    Vec sum = weights[0] * load(in + x);
    for (int64_t i = 1; i < count; ++i) sum += weights[i] * load(in + x + i);
    store(out + x, sum);
  }
}

void sift_votes(const float* above, const float* row, const float* below, int64_t stride,
                float* votes) {
  for (int64_t x = 0; x < stride; x += kWidth) {
    const Vec dx = load(row + x + 1) - load(row + x - 1);
    const Vec dy = load(above + x) - load(below + x);
    const Vec length = sqrt_of(dx * dx + dy * dy);
    const Vec t = direction_of(dx, dy);
    store(votes + x, max_of(length - length * min_of(t, 8.0f - t), Vec{}));
    for (int64_t o = 1; o < kSiftDirections; ++o)
      store(votes + o * stride + x,
            max_of(length - length * abs_of(t - static_cast<float>(o)), Vec{}));
  }
}

void add_scaled(float* sum, const float* values, float weight, int64_t count) {
  for (int64_t i = 0; i < count; i += kWidth)
    store(sum + i, load(sum + i) + weight * load(values + i));
}

void sift_bins(const float* votes, int64_t stride, const internal::SiftBinTable& table,
               float* scratch, float* bins) {
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

void sift_scale(const internal::SiftScaling& scaling, float* x) {
  const float norm = __builtin_sqrtf(map_and_sum(x, same, square));
  if (!(norm > 0)) return;
  const bool is_flat = norm < scaling.floor;
  const Vec clip = broadcast(scaling.clip);
  const float factor = 1.0f / (is_flat ? scaling.floor : norm);
  float second = __builtin_sqrtf(map_and_sum(
      x, [&](Vec v) { return min_of(v * factor, clip); }, square));
  if (!is_flat) {
    const float again = 1.0f / second;
    map_and_sum(
        x, [&](Vec v) { return v * again; }, same);
    second = 1.0f;
  }
  if (!scaling.root) return;
  const float inverse = 1.0f / map_and_sum(x, same, same);
  map_and_sum(
      x, [&](Vec v) { return second * sqrt_of(v * inverse); }, same);
}

}  // namespace milieu::MILIEU_ISA
