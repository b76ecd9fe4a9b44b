// SPDX-License-Identifier: Apache-2.0
// Files are read back by a decoder written from the standard, filters and check sums included.
#include "milieu/render/png.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <cstdlib>
#include <set>
#include <string_view>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

uint32_t big_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

struct Decoded {
  RasterImage image;
  std::set<int> filters;  // that occurred
};

// Undoes the filter of one row in place; `above` is null for the first row.
void unfilter(int filter, int channels, const uint8_t* above, std::span<uint8_t> row) {
  for (size_t i = 0; i < row.size(); ++i) {
    const bool has_left = i >= static_cast<size_t>(channels);
    const int a = has_left ? row[i - channels] : 0;
    const int b = above ? above[i] : 0;
    const int c = above && has_left ? above[i - channels] : 0;
    const int p = a + b - c;
    const int pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
    const int paeth = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
    const std::array<int, 5> guesses = {0, a, b, (a + b) / 2, paeth};
    row[i] = static_cast<uint8_t>(row[i] + guesses[filter]);
  }
}

Decoded decode(std::string_view png) {
  Decoded decoded;
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  png.remove_prefix(8);
  std::string compressed;
  std::vector<std::string> types;
  while (!png.empty()) {
    const uint32_t length = big_endian(png);
    const std::string_view body = png.substr(4, 4 + length);
    EXPECT_EQ(crc32(0, reinterpret_cast<const Bytef*>(body.data()), 4 + length),
              big_endian(png.substr(8 + length)));
    const std::string_view data = body.substr(4);
    types.emplace_back(body.substr(0, 4));
    if (types.back() == "IHDR") {
      constexpr std::array<int, 7> kChannels = {1, 0, 3, 0, 2, 0, 4};  // by colour type
      EXPECT_EQ(data[8], 8);
      decoded.image = RasterImage(big_endian(data), big_endian(data.substr(4)),
                                  kChannels[static_cast<uint8_t>(data[9])]);
    }
    if (types.back() == "IDAT") compressed += data;
    png.remove_prefix(12 + length);
  }
  EXPECT_EQ(types, (std::vector<std::string>{"IHDR", "IDAT", "IEND"}));
  RasterImage& image = decoded.image;
  const size_t row_bytes = static_cast<size_t>(image.width) * image.channels;
  std::vector<uint8_t> raw((row_bytes + 1) * image.height);
  uLongf size = raw.size();
  EXPECT_EQ(uncompress(raw.data(), &size, reinterpret_cast<const Bytef*>(compressed.data()),
                       compressed.size()),
            Z_OK);
  EXPECT_EQ(size, raw.size());
  for (int y = 0; y < image.height; ++y) {
    const uint8_t* source = raw.data() + y * (row_bytes + 1);
    std::copy_n(source + 1, row_bytes, image.at(0, y));
    decoded.filters.insert(source[0]);
    unfilter(source[0], image.channels, y > 0 ? image.at(0, y - 1) : nullptr,
             {image.at(0, y), row_bytes});
  }
  return decoded;
}

TEST(Png, EveryNumberOfChannelsReadsBackTheSame) {
  for (int channels = 1; channels <= 4; ++channels) {
    Random random(channels);
    RasterImage image(13, 7, channels);
    for (uint8_t& value : image.pixels) value = static_cast<uint8_t>(random.next_bits());
    const Decoded decoded = decode(encode_png(image));
    EXPECT_EQ(decoded.image.width, 13);
    EXPECT_EQ(decoded.image.height, 7);
    EXPECT_EQ(decoded.image.channels, channels);
    EXPECT_EQ(decoded.image.pixels, image.pixels);
  }
}

TEST(Png, SmoothImagesUseFiltersAndReadBackTheSame) {
  RasterImage image(64, 64, 1);
  Random random(3);
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x)
      *image.at(x, y) = static_cast<uint8_t>(y < 16   ? 3 * x             // left
                                             : y < 32 ? 7 * (x * x % 31)  // up
                                                      : x + 2 * y + random.uniform_index(3));
  const Decoded decoded = decode(encode_png(image));
  EXPECT_EQ(decoded.image.pixels, image.pixels);
  EXPECT_GE(decoded.filters.size(), 3u);
}

TEST(Png, OnePixelIsAnImage) {
  RasterImage image(1, 1, 2);
  image.pixels = {200, 255};
  EXPECT_EQ(decode(encode_png(image)).image.pixels, image.pixels);
}

TEST(Png, SameImageSameBytes) {
  RasterImage image(20, 20, 1);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(i * 7);
  EXPECT_EQ(encode_png(image), encode_png(image));
}

TEST(Png, ImpossibleImagesAreRefused) {
  EXPECT_THROW(encode_png(RasterImage(0, 4, 1)), InvalidArgument);
  EXPECT_THROW(encode_png(RasterImage(4, 4, 5)), InvalidArgument);
  RasterImage image(4, 4, 1);
  image.pixels.pop_back();
  EXPECT_THROW(encode_png(image), InvalidArgument);
}

}  // namespace
}  // namespace milieu
