// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/hessian_affine.h"

extern "C" {
#include <vl/covdet.h>
}

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "milieu/feature/descriptor/dense_sift.h"

namespace milieu {
namespace {

// VLFeat's scale space has no room for a smaller image, and does not check it.
constexpr int kMinSide = 16;

// Samples from the patch's centre to its edge, and what they cover, in scales: with bins of 6
// samples, 4 bins and half a bin more on each side.
constexpr int kRadius = 15;
constexpr int kSide = 2 * kRadius + 1;
constexpr int kPatchSize = 24;
constexpr double kExtent = 7.5;
constexpr double kSmoothing = 1.0;

struct DeleteDetector {
  void operator()(VlCovDet* detector) const { vl_covdet_delete(detector); }
};
using Detector = std::unique_ptr<VlCovDet, DeleteDetector>;

float scale_of(const VlFrameOrientedEllipse& frame) {
  return std::sqrt(std::abs(frame.a11 * frame.a22 - frame.a12 * frame.a21));
}

Detector detect(const Image& image, const HessianAffineOptions& options) {
  Matrix<float> gray = image.gray();
  for (int64_t i = 0; i < gray.size(); ++i) gray.data()[i] /= 255.0f;
  Detector detector(vl_covdet_new(VL_COVDET_METHOD_HESSIAN_LAPLACE));
  vl_covdet_set_first_octave(detector.get(), -1);
  vl_covdet_set_peak_threshold(detector.get(), options.peak_threshold);
  vl_covdet_set_edge_threshold(detector.get(), options.edge_threshold);
  vl_covdet_put_image(detector.get(), gray.data(), static_cast<vl_size>(image.width),
                      static_cast<vl_size>(image.height));
  vl_covdet_detect(detector.get());
  if (options.affine) vl_covdet_extract_affine_shape(detector.get());
  if (!options.upright) vl_covdet_extract_orientations(detector.get());
  return detector;
}

// As in sparse_sift: a range of scales, then the strongest.
std::vector<VlCovDetFeature> selected(VlCovDet* detector, const HessianAffineOptions& options) {
  const auto* first = static_cast<const VlCovDetFeature*>(vl_covdet_get_features(detector));
  std::vector<VlCovDetFeature> features(first, first + vl_covdet_get_num_features(detector));
  std::erase_if(features, [&](const VlCovDetFeature& feature) {
    const float scale = scale_of(feature.frame);
    return !std::isfinite(scale) || scale < options.min_scale ||
           (options.max_scale > 0 && scale > options.max_scale);
  });
  const size_t limit = static_cast<size_t>(options.max_num_keypoints);
  if (limit == 0 || features.size() <= limit) return features;
  std::stable_sort(features.begin(), features.end(),
                   [](const VlCovDetFeature& a, const VlCovDetFeature& b) {
                     return std::abs(a.peakScore) > std::abs(b.peakScore);
                   });
  features.resize(limit);
  return features;
}

}  // namespace

LocalDescriptors hessian_affine(const Image& image, const HessianAffineOptions& options) {
  validate_options(options);
  Detector detector;
  std::vector<VlCovDetFeature> features;
  if (std::min(image.width, image.height) >= kMinSide) {
    detector = detect(image, options);
    features = selected(detector.get(), options);
  }
  // One patch in the middle of the samples.
  const DenseSiftOptions sift{.patch_size = kPatchSize,
                              .step = kSide,
                              .smoothing = 0.0,
                              .window = SiftWindow::Gaussian,
                              .contrast_floor = 0.0,
                              .root = options.root};
  const int64_t count = static_cast<int64_t>(features.size());
  Matrix<float> patch(kSide, kSide);
  LocalDescriptors out;
  out.descriptors = Matrix<float>(count, 128);
  out.frames = Matrix<float>(count, 4);
  for (int64_t i = 0; i < count; ++i) {
    const VlFrameOrientedEllipse& frame = features[i].frame;
    vl_covdet_extract_patch_for_frame(detector.get(), patch.data(), kRadius, kExtent, kSmoothing,
                                      frame);
    const LocalDescriptors one = dense_sift(patch, sift);
    std::copy_n(one.descriptors.row(0), 128, out.descriptors.row(i));
    const float values[] = {frame.x, frame.y, scale_of(frame), std::atan2(frame.a21, frame.a11)};
    std::copy_n(values, 4, out.frames.row(i));
  }
  return out;
}

}  // namespace milieu
