// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/decode/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/feature/cache/image_files.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using namespace testing;  // image files
using ::testing::HasSubstr;

std::string message_of(const FileBytes& file, int64_t max_pixels = 1'000'000) {
  try {
    decode_image(file, "x.png", max_pixels);
  } catch (const DataError& error) {
    return error.what();
  }
  return "decoded";
}

int largest_difference(const Image& a, const Image& b) {
  if (a.width != b.width || a.height != b.height) return 256;
  int largest = 0;
  for (size_t i = 0; i < a.rgb.size(); ++i)
    largest = std::max(largest, std::abs(a.rgb[i] - b.rgb[i]));
  return largest;
}

FileBytes half_of(FileBytes file) {
  file.resize(file.size() / 2);
  return file;
}

TEST(Decode, LosslessFormatsGiveEveryPixel) {
  const Image image = smooth_image(37, 23);
  for (const FileBytes& file : {to_png(image), to_bmp(image), to_ppm(image), to_webp(image),
                                to_tiff(image, 1), to_tiff(image, 1, 16)}) {
    const Image decoded = decode_image(file, "x");
    EXPECT_EQ(largest_difference(decoded, image), 0);
    EXPECT_FALSE(decoded.is_gray);
  }
}

TEST(Decode, BitmapOfNegativeHeightBeginsAtItsTop) {
  const Image image = smooth_image(9, 6);
  FileBytes file = to_bmp(image);  // its first row is the lowest
  const int32_t height = -image.height;
  std::memcpy(file.data() + 22, &height, sizeof(height));
  const Image decoded = decode_image(file, "x");
  ASSERT_EQ(decoded.height, image.height);
  for (int y = 0; y < image.height; ++y)
    EXPECT_TRUE(std::equal(decoded.pixel(0, y), decoded.pixel(0, y) + 3 * image.width,
                           image.pixel(0, image.height - 1 - y)))
        << y;
}

TEST(Decode, JpegIsClose) {
  const Image image = smooth_image(64, 48);
  for (const bool is_progressive : {false, true})
    EXPECT_LE(largest_difference(
                  decode_image(to_jpeg(image, {.is_progressive = is_progressive}), "x"), image),
              12);
}

TEST(Decode, GrayFilesAreGray) {
  const Image image = smooth_image(20, 30);
  const Image jpeg = decode_image(to_jpeg(image, {.is_gray = true}), "x");
  EXPECT_TRUE(jpeg.is_gray);
  const Image png = decode_image(to_png(2, 1, 1, 8, {0, 200}), "x");
  EXPECT_TRUE(png.is_gray);
  EXPECT_EQ(png.rgb, (std::vector<uint8_t>{0, 0, 0, 200, 200, 200}));
}

TEST(Decode, SixteenBitsBecomeEight) {
  const Image image = decode_image(to_png(3, 1, 1, 16, {0, 0x8080, 0xffff}), "x");
  EXPECT_EQ(image.pixel(1, 0)[0], 0x80);
  EXPECT_EQ(image.pixel(2, 0)[0], 255);
}

TEST(Decode, TransparentPixelsLieOnWhite) {
  const Image image =
      decode_image(to_png(3, 1, 4, 8, {10, 20, 30, 255, 10, 20, 30, 0, 100, 100, 100, 128}), "x");
  EXPECT_EQ(image.rgb[0], 10);
  EXPECT_EQ(image.rgb[3], 255);
  EXPECT_NEAR(image.rgb[6], (100 * 128 + 255 * 127) / 255.0, 1);
  EXPECT_EQ(decode_image(to_png(1, 1, 2, 8, {50, 0}), "x").rgb[0], 255);
}

TEST(Decode, PalettesBecomeColours) {
  const Image image = decode_image(to_palette_png(2, 1, {1, 0}, {1, 2, 3, 40, 50, 60}), "x");
  EXPECT_EQ(image.rgb, (std::vector<uint8_t>{40, 50, 60, 1, 2, 3}));
}

// Where the stored top left corner of an image shows up once it is upright.
TEST(Decode, EveryOrientationIsUndone) {
  Image image = make_image(32, 16);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 16; ++x) std::fill_n(image.pixel(x, y), 3, 255);  // top left is white
  // The corner (right?, bottom?) where EXIF says the stored top left belongs.
  const bool is_right[] = {false, true, true, false, false, true, true, false};
  const bool is_bottom[] = {false, false, true, true, false, false, true, true};
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (const FileBytes& file :
         {to_jpeg(image, {.orientation = orientation}), to_tiff(image, orientation)}) {
      const Image upright = decode_image(file, "x");
      EXPECT_EQ(upright.width, orientation >= 5 ? 16 : 32) << orientation;
      EXPECT_EQ(upright.height, orientation >= 5 ? 32 : 16) << orientation;
      const int x = is_right[orientation - 1] ? upright.width - 2 : 1;
      const int y = is_bottom[orientation - 1] ? upright.height - 2 : 1;
      EXPECT_GT(upright.pixel(x, y)[0], 200) << orientation;
      EXPECT_LT(upright.pixel(upright.width - 1 - x, upright.height - 1 - y)[0], 50) << orientation;
      EXPECT_LT(upright.pixel(upright.width - 1 - x, y)[0], 50) << orientation;
    }
}

// Quarter turns distinguish 6 from 8: a mark in the middle of the stored upper edge.
TEST(Decode, QuarterTurnsGoTheRightWay) {
  Image image = make_image(30, 20);
  for (int x = 0; x < 30; ++x) std::fill_n(image.pixel(x, 0), 3, 255);  // upper edge
  const Image right = decode_image(to_tiff(image, 6), "x");  // stored top is the right side
  EXPECT_EQ(right.pixel(19, 15)[0], 255);
  EXPECT_EQ(right.pixel(0, 15)[0], 0);
  const Image left = decode_image(to_tiff(image, 8), "x");
  EXPECT_EQ(left.pixel(0, 15)[0], 255);
  EXPECT_EQ(left.pixel(19, 15)[0], 0);
}

TEST(Decode, TruncatedFilesAreRefused) {
  const Image image = smooth_image(200, 150);
  EXPECT_THAT(message_of(half_of(to_jpeg(image))), HasSubstr("truncated JPEG"));
  EXPECT_THAT(message_of(half_of(to_jpeg(image, {.is_progressive = true}))),
              HasSubstr("truncated JPEG"));
  EXPECT_THAT(message_of(half_of(to_png(image))), HasSubstr("truncated PNG"));
  EXPECT_THAT(message_of(half_of(to_bmp(image))), HasSubstr("truncated BMP"));
  EXPECT_THAT(message_of(half_of(to_ppm(image))), HasSubstr("truncated P"));
  EXPECT_THAT(message_of(half_of(to_tiff(image, 1))), HasSubstr("TIFF"));
  EXPECT_THAT(message_of(half_of(to_webp(image))), HasSubstr("WebP"));
}

TEST(Decode, TruncatedJpegWithItsEndMarkerIsRefused) {
  FileBytes file = half_of(to_jpeg(smooth_image(200, 150)));
  file.push_back(0xff);
  file.push_back(0xd9);
  EXPECT_THAT(message_of(file), HasSubstr("truncated JPEG"));
}

TEST(Decode, WholeJpegsAreNotCalledTruncated) {
  Random random(7);
  for (int i = 0; i < 20; ++i) {
    Image noise = make_image(10 + i, 9 + 2 * i);
    for (uint8_t& value : noise.rgb) value = static_cast<uint8_t>(random.uniform() * 256);
    EXPECT_EQ(message_of(to_jpeg(noise, {.quality = 30 + 3 * i, .is_progressive = i % 2 == 0})),
              "decoded");
  }
}

TEST(Decode, OnePixelAndLongLinesAreRead) {
  EXPECT_EQ(decode_image(to_png(make_image(1, 1)), "x").width, 1);
  const Image line = decode_image(to_png(make_image(60000, 1)), "x");
  EXPECT_EQ(line.width, 60000);
  EXPECT_EQ(line.height, 1);
}

void put_chunk(FileBytes& file, const char* type, const FileBytes& data) {
  const auto put = [&](uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8)
      file.push_back(static_cast<uint8_t>(value >> shift));
  };
  put(static_cast<uint32_t>(data.size()));
  FileBytes body(type, type + 4);
  body.insert(body.end(), data.begin(), data.end());
  file.insert(file.end(), body.begin(), body.end());
  put(static_cast<uint32_t>(crc32(0, body.data(), static_cast<uInt>(body.size()))));
}

// 60,000 x 60,000 pixels, 10 GB of zeros that a few bytes unpack to.
FileBytes png_bomb() {
  FileBytes file = {0x89, 'P', 'N', 'G', 0x0d, 0x0a, 0x1a, 0x0a};
  put_chunk(file, "IHDR", {0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60, 8, 2, 0, 0, 0});
  FileBytes zeros(1 << 20), packed(1 << 20);
  uLongf size = packed.size();
  compress(packed.data(), &size, zeros.data(), zeros.size());
  packed.resize(size);
  put_chunk(file, "IDAT", packed);
  put_chunk(file, "IEND", {});
  return file;
}

TEST(Decode, BombsAreRefusedByTheirHeader) {
  EXPECT_EQ(
      message_of(png_bomb(), 100'000'000),
      "x.png is 60000 x 60000 pixels by its header, must have at most 100000000 in all: raise "
      "max_pixels to read it");
  FileBytes jpeg = to_jpeg(smooth_image(64, 64));
  for (size_t i = 0; i + 9 < jpeg.size(); ++i)
    if (jpeg[i] == 0xff && jpeg[i + 1] == 0xc0) {
      std::fill_n(jpeg.begin() + static_cast<long>(i) + 5, 4, 0xfe);
      break;
    }
  EXPECT_THAT(message_of(jpeg), HasSubstr("pixels by its header"));
  const std::string ppm = "P6 2000000000 2000000000 255\n";
  EXPECT_THAT(message_of({ppm.begin(), ppm.end()}), HasSubstr("pixels by its header"));
  FileBytes bmp = to_bmp(make_image(4, 4));
  bmp[20] = bmp[24] = 0x7f;  // the high bytes of width and height
  EXPECT_THAT(message_of(bmp), HasSubstr("pixels by its header"));
}

TEST(Decode, MaxPixelsIsTheProductOfTheSides) {
  EXPECT_EQ(message_of(to_png(make_image(10, 10)), 100), "decoded");
  EXPECT_THAT(message_of(to_png(make_image(10, 10)), 99), HasSubstr("at most 99"));
}

TEST(Decode, OtherFilesAreRefusedByName) {
  EXPECT_EQ(message_of({}), "x.png is empty, must be an image");
  EXPECT_THAT(message_of({'G', 'I', 'F', '8'}), HasSubstr("is not an image that Milieu reads"));
  EXPECT_THAT(message_of({0xff, 0x4f, 0xff, 0x51}), HasSubstr("JPEG 2000"));
}

// Every prefix and many damaged copies: no crash, and either an image or a DataError.
TEST(Decode, DamagedFilesNeverCrash) {
  const Image image = smooth_image(17, 13);
  Random random(5);
  for (const FileBytes& file :
       {to_jpeg(image), to_jpeg(image, {.is_progressive = true, .orientation = 6}), to_png(image),
        to_palette_png(2, 1, {1, 0}, {1, 2, 3, 4, 5, 6}), to_bmp(image), to_ppm(image),
        to_webp(image), to_tiff(image, 5)}) {
    for (int i = 0; i < 300; ++i) {
      FileBytes damaged = file;
      for (int k = 0; k < 1 + i % 4; ++k)
        damaged[static_cast<size_t>(random.uniform() * static_cast<double>(file.size()))] =
            static_cast<uint8_t>(random.uniform() * 256);
      if (i % 3 == 0)
        damaged.resize(static_cast<size_t>(random.uniform() * static_cast<double>(file.size())));
      EXPECT_NE(message_of(damaged, 10'000), "");
    }
  }
}

TEST(Decode, LoadImageScalesDown) {
  const TempDir folder;
  const std::string path = folder.file("a.png");
  write_bytes(path, to_png(smooth_image(80, 40)));
  EXPECT_EQ(load_image(path, {.max_side = 20}).height, 10);
  EXPECT_EQ(load_image(path).width, 80);
  EXPECT_THROW(load_image(path, {.max_side = -1}), InvalidArgument);
  EXPECT_THROW(load_image(folder.file("none.png")), IoError);
}

// The sides of the 800 x 600 image that are left at each demand, and how far the image is from the
// same size made of every pixel: two averages of a smooth image, after JPEG's own rounding.
TEST(Decode, LargeJpegsAreDecodedSmall_issue31) {
  const Image image = smooth_image(800, 600);
  const Image full = decode_image(to_jpeg(image), "x");
  for (const auto& [max_side, width] : {std::pair(100, 100), {150, 150}, {399, 399}, {0, 800}}) {
    const ScaledImage scaled = decode_scaled(to_jpeg(image), "x", {.max_side = max_side});
    EXPECT_EQ(scaled.image.width, width);
    EXPECT_EQ(scaled.full_width, 800);
    EXPECT_EQ(scaled.full_height, 600);
    EXPECT_LE(largest_difference(scaled.image, limit_side(full, max_side)), 4) << max_side;
  }
  for (const auto& [shorter, height] : {std::pair(75, 75), {76, 150}, {200, 300}, {301, 600}})
    EXPECT_EQ(decode_scaled(to_jpeg(image), "x", {}, {shorter}).image.height, height);
}

TEST(Decode, SmallScalesKeepOrientationAndRefusals_issue31) {
  const Image image = smooth_image(200, 120);
  const ScaledImage turned =
      decode_scaled(to_jpeg(image, {.orientation = 6}), "x", {.max_side = 50});
  EXPECT_EQ(turned.full_width, 120);
  EXPECT_EQ(turned.full_height, 200);
  EXPECT_EQ(turned.image.width, 30);
  EXPECT_EQ(turned.image.height, 50);
  EXPECT_THROW(decode_scaled(half_of(to_jpeg(image)), "x", {.max_side = 50}), DataError);
  EXPECT_THROW(decode_scaled(to_jpeg(image), "x", {.max_pixels = 1000}), DataError);
}

TEST(Decode, OtherFormatsAreDecodedWholeAndScaled_issue31) {
  const Image image = smooth_image(80, 40);
  const ScaledImage scaled = decode_scaled(to_png(image), "x", {.max_side = 20});
  EXPECT_EQ(largest_difference(scaled.image, limit_side(image, 20)), 0);
  EXPECT_EQ(scaled.full_width, 80);
}

}  // namespace
}  // namespace milieu
