// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace milieu {

std::string printable(std::string_view text, size_t max_length) {
  size_t length = std::min(text.size(), max_length);
  // Not through the middle of a UTF-8 character.
  while (length < text.size() && length > 0 && (text[length] & 0xc0) == 0x80) --length;
  std::string out;
  for (const char c : text.substr(0, length)) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out.push_back(c);
  }
  if (length < text.size()) out += "...";
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
