// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/sparse_sift.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <opencv2/features2d.hpp>
#include <span>
#include <vector>

#include "milieu/feature/opencv_internal.h"

namespace milieu {
namespace {

constexpr int kSize = 128;

// OpenCV leaves out the outermost 5 pixels of each octave, of which the first is the doubled
// image: smaller ones have no keypoints, and no octave either.
constexpr int kMinSide = 6;

double scale_of(const cv::KeyPoint& keypoint) { return 0.5 * keypoint.size; }

// What [Yuan08, section 3.2] calls keypoints of a range of scales; then the strongest, of equal
// ones the first.
void select(std::vector<cv::KeyPoint>& keypoints, const SparseSiftOptions& options) {
  std::erase_if(keypoints, [&](const cv::KeyPoint& k) {
    return scale_of(k) < options.min_scale ||
           (options.max_scale > 0 && scale_of(k) > options.max_scale);
  });
  const size_t limit = static_cast<size_t>(options.max_num_keypoints);
  if (limit == 0 || keypoints.size() <= limit) return;
  std::stable_sort(
      keypoints.begin(), keypoints.end(),
      [](const cv::KeyPoint& a, const cv::KeyPoint& b) { return a.response > b.response; });
  keypoints.resize(limit);
}

// Upright keypoints differ only by their angle where a place has several: keep one.
void set_upright(std::vector<cv::KeyPoint>& keypoints) {
  std::vector<cv::KeyPoint> kept;
  for (cv::KeyPoint keypoint : keypoints) {
    keypoint.angle = 0;
    const bool is_new = std::none_of(kept.begin(), kept.end(), [&](const cv::KeyPoint& other) {
      return other.pt == keypoint.pt && other.size == keypoint.size;
    });
    if (is_new) kept.push_back(keypoint);
  }
  keypoints = std::move(kept);
}

void scale_descriptor(const float* in, bool root, std::span<float> out) {
  constexpr float kUnit = 512;  // OpenCV's norm
  float sum = 0;
  for (int t = 0; t < kSize; ++t) sum += in[t];
  for (int t = 0; t < kSize; ++t) out[t] = root && sum > 0 ? std::sqrt(in[t] / sum) : in[t] / kUnit;
}

}  // namespace

LocalDescriptors sparse_sift(const Image& image, const SparseSiftOptions& options) {
  validate_options(options);
  std::vector<cv::KeyPoint> keypoints;
  cv::Mat descriptors;
  if (std::min(image.width, image.height) >= kMinSide) {
    const cv::Mat gray = internal::gray_bytes(image);
    const auto sift =
        cv::SIFT::create(0, 3, options.contrast_threshold, options.edge_threshold, 1.6);
    sift->detect(gray, keypoints);
    if (options.upright) set_upright(keypoints);
    select(keypoints, options);
    if (!keypoints.empty()) sift->compute(gray, keypoints, descriptors);
  }
  LocalDescriptors out;
  const int64_t count = static_cast<int64_t>(keypoints.size());
  out.descriptors = Matrix<float>(count, kSize);
  out.frames = Matrix<float>(count, 4);
  for (int64_t i = 0; i < count; ++i) {
    const cv::KeyPoint& keypoint = keypoints[i];
    const float frame[] = {keypoint.pt.x, keypoint.pt.y, static_cast<float>(scale_of(keypoint)),
                           keypoint.angle * std::numbers::pi_v<float> / 180};
    std::copy_n(frame, 4, out.frames.row(i));
    scale_descriptor(descriptors.ptr<float>(static_cast<int>(i)), options.root,
                     out.descriptors.row_span(i));
  }
  return out;
}

}  // namespace milieu
