// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/image.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"

namespace milieu {
namespace {

// The weights that make one new coordinate from `size` old ones: old[begin + i] * weights[i].
struct Taps {
  int begin = 0;
  std::vector<float> weights;
};

Taps shrinking_taps(int index, int old_size, int new_size) {
  const double scale = static_cast<double>(old_size) / new_size;
  const double left = index * scale;
  const double right = std::min<double>(old_size, left + scale);
  Taps taps;
  taps.begin = static_cast<int>(left);
  for (int i = taps.begin; i < right && i < old_size; ++i) {
    const double share = std::min(right, i + 1.0) - std::max(left, static_cast<double>(i));
    taps.weights.push_back(static_cast<float>(share / (right - left)));
  }
  return taps;
}

Taps growing_taps(int index, int old_size, int new_size) {
  const double center = (index + 0.5) * old_size / new_size - 0.5;
  const int below = static_cast<int>(std::floor(center));
  const float share = static_cast<float>(center - below);
  if (below < 0) return {0, {1.0f}};
  if (below + 1 >= old_size) return {old_size - 1, {1.0f}};
  return {below, {1.0f - share, share}};
}

std::vector<Taps> all_taps(int old_size, int new_size) {
  std::vector<Taps> taps(new_size);
  for (int i = 0; i < new_size; ++i)
    taps[i] = new_size < old_size ? shrinking_taps(i, old_size, new_size)
                                  : growing_taps(i, old_size, new_size);
  return taps;
}

uint8_t to_byte(float value) {
  return static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L));
}

// One row of the image scaled to the new width: 3 floats per pixel.
void scale_row(const uint8_t* row, const std::vector<Taps>& columns, float* out) {
  for (const Taps& taps : columns) {
    float sum[3] = {0, 0, 0};
    const uint8_t* pixel = row + 3 * static_cast<size_t>(taps.begin);
    for (const float weight : taps.weights)
      for (int c = 0; c < 3; ++c) sum[c] += weight * *pixel++;
    for (int c = 0; c < 3; ++c) *out++ = sum[c];
  }
}

}  // namespace

Matrix<float> Image::gray() const {
  Matrix<float> out(height, width);
  for (int64_t i = 0; i < out.size(); ++i) {
    const uint8_t* p = rgb.data() + 3 * i;
    const bool has_color = p[0] != p[1] || p[1] != p[2];
    out.data()[i] = has_color ? 0.299f * p[0] + 0.587f * p[1] + 0.114f * p[2] : p[0];
  }
  return out;
}

Image make_image(int width, int height) {
  require(width >= 1 && height >= 1, "make_image: width and height must be at least 1");
  Image image;
  image.width = width;
  image.height = height;
  image.rgb.resize(3 * static_cast<size_t>(width) * height);
  return image;
}

Image image_from_gray(FloatView gray) {
  Image image = make_image(static_cast<int>(gray.cols()), static_cast<int>(gray.rows()));
  image.is_gray = true;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) std::fill_n(image.pixel(x, y), 3, to_byte(gray(y, x)));
  return image;
}

Image resize(const Image& image, int width, int height) {
  Image out = make_image(width, height);
  out.is_gray = image.is_gray;
  if (width == image.width && height == image.height) return image;
  const std::vector<Taps> columns = all_taps(image.width, width);
  const std::vector<Taps> rows = all_taps(image.height, height);
  std::vector<float> scaled(3 * static_cast<size_t>(width));
  std::vector<float> sum(scaled.size());
  for (int y = 0; y < height; ++y) {
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (size_t i = 0; i < rows[y].weights.size(); ++i) {
      scale_row(image.pixel(0, rows[y].begin + static_cast<int>(i)), columns, scaled.data());
      for (size_t t = 0; t < sum.size(); ++t) sum[t] += rows[y].weights[i] * scaled[t];
    }
    std::transform(sum.begin(), sum.end(), out.pixel(0, y), to_byte);
  }
  return out;
}

Image limit_side(const Image& image, int max_side) {
  const int longer = std::max(image.width, image.height);
  if (max_side <= 0 || longer <= max_side) return image;
  const auto scaled = [&](int side) {
    return std::max(1,
                    static_cast<int>(std::lround(static_cast<double>(side) * max_side / longer)));
  };
  return resize(image, scaled(image.width), scaled(image.height));
}

}  // namespace milieu
