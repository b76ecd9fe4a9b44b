// SPDX-License-Identifier: Apache-2.0
// Gaussian smoothing of grey images, row by row, with fixed bits. Internal to the module.
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

// The rows of a smoothed image, made one after the other; the last kKept of them are kept. They
// can be read by whole blocks of 16 from one pixel before the first to one behind the last; those
// two repeat their neighbours.
class SmoothRows {
 public:
  static constexpr int64_t kKept = 4;

  // `gray` smoothed by a Gaussian; outside of it the nearest pixel is repeated. It must outlive
  // this.
  SmoothRows(FloatView gray, double sigma);

  // Row y; rows above and below the image are the nearest ones. Never more than kKept - 1 rows
  // before the last one asked for.
  const float* row(int64_t y);
  // The width up to the next multiple of 16.
  int64_t padded_width() const { return padded_width_; }

 private:
  static constexpr int64_t kMargin = 16;
  float* slot(int64_t y) { return &kept_[y % kKept * (padded_width_ + 2 * kMargin) + kMargin]; }
  void make_row(int64_t y);

  FloatView gray_;
  std::vector<float> taps_;
  std::vector<const float*> rows_;  // those under the taps
  int64_t padded_width_ = 0;
  Buffer line_;  // one row, smoothed along y
  Buffer kept_;
  int64_t next_ = 0;
};

}  // namespace milieu::internal
