// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>

#include "milieu/base/hash.h"

namespace milieu {

std::string hex(uint64_t hash) { return fmt::format("{:016x}", hash); }

bool parse_hex(std::string_view text, uint64_t& hash) {
  if (text.size() != 16) return false;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, hash, 16);
  return error == std::errc() && rest == end;
}

}  // namespace milieu
