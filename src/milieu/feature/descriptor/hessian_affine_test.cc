// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/hessian_affine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "milieu/feature/test_images.h"

namespace milieu {
namespace {

double dot(const LocalDescriptors& a, int64_t i, const LocalDescriptors& b, int64_t j) {
  double sum = 0;
  for (int t = 0; t < 128; ++t) sum += a.descriptors(i, t) * b.descriptors(j, t);
  return sum;
}

// A Gaussian blob at (50, 46) with deviations `along` and `across` direction `angle`.
Image ellipse(double along, double across, double angle) {
  return test_images::from_function(101, 95, [&](int x, int y) {
    const double u = (x - 50) * std::cos(angle) + (y - 46) * std::sin(angle);
    const double v = (y - 46) * std::cos(angle) - (x - 50) * std::sin(angle);
    return 40 + 180 * std::exp(-0.5 * (u * u / along / along + v * v / across / across));
  });
}

// The point in the middle of the blob with the largest scale, or -1.
int64_t middle(const LocalDescriptors& out) {
  int64_t best = -1;
  for (int64_t i = 0; i < out.frames.rows(); ++i)
    if (std::hypot(out.frames(i, 0) - 50, out.frames(i, 1) - 46) < 1.5 &&
        (best < 0 || out.frames(i, 2) > out.frames(best, 2)))
      best = i;
  return best;
}

TEST(HessianAffine, FindsABlobAtItsPlaceAndScale) {
  const LocalDescriptors out = hessian_affine(ellipse(6, 6, 0));
  const int64_t found = middle(out);
  ASSERT_GE(found, 0);
  EXPECT_NEAR(out.frames(found, 2) / 6, 1, 0.25);
}

TEST(HessianAffine, DescriptorsHaveNormOne) {
  const LocalDescriptors out = hessian_affine(test_images::blobs(120, 110, 50, 1));
  ASSERT_GT(out.frames.rows(), 20);
  for (int64_t i = 0; i < out.frames.rows(); ++i) EXPECT_NEAR(dot(out, i, out, i), 1, 1e-4);
}

// The share of points of `a` with a point of `b` nearby (moved by `place`) whose descriptor is
// alike.
template <class Place>
double repeated(const LocalDescriptors& a, const LocalDescriptors& b, Place&& place) {
  double matched = 0;
  for (int64_t i = 0; i < a.frames.rows(); ++i) {
    const auto [x, y] = place(a.frames(i, 0), a.frames(i, 1));
    bool found = false;
    for (int64_t j = 0; j < b.frames.rows(); ++j)
      found = found ||
              (std::hypot(b.frames(j, 0) - x, b.frames(j, 1) - y) < 1.5 && dot(a, i, b, j) > 0.85);
    matched += found;
  }
  return matched / static_cast<double>(a.frames.rows());
}

TEST(HessianAffine, QuarterTurnKeepsDescriptors) {
  const Image image = test_images::blobs(130, 130, 50, 2);
  const Image turned = test_images::quarter_turn(image);
  const auto place = [](double x, double y) { return std::pair(129 - y, x); };
  EXPECT_GT(repeated(hessian_affine(image), hessian_affine(turned), place), 0.7);
  EXPECT_LT(repeated(hessian_affine(image, {.upright = true}),
                     hessian_affine(turned, {.upright = true}), place),
            0.4);
}

TEST(HessianAffine, StretchedImageKeepsDescriptorsOnlyWithEllipses) {
  // The same scene, sampled 1.6 times as densely along x.
  const double stretch = 1.6;
  const auto scene = [](double x, double y) {
    double value = 128;
    Random random(3);
    for (int i = 0; i < 40; ++i) {
      const double cx = 100 * random.uniform(), cy = 100 * random.uniform();
      const double sigma = 2 + 3 * random.uniform();
      const double height = random.uniform() < 0.5 ? -70 : 70;
      value +=
          height * std::exp(-0.5 * ((x - cx) * (x - cx) + (y - cy) * (y - cy)) / sigma / sigma);
    }
    return value;
  };
  const Image image = test_images::from_function(100, 100, scene);
  const Image wide =
      test_images::from_function(160, 100, [&](int x, int y) { return scene(x / stretch, y); });
  const auto place = [&](double x, double y) { return std::pair(stretch * x, y); };
  const double with = repeated(hessian_affine(image), hessian_affine(wide), place);
  const double without = repeated(hessian_affine(image, {.affine = false}),
                                  hessian_affine(wide, {.affine = false}), place);
  EXPECT_GT(with, without);
}

TEST(HessianAffine, ScaleRangeAndLimit) {
  const Image image = test_images::blobs(120, 120, 60, 4);
  const LocalDescriptors range = hessian_affine(image, {.min_scale = 2, .max_scale = 4});
  ASSERT_GT(range.frames.rows(), 0);
  for (int64_t i = 0; i < range.frames.rows(); ++i) {
    EXPECT_GE(range.frames(i, 2), 2);
    EXPECT_LE(range.frames(i, 2), 4);
  }
  EXPECT_EQ(hessian_affine(image, {.max_num_keypoints = 5}).frames.rows(), 5);
}

TEST(HessianAffine, FlatAndTinyImagesHaveNoPoints) {
  EXPECT_EQ(hessian_affine(test_images::constant(64, 64, 90)).frames.rows(), 0);
  EXPECT_EQ(hessian_affine(test_images::constant(60000, 1, 90)).descriptors.cols(), 128);
  for (int side = 1; side <= 20; ++side)
    for (const int other : {1, 15, 16, side, 40}) {
      const LocalDescriptors out = hessian_affine(test_images::noise(side, other, 5));
      EXPECT_EQ(out.descriptors.rows(), out.frames.rows()) << side << " x " << other;
      for (int64_t i = 0; i < out.descriptors.size(); ++i)
        ASSERT_TRUE(std::isfinite(out.descriptors.data()[i]));
    }
}

TEST(HessianAffine, TwoRunsAreTheSame) {
  const Image image = test_images::blobs(100, 100, 40, 6);
  EXPECT_EQ(hessian_affine(image).descriptors, hessian_affine(image).descriptors);
}

}  // namespace
}  // namespace milieu
