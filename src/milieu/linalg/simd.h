// SPDX-License-Identifier: Apache-2.0
// The vectors of all hot loops, and the one exp. For ISA sources only (cmake/MilieuModule.cmake):
// everything here is private to the file that includes it and to its instruction set.
//
// The vectors are those of the compiler (vector_size, shared by GCC and Clang): + - * / and
// comparisons work lane by lane, `mask ? a : b` selects, __builtin_convertvector and
// __builtin_shufflevector convert and permute. This header adds what the compiler lacks or does
// slowly. Nothing is fused unless its name says so, so the bits are the same on every instruction
// set. Why not a library: docs/decisions/0007-one-simd-vocabulary.md.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace milieu::internal::MILIEU_ISA {
namespace {

// Numbers in one register.
#if defined(__AVX512F__)
constexpr int kFloatWidth = 16;
#elif defined(__AVX2__)
constexpr int kFloatWidth = 8;
#else
constexpr int kFloatWidth = 4;
#endif
constexpr int kDoubleWidth = kFloatWidth / 2;

template <class T, int kCount>
struct VectorOf {
  typedef T type __attribute__((vector_size(kCount * sizeof(T))));
};
template <class T, int kCount>
using Vector = typename VectorOf<T, kCount>::type;

// One register of this instruction set.
using Floats = Vector<float, kFloatWidth>;
using Ints = Vector<int32_t, kFloatWidth>;
using Doubles = Vector<double, kDoubleWidth>;

// As many lanes on every instruction set, in several registers where one is too short.
using Float4 = Vector<float, 4>;
using Float8 = Vector<float, 8>;
using Float16 = Vector<float, 16>;
using Int4 = Vector<int32_t, 4>;
using Int8 = Vector<int32_t, 8>;
using Double4 = Vector<double, 4>;
using Double8 = Vector<double, 8>;
using Long8 = Vector<int64_t, 8>;

template <class V, class T, int kCount>
constexpr bool kIs = __is_same(V, Vector<T, kCount>);

// What a lane holds (of a plain number: itself), and the result of a comparison.
template <class V>
struct LaneOf {
  using type = decltype(+V{}[0]);
  using Mask = decltype(V{} < V{});
};
template <>
struct LaneOf<float> {
  using type = float;
  using Mask = int32_t;
};
template <>
struct LaneOf<double> {
  using type = double;
  using Mask = int64_t;
};
template <class V>
using Lane = typename LaneOf<V>::type;

// Addresses need no alignment.
template <class V, class T>
inline V load(const T* from) {
  V values;
  __builtin_memcpy(&values, from, sizeof(values));
  return values;
}

template <class V, class T>
inline void store(const V& values, T* to) {
  __builtin_memcpy(to, &values, sizeof(values));
}

// f(v), in parts of one register where v is longer: GCC 12 compiles selections and conversions of
// longer vectors lane by lane.
template <class V, class Function>
inline V by_register(const V& v, const Function& f) {
  if constexpr (sizeof(V) <= sizeof(Floats)) {
    return f(v);
  } else {
    using Part = Vector<Lane<V>, sizeof(Floats) / sizeof(Lane<V>)>;
    Part parts[sizeof(V) / sizeof(Part)];
    __builtin_memcpy(parts, &v, sizeof(v));
    for (Part& part : parts) part = f(part);
    return load<V>(parts);
  }
}

// The first `left` lanes from memory; `filler` where fewer than a whole vector are left.
template <class V>
inline V load_part(const Lane<V>* from, int64_t left, Lane<V> filler = 0) {
  constexpr int kCount = sizeof(V) / sizeof(Lane<V>);
  if (left >= kCount) return load<V>(from);
#if defined(__AVX512F__)
  if constexpr (kIs<V, float, 16>)
    return _mm512_mask_loadu_ps(_mm512_set1_ps(filler), static_cast<__mmask16>((1u << left) - 1u),
                                from);
#endif
  Lane<V> values[kCount];
  for (int l = 0; l < kCount; ++l) values[l] = l < left ? from[l] : filler;
  return load<V>(values);
}

// The first `left` lanes to memory.
template <class V>
inline void store_part(const V& values, int64_t left, Lane<V>* to) {
  constexpr int kCount = sizeof(V) / sizeof(Lane<V>);
  if (left >= kCount) return store(values, to);
  for (int l = 0; l < left; ++l) to[l] = values[l];
}

template <class V>
inline V broadcast(Lane<V> x) {
  return x - V{};  // not x + V{}, which would lose the sign of -0
}

// GCC 12 compiles `a < b ? a : b` of vectors to two instructions, and takes the AVX-512 intrinsics
// without a mask for uses of something uninitialised.
#if defined(__AVX512F__)
constexpr __mmask16 kAll16 = 0xffff;
constexpr __mmask8 kAll8 = 0xff;
#endif

// a < b ? a : b in each lane, so b where one of the two is not a number.
template <class V>
inline V min_of(V a, V b) {
#if defined(__AVX512F__)
  if constexpr (kIs<V, float, 16>) return _mm512_maskz_min_ps(kAll16, a, b);
  if constexpr (kIs<V, double, 8>) return _mm512_maskz_min_pd(kAll8, a, b);
#endif
#if defined(__AVX2__)
  if constexpr (kIs<V, float, 8>) return _mm256_min_ps(a, b);
  if constexpr (kIs<V, double, 4>) return _mm256_min_pd(a, b);
#endif
#if defined(__SSE2__)
  if constexpr (kIs<V, float, 4>) return _mm_min_ps(a, b);
  if constexpr (kIs<V, double, 2>) return _mm_min_pd(a, b);
#endif
  return a < b ? a : b;
}

// a > b ? a : b in each lane, so b where one of the two is not a number.
template <class V>
inline V max_of(V a, V b) {
#if defined(__AVX512F__)
  if constexpr (kIs<V, float, 16>) return _mm512_maskz_max_ps(kAll16, a, b);
  if constexpr (kIs<V, double, 8>) return _mm512_maskz_max_pd(kAll8, a, b);
#endif
#if defined(__AVX2__)
  if constexpr (kIs<V, float, 8>) return _mm256_max_ps(a, b);
  if constexpr (kIs<V, double, 4>) return _mm256_max_pd(a, b);
#endif
#if defined(__SSE2__)
  if constexpr (kIs<V, float, 4>) return _mm_max_ps(a, b);
  if constexpr (kIs<V, double, 2>) return _mm_max_pd(a, b);
#endif
  return a > b ? a : b;
}

// Square roots of vectors of floats.
template <class V>
inline V sqrt_of(V v) {
#if defined(__AVX512F__)
  if constexpr (kIs<V, float, 16>) return _mm512_maskz_sqrt_ps(kAll16, v);
#endif
#if defined(__AVX2__)
  if constexpr (kIs<V, float, 8>) return _mm256_sqrt_ps(v);
#endif
#if defined(__SSE2__)
  if constexpr (kIs<V, float, 4>) return _mm_sqrt_ps(v);
#endif
  for (unsigned l = 0; l < sizeof(V) / sizeof(float); ++l) v[l] = __builtin_sqrtf(v[l]);
  return v;
}

// Absolute values of vectors of floats.
template <class V>
inline V abs_of(V v) {
  using Mask = typename LaneOf<V>::Mask;
  return __builtin_bit_cast(V, __builtin_bit_cast(Mask, v) & 0x7fffffff);
}

// a b + c of one register of doubles, rounded once where the instruction set can.
inline Doubles fused_multiply_add(Doubles a, Doubles b, Doubles c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#else
  return a * b + c;
#endif
}

// Eight floats as doubles. With AVX-512 GCC 12 takes three times as long for its own conversion.
inline Double8 load_doubles(const float* from) {
#if defined(__AVX512F__)
  return _mm512_maskz_cvtps_pd(kAll8, _mm256_loadu_ps(from));
#else
  return __builtin_convertvector(load<Float8>(from), Double8);
#endif
}

// The sum of all lanes: the upper half is added to the lower half until one is left.
template <class V>
inline Lane<V> sum_lanes(const V& v) {
  constexpr int kCount = sizeof(V) / sizeof(Lane<V>);
  using Half = Vector<Lane<V>, kCount / 2>;
  if constexpr (kCount == 2) {
    return v[0] + v[1];
  } else if constexpr (sizeof(V) > sizeof(Floats)) {
    Half halves[2];
    __builtin_memcpy(halves, &v, sizeof(v));
    return sum_lanes<Half>(halves[0] + halves[1]);
  } else if constexpr (kCount == 4) {
    return sum_lanes<Half>(__builtin_shufflevector(v, v, 0, 1) +
                           __builtin_shufflevector(v, v, 2, 3));
  } else if constexpr (kCount == 8) {
    return sum_lanes<Half>(__builtin_shufflevector(v, v, 0, 1, 2, 3) +
                           __builtin_shufflevector(v, v, 4, 5, 6, 7));
  } else {
    return sum_lanes<Half>(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                           __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
  }
}

// The largest of all lanes, by halves as the sum; lanes must be numbers.
template <class V>
inline Lane<V> largest_lane(const V& v) {
  constexpr int kCount = sizeof(V) / sizeof(Lane<V>);
  if constexpr (kCount == 2) {
    return v[0] > v[1] ? v[0] : v[1];
  } else {
    Vector<Lane<V>, kCount / 2> halves[2];
    __builtin_memcpy(halves, &v, sizeof(v));
    return largest_lane(max_of(halves[0], halves[1]));
  }
}

// A sum of doubles in eight partial sums, on every instruction set: the width of its registers does
// not change the bits. Numbers s + i kDoubleWidth on go to part[i].
constexpr int kSumLanes = 8;
constexpr int kSumParts = kSumLanes / kDoubleWidth;
struct EightSums {
  Doubles part[kSumParts] = {};

  double total() const {
    if constexpr (kSumParts == 1) {
      return sum_lanes(part[0]);
    } else if constexpr (kSumParts == 2) {
      return sum_lanes(part[0] + part[1]);
    } else {
      return sum_lanes((part[0] + part[2]) + (part[1] + part[3]));
    }
  }
};

// Bit l is set when lane l of a comparison holds.
inline uint32_t bits_of(const Int4& mask) {
#if defined(__SSE2__)
  return static_cast<uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(mask)));
#else
  uint32_t bits = 0;
  for (int l = 0; l < 4; ++l) bits |= (static_cast<uint32_t>(mask[l]) & 1) << l;
  return bits;
#endif
}

inline uint32_t bits_of(const Int8& mask) {
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
