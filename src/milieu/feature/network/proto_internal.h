// SPDX-License-Identifier: Apache-2.0
// Protocol buffers, as far as ONNX files need them: messages of numbered fields, each a number or
// some bytes.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "milieu/base/error.h"

namespace milieu::internal {

struct ProtoField {
  uint64_t number = 0;
  uint64_t value = 0;      // of numbers
  std::string_view bytes;  // of texts and messages
};

// The fields of one message, one after the other. Broken bytes are a DataError.
class ProtoReader {
 public:
  ProtoReader(std::string_view bytes, const std::string& path) : rest_(bytes), path_(path) {}

  std::optional<ProtoField> next() {
    if (rest_.empty()) return {};
    const uint64_t key = read_varint();
    ProtoField field;
    field.number = key >> 3;
    switch (key & 7) {
      case 0:
        field.value = read_varint();
        break;
      case 1:
        take(8);
        break;
      case 2:
        field.bytes = take(read_varint());
        break;
      case 5:
        take(4);
        break;
      default:
        fail();
    }
    if (field.number == 0) fail();
    return field;
  }

 private:
  [[noreturn]] void fail() const {
    throw DataError(fmt::format(
        "{} is not an ONNX model, or it is damaged: download or export it again", path_));
  }

  uint64_t read_varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    fail();
  }

  std::string_view take(uint64_t size) {
    if (size > rest_.size()) fail();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  const std::string& path_;
};

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7) out += static_cast<char>(value | 128);
  return out + static_cast<char>(value);
}

inline std::string proto_number(uint64_t number, uint64_t value) {
  return varint(number << 3) + varint(value);
}

// A field that holds bytes.
inline std::string proto_field(uint64_t number, std::string_view bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

}  // namespace milieu::internal
