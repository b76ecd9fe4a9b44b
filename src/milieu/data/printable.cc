// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace milieu {
namespace {

// Bytes of the well-formed UTF-8 character at the start of `text`; 0 when there is none. Overlong
// forms, surrogates and numbers beyond Unicode are not well-formed.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto is_tail = [&](size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (text.empty()) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return is_tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool is_overlong = first == 0xe0 && second < 0xa0;
    const bool is_surrogate = first == 0xed && second > 0x9f;
    return is_tail(1) && is_tail(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool is_overlong = first == 0xf0 && second < 0x90;
    const bool is_beyond = first == 0xf4 && second > 0x8f;
    return is_tail(1) && is_tail(2) && is_tail(3) && !is_overlong && !is_beyond ? 4 : 0;
  }
  return 0;
}

// ASCII controls, delete, and U+0080 to U+009F.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  const bool is_upper_control =
      first == 0xc2 && character.size() == 2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return first < 0x20 || first == 0x7f || is_upper_control;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, size_t max_length) {
  std::string out;
  size_t used = 0;
  while (used < text.size()) {
    const std::string_view rest = text.substr(used);
    const size_t length = std::max<size_t>(1, character_length(rest));
    if (used + length > max_length) return out + "...";
    const std::string_view character = rest.substr(0, length);
    if (character_length(rest) == 0 || is_control(character)) {
      for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += character;
    }
    used += length;
  }
  return out;
}

std::string printable_list(std::span<const std::string> items, size_t max_items) {
  std::string out;
  for (size_t i = 0; i < std::min(items.size(), max_items); ++i) {
    if (i > 0) out += ", ";
    out += printable(items[i]);
  }
  if (items.size() > max_items) out += fmt::format(", ... ({} in all)", items.size());
  return out;
}

}  // namespace milieu
