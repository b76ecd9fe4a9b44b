// SPDX-License-Identifier: Apache-2.0
// Gaussian smoothing of grey pictures, row by row, with fixed bits. Internal to the module.
#pragma once

#include <memory>
#include <vector>

#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// exp(-x^2 / (2 sigma^2)) at x = -r..r with r = ceil(3 sigma), scaled to sum 1; {1} for sigma 0.
std::vector<float> gaussian_taps(double sigma);

// Numbers that are written before they are read: memory that is not filled beforehand.
using Buffer = std::unique_ptr<float[]>;
inline Buffer make_buffer(int64_t size) {
  return std::make_unique_for_overwrite<float[]>(static_cast<size_t>(size));
}

// A smoothed picture whose rows can be read by whole blocks of 16 from one pixel before the first
// to one behind the last; those two repeat their neighbours.
class PaddedImage {
 public:
  // `gray` smoothed by a Gaussian; outside of it the nearest pixel is repeated.
  PaddedImage(FloatView gray, double sigma);

  // Row y; rows above and below the picture are the nearest ones.
  const float* row(int64_t y) const {
    const int64_t inside = y < 0 ? 0 : y >= height_ ? height_ - 1 : y;
    return pixels_.get() + inside * row_length_ + kMargin;
  }
  int64_t width() const { return width_; }
  int64_t height() const { return height_; }
  // The width up to the next multiple of 16.
  int64_t padded_width() const { return row_length_ - 2 * kMargin; }

 private:
  static constexpr int64_t kMargin = 16;
  float* mutable_row(int64_t y) { return pixels_.get() + y * row_length_ + kMargin; }

  int64_t width_ = 0;
  int64_t height_ = 0;
  int64_t row_length_ = 0;
  Buffer pixels_;
};

}  // namespace milieu::internal
