// SPDX-License-Identifier: Apache-2.0
// What the writer and the reader of model files agree on. docs/format.md describes the same for
// people who write their own reader.
#pragma once

#include <zlib.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "milieu/store/model_file.h"

namespace milieu::internal {

static_assert(std::endian::native == std::endian::little,
              "arrays are written as they lie in memory, and files are little-endian");

inline constexpr int64_t kLengthBytes = 8;               // the header's length comes first
inline constexpr int64_t kMaxHeaderBytes = 100'000'000;  // the limit of safetensors
inline constexpr int64_t kAlignment = 8;                 // of the first array

inline constexpr std::string_view kMetadataKey = "__metadata__";
inline constexpr std::string_view kKindKey = "milieu_kind";
inline constexpr std::string_view kFormatVersionKey = "milieu_format_version";
inline constexpr std::string_view kMilieuVersionKey = "milieu_version";
inline constexpr std::string_view kOptionsKey = "options";
inline constexpr std::string_view kScalarsKey = "scalars";

// The checksum is the CRC-32 (zlib's) of the whole file in which its own eight digits read as
// zeros. It is the first entry of the metadata, which come first in the header: the digits are
// those after the first occurrence of kChecksumPrefix in a quotation mark.
inline constexpr std::string_view kChecksumKey = "checksum";
inline constexpr std::string_view kChecksumPrefix = "crc32:";
inline constexpr std::string_view kChecksumZeros = "00000000";

// Bytes of one element; 0 for a dtype that Milieu does not know.
int64_t element_size(std::string_view dtype);
// "F32, F64, I32, I64, U8", for messages.
std::string known_dtypes();

// Bytes of an array; -1 when an extent is negative or the number does not fit into int64_t.
int64_t array_bytes(std::string_view dtype, std::span<const int64_t> shape);

// "[2, 3]".
std::string shape_text(std::span<const int64_t> shape);

class Checksum {
 public:
  void add(const void* data, size_t bytes) {
    // zlib takes a null pointer for a request to start again.
    if (bytes > 0) crc_ = ::crc32_z(crc_, static_cast<const Bytef*>(data), bytes);
  }
  std::string digits() const;  // eight, hexadecimal, small letters

 private:
  uLong crc_ = 0;
};

}  // namespace milieu::internal
