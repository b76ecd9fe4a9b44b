// SPDX-License-Identifier: Apache-2.0
// A 64-bit fingerprint of bytes (FNV-1a): detects changed files and parameters, not attacks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

inline constexpr uint64_t kHashStart = 14695981039346656037u;

inline uint64_t hash_bytes(std::span<const uint8_t> bytes, uint64_t hash = kHashStart) {
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 1099511628211u;
  return hash;
}
inline uint64_t hash_text(std::string_view text, uint64_t hash = kHashStart) {
  return hash_bytes({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, hash);
}

std::string hex(uint64_t hash);                         // 16 digits
bool parse_hex(std::string_view text, uint64_t& hash);  // false for anything but 16 digits

}  // namespace milieu
