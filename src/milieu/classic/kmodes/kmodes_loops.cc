// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake).
#include "milieu/classic/kmodes/kmodes_loops.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

inline int count_bits(uint64_t bits) {
#if defined(__POPCNT__) || !defined(__x86_64__)
  return __builtin_popcountll(bits);
#else
  // Sums of 2, 4 and 8 neighbouring bits, then of all bytes by one product.
  bits -= (bits >> 1) & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<int>((bits * 0x0101010101010101u) >> 56);
#endif
}

inline int hamming(const uint64_t* a, const uint64_t* b, int64_t words) {
  int sum = 0;
  for (int64_t w = 0; w < words; ++w) sum += count_bits(a[w] ^ b[w]);
  return sum;
}

}  // namespace

void nearest_modes(const uint64_t* points, int64_t rows, const uint64_t* modes, int64_t k,
                   int64_t words, int* labels, int* distances) {
  for (int64_t i = 0; i < rows; ++i) {
    const uint64_t* point = points + i * words;
    int label = 0;
    int least = hamming(point, modes, words);
    for (int64_t c = 1; c < k; ++c) {
      const int distance = hamming(point, modes + c * words, words);
      label = distance < least ? static_cast<int>(c) : label;
      least = distance < least ? distance : least;
    }
    labels[i] = label;
    distances[i] = least;
  }
}

}  // namespace milieu::internal::MILIEU_ISA
