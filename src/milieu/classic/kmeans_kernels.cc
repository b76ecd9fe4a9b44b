// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake). The products use intrinsics; the rest are loops over
// fixed lanes that the compiler vectorises.
#include "milieu/classic/kmeans_kernels.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace milieu::MILIEU_ISA {
namespace {

using internal::kCenterTile;
using internal::kQuantisedNorm;
using internal::QuantisedRow;
using internal::ScoreJob;

constexpr int kLanes = 16;
constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer

// A tile of centres is kParts vectors of kWidth lanes; as many points are scored together as there
// are registers for.
#if defined(__AVX512BW__)
constexpr int kWidth = 16;
constexpr int kPoints = 6;
#elif defined(__AVX2__)
constexpr int kWidth = 8;
constexpr int kPoints = 6;
#else
constexpr int kWidth = 4;
constexpr int kPoints = 3;
#endif
constexpr int kParts = kCenterTile / kWidth;
static_assert(kCenterTile == 16);

typedef float Floats __attribute__((vector_size(4 * kWidth)));
typedef int32_t Ints __attribute__((vector_size(4 * kWidth)));

// Adds the products of two pairs of 16-bit numbers in each lane.
inline Ints add_products(Ints sum, Ints a, Ints b) {
#if defined(__AVX512BW__)
  return sum + reinterpret_cast<Ints>(
                   _mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return sum + reinterpret_cast<Ints>(
                   _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return sum + reinterpret_cast<Ints>(
                   _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return sum + ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
#endif
}

template <class Vector, class T>
inline Vector load(const T* from) {
  Vector values;
  __builtin_memcpy(&values, from, sizeof(values));
  return values;
}

inline Ints spread_pair(const int16_t* from) {
  int32_t pair;
  __builtin_memcpy(&pair, from, sizeof(pair));
  return Ints{} + pair;
}

// The lowest and second lowest score seen so far in each lane, and the centre of the lowest.
struct Lowest {
  Floats best = Floats{} + 3e38f;
  Floats second = Floats{} + 3e38f;
  Ints center = {};

  inline void add(Floats score, Ints index) {
    const Ints is_lower = score < best;
    const Floats loser = is_lower ? best : score;
    second = loser < second ? loser : second;
    center = is_lower ? index : center;
    best = is_lower ? score : best;
  }
};

typedef float Float4 __attribute__((vector_size(16)));

inline Float4 lower(Float4 a, Float4 b) { return a < b ? a : b; }

// The lowest of all lanes.
inline float lowest_lane(Floats v) {
  Float4 parts[kWidth / 4];
  __builtin_memcpy(parts, &v, sizeof(v));
  for (int width = kWidth / 8; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) parts[l] = lower(parts[l], parts[l + width]);
  const Float4 pairs = lower(parts[0], __builtin_shufflevector(parts[0], parts[0], 2, 3, 0, 1));
  return lower(pairs, __builtin_shufflevector(pairs, pairs, 1, 0, 3, 2))[0];
}

inline int first_lane(Ints mask) {
#if defined(__AVX512BW__)
  return __builtin_ctz(_mm512_movepi32_mask(reinterpret_cast<__m512i>(mask)));
#elif defined(__AVX2__)
  return __builtin_ctz(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
#elif defined(__SSE2__)
  return __builtin_ctz(_mm_movemask_ps(reinterpret_cast<__m128>(mask)));
#else
  int lane = 0;
  while (!mask[lane]) ++lane;
  return lane;
#endif
}

inline Ints lane_numbers() {
  Ints lanes;
  for (int l = 0; l < kWidth; ++l) lanes[l] = l;
  return lanes;
}

inline void write_lowest(const Lowest& lowest, const ScoreJob& job, int64_t slot) {
  const int64_t at = slot * job.result_stride;
  const float best = lowest_lane(lowest.best);
  const int lane = first_lane(lowest.best == best);
  job.best[at] = best;
  job.second[at] = lowest_lane(lane_numbers() == lane ? lowest.second : lowest.best);
  job.best_center[at] = static_cast<uint16_t>(lowest.center[lane]);
}

// `count` points against all centres of the group.
template <int count>
inline void score_points(const ScoreJob& job, const uint16_t* slots) {
  const int16_t* rows[count];
  for (int p = 0; p < count; ++p) rows[p] = job.points + slots[p] * job.row_length;
  Lowest lowest[count];
  for (int64_t c = 0; c < job.num_centers; c += kCenterTile) {
    const int16_t* centers = job.centers + c * job.row_length;
    Ints sums[count][kParts] = {};
    for (int64_t t = 0; t < job.row_length; t += 2) {
      Ints pairs[kParts];
#pragma GCC unroll 4
      for (int q = 0; q < kParts; ++q)
        pairs[q] = load<Ints>(centers + t * kCenterTile + 2 * q * kWidth);
#pragma GCC unroll 8
      for (int p = 0; p < count; ++p) {
        const Ints point_pair = spread_pair(rows[p] + t);
#pragma GCC unroll 4
        for (int q = 0; q < kParts; ++q)
          sums[p][q] = add_products(sums[p][q], pairs[q], point_pair);
      }
    }
#pragma GCC unroll 8
    for (int p = 0; p < count; ++p) {
      const float scale = job.point_scales[slots[p]] * job.center_scale;
#pragma GCC unroll 4
      for (int q = 0; q < kParts; ++q) {
        const int32_t first = static_cast<int32_t>(c) + q * kWidth;
        lowest[p].add(load<Floats>(job.half_norms + first) -
                          scale * __builtin_convertvector(sums[p][q], Floats),
                      lane_numbers() + first);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < count; ++p) write_lowest(lowest[p], job, slots[p]);
}

inline float sum_lanes(const float* lanes) {
  float sums[kLanes];
  for (int l = 0; l < kLanes; ++l) sums[l] = lanes[l];
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) sums[l] += sums[l + width];
  return sums[0];
}

}  // namespace

void score_group(const ScoreJob& job) {
  int64_t s = 0;
  for (; s + kPoints <= job.num_slots; s += kPoints) score_points<kPoints>(job, job.slots + s);
  for (; s + 3 <= job.num_slots; s += 3) score_points<3>(job, job.slots + s);
  for (; s < job.num_slots; ++s) score_points<1>(job, job.slots + s);
}

QuantisedRow quantise_row(const float* x, const float* shift, float factor, int64_t d,
                          int64_t row_length, int16_t* out) {
  float lanes[kLanes] = {};
  int64_t t = 0;
  for (; t + kLanes <= d; t += kLanes)
    for (int l = 0; l < kLanes; ++l) {
      const float value = (x[t + l] - shift[t + l]) * factor;
      lanes[l] += value * value;
    }
  for (int l = 0; t < d; ++t, ++l) {
    const float value = (x[t] - shift[t]) * factor;
    lanes[l] += value * value;
  }
  QuantisedRow row;
  row.squared_norm = sum_lanes(lanes);
  const float norm = __builtin_sqrtf(row.squared_norm);
  row.scale = norm / kQuantisedNorm;
  const float multiplier = norm > 0 ? factor * (kQuantisedNorm / norm) : 0.0f;
  for (t = 0; t < d; ++t) {
    const float rounded = (((x[t] - shift[t]) * multiplier) + kRound) - kRound;
    out[t] = static_cast<int16_t>(static_cast<int32_t>(rounded));
  }
  for (; t < row_length; ++t) out[t] = 0;
  return row;
}

float scaled_squared_distance(const float* a, const float* b, float factor, int64_t d) {
  float lanes[kLanes] = {};
  int64_t t = 0;
  for (; t + kLanes <= d; t += kLanes)
    for (int l = 0; l < kLanes; ++l) {
      const float difference = (a[t + l] - b[t + l]) * factor;
      lanes[l] += difference * difference;
    }
  for (int l = 0; t < d; ++t, ++l) {
    const float difference = (a[t] - b[t]) * factor;
    lanes[l] += difference * difference;
  }
  return sum_lanes(lanes);
}

}  // namespace milieu::MILIEU_ISA
