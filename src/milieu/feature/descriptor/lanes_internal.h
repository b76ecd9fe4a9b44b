// SPDX-License-Identifier: Apache-2.0
// Vectors of floats for this module's ISA sources, and only for them: everything here is private to
// the file that includes it and to its instruction set. All operations round as IEEE says and
// nothing is fused, so the instruction set does not change a bit.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace milieu::internal::MILIEU_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 16;
#elif defined(__AVX2__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;
#endif

typedef float Vec __attribute__((vector_size(kWidth * sizeof(float))));
typedef float LooseVec __attribute__((vector_size(kWidth * sizeof(float)), aligned(4), may_alias));

[[maybe_unused]] inline Vec load(const float* p) { return *reinterpret_cast<const LooseVec*>(p); }
[[maybe_unused]] inline void store(float* p, Vec v) { *reinterpret_cast<LooseVec*>(p) = v; }
[[maybe_unused]] inline Vec broadcast(float x) { return x - Vec{}; }

#if defined(__AVX512F__)
// The forms with a mask, all set: GCC 12 takes the plain ones for uses of something uninitialised.
constexpr __mmask16 kAll = 0xffff;
[[maybe_unused]] inline Vec min_of(Vec a, Vec b) { return _mm512_maskz_min_ps(kAll, a, b); }
[[maybe_unused]] inline Vec max_of(Vec a, Vec b) { return _mm512_maskz_max_ps(kAll, a, b); }
[[maybe_unused]] inline Vec sqrt_of(Vec a) { return _mm512_maskz_sqrt_ps(kAll, a); }
[[maybe_unused]] inline Vec abs_of(Vec a) { return _mm512_abs_ps(a); }
#elif defined(__AVX2__)
[[maybe_unused]] inline Vec min_of(Vec a, Vec b) { return _mm256_min_ps(a, b); }
[[maybe_unused]] inline Vec max_of(Vec a, Vec b) { return _mm256_max_ps(a, b); }
[[maybe_unused]] inline Vec sqrt_of(Vec a) { return _mm256_sqrt_ps(a); }
[[maybe_unused]] inline Vec abs_of(Vec a) { return _mm256_andnot_ps(broadcast(-0.0f), a); }
#elif defined(__SSE2__)
[[maybe_unused]] inline Vec min_of(Vec a, Vec b) { return _mm_min_ps(a, b); }
[[maybe_unused]] inline Vec max_of(Vec a, Vec b) { return _mm_max_ps(a, b); }
[[maybe_unused]] inline Vec sqrt_of(Vec a) { return _mm_sqrt_ps(a); }
[[maybe_unused]] inline Vec abs_of(Vec a) { return _mm_andnot_ps(broadcast(-0.0f), a); }
#else
[[maybe_unused]] inline Vec min_of(Vec a, Vec b) { return a < b ? a : b; }
[[maybe_unused]] inline Vec max_of(Vec a, Vec b) { return a > b ? a : b; }
[[maybe_unused]] inline Vec sqrt_of(Vec a) {
  for (int l = 0; l < kWidth; ++l) a[l] = __builtin_sqrtf(a[l]);
  return a;
}
[[maybe_unused]] inline Vec abs_of(Vec a) { return a < 0.0f ? -a : a; }
#endif

}  // namespace
}  // namespace milieu::internal::MILIEU_ISA
