// SPDX-License-Identifier: Apache-2.0
// PBM, PGM and PPM: "P1" to "P3" in text, "P4" to "P6" in bytes (two per sample above 255).
#include <fmt/format.h>

#include "milieu/base/error.h"
#include "milieu/feature/decode/decode_internal.h"

namespace milieu::internal {
namespace {

class PnmReader {
 public:
  explicit PnmReader(const DecodeJob& job) : job_(job), file_(job.file) {}

  StoredImage read() {
    const int kind = file_[1] - '0';
    is_text_ = kind <= 3;
    is_bitmap_ = kind == 1 || kind == 4;
    const int channels = kind == 3 || kind == 6 ? 3 : 1;
    const int64_t width = number(), height = number();
    most_ = is_bitmap_ ? 1 : number();
    if (most_ < 1 || most_ > 65535)
      throw DataError(fmt::format("has the largest value {}, must be 1 to 65535", most_));
    check_size(width, height, job_);
    if (!is_text_) ++at_;  // the one blank before the bytes
    check_length(width, height, channels);
    StoredImage out;
    out.image = make_image(static_cast<int>(width), static_cast<int>(height));
    out.image.is_gray = channels == 1;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        uint8_t* to = out.image.pixel(x, y);
        for (int c = 0; c < channels; ++c) to[c] = sample(x);
        if (channels == 1) to[1] = to[2] = to[0];
      }
      if (kind == 4) at_ += (static_cast<size_t>(width) + 7) / 8;
    }
    return out;
  }

 private:
  [[noreturn]] void fail_truncated() const {
    throw DataError("ends before its image is complete (a truncated PBM, PGM or PPM)");
  }

  // Before memory is taken: each sample has at least one byte, bits are packed by rows.
  void check_length(int64_t width, int64_t height, int channels) const {
    const int64_t row = is_bitmap_ && !is_text_
                            ? (width + 7) / 8
                            : width * channels * (!is_text_ && most_ > 255 ? 2 : 1);
    if (row * height > static_cast<int64_t>(file_.size()) - static_cast<int64_t>(at_))
      fail_truncated();
  }

  void skip_blanks() {
    for (; at_ < file_.size(); ++at_) {
      if (file_[at_] == '#')
        while (at_ < file_.size() && file_[at_] != '\n') ++at_;
      else if (file_[at_] > ' ')
        return;
    }
  }

  bool is_digit() const { return at_ < file_.size() && file_[at_] >= '0' && file_[at_] <= '9'; }

  int64_t number() {
    if (at_ == 0) at_ = 2;
    skip_blanks();
    if (at_ >= file_.size()) fail_truncated();
    if (!is_digit()) throw DataError("is a damaged PBM, PGM or PPM: a number is missing");
    int64_t value = 0;
    for (; is_digit(); ++at_) {
      value = 10 * value + (file_[at_] - '0');
      if (value > INT32_MAX) throw DataError("is a damaged PBM, PGM or PPM: a number is too large");
    }
    return value;
  }

  uint8_t sample(int x) {
    if (is_bitmap_) {  // 1 is black
      if (!is_text_) return file_[at_ + x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
      skip_blanks();
      if (at_ >= file_.size()) fail_truncated();
      return file_[at_++] == '1' ? 0 : 255;
    }
    int64_t value = 0;
    if (is_text_) {
      value = number();
    } else {
      value = file_[at_++];
      if (most_ > 255) value = value << 8 | file_[at_++];
    }
    return static_cast<uint8_t>((std::min(value, most_) * 255 + most_ / 2) / most_);
  }

  const DecodeJob& job_;
  Bytes file_;
  size_t at_ = 0;
  bool is_text_ = false, is_bitmap_ = false;
  int64_t most_ = 255;
};

}  // namespace

StoredImage decode_pnm(const DecodeJob& job) { return PnmReader(job).read(); }

}  // namespace milieu::internal
