// SPDX-License-Identifier: Apache-2.0
// The decoders behind decode.h, one per format. Each takes the whole file and gives the image as it
// is stored together with its orientation.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "milieu/feature/image.h"

namespace milieu::internal {

using Bytes = std::span<const uint8_t>;

struct DecodeJob {
  Bytes file;
  int64_t max_pixels = 0;
  // Sides that must be left where the decoder itself can make the image smaller; 0: no limit. With
  // both 0 the image has its full size.
  int least_longer = 0;
  int least_shorter = 0;
};

// EXIF's numbers: 1 is upright, 2 to 8 are turned or mirrored.
struct StoredImage {
  Image image;
  int orientation = 1;
  int full_width = 0;  // 0: the image's own
  int full_height = 0;
};

// All of them throw DataError with a sentence that continues "NAME: ".
StoredImage decode_jpeg(const DecodeJob& job);
StoredImage decode_png(const DecodeJob& job);
StoredImage decode_tiff(const DecodeJob& job);
StoredImage decode_webp(const DecodeJob& job);
StoredImage decode_bmp(const DecodeJob& job);
StoredImage decode_pnm(const DecodeJob& job);

// Called with the header's size before memory is taken.
void check_size(int64_t width, int64_t height, const DecodeJob& job);

// The orientation in a block of EXIF data (with or without the leading "Exif\0\0"); 1 where there
// is none or it makes no sense.
int exif_orientation(Bytes exif);

// The image turned and mirrored so that it is upright.
Image upright(Image image, int orientation);

// height x width x 4 to an image on white. `is_premultiplied`: colours are already times alpha.
Image on_white(const uint8_t* rgba, int width, int height, bool is_premultiplied);

}  // namespace milieu::internal
