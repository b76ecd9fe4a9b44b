// SPDX-License-Identifier: Apache-2.0
// Image files made by the tests themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/feature/image.h"

namespace milieu::testing {

using FileBytes = std::vector<uint8_t>;

// Smooth colours with some structure: survives JPEG within a few grey levels.
Image smooth_image(int width, int height);

struct JpegSpec {
  int quality = 95;
  bool is_progressive = false;
  bool is_gray = false;
  int orientation = 0;  // 0: no EXIF
};
FileBytes to_jpeg(const Image& image, const JpegSpec& spec = {});
FileBytes to_png(const Image& image);
// One row-major array of `channels` (1 grey, 2 grey + alpha, 3 RGB, 4 RGBA) samples of 8 or 16
// bits.
FileBytes to_png(int width, int height, int channels, int bits,
                 const std::vector<uint16_t>& samples);
// Indices into a palette of RGB triples.
FileBytes to_palette_png(int width, int height, const std::vector<uint8_t>& indices,
                         const std::vector<uint8_t>& palette);
FileBytes to_tiff(const Image& image, int orientation, int bits = 8);
FileBytes to_webp(const Image& image);
FileBytes to_bmp(const Image& image);
FileBytes to_ppm(const Image& image);

void write_bytes(const std::string& path, const FileBytes& bytes);

}  // namespace milieu::testing
