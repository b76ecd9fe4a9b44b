// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "milieu/feature/blur_internal.h"
#include "milieu/feature/sift_kernels.h"

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

PaddedImage::PaddedImage(FloatView gray, double sigma)
    : width_(gray.cols()),
      height_(gray.rows()),
      row_length_(whole_blocks(width_) + 2 * kMargin),
      pixels_(make_buffer(height_ * row_length_)) {
  const std::vector<float> taps = gaussian_taps(sigma);
  const int64_t count = static_cast<int64_t>(taps.size());
  const int64_t radius = count / 2;
  std::vector<const float*> rows(taps.size());
  const Buffer line = make_buffer(padded_width() + 2 * radius);
  const auto sum_rows = MILIEU_SELECT_ISA(weighted_rows);
  const auto sum_pixels = MILIEU_SELECT_ISA(convolve_row);
  for (int64_t y = 0; y < height_; ++y) {
    for (int64_t i = 0; i < count; ++i)
      rows[i] = gray.row(std::clamp<int64_t>(y + i - radius, 0, height_ - 1));
    sum_rows(rows.data(), taps.data(), count, width_, line.get() + radius);
    std::fill_n(line.get(), radius, line[radius]);
    std::fill(line.get() + radius + width_, line.get() + padded_width() + 2 * radius,
              line[radius + width_ - 1]);
    float* out = mutable_row(y);
    sum_pixels(line.get(), taps.data(), count, padded_width(), out);
    // Behind the last block as well: a row is read by whole blocks, one pixel to the right.
    out[-1] = out[0];
    std::fill(out + width_, out + padded_width() + kMargin, out[width_ - 1]);
  }
}

}  // namespace milieu::internal
