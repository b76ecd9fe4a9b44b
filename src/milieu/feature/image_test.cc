// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/image.h"

#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

Image random_image(int width, int height, uint64_t seed) {
  Random random(seed);
  Image image = make_image(width, height);
  for (uint8_t& value : image.rgb) value = static_cast<uint8_t>(random.uniform() * 256);
  return image;
}

TEST(Image, GrayIsTheLumaOfEachPixel) {
  Image image = make_image(2, 1);
  image.rgb = {10, 20, 200, 77, 77, 77};
  const Matrix<float> gray = image.gray();
  EXPECT_NEAR(gray(0, 0), 0.299 * 10 + 0.587 * 20 + 0.114 * 200, 1e-4);
  EXPECT_EQ(gray(0, 1), 77.0f);
}

TEST(Image, GrayImageKeepsItsBrightness) {
  Matrix<float> gray(3, 2);
  for (int i = 0; i < 6; ++i) gray.data()[i] = static_cast<float>(40 * i);
  const Image image = image_from_gray(gray);
  EXPECT_TRUE(image.is_gray);
  EXPECT_EQ(image.gray(), gray);
}

TEST(Image, BrightnessOutOfRangeIsClipped) {
  Matrix<float> gray(1, 2);
  gray(0, 0) = -3;
  gray(0, 1) = 300;
  EXPECT_EQ(image_from_gray(gray).rgb, (std::vector<uint8_t>{0, 0, 0, 255, 255, 255}));
}

TEST(Image, EmptySizesAreRefused) {
  EXPECT_THROW(make_image(0, 3), InvalidArgument);
  EXPECT_THROW(resize(make_image(2, 2), 0, 1), InvalidArgument);
}

TEST(Image, ResizeToHalfTakesTheMeanOfFourPixels) {
  const Image image = random_image(8, 6, 1);
  const Image half = resize(image, 4, 3);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x)
      for (int c = 0; c < 3; ++c) {
        const double mean =
            (image.pixel(2 * x, 2 * y)[c] + image.pixel(2 * x + 1, 2 * y)[c] +
             image.pixel(2 * x, 2 * y + 1)[c] + image.pixel(2 * x + 1, 2 * y + 1)[c]) /
            4.0;
        EXPECT_NEAR(half.pixel(x, y)[c], mean, 0.5001);
      }
}

TEST(Image, ResizeKeepsTheMeanBrightness) {
  const Image image = random_image(37, 23, 2);
  const Image small = resize(image, 10, 7);
  double before = 0, after = 0;
  for (const uint8_t value : image.rgb) before += value;
  for (const uint8_t value : small.rgb) after += value;
  EXPECT_NEAR(before / image.rgb.size(), after / small.rgb.size(), 0.5);
}

TEST(Image, ResizeOfAConstantIsConstant) {
  Image image = make_image(5, 9);
  std::fill(image.rgb.begin(), image.rgb.end(), 131);
  for (const auto& [width, height] : {std::pair(3, 20), std::pair(1, 1), std::pair(11, 2)})
    for (const uint8_t value : resize(image, width, height).rgb) EXPECT_EQ(value, 131);
}

TEST(Image, GrowingIsLinearBetweenPixelCentres) {
  Image image = make_image(2, 1);
  image.rgb = {0, 0, 0, 100, 100, 100};
  const Image wide = resize(image, 4, 1);
  EXPECT_EQ(wide.pixel(0, 0)[0], 0);
  EXPECT_EQ(wide.pixel(1, 0)[0], 25);
  EXPECT_EQ(wide.pixel(2, 0)[0], 75);
  EXPECT_EQ(wide.pixel(3, 0)[0], 100);
}

TEST(Image, LimitSideKeepsTheShape) {
  const Image image = random_image(100, 50, 3);
  const Image small = limit_side(image, 20);
  EXPECT_EQ(small.width, 20);
  EXPECT_EQ(small.height, 10);
  EXPECT_EQ(limit_side(image, 100).rgb, image.rgb);
  EXPECT_EQ(limit_side(image, 0).rgb, image.rgb);
}

TEST(Image, LimitSideLeavesAtLeastOnePixel) {
  const Image line = make_image(60000, 1);
  const Image small = limit_side(line, 100);
  EXPECT_EQ(small.width, 100);
  EXPECT_EQ(small.height, 1);
}

}  // namespace
}  // namespace milieu
