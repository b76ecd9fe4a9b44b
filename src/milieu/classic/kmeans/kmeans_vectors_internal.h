// SPDX-License-Identifier: Apache-2.0
// Vectors of eight numbers for the kernels of k-means, by the vector extension that GCC and Clang
// share: one register with AVX2, two of four lanes without. Included by ISA sources only, each with
// its own namespace.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "milieu/linalg/vector_memory.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

typedef float Float8 __attribute__((vector_size(32)));
typedef int32_t Int8 __attribute__((vector_size(32)));

inline Float8 lower(Float8 a, Float8 b) { return a < b ? a : b; }
inline Float8 higher(Float8 a, Float8 b) { return a < b ? b : a; }

inline Float8 square_roots(Float8 v) {
#if defined(__AVX2__)
  return reinterpret_cast<Float8>(_mm256_sqrt_ps(reinterpret_cast<__m256>(v)));
#else
  for (int l = 0; l < 8; ++l) v[l] = __builtin_sqrtf(v[l]);
  return v;
#endif
}

// Lanes added in a fixed order.
inline float sum_of(Float8 v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// Eight bytes to and from lanes in [0, 255]; GCC 12 does this lane by lane if left to itself.
inline Int8 load_bytes(const uint8_t* from) {
#if defined(__AVX2__)
  return reinterpret_cast<Int8>(
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#else
  Int8 values;
  for (int l = 0; l < 8; ++l) values[l] = from[l];
  return values;
#endif
}

inline uint64_t pack_bytes(Int8 values) {
#if defined(__AVX2__)
  const __m256i v = reinterpret_cast<__m256i>(values);
  const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  return static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(words, words)));
#else
  uint64_t bytes = 0;
  for (int l = 0; l < 8; ++l) bytes |= static_cast<uint64_t>(values[l]) << (8 * l);
  return bytes;
#endif
}

// Bit l is set when lane l of a comparison holds.
inline uint32_t bits_of(Int8 mask) {
#if defined(__AVX2__)
  return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
#elif defined(__SSE2__)
  __m128 halves[2];
  __builtin_memcpy(halves, &mask, sizeof(mask));
  return static_cast<uint32_t>(_mm_movemask_ps(halves[0]) | _mm_movemask_ps(halves[1]) << 4);
#else
  uint32_t bits = 0;
  for (int l = 0; l < 8; ++l) bits |= (static_cast<uint32_t>(mask[l]) & 1) << l;
  return bits;
#endif
}

}  // namespace
}  // namespace milieu::internal::MILIEU_ISA
