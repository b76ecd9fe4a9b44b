// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/thumbnails.h"

#include <fmt/format.h>

// jpeglib.h needs size_t and FILE to be known.
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/file/read_below.h"
#include "milieu/data/identity/file_stamp.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/data/text_file.h"
#include "milieu/feature/decode/decode.h"

namespace milieu {

namespace fs = std::filesystem;

namespace {

constexpr int kQuality = 82;
constexpr int64_t kMaxPixels = 100'000'000;
constexpr int64_t kManyPixels = 10'000'000;

RasterImage to_raster(const Image& image) {
  RasterImage out(image.width, image.height, 3);
  out.pixels = image.rgb;
  return out;
}

Image middle_square(const Image& image) {
  const int side = std::min(image.width, image.height);
  Image square = make_image(side, side);
  for (int y = 0; y < side; ++y)
    std::copy_n(image.pixel((image.width - side) / 2, (image.height - side) / 2 + y), 3 * side,
                square.pixel(0, y));
  return square;
}

}  // namespace

std::string encode_jpeg(const RasterImage& image, int quality) {
  jpeg_compress_struct writer;
  jpeg_error_mgr errors;
  writer.err = jpeg_std_error(&errors);  // exits on errors, which memory output cannot have
  jpeg_create_compress(&writer);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&writer, &bytes, &size);
  writer.image_width = static_cast<JDIMENSION>(image.width);
  writer.image_height = static_cast<JDIMENSION>(image.height);
  writer.input_components = image.channels;
  writer.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&writer);
  jpeg_set_quality(&writer, quality, TRUE);
  jpeg_start_compress(&writer, TRUE);
  while (writer.next_scanline < writer.image_height) {
    JSAMPROW row = const_cast<uint8_t*>(image.at(0, static_cast<int>(writer.next_scanline)));
    jpeg_write_scanlines(&writer, &row, 1);
  }
  jpeg_finish_compress(&writer);
  std::string out(reinterpret_cast<const char*>(bytes), size);
  jpeg_destroy_compress(&writer);
  std::free(bytes);
  return out;
}

Thumbnails::Thumbnails(const Collection& collection) : collection_(collection) {
  if (collection.image_width() == 0) return;
  std::vector<int64_t> rows;  // a few show the range of all
  const int64_t step = std::max<int64_t>(1, collection.size() / 500);
  for (int64_t row = 0; row < collection.size(); row += step) rows.push_back(row);
  range_ = find_gray_range(
      {collection.data().points.view(), collection.image_width(), collection.image_height()}, rows);
}

// A row of numbers as a grey image, dark to light over the range that the values have.
RasterImage Thumbnails::draw_row(int64_t row) const {
  const ImageRows images{collection_.data().points.view(), collection_.image_width(),
                         collection_.image_height()};
  RasterImage out(images.width, images.height, 1);
  for (size_t i = 0; i < out.pixels.size(); ++i) {
    const float value = images.images(row, static_cast<int64_t>(i));
    const float share = (value - range_.black) / (range_.white - range_.black);
    out.pixels[i] = std::isfinite(share)
                        ? static_cast<uint8_t>(std::lround(255 * std::clamp(share, 0.F, 1.F)))
                        : 0;
  }
  return out;
}

// Large images are decoded one at a time: a dozen of the largest at once would take gigabytes.
Image Thumbnails::load(int64_t row, int side) const {
  const std::string name = collection_.row_name(row);
  const std::vector<uint8_t> file = read_below(collection_.root(), name);
  try {
    return decode_scaled(file, name, {.max_side = 0, .max_pixels = kManyPixels}, {side}).image;
  } catch (const DataError&) {
    // larger, or damaged: the second look says which
  }
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  return decode_scaled(file, name, {.max_side = 0, .max_pixels = kMaxPixels}, {side}).image;
}

RasterImage Thumbnails::draw(int64_t row, int side) const {
  if (!collection_.has_images()) throw InvalidArgument("the rows have no images");
  return collection_.has_image_files() ? to_raster(limit_side(load(row, side), side))
                                       : draw_row(row);
}

RasterImage Thumbnails::draw_square(int64_t row, int side) const {
  if (!collection_.has_image_files()) return draw(row, side);
  return to_raster(limit_side(middle_square(load(row, side)), side));
}

// Empty when there is nothing to keep, or no file any more.
std::string Thumbnails::kept_path(int64_t row, int side) const {
  if (!collection_.has_image_files() || collection_.cache_folder().empty()) return {};
  const std::string name = collection_.row_name(row);
  const FileStamp stamp = stamp_of(collection_.root() + "/" + name);
  if (stamp.bytes < 0) return {};
  const uint64_t hash = Fingerprint("thumbnail").text(name).text(to_text(stamp)).value();
  return fmt::format("{}/thumbs/{}/{:02x}/{:014x}.jpg", collection_.cache_folder(), side,
                     hash >> 56, hash & 0xFFFFFFFFFFFFFFU);
}

Thumbnail Thumbnails::make(int64_t row, int side) const {
  if (!collection_.has_image_files()) return {"image/png", encode_png(draw(row, side))};
  const std::string path = kept_path(row, side);
  if (!path.empty())
    if (std::string kept = try_read_text_file(path).value_or(""); !kept.empty())
      return {"image/jpeg", std::move(kept)};
  Thumbnail made{"image/jpeg", encode_jpeg(draw(row, side), kQuality)};
  if (path.empty()) return made;
  try {
    fs::create_directories(fs::path(path).parent_path());
    write_file_atomically(path, made.bytes);
  } catch (const std::exception&) {
    // a full disk costs time, not thumbnails
  }
  return made;
}

}  // namespace milieu
