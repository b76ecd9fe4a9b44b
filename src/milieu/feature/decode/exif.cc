// SPDX-License-Identifier: Apache-2.0
// The one entry of EXIF that matters to us: tag 0x0112, the orientation, in the first directory.
#include "milieu/feature/decode/decode_internal.h"

namespace milieu::internal {
namespace {

// Numbers of a TIFF structure, in its byte order; 0 beyond the end.
class TiffNumbers {
 public:
  TiffNumbers(Bytes data, bool is_big_endian) : data_(data), is_big_endian_(is_big_endian) {}

  uint32_t number(size_t at, int size) const {
    if (at > data_.size() || data_.size() - at < static_cast<size_t>(size)) return 0;
    uint32_t value = 0;
    for (int i = 0; i < size; ++i)
      value = value << 8 | data_[at + (is_big_endian_ ? i : size - 1 - i)];
    return value;
  }

 private:
  Bytes data_;
  bool is_big_endian_;
};

}  // namespace

int exif_orientation(Bytes exif) {
  if (exif.size() >= 6 && exif[0] == 'E' && exif[1] == 'x') exif = exif.subspan(6);
  if (exif.size() < 8 || exif[0] != exif[1] || (exif[0] != 'I' && exif[0] != 'M')) return 1;
  const TiffNumbers numbers(exif, exif[0] == 'M');
  const size_t directory = numbers.number(4, 4);
  const uint32_t count = numbers.number(directory, 2);
  for (uint32_t i = 0; i < count; ++i) {
    const size_t entry = directory + 2 + size_t{12} * i;
    if (entry >= exif.size()) return 1;
    if (numbers.number(entry, 2) != 0x0112) continue;
    const auto value = static_cast<int>(numbers.number(entry + 8, 2));
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

}  // namespace milieu::internal
