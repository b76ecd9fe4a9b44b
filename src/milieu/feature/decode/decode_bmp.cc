// SPDX-License-Identifier: Apache-2.0
// Windows bitmaps, uncompressed: 1, 4, 8 bits with a palette, 16, 24 and 32 bits, with or without
// bit masks. Run-length coded ones are refused: they are hardly ever written.
#include <fmt/format.h>

#include <array>
#include <bit>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/feature/decode/decode_internal.h"

namespace milieu::internal {
namespace {

class BmpReader {
 public:
  explicit BmpReader(const DecodeJob& job) : job_(job), file_(job.file) {}

  StoredImage read() {
    read_header();
    StoredImage out;
    out.image = make_image(width_, height_);
    const size_t stride = (static_cast<size_t>(width_) * bits_ + 31) / 32 * 4;
    if (pixels_ > file_.size() || stride * height_ > file_.size() - pixels_)
      throw DataError("ends before its image is complete (a truncated BMP)");
    bool is_gray = true;
    for (int y = 0; y < height_; ++y) {
      const uint8_t* row = file_.data() + pixels_ + stride * (is_top_down_ ? y : height_ - 1 - y);
      for (int x = 0; x < width_; ++x) {
        uint8_t* to = out.image.pixel(x, y);
        read_pixel(row, x, to);
        is_gray = is_gray && to[0] == to[1] && to[1] == to[2];
      }
    }
    out.image.is_gray = is_gray;
    return out;
  }

 private:
  uint32_t number(size_t at, int size) const {
    if (at + size > file_.size()) throw DataError("is a truncated BMP: its header is cut off");
    uint32_t value = 0;
    for (int i = size - 1; i >= 0; --i) value = value << 8 | file_[at + i];
    return value;
  }

  void read_header() {
    pixels_ = number(10, 4);
    const uint32_t header = number(14, 4);
    const bool is_old = header == 12;  // OS/2
    if (!is_old && header < 40) throw DataError("is a damaged BMP: its header is too short");
    const int64_t width = is_old ? int64_t{number(18, 2)} : static_cast<int32_t>(number(18, 4));
    const int64_t height = is_old ? int64_t{number(20, 2)} : static_cast<int32_t>(number(22, 4));
    bits_ = number(is_old ? 24 : 28, 2);
    const uint32_t compression = is_old ? 0 : number(30, 4);
    if (compression != 0 && compression != 3)
      throw DataError("is a run-length coded BMP, which Milieu does not read: convert it to PNG");
    is_top_down_ = height < 0;
    check_size(width, is_top_down_ ? -height : height, job_);
    width_ = static_cast<int>(width);
    height_ = static_cast<int>(is_top_down_ ? -height : height);
    read_colors(14 + size_t{header}, compression == 3, is_old ? 3 : 4, is_old ? 0 : number(46, 4));
  }

  void read_colors(size_t at, bool has_masks, int entry_bytes, uint32_t num_given) {
    if (bits_ == 16 || bits_ == 32) {
      if (has_masks)
        for (int c = 0; c < 3; ++c) masks_[c] = number(54 + size_t{4} * c, 4);
      else
        masks_ = bits_ == 16 ? std::array<uint32_t, 3>{0x7c00, 0x3e0, 0x1f}
                             : std::array<uint32_t, 3>{0xff0000, 0xff00, 0xff};
    } else if (bits_ == 1 || bits_ == 4 || bits_ == 8) {
      const uint32_t most = uint32_t{1} << bits_;
      const uint32_t count = num_given == 0 || num_given > most ? most : num_given;
      for (uint32_t i = 0; i < count; ++i)
        for (int c = 0; c < 3; ++c)
          palette_[i][c] =
              static_cast<uint8_t>(number(at + static_cast<size_t>(entry_bytes) * i + 2 - c, 1));
    } else if (bits_ != 24) {
      throw DataError(fmt::format("is a BMP with {} per pixel, must have 1, 4, 8, 16, 24 or 32",
                                  counted(bits_, "bit")));
    }
  }

  void read_pixel(const uint8_t* row, int x, uint8_t* to) const {
    if (bits_ <= 8) {
      const size_t bit = static_cast<size_t>(x) * bits_;
      const uint32_t index = row[bit / 8] >> (8 - bits_ - bit % 8) & ((1u << bits_) - 1);
      for (int c = 0; c < 3; ++c) to[c] = palette_[index][c];
    } else if (bits_ == 24) {
      for (int c = 0; c < 3; ++c) to[c] = row[3 * static_cast<size_t>(x) + 2 - c];
    } else {
      const size_t bytes = bits_ / 8;
      uint32_t value = 0;
      for (size_t i = bytes; i-- > 0;) value = value << 8 | row[bytes * x + i];
      for (int c = 0; c < 3; ++c) {
        const uint32_t mask = masks_[c];
        const uint64_t most = mask == 0 ? 1 : mask >> std::countr_zero(mask);
        const uint64_t part = mask == 0 ? 0 : (value & mask) >> std::countr_zero(mask);
        to[c] = static_cast<uint8_t>((part * 255 + most / 2) / most);
      }
    }
  }

  const DecodeJob& job_;
  Bytes file_;
  size_t pixels_ = 0;
  int width_ = 0, height_ = 0;
  uint32_t bits_ = 0;
  bool is_top_down_ = false;
  std::array<uint32_t, 3> masks_ = {};
  std::array<std::array<uint8_t, 3>, 256> palette_ = {};
};

}  // namespace

StoredImage decode_bmp(const DecodeJob& job) { return BmpReader(job).read(); }

}  // namespace milieu::internal
