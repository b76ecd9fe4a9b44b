// SPDX-License-Identifier: Apache-2.0
// Images from files: JPEG, PNG, TIFF, WebP, BMP and PBM/PGM/PPM, recognised by their first bytes.
// Files are read without trust: sizes are taken from the header and refused before any pixel is
// decoded, damaged and truncated files are refused (never returned half grey), decoders print
// nothing.
//
// What becomes of unusual images: EXIF and TIFF orientation is applied; 16 bits per channel are
// reduced to 8, palettes and CMYK become RGB, transparent pixels are laid on white; of several
// pages or frames the first counts (an animated WebP is refused).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/feature/image.h"

namespace MILIEU_API milieu {

struct DecodeOptions {
  int max_side = 1024;               // longer sides are scaled down to it; 0: as they are
  int64_t max_pixels = 100'000'000;  // larger images are refused by their header
};

template <class Visitor>
void visit_fields(DecodeOptions& o, Visitor&& v) {
  v("max_side", o.max_side, at_least(0),
    "scale images down until no side is longer than this; 0 means no limit");
  v("max_pixels", o.max_pixels, at_least(1), "refuse images with more pixels before decoding them");
}

// The upright image in full size. `source` names the file in messages. Throws DataError.
Image decode_image(std::span<const uint8_t> file, const std::string& source,
                   int64_t max_pixels = DecodeOptions().max_pixels);

// An image as features see it, and the size of the file's own (upright).
struct ScaledImage {
  Image image;
  int full_width = 0;
  int full_height = 0;
};

// What a reader of the image needs at least; the scale at which a JPEG is decoded follows from it.
struct LeastSize {
  // 0: the longer side as long as max_side. Above: for readers that scale the image to a few
  // hundred pixels anyway, this many pixels on the shorter side.
  int shorter_side = 0;
};

// Upright and scaled down as the options say. JPEGs with more pixels than are needed are decoded at
// a half, a quarter or an eighth of their size, which takes a fraction of the time. Throws
// DataError.
ScaledImage decode_scaled(std::span<const uint8_t> file, const std::string& source,
                          const DecodeOptions& options, LeastSize least = {});

// The bytes of a file. Throws IoError, and DataError above 1 GiB.
std::vector<uint8_t> read_image_file(const std::string& path);

// Read, decoded and scaled down as the options say.
Image load_image(const std::string& path, const DecodeOptions& options = {});

}  // namespace milieu
