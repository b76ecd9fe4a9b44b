// SPDX-License-Identifier: Apache-2.0
// An ISA source: compiled once for each instruction set (cmake/MilieuModule.cmake).
#include "milieu/dcp/solve/dcp_product_loops.h"

#include "milieu/linalg/simd.h"

namespace milieu::internal::MILIEU_ISA {

namespace {

using internal::kPlaneLanes;

// Tiles fill the registers of each instruction set, not more: planes x rows of sums in products,
// planes x vectors of features in gradients.
#if defined(__AVX512F__)
constexpr int kPlanes = 6, kSlopePlanes = 6, kVectors = 4;
#elif defined(__AVX2__)
constexpr int kPlanes = 3, kSlopePlanes = 4, kVectors = 2;
#else
constexpr int kPlanes = 2, kSlopePlanes = 4, kVectors = 2;
#endif
constexpr int kLanes = kFloatWidth;
constexpr int kRows = 4;
constexpr int64_t kNear = 6144;  // floats of rows that stay near while planes go by
constexpr int64_t kStep = 256;   // rows whose slopes are summed in float
static_assert(kPlaneLanes % kLanes == 0);

// The sums of four vectors' lanes: pairs are interleaved and added until a lane has its own sum.
inline Float4 sum_four_vectors(Floats v0, Floats v1, Floats v2, Floats v3) {
#if defined(__AVX512F__)
  const auto mix = [](Floats a, Floats b) {
    return __builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14,
                                   30) +
           __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
  };
  const Floats a = mix(v0, v1), b = mix(v2, v3);
  const Floats s =
      __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
      __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  return (__builtin_shufflevector(s, s, 0, 1, 2, 3) + __builtin_shufflevector(s, s, 4, 5, 6, 7)) +
         (__builtin_shufflevector(s, s, 8, 9, 10, 11) +
          __builtin_shufflevector(s, s, 12, 13, 14, 15));
#elif defined(__AVX2__)
  const auto mix = [](Floats a, Floats b) {
    return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
           __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  };
  const Floats a = mix(v0, v1), b = mix(v2, v3);
  const Floats s = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
                   __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  return __builtin_shufflevector(s, s, 0, 1, 2, 3) + __builtin_shufflevector(s, s, 4, 5, 6, 7);
#else
  const auto mix = [](Floats a, Floats b) {
    return __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
  };
  const Floats a = mix(v0, v1), b = mix(v2, v3);
  return __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
#endif
}

// f of kPlanesNow planes and kRows rows.
template <int kPlanesNow>
inline void multiply_tile(const float* packed, int64_t size, const float* const* rows, int64_t d,
                          float* f, int64_t stride, int64_t count) {
  Floats sums[kPlanesNow][kRows];
  const float *r0 = rows[0], *r1 = rows[1], *r2 = rows[2], *r3 = rows[3];
  const Floats a0 = load<Floats>(r0), a1 = load<Floats>(r1), a2 = load<Floats>(r2),
               a3 = load<Floats>(r3);
  for (int p = 0; p < kPlanesNow; ++p) {
    const Floats w = load<Floats>(packed + p * size);
    sums[p][0] = w * a0;
    sums[p][1] = w * a1;
    sums[p][2] = w * a2;
    sums[p][3] = w * a3;
  }
  const int64_t whole = d / kPlaneLanes * kPlaneLanes;
  int64_t back = 0;  // the last vector of a plane begins this much earlier in a row
  for (int64_t b = kLanes; b < size; b += kLanes) {
    if (b >= whole) back = size - d;
    const int64_t at = b - back;
    const Floats x0 = load<Floats>(r0 + at), x1 = load<Floats>(r1 + at), x2 = load<Floats>(r2 + at),
                 x3 = load<Floats>(r3 + at);
    for (int p = 0; p < kPlanesNow; ++p) {
      const Floats w = load<Floats>(packed + p * size + b);
      sums[p][0] += w * x0;
      sums[p][1] += w * x1;
      sums[p][2] += w * x2;
      sums[p][3] += w * x3;
    }
  }
  for (int p = 0; p < kPlanesNow; ++p) {
    const Float4 made = sum_four_vectors(sums[p][0], sums[p][1], sums[p][2], sums[p][3]);
    float* out = f + p * stride;
    if (count == kRows)
      store(made, out);
    else
      for (int64_t r = 0; r < count; ++r) out[r] = made[r];
  }
}

// Rows [0, count) with kPlanesNow planes.
template <int kPlanesNow>
void multiply_planes(const float* packed, const float* rows, int64_t count, int64_t d, float* f,
                     int64_t stride) {
  for (int64_t i = 0; i < count; i += kRows) {
    const int64_t now = count - i < kRows ? count - i : kRows;
    const float* own[kRows];
    for (int64_t r = 0; r < kRows; ++r) own[r] = rows + (i + (r < now ? r : 0)) * d;
    multiply_tile<kPlanesNow>(packed, internal::packed_size(d), own, d, f + i, stride, now);
  }
}

// total += sum_i f_i x_i in kVectorsNow vectors from `feature` on; the first `skipped` are left
// out.
template <int kPlanesNow, int kVectorsNow>
inline void add_tile(const float* f, int64_t stride, const float* rows, int64_t count, int64_t d,
                     int64_t feature, int64_t skipped, double* total) {
  Floats sums[kPlanesNow][kVectorsNow] = {};
  for (int64_t i = 0; i < count; ++i) {
    Floats x[kVectorsNow];
    for (int v = 0; v < kVectorsNow; ++v) x[v] = load<Floats>(rows + i * d + feature + v * kLanes);
    for (int p = 0; p < kPlanesNow; ++p) {
      const float slope = f[p * stride + i];
      for (int v = 0; v < kVectorsNow; ++v) sums[p][v] += slope * x[v];
    }
  }
  for (int p = 0; p < kPlanesNow; ++p) {
    float made[kVectorsNow * kLanes];
    __builtin_memcpy(made, sums[p], sizeof(made));
    double* out = total + p * d + feature;
    for (int64_t j = skipped; j < kVectorsNow * kLanes; ++j) out[j] += made[j];
  }
}

template <int kPlanesNow>
void add_planes(const float* f, int64_t stride, const float* rows, int64_t count, int64_t d,
                double* total) {
  constexpr int64_t kWide = kVectors * kLanes;
  int64_t b = 0;
  for (; b + kWide <= d; b += kWide)
    add_tile<kPlanesNow, kVectors>(f, stride, rows, count, d, b, 0, total);
  for (; b + kLanes <= d; b += kLanes)
    add_tile<kPlanesNow, 1>(f, stride, rows, count, d, b, 0, total);
  if (b < d)
    add_tile<kPlanesNow, 1>(f, stride, rows, count, d, d - kLanes, b - (d - kLanes), total);
}

}  // namespace

void pack_plane(const double* plane, int64_t d, float* packed) {
  const int64_t whole = d / kPlaneLanes * kPlaneLanes;
  for (int64_t b = 0; b < whole; ++b) packed[b] = static_cast<float>(plane[b]);
  for (int64_t j = 0; j < kPlaneLanes && whole < d; ++j) {
    const int64_t b = d - kPlaneLanes + j;
    packed[whole + j] = b < whole ? 0.0f : static_cast<float>(plane[b]);
  }
}

void plane_products(const float* packed, int64_t num_planes, const float* rows, int64_t count,
                    int64_t d, float* f, int64_t stride) {
  const int64_t size = internal::packed_size(d);
  const int64_t near = (kNear / d + kRows) / kRows * kRows;
  for (int64_t i = 0; i < count; i += near) {
    const int64_t now = count - i < near ? count - i : near;
    const float* x = rows + i * d;
    int64_t p = 0;
    for (; p + kPlanes <= num_planes; p += kPlanes)
      multiply_planes<kPlanes>(packed + p * size, x, now, d, f + p * stride + i, stride);
    for (; p + 2 <= num_planes; p += 2)
      multiply_planes<2>(packed + p * size, x, now, d, f + p * stride + i, stride);
    if (p < num_planes)
      multiply_planes<1>(packed + p * size, x, now, d, f + p * stride + i, stride);
  }
}

void add_dense_slopes(const float* f, int64_t stride, int64_t num_planes, const float* rows,
                      int64_t count, int64_t d, double* total) {
  for (int64_t begin = 0; begin < count; begin += kStep) {
    const int64_t now = count - begin < kStep ? count - begin : kStep;
    const float* x = rows + begin * d;
    int64_t p = 0;
    for (; p + kSlopePlanes <= num_planes; p += kSlopePlanes)
      add_planes<kSlopePlanes>(f + p * stride + begin, stride, x, now, d, total + p * d);
    for (; p + 2 <= num_planes; p += 2)
      add_planes<2>(f + p * stride + begin, stride, x, now, d, total + p * d);
    if (p < num_planes) add_planes<1>(f + p * stride + begin, stride, x, now, d, total + p * d);
  }
}

}  // namespace milieu::internal::MILIEU_ISA
