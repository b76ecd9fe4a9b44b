// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/local_color.h"

#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/feature/descriptor/dense_sift.h"
#include "milieu/feature/descriptor/sparse_sift.h"
#include "milieu/feature/test_images.h"

namespace milieu {
namespace {

Image left_red_right_blue(int width, int height) {
  Image image = make_image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) image.pixel(x, y)[x < width / 2 ? 0 : 2] = 255;
  return image;
}

constexpr int kRed = 3 * 16, kBlue = 3;  // boxes of 4 x 4 x 4

TEST(LocalColor, CountsPixelsOfEachPatch) {
  const LocalDescriptors out = local_color(left_red_right_blue(32, 16), {.step = 4});
  ASSERT_EQ(out.grid_cols, 5);
  ASSERT_EQ(out.descriptors.cols(), 64);
  for (int j = 0; j < 5; ++j) {
    EXPECT_FLOAT_EQ(out.descriptors(j, kRed), static_cast<float>(4 - j) / 4);
    EXPECT_FLOAT_EQ(out.descriptors(j, kBlue), static_cast<float>(j) / 4);
  }
}

TEST(LocalColor, LiesOnTheGridOfDenseSift) {
  const Image image = test_images::noise(53, 47, 1);
  EXPECT_EQ(local_color(image).frames, dense_sift(image).frames);
}

TEST(LocalColor, SharesSumToOne) {
  const LocalDescriptors out = local_color(test_images::noise(40, 40, 2), {.num_bins = 3});
  for (int64_t i = 0; i < out.descriptors.rows(); ++i) {
    double sum = 0;
    for (const float share : out.descriptors.row_span(i)) sum += share;
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(LocalColor, HueDoesNotDependOnBrightness) {
  const auto box_of = [](int r, int g, int b) {
    Image image = make_image(1, 1);
    image.rgb = {static_cast<uint8_t>(r), static_cast<uint8_t>(g), static_cast<uint8_t>(b)};
    const LocalDescriptors out =
        local_color(image, {.patch_size = 1, .num_bins = 6, .color_space = ColorSpace::Hsv});
    const float* row = out.descriptors.row(0);
    return std::max_element(row, row + 216) - row;
  };
  EXPECT_EQ(box_of(200, 10, 0) / 36, box_of(100, 5, 0) / 36);
  EXPECT_EQ(box_of(200, 200, 10) / 36, 1);  // yellow
  EXPECT_EQ(box_of(10, 10, 250) / 36, 4);   // blue
  EXPECT_EQ(box_of(250, 10, 10) / 36, 0);   // red
  EXPECT_EQ(box_of(80, 80, 80), 1);         // grey: hue and saturation 0
}

TEST(LocalColor, DiscsRoundKeypointsSeeTheirNeighbourhood) {
  Matrix<float> frames(3, 4);
  const float places[3][4] = {{5, 8, 0.5f, 0}, {26, 8, 0.5f, 1}, {0, 0, 0.01f, 0}};
  for (int i = 0; i < 3; ++i) std::copy_n(places[i], 4, frames.row(i));
  const LocalDescriptors out = local_color_at(left_red_right_blue(32, 16), frames);
  EXPECT_EQ(out.descriptors(0, kRed), 1.0f);
  EXPECT_EQ(out.descriptors(1, kBlue), 1.0f);
  EXPECT_EQ(out.descriptors(2, kRed), 1.0f);  // less than a pixel: the nearest one
  EXPECT_EQ(out.frames, frames);
  EXPECT_EQ(out.grid_rows, 0);
}

TEST(LocalColor, TakesTheKeypointsOfSparseSift) {
  const Image image = test_images::blobs(90, 90, 30, 3);
  const LocalDescriptors keypoints = sparse_sift(image);
  ASSERT_GT(keypoints.frames.rows(), 5);
  EXPECT_EQ(local_color_at(image, keypoints.frames).descriptors.rows(), keypoints.frames.rows());
}

TEST(LocalColor, WrongFramesAreNamed) {
  Matrix<float> outside(1, 4);
  outside(0, 0) = 40;
  try {
    local_color_at(left_red_right_blue(32, 16), outside);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "frame 0 is at (40, 0), must be in the image of 32 x 16 pixels");
  }
  EXPECT_THROW(local_color_at(left_red_right_blue(32, 16), Matrix<float>(1, 3)), InvalidArgument);
}

TEST(LocalColor, SmallImagesHaveNone) {
  const LocalDescriptors out = local_color(test_images::noise(60000, 1, 4));
  EXPECT_EQ(out.descriptors.rows(), 0);
  EXPECT_EQ(out.descriptors.cols(), 64);
  EXPECT_EQ(out.grid_cols, 0);
}

}  // namespace
}  // namespace milieu
