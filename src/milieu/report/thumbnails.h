// SPDX-License-Identifier: Apache-2.0
// Small images of rows, made on demand and kept on disk. A kept one belongs to a file of one name,
// size and time of change: an image that changes gets a new one.
#pragma once

#include <cstdint>
#include <string>

#include "milieu/base/export.h"
#include "milieu/feature/image.h"
#include "milieu/render/contact_sheet.h"
#include "milieu/render/png.h"
#include "milieu/report/collection.h"

namespace MILIEU_API milieu {

inline constexpr int kMinThumbSide = 32;
inline constexpr int kMaxThumbSide = 512;

struct Thumbnail {
  std::string type;  // "image/jpeg", "image/png"
  std::string bytes;
};

// The bytes of a JPEG file, from RGB or grey.
std::string encode_jpeg(const RasterImage& image, int quality);

class Thumbnails {
 public:
  explicit Thumbnails(const Collection& collection);

  // Longer side at most `side`; never enlarged. Throws IoError or DataError when the image cannot
  // be read (gone, damaged, outside of the folder), InvalidArgument when rows have no images.
  Thumbnail make(int64_t row, int side) const;
  // The image itself.
  RasterImage draw(int64_t row, int side) const;
  // Its middle square, for sheets.
  RasterImage draw_square(int64_t row, int side) const;

 private:
  std::string kept_path(int64_t row, int side) const;
  RasterImage draw_row(int64_t row) const;
  // At least `side` pixels on the shorter side, where the file has them.
  Image load(int64_t row, int side) const;

  const Collection& collection_;
  GrayRange range_;  // of rows that are images
};

}  // namespace milieu
