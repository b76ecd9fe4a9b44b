// SPDX-License-Identifier: Apache-2.0
// A decoded image, upright (EXIF orientation applied), 8 bits per channel. Everything in this
// module works on it; decode.h makes it from a file.
#pragma once

#include <cstdint>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;  // height x width x 3, row-major; grey images have r = g = b
  bool is_gray = false;      // the file had no colours

  bool empty() const { return width == 0 || height == 0; }
  const uint8_t* pixel(int x, int y) const {
    return rgb.data() + 3 * (static_cast<size_t>(y) * width + x);
  }
  uint8_t* pixel(int x, int y) { return rgb.data() + 3 * (static_cast<size_t>(y) * width + x); }

  // height x width: luma 0.299 r + 0.587 g + 0.114 b in [0, 255]; exactly r where r = g = b.
  Matrix<float> gray() const;
};

// A black image.
Image make_image(int width, int height);
// A grey image from brightness in [0, 255] (rounded, clipped).
Image image_from_gray(FloatView gray);

// The image scaled to width x height, each at least 1: the mean over the area that a new pixel
// covers where it shrinks, linear between pixel centres where it grows. Each side on its own.
Image resize(const Image& image, int width, int height);
// The image scaled down so that its longer side has at most `max_side` pixels (0: no limit).
Image limit_side(const Image& image, int max_side);

}  // namespace milieu
