// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): the scores of points against a group of centres.
#include "milieu/classic/kmeans/kmeans_loops.h"
#include "milieu/linalg/simd_bits.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

// A tile of centres is kParts registers; as many points are scored together as there
// are registers for.
#if defined(__AVX2__)
constexpr int kPoints = 6;
#else
constexpr int kPoints = 3;
#endif
constexpr int kParts = kCenterTile / kFloatWidth;
static_assert(kCenterTile == 16);

inline Ints spread_pair(const int16_t* from) {
  int32_t pair;
  __builtin_memcpy(&pair, from, sizeof(pair));
  return Ints{} + pair;
}

// Two lowest values in each lane, best <= second.
struct TwoLowest {
  Float8 best, second;
};

inline TwoLowest merge(const TwoLowest& a, const TwoLowest& b) {
  return {min_of(a.best, b.best), min_of(max_of(b.best, a.best), min_of(a.second, b.second))};
}

// The scores of one point for a tile. The last four bits of a score are replaced by the place of
// its centre in the tile: where the lowest score is need then not be kept apart.
inline TwoLowest scores_of(const Ints* sums, float scale, const float* half_norms) {
  constexpr Int8 kPlaces{0, 1, 2, 3, 4, 5, 6, 7};
  Floats scores[kParts];
#pragma GCC unroll 4
  for (int q = 0; q < kParts; ++q)
    scores[q] = load<Floats>(half_norms + q * kFloatWidth) -
                scale * __builtin_convertvector(sums[q], Floats);
  Int8 halves[2];
  __builtin_memcpy(halves, scores, sizeof(halves));
  const Float8 first = reinterpret_cast<Float8>((halves[0] & ~15) | kPlaces);
  const Float8 last = reinterpret_cast<Float8>((halves[1] & ~15) | (kPlaces + 8));
  return {min_of(first, last), max_of(last, first)};
}

// Lane p of the result is the two lowest of all lanes of points[p], p < 6.
inline TwoLowest merge_points(const TwoLowest* points) {
  const auto merge_singles = [](const TwoLowest& a, const TwoLowest& b) {  // a b a b | a b a b
    return merge({__builtin_shufflevector(a.best, b.best, 0, 8, 1, 9, 4, 12, 5, 13),
                  __builtin_shufflevector(a.second, b.second, 0, 8, 1, 9, 4, 12, 5, 13)},
                 {__builtin_shufflevector(a.best, b.best, 2, 10, 3, 11, 6, 14, 7, 15),
                  __builtin_shufflevector(a.second, b.second, 2, 10, 3, 11, 6, 14, 7, 15)});
  };
  const auto merge_pairs = [](const TwoLowest& a, const TwoLowest& b) {  // a a b b | a a b b
    return merge({__builtin_shufflevector(a.best, b.best, 0, 1, 8, 9, 4, 5, 12, 13),
                  __builtin_shufflevector(a.second, b.second, 0, 1, 8, 9, 4, 5, 12, 13)},
                 {__builtin_shufflevector(a.best, b.best, 2, 3, 10, 11, 6, 7, 14, 15),
                  __builtin_shufflevector(a.second, b.second, 2, 3, 10, 11, 6, 7, 14, 15)});
  };
  const auto merge_halves = [](const TwoLowest& a, const TwoLowest& b) {  // a a a a | b b b b
    return merge({__builtin_shufflevector(a.best, b.best, 0, 1, 2, 3, 8, 9, 10, 11),
                  __builtin_shufflevector(a.second, b.second, 0, 1, 2, 3, 8, 9, 10, 11)},
                 {__builtin_shufflevector(a.best, b.best, 4, 5, 6, 7, 12, 13, 14, 15),
                  __builtin_shufflevector(a.second, b.second, 4, 5, 6, 7, 12, 13, 14, 15)});
  };
  const TwoLowest p01 = merge_singles(points[0], points[1]);
  const TwoLowest p23 = merge_singles(points[2], points[3]);
  const TwoLowest p45 = merge_singles(points[4], points[5]);
  return merge_halves(merge_pairs(p01, p23), merge_pairs(p45, p45));
}

// `count` points (at most 6) against all centres of the group.
template <int count>
inline void score_points(const ScoreJob& job, const uint16_t* slots) {
  const int16_t* rows[count];
  for (int p = 0; p < count; ++p) rows[p] = job.points + slots[p] * job.row_length;
  constexpr float kNone = kNotScored;
  TwoLowest lowest{Float8{} + kNone, Float8{} + kNone};
  Int8 tile = {};
  for (int64_t c = 0; c < job.num_centers; c += kCenterTile) {
    const int16_t* centers = job.centers + c * job.row_length;
    Ints sums[count][kParts] = {};
    for (int64_t t = 0; t < job.row_length; t += 2) {
      Ints pairs[kParts];
#pragma GCC unroll 4
      for (int q = 0; q < kParts; ++q)
        pairs[q] = load<Ints>(centers + t * kCenterTile + 2 * q * kFloatWidth);
#pragma GCC unroll 8
      for (int p = 0; p < count; ++p) {
        const Ints point_pair = spread_pair(rows[p] + t);
#pragma GCC unroll 4
        for (int q = 0; q < kParts; ++q)
          sums[p][q] = add_products(sums[p][q], pairs[q], point_pair);
      }
    }
    TwoLowest points[6] = {};
#pragma GCC unroll 8
    for (int p = 0; p < count; ++p)
      points[p] =
          scores_of(sums[p], job.point_scales[slots[p]] * job.center_scale, job.half_norms + c);
    const TwoLowest found = merge_points(points);
    tile = found.best < lowest.best ? Int8{} + static_cast<int32_t>(c) : tile;
    lowest = merge(lowest, found);
  }
  const Int8 center = tile + (reinterpret_cast<Int8>(lowest.best) & 15);
#pragma GCC unroll 8
  for (int p = 0; p < count; ++p) {
    const int64_t at = slots[p] * job.result_stride;
    job.best[at] = lowest.best[p];
    job.second[at] = lowest.second[p];
    job.best_center[at] = static_cast<uint16_t>(center[p]);
  }
}

}  // namespace

void score_group(const ScoreJob& job) {
  int64_t s = 0;
  for (; s + kPoints <= job.num_slots; s += kPoints) score_points<kPoints>(job, job.slots + s);
  for (; s + 3 <= job.num_slots; s += 3) score_points<3>(job, job.slots + s);
  for (; s < job.num_slots; ++s) score_points<1>(job, job.slots + s);
}

}  // namespace milieu::internal::MILIEU_ISA
