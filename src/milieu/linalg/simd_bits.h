// SPDX-License-Identifier: Apache-2.0
// What hot loops do with whole numbers, beside simd.h: comparisons as bits, bytes, products of
// short numbers, look-ups. For ISA sources only. Every operation gives the same result on every
// instruction set.
#pragma once

#include "milieu/linalg/simd.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

using Int16 = Vector<int32_t, 16>;
using Short8 = Vector<uint16_t, 8>;

// Bits 0 to count - 1.
inline uint32_t low_bits16(int64_t count) { return count >= 16 ? 0xffffu : (1u << count) - 1u; }

#if !defined(__AVX512F__)
// The bits of a comparison, register by register.
template <class Compare>
inline uint32_t bits_by_register(const Float16& a, const Compare& compare) {
  Floats parts[16 / kFloatWidth];
  __builtin_memcpy(parts, &a, sizeof(a));
  uint32_t bits = 0;
#pragma GCC unroll 4
  for (int p = 0; p < 16 / kFloatWidth; ++p)
    bits |= bits_of(compare(parts[p])) << (p * kFloatWidth);
  return bits;
}
#endif

// Bit l is set where a[l] <= limit.
inline uint32_t bits_at_most(const Float16& a, float limit) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(a, _mm512_set1_ps(limit), _CMP_LE_OQ);
#else
  return bits_by_register(a, [limit](Floats part) { return part <= limit; });
#endif
}

// Bit l is set where a[l] >= limit.
inline uint32_t bits_at_least(const Float16& a, float limit) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(a, _mm512_set1_ps(limit), _CMP_GE_OQ);
#else
  return bits_by_register(a, [limit](Floats part) { return part >= limit; });
#endif
}

// Bit l is set where a[l] != b[l].
inline uint32_t bits_differ(const Int16& a, const Int16& b) {
#if defined(__AVX512F__)
  return _mm512_cmpneq_epi32_mask(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b));
#else
  Int8 x[2], y[2];
  __builtin_memcpy(x, &a, sizeof(a));
  __builtin_memcpy(y, &b, sizeof(b));
  return bits_of(x[0] != y[0]) | bits_of(x[1] != y[1]) << 8;
#endif
}

// Bit g of the result is the top bit of bytes[g], for 64 of them.
inline uint64_t top_bits(const uint8_t* bytes) {
  uint64_t bits = 0;
#if defined(__AVX2__)
  for (int part = 0; part < 2; ++part) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 32 * part));
    bits |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(v))) << (32 * part);
  }
#elif defined(__SSE2__)
  for (int part = 0; part < 4; ++part) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * part));
    bits |= static_cast<uint64_t>(_mm_movemask_epi8(v)) << (16 * part);
  }
#else
  for (int g = 0; g < 64; ++g) bits |= static_cast<uint64_t>(bytes[g] >> 7) << g;
#endif
  return bits;
}

// The lanes whose bit is set, side by side; returns how many. Sixteen places of `to` may be
// written.
inline int store_where(uint32_t bits, const Int16& values, int32_t* to) {
#if defined(__AVX512F__)
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits),
                                                      reinterpret_cast<__m512i>(values)));
  return __builtin_popcount(bits);
#else
  int count = 0;
  for (; bits != 0; bits &= bits - 1) to[count++] = values[__builtin_ctz(bits)];
  return count;
#endif
}

// table[index[l]] in each lane.
inline Int16 look_up_lanes(const int32_t* table, const Int16& index) {
#if defined(__AVX512F__)
  const __m512i places = reinterpret_cast<__m512i>(index);
  return reinterpret_cast<Int16>(
      _mm512_mask_i32gather_epi32(places, kAll16, places, table, sizeof(int32_t)));
#else
  Int16 found;
  for (int l = 0; l < 16; ++l) found[l] = table[index[l]];
  return found;
#endif
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

// Eight packed bytes as 16-bit numbers, the lowest byte first.
inline Short8 widen_bytes(uint64_t packed) {
#if defined(__SSE4_1__)
  return reinterpret_cast<Short8>(
      _mm_cvtepu8_epi16(_mm_cvtsi64_si128(static_cast<int64_t>(packed))));
#else
  Short8 values;
  for (int l = 0; l < 8; ++l) values[l] = static_cast<uint16_t>((packed >> (8 * l)) & 255);
  return values;
#endif
}

// The smallest of eight numbers, and the first place that has it.
struct Smallest {
  int value, place;
};

inline Smallest smallest_of(const Short8& values) {
#if defined(__SSE4_1__)
  const int found = _mm_cvtsi128_si32(_mm_minpos_epu16(reinterpret_cast<__m128i>(values)));
  return {found & 0xffff, (found >> 16) & 7};
#else
  Smallest best{values[0], 0};
  for (int l = 1; l < 8; ++l) best = values[l] < best.value ? Smallest{values[l], l} : best;
  return best;
#endif
}

// `sum` plus the products of the two pairs of signed 16-bit numbers in each lane.
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

}  // namespace
}  // namespace milieu::internal::MILIEU_ISA
