// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "milieu/base/assert.h"
#include "milieu/feature/descriptor/blur_internal.h"
#include "milieu/feature/descriptor/sift_loops.h"

namespace milieu::internal {
namespace {

int64_t whole_blocks(int64_t count) { return (count + kSiftBlock - 1) / kSiftBlock * kSiftBlock; }

}  // namespace

std::vector<float> gaussian_taps(double sigma) {
  const int radius = static_cast<int>(std::ceil(3 * sigma));
  std::vector<double> values(2 * radius + 1, 1.0);
  double sum = 0;
  for (int x = -radius; x <= radius; ++x) {
    if (radius > 0) values[x + radius] = std::exp(-0.5 * x * x / (sigma * sigma));
    sum += values[x + radius];
  }
  std::vector<float> taps(values.size());
  for (size_t i = 0; i < taps.size(); ++i) taps[i] = static_cast<float>(values[i] / sum);
  return taps;
}

SmoothRows::SmoothRows(FloatView gray, double sigma)
    : gray_(gray),
      taps_(gaussian_taps(sigma)),
      rows_(taps_.size()),
      padded_width_(whole_blocks(gray.cols())),
      line_(make_buffer(padded_width_ + static_cast<int64_t>(taps_.size()))),
      kept_(make_buffer(kKept * (padded_width_ + 2 * kMargin))) {}

const float* SmoothRows::row(int64_t y) {
  const int64_t inside = std::clamp<int64_t>(y, 0, gray_.rows() - 1);
  while (next_ <= inside) make_row(next_++);
  MILIEU_ASSERT(inside >= next_ - kKept);
  return slot(inside);
}

void SmoothRows::make_row(int64_t y) {
  const int64_t count = static_cast<int64_t>(taps_.size());
  const int64_t radius = count / 2;
  const int64_t width = gray_.cols();
  for (int64_t i = 0; i < count; ++i)
    rows_[i] = gray_.row(std::clamp<int64_t>(y + i - radius, 0, gray_.rows() - 1));
  float* middle = line_.get() + radius;
  MILIEU_SELECT_ISA(weighted_rows)(rows_.data(), taps_.data(), count, width, middle);
  std::fill_n(line_.get(), radius, middle[0]);
  std::fill(middle + width, middle + padded_width_ + radius, middle[width - 1]);
  float* out = slot(y);
  MILIEU_SELECT_ISA(convolve_row)(line_.get(), taps_.data(), count, padded_width_, out);
  out[-1] = out[0];
  // Behind the last block as well: a row is read by whole blocks, one pixel to the right.
  std::fill(out + width, out + padded_width_ + kMargin, out[width - 1]);
}

}  // namespace milieu::internal
