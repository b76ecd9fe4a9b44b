// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/resample_internal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "milieu/base/assert.h"

namespace milieu::internal {
namespace {

// Weights are whole numbers in units of 2^-kBits, so that sums are exact whatever their order.
constexpr int kBits = 22;

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }

double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

double sinc(double x) {
  return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

double lanczos(double x) { return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0; }

struct Filter {
  double (*weight)(double) = triangle;
  double support = 1;
};

Filter filter_of(Interpolation name) {
  if (name == Interpolation::Bicubic) return {cubic, 2};
  if (name == Interpolation::Lanczos) return {lanczos, 3};
  return {triangle, 1};
}

// The old pixels that make one new one: old[begin + i] * weights[i].
struct Taps {
  int begin = 0;
  std::vector<int32_t> weights;
};

Taps taps_of(int index, int old_size, int new_size, const Filter& filter) {
  const double scale = static_cast<double>(old_size) / new_size;
  const double widening = std::max(scale, 1.0);
  const double center = (index + 0.5) * scale;
  const double reach = filter.support * widening;
  const int begin = std::max(0, static_cast<int>(center - reach + 0.5));
  const int end = std::min(old_size, static_cast<int>(center + reach + 0.5));
  std::vector<double> shares;
  double sum = 0;
  for (int i = begin; i < end; ++i) {
    shares.push_back(filter.weight((i - center + 0.5) / widening));
    sum += shares.back();
  }
  Taps taps{begin, {}};
  for (const double share : shares)
    taps.weights.push_back(static_cast<int32_t>(std::round(share / sum * (1 << kBits))));
  return taps;
}

std::vector<Taps> all_taps(int old_size, int new_size, int first, int count, const Filter& filter) {
  std::vector<Taps> taps;
  for (int i = first; i < first + count; ++i)
    taps.push_back(taps_of(i, old_size, new_size, filter));
  return taps;
}

uint8_t to_byte(int32_t sum) {
  return static_cast<uint8_t>(std::clamp((sum + (1 << (kBits - 1))) >> kBits, 0, 255));
}

// One row with the new columns.
void scale_row(const uint8_t* row, const std::vector<Taps>& columns, uint8_t* out) {
  for (const Taps& taps : columns) {
    int32_t red = 0, green = 0, blue = 0;
    const uint8_t* pixel = row + 3 * static_cast<size_t>(taps.begin);
    for (const int32_t weight : taps.weights) {
      red += weight * pixel[0];
      green += weight * pixel[1];
      blue += weight * pixel[2];
      pixel += 3;
    }
    *out++ = to_byte(red);
    *out++ = to_byte(green);
    *out++ = to_byte(blue);
  }
}

// One new row from rows that have their columns already.
void scale_column(const uint8_t* rows, size_t stride, const Taps& taps, std::vector<int32_t>& sums,
                  uint8_t* out) {
  std::fill(sums.begin(), sums.end(), 0);
  for (const int32_t weight : taps.weights) {
    for (size_t t = 0; t < sums.size(); ++t) sums[t] += weight * rows[t];
    rows += stride;
  }
  std::transform(sums.begin(), sums.end(), out, to_byte);
}

}  // namespace

Image resample(const Image& image, int width, int height, const CropBox& box,
               Interpolation interpolation) {
  MILIEU_ASSERT(box.left >= 0 && box.top >= 0 && box.left + box.width <= width &&
                box.top + box.height <= height);
  const Filter filter = filter_of(interpolation);
  const auto columns = all_taps(image.width, width, box.left, box.width, filter);
  const auto rows = all_taps(image.height, height, box.top, box.height, filter);
  const int first = rows.front().begin;
  const int last = rows.back().begin + static_cast<int>(rows.back().weights.size());
  const size_t stride = size_t{3} * box.width;
  std::vector<uint8_t> scaled(stride * (last - first));
  for (int y = first; y < last; ++y)
    scale_row(image.pixel(0, y), columns, scaled.data() + stride * (y - first));
  Image out = make_image(box.width, box.height);
  out.is_gray = image.is_gray;
  std::vector<int32_t> sums(stride);
  for (int y = 0; y < box.height; ++y)
    scale_column(scaled.data() + stride * (rows[y].begin - first), stride, rows[y], sums,
                 out.pixel(0, y));
  return out;
}

}  // namespace milieu::internal
