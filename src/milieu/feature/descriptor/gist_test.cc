// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/gist.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "milieu/base/error.h"
#include "milieu/feature/test_images.h"

namespace milieu {
namespace {

// Energy of filter (s, d), summed over the blocks.
double energy(const std::vector<float>& out, const GistOptions& options, int s, int d) {
  const int blocks = options.num_blocks * options.num_blocks;
  double sum = 0;
  for (int b = 0; b < blocks; ++b) sum += out[(s * options.num_directions + d) * blocks + b];
  return sum;
}

TEST(Gist, HasOneNumberForEachFilterAndBlock) {
  EXPECT_EQ(gist(test_images::noise(50, 40, 1)).size(), 512u);
  EXPECT_EQ(
      gist(test_images::noise(50, 40, 1), {.num_scales = 2, .num_directions = 3, .num_blocks = 5})
          .size(),
      150u);
}

TEST(Gist, GratingAnswersTheFilterOfItsDirection) {
  const GistOptions options;
  for (int d = 0; d < 8; ++d) {
    const auto out = gist(test_images::grating(128, 128, 6, std::numbers::pi * d / 8), options);
    double sums[8] = {};
    for (int e = 0; e < 8; ++e)
      for (int s = 0; s < 4; ++s) sums[e] += energy(out, options, s, e);
    EXPECT_EQ(std::max_element(sums, sums + 8) - sums, d);
  }
}

TEST(Gist, GratingAnswersTheFilterOfItsPeriod) {
  const GistOptions options;
  for (int s = 0; s < 4; ++s) {
    const double period = std::pow(1.85, s) / 0.3;
    const auto out = gist(test_images::grating(128, 128, period, 0), options);
    double best = 0;
    for (int e = 0; e < 4; ++e) best = std::max(best, energy(out, options, e, 0));
    EXPECT_EQ(energy(out, options, s, 0), best) << s;
  }
}

TEST(Gist, BlocksSeeTheirOwnPart) {
  // A grating in the upper left quarter only.
  const Image waves = test_images::grating(128, 128, 6, 0);
  const Image image = test_images::from_function(
      128, 128, [&](int x, int y) { return x < 64 && y < 64 ? waves.pixel(x, y)[0] : 128; });
  const auto out = gist(image, {.num_blocks = 2});
  for (int block = 1; block < 4; ++block) EXPECT_GT(out[4 + 0], 3 * out[4 + block]);
}

TEST(Gist, QuarterTurnMovesDirectionsAndBlocks) {
  const Image image = test_images::blobs(128, 128, 60, 2);
  const GistOptions options;
  const auto a = gist(image, options), b = gist(test_images::quarter_turn(image), options);
  double difference = 0, total = 0;
  for (int s = 0; s < 4; ++s)
    for (int d = 0; d < 8; ++d)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x) {
          const float here = a[((s * 8 + d) * 4 + y) * 4 + x];
          const float there = b[((s * 8 + (d + 4) % 8) * 4 + x) * 4 + 3 - y];
          difference += std::pow(here - there, 2);
          total += here * here;
        }
  EXPECT_LT(difference, 1e-6 * total);
}

TEST(Gist, ConstantAndTinyImagesGiveNoEnergy) {
  for (const auto& [width, height] : {std::pair(1, 1), std::pair(1, 70), std::pair(40, 40)})
    for (const float value : gist(test_images::constant(width, height, 80)))
      EXPECT_NEAR(value, 0, 1e-4);
}

TEST(Gist, TwoRunsAreTheSame) {
  const Image image = test_images::noise(60, 45, 3);
  EXPECT_EQ(gist(image), gist(image));
  EXPECT_THROW(gist(image, {.side = 3}), InvalidArgument);
}

}  // namespace
}  // namespace milieu
