// SPDX-License-Identifier: Apache-2.0
// Half precision (IEEE binary16) without instructions that only some CPUs have.
#pragma once

#include <bit>
#include <cstdint>

namespace milieu::internal {

// Rounded to nearest, ties to even; too large becomes infinity.
inline uint16_t to_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;                // not a number
  if (magnitude >= 0x477ff000) return sign | 0x7c00;               // rounds to 65536
  if (magnitude < 0x38800000) {                                    // below 2^-14
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;  // lands on steps of 2^-24
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3f000000);
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return sign | static_cast<uint16_t>((rounded - 0x38000000) >> 13);
}

inline float from_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00)
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude < 0x400) {
    const float small = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(small));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
}

}  // namespace milieu::internal
