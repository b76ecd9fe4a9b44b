// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/overlay.h"

#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/render/color.h"

namespace milieu {
namespace {

TEST(Overlay, DiscsStandAtTheirPlacesInTheColourOfTheLabel) {
  const RasterImage image(20, 10, 3);
  Matrix<float> positions(3, 2);
  positions(0, 0) = 5;
  positions(0, 1) = 5;
  positions(1, 0) = 19;  // cut off at the border
  positions(2, 0) = 12;
  const std::vector<int> labels = {1, 0, -1};
  const RasterImage out = draw_overlay(image, positions, labels, 2);
  EXPECT_EQ(out.at(5, 5)[0], cluster_color(1).r);
  EXPECT_EQ(out.at(5, 7)[1], cluster_color(1).g);
  EXPECT_EQ(out.at(19, 0)[2], cluster_color(0).b);
  EXPECT_EQ(out.at(12, 0)[0], 100);  // no label, no disc
  EXPECT_EQ(out.at(5, 8)[0], 100);
}

TEST(Overlay, StackedPicturesKeepTheirRows) {
  RasterImage a(4, 2, 3), b(4, 3, 3);
  b.at(1, 2)[0] = 77;
  const RasterImage out = stack_pictures({a, b});
  EXPECT_EQ(out.height, 2 + 6 + 3);
  EXPECT_EQ(out.at(0, 3)[0], 255);
  EXPECT_EQ(out.at(1, 2 + 6 + 2)[0], 77);
}

TEST(Overlay, WhatDoesNotFitIsRefused) {
  const Matrix<float> positions(2, 2);
  EXPECT_THROW(draw_overlay(RasterImage(4, 4, 1), positions, std::vector<int>{0, 0}),
               InvalidArgument);
  EXPECT_THROW(draw_overlay(RasterImage(4, 4, 3), positions, std::vector<int>{0}), InvalidArgument);
  EXPECT_THROW(stack_pictures({}), InvalidArgument);
  EXPECT_THROW(stack_pictures({RasterImage(4, 4, 3), RasterImage(5, 4, 3)}), InvalidArgument);
}

}  // namespace
}  // namespace milieu
