// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/dense_sift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <opencv2/features2d.hpp>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/feature/test_images.h"
#include "milieu/linalg/isa.h"

namespace milieu {
namespace {

// The definition of dense_sift.h, step by step, in double, one patch at a time.
class SlowSift {
 public:
  SlowSift(const Image& image, const DenseSiftOptions& options, int patch_size)
      : options_(options), patch_size_(patch_size), gray_(image.gray()) {
    const double sigma = options.smoothing * patch_size / options.patch_size;
    smooth_ = blurred(sigma);
  }

  std::vector<double> descriptor(int u, int v) const {
    const double side = patch_size_ / 4.0;
    const double cx = u + patch_size_ / 2, cy = v + patch_size_ / 2;
    std::vector<double> bins(128);
    for (int y = 0; y < rows(); ++y)
      for (int x = 0; x < cols(); ++x)
        for (int k = 0; k < 16; ++k) {
          const double r = std::abs(x - (cx + (k % 4 - 1.5) * side)) / side;
          const double s = std::abs(y - (cy + (k / 4 - 1.5) * side)) / side;
          if (r >= 1 || s >= 1) continue;
          double weight = (1 - r) * (1 - s) * 16 / (side * side);
          if (options_.window == SiftWindow::Gaussian)
            weight *= std::exp(-((x - cx) * (x - cx) + (y - cy) * (y - cy)) / (8 * side * side));
          vote(x, y, weight, &bins[8 * k]);
        }
    scale(bins);
    return bins;
  }

 private:
  int rows() const { return static_cast<int>(gray_.rows()); }
  int cols() const { return static_cast<int>(gray_.cols()); }
  double at(const std::vector<double>& image, int x, int y) const {
    return image[std::clamp(y, 0, rows() - 1) * cols() + std::clamp(x, 0, cols() - 1)];
  }

  std::vector<double> blurred(double sigma) const {
    std::vector<double> image(gray_.size());
    for (int64_t i = 0; i < gray_.size(); ++i) image[i] = gray_.data()[i] / 255.0;
    if (sigma == 0) return image;
    const int radius = static_cast<int>(std::ceil(3 * sigma));
    std::vector<double> out(image.size());
    for (int y = 0; y < rows(); ++y)
      for (int x = 0; x < cols(); ++x) {
        double sum = 0, total = 0;
        for (int j = -radius; j <= radius; ++j)
          for (int i = -radius; i <= radius; ++i) {
            const double weight = std::exp(-(i * i + j * j) / (2 * sigma * sigma));
            sum += weight * at(image, x + i, y + j);
            total += weight;
          }
        out[y * cols() + x] = sum / total;
      }
    return out;
  }

  void vote(int x, int y, double weight, double* bins) const {
    const double dx = (at(smooth_, x + 1, y) - at(smooth_, x - 1, y)) / 2;
    const double dy = (at(smooth_, x, y - 1) - at(smooth_, x, y + 1)) / 2;
    double turns = std::atan2(dy, dx) / (2 * std::numbers::pi);
    if (turns < 0) turns += 1;
    const double place = 8 * turns;
    const int below = static_cast<int>(place);
    const double share = place - below;
    bins[below % 8] += weight * std::hypot(dx, dy) * (1 - share);
    bins[(below + 1) % 8] += weight * std::hypot(dx, dy) * share;
  }

  static double norm_of(const std::vector<double>& x) {
    double sum = 0;
    for (const double value : x) sum += value * value;
    return std::sqrt(sum);
  }

  void scale(std::vector<double>& x) const {
    const double norm = norm_of(x);
    if (norm == 0) return;
    const bool is_flat = norm < options_.contrast_floor;
    for (double& value : x)
      value = std::min(options_.clip, value / std::max(norm, options_.contrast_floor));
    double length = norm_of(x);
    if (!is_flat) {
      for (double& value : x) value /= length;
      length = 1;
    }
    if (!options_.root) return;
    double sum = 0;
    for (const double value : x) sum += value;
    for (double& value : x) value = length * std::sqrt(value / sum);
  }

  DenseSiftOptions options_;
  int patch_size_;
  Matrix<float> gray_;
  std::vector<double> smooth_;
};

void expect_twin(const Image& image, const DenseSiftOptions& options) {
  const LocalDescriptors fast = dense_sift(image, options);
  ASSERT_GT(fast.descriptors.rows(), 0);
  for (int64_t i = 0; i < fast.frames.rows(); ++i) {
    const int side = static_cast<int>(fast.frames(i, 2));
    if (i % 3 && side == options.patch_size) continue;  // every third is enough
    const SlowSift slow(image, options, side);
    const std::vector<double> expected =
        slow.descriptor(static_cast<int>(fast.frames(i, 0)) - side / 2,
                        static_cast<int>(fast.frames(i, 1)) - side / 2);
    // Votes may go to the next direction by 3e-6 of their length; floats have 6e-8.
    for (int t = 0; t < 128; ++t)
      ASSERT_NEAR(fast.descriptors(i, t), expected[t], options.root ? 2e-3 : 2e-5)
          << "descriptor " << i << ", number " << t;
  }
}

TEST(DenseSift, EqualsTheSlowDefinition) {
  expect_twin(test_images::noise(37, 29, 1), {});
  expect_twin(test_images::blobs(40, 33, 10, 2), {.step = 5});
}

TEST(DenseSift, EqualsTheSlowDefinitionForEveryOption) {
  const Image image = test_images::blobs(45, 38, 12, 3);
  expect_twin(image, {.window = SiftWindow::Gaussian});
  expect_twin(image, {.step = 7, .window = SiftWindow::Gaussian});
  expect_twin(image, {.patch_size = 12, .step = 6});
  expect_twin(image, {.patch_size = 20, .step = 30, .smoothing = 0.0});
  expect_twin(image, {.patch_size = 4, .step = 9, .smoothing = 0.5});
  expect_twin(image, {.step = 16, .contrast_floor = 100.0});
  expect_twin(image, {.step = 16, .contrast_floor = 0.0, .clip = 1.0});
  expect_twin(image, {.step = 16, .root = true});
  expect_twin(image, {.step = 16, .contrast_floor = 100.0, .root = true});
}

TEST(DenseSift, EveryScaleEqualsTheSlowDefinition) {
  expect_twin(test_images::blobs(45, 38, 12, 4), {.step = 15, .num_scales = 2});
}

TEST(DenseSift, GridIsCentredAndInsideTheImage) {
  const LocalDescriptors out = dense_sift(test_images::noise(53, 30, 5), {.step = 8});
  EXPECT_EQ(out.grid_cols, 5);  // 37 = 4 * 8 + 5: two pixels are left over before, three behind
  EXPECT_EQ(out.grid_rows, 2);
  ASSERT_EQ(out.descriptors.rows(), 10);
  EXPECT_EQ(out.frames(0, 0), 2 + 8);
  EXPECT_EQ(out.frames(0, 1), 3 + 8);
  EXPECT_EQ(out.frames(6, 0), 2 + 8 + 8);
  EXPECT_EQ(out.frames(6, 1), 3 + 8 + 8);
  EXPECT_EQ(out.frames(6, 2), 16);
}

TEST(DenseSift, SeveralScalesComeOneAfterTheOther) {
  const Image image = test_images::noise(64, 64, 6);
  const LocalDescriptors both = dense_sift(image, {.step = 16, .num_scales = 2, .scale_step = 2});
  const LocalDescriptors first = dense_sift(image, {.step = 16});
  const LocalDescriptors second = dense_sift(image, {.patch_size = 32, .step = 16, .smoothing = 2});
  EXPECT_EQ(both.grid_rows, 0);
  ASSERT_EQ(both.descriptors.rows(), 16 + 9);
  EXPECT_EQ(Matrix<float>(both.descriptors.view().rows_between(0, 16)), first.descriptors);
  // The floor is in the unit of a 16 x 16 patch, so the second scale is the same function.
  EXPECT_EQ(Matrix<float>(both.descriptors.view().rows_between(16, 25)), second.descriptors);
}

TEST(DenseSift, SmallImagesHaveNoDescriptors) {
  for (const auto& [width, height] :
       {std::pair(1, 1), std::pair(15, 40), std::pair(40, 15), std::pair(60000, 1)}) {
    const LocalDescriptors out = dense_sift(test_images::constant(width, height, 9));
    EXPECT_EQ(out.descriptors.rows(), 0);
    EXPECT_EQ(out.descriptors.cols(), 128);
    EXPECT_EQ(out.frames.rows(), 0);
    EXPECT_EQ(out.grid_rows, 0);
    EXPECT_EQ(out.grid_cols, 0);
  }
  EXPECT_EQ(dense_sift(test_images::noise(16, 16, 7)).descriptors.rows(), 1);
}

TEST(DenseSift, ConstantImageGivesZeros) {
  const LocalDescriptors out = dense_sift(test_images::constant(40, 40, 77), {.root = true});
  for (const float value : out.descriptors.row_span(3)) EXPECT_EQ(value, 0.0f);
}

TEST(DenseSift, FlatPatchesAreShortOthersHaveNormOne) {
  const auto norm = [](const Image& image) {
    const LocalDescriptors out = dense_sift(image);
    double sum = 0;
    for (const float value : out.descriptors.row_span(4)) sum += value * value;
    return std::sqrt(sum);
  };
  EXPECT_NEAR(norm(test_images::grating(40, 40, 9, 0.3, 100)), 1, 1e-5);
  // Three grey levels over forty pixels are below the floor.
  EXPECT_LT(norm(test_images::grating(40, 40, 160, 0.3, 3)), 0.9);
}

TEST(DenseSift, ShiftByOneStepShiftsTheGrid) {
  const Image large = test_images::blobs(120, 110, 60, 8);
  const Image here = test_images::crop(large, 0, 0, 96, 96);
  const Image there = test_images::crop(large, 8, 8, 96, 96);
  const LocalDescriptors a = dense_sift(here), b = dense_sift(there);
  // Away from the edges, which see repeated pixels.
  for (int i = 2; i + 2 < a.grid_rows; ++i)
    for (int j = 2; j + 2 < a.grid_cols; ++j)
      for (int t = 0; t < 128; ++t)
        ASSERT_EQ(a.descriptors(i * a.grid_cols + j, t),
                  b.descriptors((i - 1) * b.grid_cols + j - 1, t));
}

TEST(DenseSift, GratingVotesForItsDirectionAndTheOpposite) {
  // Crests perpendicular to 45 degrees (x right, y down): the gradient points down right or up
  // left, which is direction 7 (315 degrees counter-clockwise) or 3.
  const LocalDescriptors out =
      dense_sift(test_images::grating(64, 64, 8, std::numbers::pi / 4), {.clip = 1.0});
  double sums[8] = {};
  for (int t = 0; t < 128; ++t) sums[t % 8] += out.descriptors(10, t);
  for (const int direction : {0, 1, 2, 4, 5, 6})
    EXPECT_LT(sums[direction], 0.1 * std::min(sums[3], sums[7])) << direction;
}

TEST(DenseSift, BrightnessAndContrastDoNotMatter) {
  const auto image = [](double offset, double gain) {
    return test_images::from_function(
        48, 48, [&](int x, int y) { return offset + gain * ((x * x + 3 * y * x + 2 * y) % 50); });
  };
  const LocalDescriptors a = dense_sift(image(0, 1)), b = dense_sift(image(50, 4));
  for (int64_t i = 0; i < a.descriptors.size(); ++i)
    ASSERT_NEAR(a.descriptors.data()[i], b.descriptors.data()[i], 1e-5);
}

TEST(DenseSift, EveryInstructionSetGivesTheSameBits) {
  const Image image = test_images::noise(83, 61, 9);
  for (const DenseSiftOptions& options :
       {DenseSiftOptions{},
        DenseSiftOptions{.step = 3, .window = SiftWindow::Gaussian, .root = true}}) {
    const LocalDescriptors best = dense_sift(image, options);
    for (const Isa isa : {Isa::Baseline, Isa::V3, Isa::V4}) {
      if (isa > best_isa()) continue;
      const ScopedIsa scoped(isa);
      EXPECT_EQ(dense_sift(image, options).descriptors, best.descriptors) << to_string(isa);
    }
  }
}

// OpenCV: smoothed to 1.6 from an assumed 0.5, Gaussian window, no floor, numbers rounded to
// 1/512. Its samples leave out the image's outermost pixels, so only inner patches are the same.
TEST(DenseSift, AgreesWithOpenCv) {
  const Image image = test_images::blobs(128, 128, 80, 10);
  const DenseSiftOptions options{.step = 8,
                                 .smoothing = std::sqrt(1.6 * 1.6 - 0.5 * 0.5),
                                 .window = SiftWindow::Gaussian,
                                 .contrast_floor = 0.0};
  const LocalDescriptors ours = dense_sift(image, options);
  cv::Mat gray(128, 128, CV_8U);
  for (int y = 0; y < 128; ++y)
    for (int x = 0; x < 128; ++x) gray.at<uint8_t>(y, x) = image.pixel(x, y)[0];
  std::vector<cv::KeyPoint> keypoints;
  std::vector<int64_t> row_from_keypoint;
  for (int64_t i = 0; i < ours.frames.rows(); ++i) {
    const float x = ours.frames(i, 0), y = ours.frames(i, 1);
    if (x < 16 || y < 16 || x > 111 || y > 111) continue;
    keypoints.emplace_back(x, y, 16.0f / 6, 0.0f);
    row_from_keypoint.push_back(i);
  }
  const size_t expected = keypoints.size();
  cv::Mat theirs;
  cv::SIFT::create()->compute(gray, keypoints, theirs);
  ASSERT_EQ(keypoints.size(), expected);
  ASSERT_EQ(theirs.rows, static_cast<int>(expected));
  for (int k = 0; k < theirs.rows; ++k)
    for (int t = 0; t < 128; ++t)
      // One step of 1/512 for the rounding, one for its approximate angles and exponentials.
      EXPECT_NEAR(theirs.at<float>(k, t) / 512, ours.descriptors(row_from_keypoint[k], t),
                  2.0 / 512)
          << k << " " << t;
}

TEST(DenseSift, WrongOptionsAreNamed) {
  const Image image = test_images::noise(20, 20, 11);
  EXPECT_THROW(dense_sift(image, {.patch_size = 18}), InvalidArgument);
  EXPECT_THROW(dense_sift(image, {.step = 0}), InvalidArgument);
  try {
    dense_sift(image, {.patch_size = 18});
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "patch_size is 18, must be a multiple of 4: a patch has 4 bins per side");
  }
}

}  // namespace
}  // namespace milieu
