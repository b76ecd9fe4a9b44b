// SPDX-License-Identifier: Apache-2.0
#include "reproduce/dcp/made_images.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace milieu::cli {

namespace {

uint8_t to_byte(double value) {
  return static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L));
}

// Between four pixels; places outside are moved to the border.
double sample(const Image& image, double x, double y, int channel) {
  x = std::clamp(x, 0.0, image.width - 1.0);
  y = std::clamp(y, 0.0, image.height - 1.0);
  const int x0 = std::min(static_cast<int>(x), image.width - 2 < 0 ? 0 : image.width - 2);
  const int y0 = std::min(static_cast<int>(y), image.height - 2 < 0 ? 0 : image.height - 2);
  const int x1 = std::min(x0 + 1, image.width - 1), y1 = std::min(y0 + 1, image.height - 1);
  const double u = x - x0, v = y - y0;
  const auto at = [&](int px, int py) { return static_cast<double>(image.pixel(px, py)[channel]); };
  return (1 - v) * ((1 - u) * at(x0, y0) + u * at(x1, y0)) +
         v * ((1 - u) * at(x0, y1) + u * at(x1, y1));
}

template <class Value>  // Value(x, y, channel)
Image image_of(int width, int height, const Value& value) {
  Image image = make_image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) image.pixel(x, y)[c] = to_byte(value(x, y, c));
  return image;
}

}  // namespace

Image square_of(const Image& image, int side) {
  const int edge = std::min(image.width, image.height);
  const int left = (image.width - edge) / 2, top = (image.height - edge) / 2;
  return resize(image_of(edge, edge,
                         [&](int x, int y, int c) {
                           return static_cast<double>(image.pixel(left + x, top + y)[c]);
                         }),
                side, side);
}

Image blurred(const Image& image, double sigma) {
  if (sigma <= 0) return image;
  const int radius = static_cast<int>(std::ceil(3 * sigma));
  std::vector<double> taps;
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    taps.push_back(std::exp(-0.5 * i * i / (sigma * sigma)));
    sum += taps.back();
  }
  for (double& tap : taps) tap /= sum;
  const auto along = [&](const Image& from, int dx, int dy) {
    return image_of(from.width, from.height, [&](int x, int y, int c) {
      double value = 0;
      for (int i = -radius; i <= radius; ++i) {
        const int px = std::clamp(x + i * dx, 0, from.width - 1);
        const int py = std::clamp(y + i * dy, 0, from.height - 1);
        value += taps[static_cast<size_t>(i + radius)] * from.pixel(px, py)[c];
      }
      return value;
    });
  };
  return along(along(image, 1, 0), 0, 1);
}

Image turned(const Image& image, double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const double middle = (image.width - 1) / 2.0, radius = image.width / 2.0;
  constexpr double kGrey = 128;
  return image_of(image.width, image.height, [&](int x, int y, int c) {
    const double dx = x - middle, dy = y - middle;
    if (dx * dx + dy * dy > radius * radius) return kGrey;
    return sample(image, middle + cosine * dx + sine * dy, middle - sine * dx + cosine * dy, c);
  });
}

Image blended(const Image& a, const Image& b, double share) {
  return image_of(a.width, a.height, [&](int x, int y, int c) {
    return (1 - share) * a.pixel(x, y)[c] + share * b.pixel(x, y)[c];
  });
}

Matrix<float> sheared(FloatView ink, double degrees) {
  const double slope = std::tan(degrees * std::numbers::pi / 180);
  const int64_t side = ink.rows();
  const double middle = static_cast<double>(side - 1) / 2;
  Matrix<float> leaning(side, side);
  for (int64_t y = 0; y < side; ++y)
    for (int64_t x = 0; x < side; ++x) {
      const double from = static_cast<double>(x) - slope * (middle - static_cast<double>(y));
      const auto left = static_cast<int64_t>(std::floor(from));
      const double share = from - static_cast<double>(left);
      const auto at = [&](int64_t px) { return px >= 0 && px < side ? ink(y, px) : 0.0f; };
      leaning(y, x) = static_cast<float>((1 - share) * at(left) + share * at(left + 1));
    }
  return leaning;
}

Image inked(FloatView ink, const Image& ground) {
  return image_of(ground.width, ground.height, [&](int x, int y, int c) {
    const double share = ink(y, x) / 255;
    return share * 255 + (1 - share) * ground.pixel(x, y)[c];
  });
}

Image coloured(FloatView ink, const double rgb[3]) {
  return image_of(static_cast<int>(ink.cols()), static_cast<int>(ink.rows()),
                  [&](int x, int y, int c) { return ink(y, x) * rgb[c]; });
}

}  // namespace milieu::cli
