// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/raster_draw.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace milieu {
namespace {

constexpr Color kRed{200, 0, 0};

int count_of(const RasterImage& image, Color color) {
  int count = 0;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      const uint8_t* p = image.at(x, y);
      count += p[0] == color.r && p[1] == color.g && p[2] == color.b;
    }
  return count;
}

TEST(RasterDraw, ShapesCoverWhatTheySay) {
  RasterImage image(40, 30, 3);
  fill_rectangle(image, 2, 3, 4, 5, kRed);
  EXPECT_EQ(count_of(image, kRed), 20);
  RasterImage line(40, 30, 3);
  draw_line(line, 5, 7, 15, 7, kRed);
  EXPECT_EQ(count_of(line, kRed), 11);
  RasterImage disc(40, 30, 3);
  draw_disc(disc, 20, 15, 5, kRed);
  EXPECT_NEAR(count_of(disc, kRed), 3.14159 * 25, 8);
}

TEST(RasterDraw, EverythingIsClipped) {
  RasterImage image(10, 10, 3);
  fill_rectangle(image, -5, -5, 100, 100, kRed);
  EXPECT_EQ(count_of(image, kRed), 100);
  draw_disc(image, -3, 50, 20, kRed);
  draw_line(image, -100, -100, 200, 300, kRed);
  draw_cross(image, 9, 9, 30, kRed);
  draw_text(image, -20, 5, "clipped", kRed);
}

TEST(RasterDraw, TextHasTheInkOfItsLetters) {
  RasterImage image(60, 20, 3);
  draw_text(image, 0, 0, "l?-", kRed, 1);  // 11 cells, nothing, 5 cells
  EXPECT_EQ(count_of(image, kRed), 16);
  RasterImage large(60, 20, 3);
  draw_text(large, 0, 0, "L -", kRed, 2);
  EXPECT_EQ(count_of(large, kRed), 64);
}

TEST(RasterDraw, ColoursRunFromBlueOverWhiteToRed) {
  EXPECT_EQ(diverging_color(0), (Color{255, 255, 255}));
  EXPECT_GT(diverging_color(1).r, diverging_color(1).b);
  EXPECT_GT(diverging_color(-1).b, diverging_color(-1).r);
  EXPECT_EQ(diverging_color(7), diverging_color(1));
  EXPECT_EQ(lighten(kRed, 1), (Color{255, 255, 255}));
  EXPECT_EQ(lighten(kRed, 0), kRed);
}

}  // namespace
}  // namespace milieu
