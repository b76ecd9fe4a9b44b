// SPDX-License-Identifier: Apache-2.0
// tests/cli/test_networks.py compares with Pillow itself.
#include "milieu/feature/network/resample_internal.h"

#include <gtest/gtest.h>

#include "milieu/feature/test_images.h"

namespace milieu::internal {
namespace {

constexpr Interpolation kAll[] = {Interpolation::Bilinear, Interpolation::Bicubic,
                                  Interpolation::Lanczos};

TEST(Resample, TheSameSizeKeepsEveryPixel) {
  const Image image = test_images::noise(13, 7, 1);
  for (const Interpolation filter : kAll)
    EXPECT_EQ(resample(image, 13, 7, {0, 0, 13, 7}, filter).rgb, image.rgb);
}

TEST(Resample, AConstantImageStaysConstant) {
  const Image image = test_images::constant(50, 31, 77);
  for (const Interpolation filter : kAll)
    for (const int side : {1, 9, 40, 120})
      for (const uint8_t value : resample(image, side, side, {0, 0, side, side}, filter).rgb)
        ASSERT_EQ(value, 77);
}

TEST(Resample, ACropIsThatPartOfTheWhole) {
  const Image image = test_images::noise(60, 45, 2);
  for (const Interpolation filter : kAll) {
    const Image whole = resample(image, 30, 28, {0, 0, 30, 28}, filter);
    const Image part = resample(image, 30, 28, {5, 3, 20, 24}, filter);
    EXPECT_EQ(part.rgb, test_images::crop(whole, 5, 3, 20, 24).rgb);
  }
}

TEST(Resample, ShrinkingToHalfByBilinearWeighsOneThreeThreeOne) {
  Image image = make_image(8, 1);
  for (int x = 0; x < 8; ++x) std::fill_n(image.pixel(x, 0), 3, static_cast<uint8_t>(x * x * 4));
  const Image half = resample(image, 4, 1, {0, 0, 4, 1}, Interpolation::Bilinear);
  // Pixel 1 lies between 2 and 3: (1 * 4 + 3 * 16 + 3 * 36 + 1 * 64) / 8.
  EXPECT_EQ(half.pixel(1, 0)[0], (4 + 48 + 108 + 64) / 8);
}

}  // namespace
}  // namespace milieu::internal
