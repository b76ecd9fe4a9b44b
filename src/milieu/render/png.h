// SPDX-License-Identifier: Apache-2.0
// A small PNG writer: 8 bits per channel, one zlib stream. Enough for contact sheets and overlays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// Pixels row by row, `channels` interleaved bytes each: 1 grey, 2 grey + alpha, 3 RGB, 4 RGBA.
struct RasterImage {
  int width = 0;
  int height = 0;
  int channels = 1;
  std::vector<uint8_t> pixels;  // width * height * channels

  RasterImage() = default;
  RasterImage(int w, int h, int c)
      : width(w), height(h), channels(c), pixels(static_cast<size_t>(w) * h * c) {}

  uint8_t* at(int x, int y) {
    return pixels.data() + (static_cast<size_t>(y) * width + x) * channels;
  }
  const uint8_t* at(int x, int y) const { return const_cast<RasterImage*>(this)->at(x, y); }
};

// The bytes of a PNG file. Throws InvalidArgument when a side is below 1, the number of channels is
// not 1 to 4 or the number of pixel bytes does not fit them.
std::string encode_png(const RasterImage& image);

}  // namespace milieu
