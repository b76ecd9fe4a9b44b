// SPDX-License-Identifier: Apache-2.0
// Text arrays of .npy files (numpy's S and U types) as UTF-8 strings; only label files use them.
#include <fmt/format.h>

#include "milieu/data/format/raw_array_internal.h"

namespace milieu {
namespace {

// Appends one code point; false for surrogates and numbers beyond Unicode.
bool append_utf8(uint32_t code, std::string& text) {
  const auto append = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto tail = [&](int shift) { append(0x80u | ((code >> shift) & 0x3fu)); };
  if (code > 0x10ffffu || (code >= 0xd800u && code < 0xe000u)) return false;
  if (code < 0x80u) {
    append(code);
  } else if (code < 0x800u) {
    append(0xc0u | (code >> 6));
    tail(0);
  } else if (code < 0x10000u) {
    append(0xe0u | (code >> 12));
    tail(6), tail(0);
  } else {
    append(0xf0u | (code >> 18));
    tail(12), tail(6), tail(0);
  }
  return true;
}

// The code points up to the trailing zeros.
std::vector<uint32_t> code_points(const RawArray& array, int64_t row) {
  const int64_t unit = array.type == ElementType::Text ? 1 : 4;
  const std::byte* item = array.data.data() + row * array.item_bytes;
  std::vector<uint32_t> codes;
  for (int64_t at = 0; at < array.item_bytes; at += unit) {
    if (unit == 1)
      codes.push_back(static_cast<uint32_t>(item[at]));
    else if (array.is_big_endian)
      codes.push_back(internal::load_element<uint32_t, true>(item + at));
    else
      codes.push_back(internal::load_element<uint32_t, false>(item + at));
  }
  while (!codes.empty() && codes.back() == 0) codes.pop_back();
  return codes;
}

}  // namespace

std::vector<std::string> to_texts(const RawArray& array) {
  if (!array.is_text()) throw DataError(fmt::format("{} holds numbers, not text", array.source));
  if (array.cols() != 1)
    throw DataError(fmt::format("{} has shape {}, must be one column of labels", array.source,
                                shape_text(array.shape)));
  std::vector<std::string> texts(static_cast<size_t>(array.rows()));
  for (size_t i = 0; i < texts.size(); ++i) {
    for (const uint32_t code : code_points(array, static_cast<int64_t>(i))) {
      if (array.type == ElementType::Text)
        texts[i].push_back(static_cast<char>(code));
      else if (!append_utf8(code, texts[i]))
        throw DataError(
            fmt::format("{}: row {} (counted from 0) has {:#x}, which is not a Unicode character",
                        array.source, i, code));
    }
  }
  return texts;
}

}  // namespace milieu
