// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/decode/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "milieu/base/error.h"
#include "milieu/feature/decode/decode_internal.h"

namespace milieu {
namespace internal {

void check_size(int64_t width, int64_t height, const DecodeJob& job) {
  if (width < 1 || height < 1)
    throw DataError(fmt::format("is {} x {} pixels, must have at least one", width, height));
  if (width > INT32_MAX || height > INT32_MAX || width > job.max_pixels / height)
    throw DataError(fmt::format(
        "is {} x {} pixels by its header, must have at most {} in all: raise max_pixels to read it",
        width, height, job.max_pixels));
}

Image upright(Image image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const bool is_turned = orientation >= 5;  // rows become columns
  Image out =
      is_turned ? make_image(image.height, image.width) : make_image(image.width, image.height);
  out.is_gray = image.is_gray;
  // Where the pixel at (x, y) of the upright image is stored.
  const bool flips_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool flips_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      const int u = is_turned ? y : x;
      const int v = is_turned ? x : y;
      const uint8_t* from =
          image.pixel(flips_x ? image.width - 1 - u : u, flips_y ? image.height - 1 - v : v);
      std::copy_n(from, 3, out.pixel(x, y));
    }
  return out;
}

Image on_white(const uint8_t* rgba, int width, int height, bool is_premultiplied) {
  Image image = make_image(width, height);
  bool is_gray = true;
  for (size_t i = 0; i < image.rgb.size() / 3; ++i) {
    const uint8_t* from = rgba + 4 * i;
    uint8_t* to = image.rgb.data() + 3 * i;
    const int alpha = from[3];
    for (int c = 0; c < 3; ++c) {
      const int color = is_premultiplied ? 255 * from[c] : alpha * from[c];
      to[c] = static_cast<uint8_t>(std::min(255, (color + (255 - alpha) * 255 + 127) / 255));
    }
    is_gray = is_gray && to[0] == to[1] && to[1] == to[2];
  }
  image.is_gray = is_gray;
  return image;
}

namespace {

bool starts_with(Bytes file, std::string_view magic, size_t at = 0) {
  return file.size() >= at + magic.size() &&
         std::memcmp(file.data() + at, magic.data(), magic.size()) == 0;
}

StoredImage decode_any(const DecodeJob& job) {
  const Bytes file = job.file;
  if (file.empty()) throw DataError("is empty, must be an image");
  if (starts_with(file, "\xff\xd8\xff")) return decode_jpeg(job);
  if (starts_with(file, "\x89PNG")) return decode_png(job);
  if (starts_with(file, "RIFF") && starts_with(file, "WEBP", 8)) return decode_webp(job);
  if (starts_with(file, "II") || starts_with(file, "MM")) return decode_tiff(job);
  if (starts_with(file, "BM")) return decode_bmp(job);
  if (file.size() >= 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '6')
    return decode_pnm(job);
  if (starts_with(file, "\xff\x4f\xff\x51") || starts_with(file, "jP", 4))
    throw DataError("is a JPEG 2000, which Milieu does not read: convert it to PNG or JPEG");
  throw DataError("is not an image that Milieu reads (JPEG, PNG, TIFF, WebP, BMP, PBM/PGM/PPM)");
}

}  // namespace
}  // namespace internal

namespace {

ScaledImage decode_upright(const internal::DecodeJob& job, const std::string& source) {
  try {
    internal::StoredImage stored = internal::decode_any(job);
    ScaledImage out;
    out.full_width = stored.full_width > 0 ? stored.full_width : stored.image.width;
    out.full_height = stored.full_height > 0 ? stored.full_height : stored.image.height;
    if (stored.orientation >= 5 && stored.orientation <= 8)
      std::swap(out.full_width, out.full_height);
    out.image = internal::upright(std::move(stored.image), stored.orientation);
    return out;
  } catch (const DataError& error) {
    throw DataError(fmt::format("{} {}", source, error.what()));
  }
}

}  // namespace

Image decode_image(std::span<const uint8_t> file, const std::string& source, int64_t max_pixels) {
  return decode_upright({file, max_pixels}, source).image;
}

ScaledImage decode_scaled(std::span<const uint8_t> file, const std::string& source,
                          const DecodeOptions& options, LeastSize least) {
  internal::DecodeJob job{file, options.max_pixels};
  job.least_shorter = least.shorter_side;
  if (least.shorter_side == 0) job.least_longer = options.max_side;
  ScaledImage out = decode_upright(job, source);
  out.image = limit_side(out.image, options.max_side);
  return out;
}

std::vector<uint8_t> read_image_file(const std::string& path) {
  constexpr size_t kMostBytes = size_t{1} << 30;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  const auto fail = [&] {
    throw IoError(fmt::format("{} cannot be read: {}", path, std::strerror(errno)));
  };
  if (!file) fail();
  std::vector<uint8_t> bytes;
  size_t capacity = size_t{1} << 18;
  while (true) {
    const size_t have = bytes.size();
    bytes.resize(have + capacity);
    const size_t got = std::fread(bytes.data() + have, 1, capacity, file.get());
    bytes.resize(have + got);
    if (got < capacity) break;
    if (bytes.size() > kMostBytes)
      throw DataError(fmt::format("{} is longer than 1 GiB, must be an image file", path));
    capacity = bytes.size();
  }
  if (std::ferror(file.get())) fail();
  return bytes;
}

Image load_image(const std::string& path, const DecodeOptions& options) {
  validate_options(options);
  return decode_scaled(read_image_file(path), path, options).image;
}

}  // namespace milieu
