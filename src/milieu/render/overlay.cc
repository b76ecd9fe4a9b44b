// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/overlay.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/render/color.h"

namespace milieu {
namespace {

// Grey at half contrast, so that colours stand out.
RasterImage pale(const RasterImage& image) {
  RasterImage out(image.width, image.height, 3);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      const uint8_t* rgb = image.at(x, y);
      const int gray = (299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2]) / 1000;
      std::fill_n(out.at(x, y), 3, static_cast<uint8_t>(100 + gray / 2));
    }
  return out;
}

void draw_disc(RasterImage& image, double x, double y, double radius, Color color) {
  const auto first_x = static_cast<int>(std::max(0.0, std::floor(x - radius)));
  const auto first_y = static_cast<int>(std::max(0.0, std::floor(y - radius)));
  for (int py = first_y; py < image.height && py <= y + radius; ++py)
    for (int px = first_x; px < image.width && px <= x + radius; ++px) {
      if ((px - x) * (px - x) + (py - y) * (py - y) > radius * radius) continue;
      uint8_t* pixel = image.at(px, py);
      pixel[0] = color.r;
      pixel[1] = color.g;
      pixel[2] = color.b;
    }
}

}  // namespace

RasterImage draw_overlay(const RasterImage& image, FloatView positions, std::span<const int> labels,
                         double radius) {
  require(image.channels == 3, "draw_overlay: the image must have three channels");
  require(static_cast<int64_t>(labels.size()) == positions.rows() && positions.cols() >= 2,
          "draw_overlay: there must be two columns of positions and a label for each row");
  RasterImage out = pale(image);
  for (int64_t i = 0; i < positions.rows(); ++i)
    if (labels[i] >= 0)
      draw_disc(out, positions(i, 0), positions(i, 1), radius, cluster_color(labels[i]));
  return out;
}

RasterImage stack_pictures(const std::vector<RasterImage>& pictures) {
  constexpr int kGap = 6;
  require(!pictures.empty(), "stack_pictures: there are no pictures");
  int height = kGap * (static_cast<int>(pictures.size()) - 1);
  for (const RasterImage& picture : pictures) {
    require(picture.width == pictures[0].width && picture.channels == pictures[0].channels,
            "stack_pictures: all pictures must have one width");
    height += picture.height;
  }
  RasterImage out(pictures[0].width, height, pictures[0].channels);
  std::fill(out.pixels.begin(), out.pixels.end(), uint8_t{255});
  size_t at = 0;
  for (const RasterImage& picture : pictures) {
    std::copy(picture.pixels.begin(), picture.pixels.end(), out.pixels.begin() + at);
    at += picture.pixels.size() + static_cast<size_t>(kGap) * out.width * out.channels;
  }
  return out;
}

}  // namespace milieu
