// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/hog.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "milieu/base/error.h"
#include "milieu/feature/test_images.h"

namespace milieu {
namespace {

TEST(Hog, GridOfInnerCorners) {
  const LocalDescriptors out = hog(test_images::noise(53, 30, 1));
  EXPECT_EQ(out.grid_cols, 5);
  EXPECT_EQ(out.grid_rows, 2);
  EXPECT_EQ(out.descriptors.cols(), 124);
  EXPECT_EQ(out.frames(6, 0), 15.5f);
  EXPECT_EQ(out.frames(6, 1), 15.5f);
  EXPECT_EQ(out.frames(6, 2), 16.0f);
}

TEST(Hog, NeighboursShareCells) {
  const LocalDescriptors out = hog(test_images::noise(48, 48, 2));
  for (int t = 0; t < 31; ++t) {
    EXPECT_EQ(out.descriptors(0, 31 + t), out.descriptors(1, t));
    EXPECT_EQ(out.descriptors(0, 62 + t), out.descriptors(out.grid_cols, t));
  }
}

TEST(Hog, ShiftByOneCellShiftsTheGrid) {
  const Image large = test_images::blobs(104, 104, 60, 3);
  const LocalDescriptors a = hog(test_images::crop(large, 0, 0, 96, 96));
  const LocalDescriptors b = hog(test_images::crop(large, 8, 8, 96, 96));
  for (int i = 3; i + 3 < a.grid_rows; ++i)
    for (int j = 3; j + 3 < a.grid_cols; ++j)
      for (int t = 0; t < 124; ++t)
        EXPECT_NEAR(a.descriptors(i * a.grid_cols + j, t),
                    b.descriptors((i - 1) * b.grid_cols + j - 1, t), 1e-6);
}

TEST(Hog, GratingHasItsUnsignedDirection) {
  // 9 unsigned directions after 18 signed ones; the gradient of a level grating is along x.
  const LocalDescriptors level = hog(test_images::grating(64, 64, 8, 0));
  const LocalDescriptors upright = hog(test_images::grating(64, 64, 8, std::numbers::pi / 2));
  const auto strongest = [](const LocalDescriptors& out) {
    const float* unsigned_part = out.descriptors.row(24) + 18;
    return std::max_element(unsigned_part, unsigned_part + 9) - unsigned_part;
  };
  // A quarter turn is 4.5 directions of 20 degrees.
  const auto apart = std::abs(strongest(level) - strongest(upright));
  EXPECT_TRUE(apart == 4 || apart == 5) << apart;
}

TEST(Hog, ImagesWithoutFourCellsHaveNone) {
  for (const auto& [width, height] :
       {std::pair(1, 1), std::pair(15, 60), std::pair(60, 15), std::pair(60000, 1)}) {
    const LocalDescriptors out = hog(test_images::constant(width, height, 3));
    EXPECT_EQ(out.descriptors.rows(), 0);
    EXPECT_EQ(out.descriptors.cols(), 124);
  }
  EXPECT_EQ(hog(test_images::noise(16, 16, 4)).descriptors.rows(), 1);
  EXPECT_THROW(hog(test_images::noise(16, 16, 4), {.cell_size = 1}), InvalidArgument);
}

TEST(Hog, ConstantImageIsFiniteAndRepeats) {
  const LocalDescriptors flat = hog(test_images::constant(40, 40, 70));
  for (int64_t i = 0; i < flat.descriptors.size(); ++i) EXPECT_EQ(flat.descriptors.data()[i], 0.0f);
  const Image image = test_images::noise(50, 50, 5);
  EXPECT_EQ(hog(image).descriptors, hog(image).descriptors);
}

}  // namespace
}  // namespace milieu
