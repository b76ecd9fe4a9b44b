// SPDX-License-Identifier: Apache-2.0
// PNG, second edition (ISO/IEC 15948): signature, IHDR, one IDAT, IEND. Each row takes the filter
// with the smallest sum of absolute differences (section 12.8), the usual good guess.
#include "milieu/render/png.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"

namespace milieu {
namespace {

constexpr int kNumFilters = 5;

void append_big_endian(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 255);
}

void append_chunk(std::string& out, std::string_view type, std::string_view data) {
  append_big_endian(out, static_cast<uint32_t>(data.size()));
  std::string body(type);
  body += data;
  out += body;
  append_big_endian(out, static_cast<uint32_t>(
                             crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size())));
}

int paeth(int left, int up, int up_left) {
  const int guess = left + up - up_left;
  const int to_left = std::abs(guess - left);
  const int to_up = std::abs(guess - up);
  const int to_up_left = std::abs(guess - up_left);
  if (to_left <= to_up && to_left <= to_up_left) return left;
  return to_up <= to_up_left ? up : up_left;
}

// What filter `filter` expects of a byte from its neighbours (section 9.2).
int predicted(int filter, int left, int up, int up_left) {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) / 2;
    case 4:
      return paeth(left, up, up_left);
    default:
      return 0;
  }
}

// One row under one filter: the filter's number, then the differences.
std::string filter_row(const RasterImage& image, int y, int filter) {
  const int bytes = image.width * image.channels;
  const uint8_t* row = image.at(0, y);
  const uint8_t* above = y > 0 ? image.at(0, y - 1) : nullptr;
  std::string out(1, static_cast<char>(filter));
  out.reserve(bytes + 1);
  for (int i = 0; i < bytes; ++i) {
    const bool has_left = i >= image.channels;
    const int left = has_left ? row[i - image.channels] : 0;
    const int up = above ? above[i] : 0;
    const int up_left = has_left && above ? above[i - image.channels] : 0;
    out += static_cast<char>(row[i] - predicted(filter, left, up, up_left));
  }
  return out;
}

int64_t sum_of_differences(std::string_view filtered) {
  int64_t sum = 0;
  for (char difference : filtered.substr(1)) sum += std::abs(static_cast<signed char>(difference));
  return sum;
}

std::string filter_rows(const RasterImage& image) {
  std::string out;
  for (int y = 0; y < image.height; ++y) {
    std::string best = filter_row(image, y, 0);
    for (int filter = 1; filter < kNumFilters; ++filter) {
      std::string candidate = filter_row(image, y, filter);
      if (sum_of_differences(candidate) < sum_of_differences(best)) best = std::move(candidate);
    }
    out += best;
  }
  return out;
}

std::string deflate_all(std::string_view data) {
  uLongf size = compressBound(data.size());
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(data.data()), data.size(), 6);
  if (status != Z_OK) throw Error(fmt::format("encode_png: zlib failed with status {}", status));
  out.resize(size);
  return out;
}

void check_image(const RasterImage& image) {
  require(image.width >= 1 && image.height >= 1, [&] {
    return fmt::format("image is {} x {}, each side must be at least 1", image.width, image.height);
  });
  require(image.channels >= 1 && image.channels <= 4, [&] {
    return fmt::format("image has {}, must have 1 to 4", counted(image.channels, "channel"));
  });
  const size_t expected = static_cast<size_t>(image.width) * image.height * image.channels;
  require(image.pixels.size() == expected, [&] {
    return fmt::format("image has {} pixel bytes, {} x {} x {} needs {}", image.pixels.size(),
                       image.width, image.height, image.channels, expected);
  });
}

}  // namespace

std::string encode_png(const RasterImage& image) {
  check_image(image);
  constexpr std::array<char, 5> kColorTypes = {0, 0, 4, 2, 6};  // by number of channels
  std::string header;
  append_big_endian(header, static_cast<uint32_t>(image.width));
  append_big_endian(header, static_cast<uint32_t>(image.height));
  header += '\x08';  // bits per channel
  header += kColorTypes[image.channels];
  header += std::string(3, '\0');  // compression, filter method, no interlacing
  std::string out = "\x89PNG\r\n\x1a\n";
  append_chunk(out, "IHDR", header);
  append_chunk(out, "IDAT", deflate_all(filter_rows(image)));
  append_chunk(out, "IEND", {});
  return out;
}

}  // namespace milieu
