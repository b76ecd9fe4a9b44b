// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/lbp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "milieu/base/error.h"
#include "milieu/feature/test_images.h"

namespace milieu {
namespace {

constexpr LbpOptions kPlain{.num_circles = 1};  // 8 neighbours at radius 1

// The definition, pixel by pixel; `at` interpolates in double.
std::vector<double> slow_lbp(const Image& image, int P, double radius) {
  const Matrix<float> gray = image.gray();
  const int margin = static_cast<int>(std::ceil(radius));
  std::vector<double> bins(P * (P - 1) + 3);
  int count = 0;
  for (int y = margin; y + margin < image.height; ++y)
    for (int x = margin; x + margin < image.width; ++x) {
      std::vector<int> ring(P);
      for (int p = 0; p < P; ++p) {
        const double angle = 2 * std::numbers::pi * p / P;
        const double px = x + std::round(64 * radius * std::cos(angle)) / 64;
        const double py = y - std::round(64 * radius * std::sin(angle)) / 64;
        double value = 0;
        for (int j = 0; j < image.height; ++j)
          for (int i = 0; i < image.width; ++i)
            value += std::max(0.0, 1 - std::abs(i - px)) * std::max(0.0, 1 - std::abs(j - py)) *
                     gray(j, i);
        ring[p] = value >= gray(y, x);
      }
      int changes = 0, ones = 0, start = 0;
      for (int p = 0; p < P; ++p) {
        changes += ring[p] != ring[(p + P - 1) % P];
        ones += ring[p];
        if (ring[p] && !ring[(p + P - 1) % P]) start = p;
      }
      const int bin = changes > 2 ? P * (P - 1) + 2
                      : ones == 0 ? 0
                      : ones == P ? P * (P - 1) + 1
                                  : 1 + (ones - 1) * P + start;
      ++bins[bin];
      ++count;
    }
  for (double& bin : bins) bin /= count;
  return bins;
}

TEST(Lbp, EqualsTheSlowDefinition) {
  const Image image = test_images::blobs(23, 17, 8, 1);
  const std::vector<float> fast = lbp(image, {.num_neighbors = 6, .radius = 1.5, .num_circles = 2});
  std::vector<double> slow = slow_lbp(image, 6, 1.5);
  const std::vector<double> second = slow_lbp(image, 12, 3);
  slow.insert(slow.end(), second.begin(), second.end());
  ASSERT_EQ(fast.size(), slow.size());
  for (size_t i = 0; i < fast.size(); ++i) EXPECT_NEAR(fast[i], slow[i], 1e-6) << i;
}

TEST(Lbp, ConstantImageHasOnlyFullPatterns) {
  const std::vector<float> out = lbp(test_images::constant(9, 7, 93), kPlain);
  ASSERT_EQ(out.size(), 59u);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i == 57 ? 1.0f : 0.0f);
}

TEST(Lbp, RampSeesTheBrighterHalf) {
  // Brighter to the right: neighbours 6, 7, 0, 1, 2 are at least as bright: five ones from 6 on.
  const Image ramp = test_images::from_function(12, 8, [](int x, int) { return 10 * x; });
  const std::vector<float> out = lbp(ramp, kPlain);
  EXPECT_EQ(out[1 + 4 * 8 + 6], 1.0f);
}

TEST(Lbp, EachCircleSumsToOne) {
  const std::vector<float> out = lbp(test_images::noise(40, 30, 2));
  ASSERT_EQ(out.size(), 59u + 243u + 555u);
  double sum = 0;
  for (const float share : out) sum += share;
  EXPECT_NEAR(sum, 3, 1e-5);
}

TEST(Lbp, BrightnessAndContrastDoNotMatter) {
  const auto image = [](double offset, double gain) {
    return test_images::from_function(
        20, 20, [&](int x, int y) { return offset + gain * ((7 * x * y + 3 * x) % 40); });
  };
  EXPECT_EQ(lbp(image(0, 1)), lbp(image(30, 5)));
}

TEST(Lbp, SmallImagesGiveZeros) {
  for (const auto& [width, height] : {std::pair(1, 1), std::pair(2, 50), std::pair(60000, 1)}) {
    EXPECT_THAT(lbp(test_images::constant(width, height, 5), kPlain), testing::Each(0.0f));
    EXPECT_THAT(rot_lbp(test_images::constant(width, height, 5), kPlain), testing::Each(0.0f));
  }
}

TEST(Lbp, TooManyNeighborsAreRefused) {
  EXPECT_THROW(lbp(test_images::constant(9, 9, 1), {.num_neighbors = 16, .num_circles = 2}),
               InvalidArgument);
  EXPECT_THROW(lbp(test_images::constant(9, 9, 1), {.radius = 0}), InvalidArgument);
}

TEST(RotLbp, QuarterTurnsChangeNothing) {
  Image image = test_images::noise(41, 33, 3);
  for (size_t i = 0; i < image.rgb.size(); i += 3)
    image.rgb[i + 1] = image.rgb[i + 2] = image.rgb[i];
  const std::vector<float> upright = rot_lbp(image);
  EXPECT_EQ(upright.size(), 38u + 138u + 302u);
  for (int turn = 0; turn < 3; ++turn) {
    image = test_images::quarter_turn(image);
    EXPECT_THAT(rot_lbp(image), testing::Pointwise(testing::FloatNear(1e-6f), upright));
    EXPECT_NE(lbp(image), lbp(test_images::quarter_turn(image)));
  }
}

TEST(RotLbp, FirstCoefficientIsTheShareOfPatternsWithThisManyOnes) {
  const Image image = test_images::noise(30, 30, 4);
  const std::vector<float> plain = lbp(image, kPlain), turned = rot_lbp(image, kPlain);
  for (int n = 1; n < 8; ++n) {
    double sum = 0;
    for (int r = 0; r < 8; ++r) sum += plain[1 + (n - 1) * 8 + r];
    EXPECT_NEAR(turned[(n - 1) * 5], sum, 1e-6);
  }
  EXPECT_EQ(turned[35], plain[0]);
  EXPECT_EQ(turned[36], plain[57]);
  EXPECT_EQ(turned[37], plain[58]);
}

}  // namespace
}  // namespace milieu
