// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/sparse_sift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <opencv2/features2d.hpp>

#include "milieu/base/error.h"
#include "milieu/feature/test_images.h"

namespace milieu {
namespace {

double norm_of(std::span<const float> x) {
  double sum = 0;
  for (const float value : x) sum += value * value;
  return std::sqrt(sum);
}

TEST(SparseSift, EqualsOpenCvOnTheSameKeypoints) {
  const Image image = test_images::blobs(120, 100, 40, 1);
  cv::Mat gray(100, 120, CV_8U);
  for (int y = 0; y < 100; ++y)
    for (int x = 0; x < 120; ++x) gray.at<uint8_t>(y, x) = image.pixel(x, y)[0];
  std::vector<cv::KeyPoint> keypoints;
  cv::Mat descriptors;
  cv::SIFT::create()->detectAndCompute(gray, cv::noArray(), keypoints, descriptors);
  const LocalDescriptors ours = sparse_sift(image);
  ASSERT_GT(keypoints.size(), 20u);
  ASSERT_EQ(ours.frames.rows(), static_cast<int64_t>(keypoints.size()));
  for (int64_t i = 0; i < ours.frames.rows(); ++i) {
    EXPECT_EQ(ours.frames(i, 0), keypoints[i].pt.x);
    EXPECT_EQ(ours.frames(i, 1), keypoints[i].pt.y);
    EXPECT_NEAR(ours.frames(i, 2), keypoints[i].size / 2, 1e-6);
    for (int t = 0; t < 128; ++t)
      EXPECT_EQ(ours.descriptors(i, t), descriptors.at<float>(static_cast<int>(i), t) / 512);
    EXPECT_NEAR(norm_of(ours.descriptors.row_span(i)), 1, 0.02);
  }
}

TEST(SparseSift, ScaleOfABlobIsItsOwn) {
  // The determinant and the trace of a Gaussian blob of deviation s are extreme at scale s.
  const double sigma = 5;
  const Image image = test_images::from_function(100, 100, [&](int x, int y) {
    return 50 + 150 * std::exp(-0.5 * (std::pow(x - 48, 2) + std::pow(y - 52, 2)) / sigma / sigma);
  });
  const LocalDescriptors out = sparse_sift(image, {.upright = true});
  ASSERT_GE(out.frames.rows(), 1);
  bool found = false;
  for (int64_t i = 0; i < out.frames.rows(); ++i)
    found =
        found || (std::abs(out.frames(i, 0) - 48) < 0.7 && std::abs(out.frames(i, 1) - 52) < 0.7 &&
                  std::abs(out.frames(i, 2) / sigma - 1) < 0.2);
  EXPECT_TRUE(found);
}

TEST(SparseSift, ScaleRangeKeepsExactlyItsKeypoints) {
  const Image image = test_images::blobs(150, 150, 80, 2);
  const LocalDescriptors all = sparse_sift(image);
  const LocalDescriptors range = sparse_sift(image, {.min_scale = 1, .max_scale = 2});
  int64_t next = 0;
  for (int64_t i = 0; i < all.frames.rows(); ++i) {
    if (all.frames(i, 2) < 1 || all.frames(i, 2) > 2) continue;
    ASSERT_LT(next, range.frames.rows());
    for (int c = 0; c < 4; ++c) EXPECT_EQ(range.frames(next, c), all.frames(i, c));
    for (int t = 0; t < 128; ++t)
      EXPECT_NEAR(range.descriptors(next, t), all.descriptors(i, t), 1e-6);
    ++next;
  }
  EXPECT_EQ(next, range.frames.rows());
  EXPECT_GT(next, 0);
  EXPECT_LT(next, all.frames.rows());
}

TEST(SparseSift, LimitKeepsTheStrongest) {
  const Image image = test_images::blobs(150, 150, 80, 3);
  EXPECT_EQ(sparse_sift(image, {.max_num_keypoints = 7}).frames.rows(), 7);
  // The fainter half of the image has none of them.
  Image half = test_images::blobs(150, 150, 80, 3);
  for (int y = 0; y < 150; ++y)
    for (int x = 0; x < 75; ++x)
      for (int c = 0; c < 3; ++c)
        half.pixel(x, y)[c] = static_cast<uint8_t>(128 + (half.pixel(x, y)[c] - 128) / 3);
  const LocalDescriptors out = sparse_sift(half, {.max_num_keypoints = 7});
  for (int64_t i = 0; i < out.frames.rows(); ++i) EXPECT_GT(out.frames(i, 0), 65);
}

TEST(SparseSift, QuarterTurnTurnsFramesAndKeepsDescriptors) {
  const Image image = test_images::blobs(130, 130, 40, 4);
  const LocalDescriptors a = sparse_sift(image);
  const LocalDescriptors b = sparse_sift(test_images::quarter_turn(image));
  int matched = 0;
  for (int64_t i = 0; i < a.frames.rows(); ++i) {
    const double x = 129 - a.frames(i, 1), y = a.frames(i, 0);
    const double angle = a.frames(i, 3) + std::numbers::pi / 2;
    bool found = false;
    for (int64_t j = 0; j < b.frames.rows(); ++j) {
      const double turn = std::remainder(b.frames(j, 3) - angle, 2 * std::numbers::pi);
      double dot = 0;
      for (int t = 0; t < 128; ++t) dot += a.descriptors(i, t) * b.descriptors(j, t);
      // The doubled image does not turn exactly: half a pixel may go either way.
      found = found ||
              (std::hypot(b.frames(j, 0) - x, b.frames(j, 1) - y) < 1.5 && std::abs(turn) < 0.2 &&
               std::abs(b.frames(j, 2) / a.frames(i, 2) - 1) < 0.2 && dot > 0.85);
    }
    matched += found;
  }
  // Not all: round blobs have no clear orientation.
  EXPECT_GT(matched, 0.5 * static_cast<double>(a.frames.rows()));
}

TEST(SparseSift, UprightHasAngleZeroAndEveryPlaceOnce) {
  const LocalDescriptors out = sparse_sift(test_images::blobs(120, 120, 40, 5), {.upright = true});
  for (int64_t i = 0; i < out.frames.rows(); ++i) {
    EXPECT_EQ(out.frames(i, 3), 0.0f);
    for (int64_t j = 0; j < i; ++j)
      EXPECT_FALSE(std::equal(out.frames.row(i), out.frames.row(i) + 4, out.frames.row(j)));
  }
}

TEST(SparseSift, RootTakesSquareRootsOfShares) {
  const Image image = test_images::blobs(100, 100, 30, 6);
  const LocalDescriptors plain = sparse_sift(image), root = sparse_sift(image, {.root = true});
  for (int64_t i = 0; i < plain.frames.rows(); ++i) {
    double sum = 0;
    for (const float value : plain.descriptors.row_span(i)) sum += value;
    for (int t = 0; t < 128; ++t)
      EXPECT_NEAR(root.descriptors(i, t), std::sqrt(plain.descriptors(i, t) / sum), 1e-5);
  }
}

TEST(SparseSift, FlatAndTinyImagesHaveNoKeypoints) {
  EXPECT_EQ(sparse_sift(test_images::constant(64, 64, 100)).frames.rows(), 0);
  EXPECT_EQ(sparse_sift(test_images::constant(60000, 1, 100)).descriptors.cols(), 128);
  for (int side = 1; side <= 14; ++side)
    for (const int other : {1, 5, side, 40}) {
      const LocalDescriptors out = sparse_sift(test_images::noise(side, other, 7));
      EXPECT_EQ(out.descriptors.rows(), out.frames.rows()) << side << " x " << other;
    }
}

TEST(SparseSift, TwoRunsAreTheSame) {
  const Image image = test_images::blobs(100, 100, 30, 8);
  EXPECT_EQ(sparse_sift(image).descriptors, sparse_sift(image).descriptors);
}

}  // namespace
}  // namespace milieu
