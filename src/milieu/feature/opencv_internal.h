// SPDX-License-Identifier: Apache-2.0
// Images as OpenCV needs them. Internal to the module.
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>

#include "milieu/feature/image.h"

namespace milieu::internal {

// Luma rounded to bytes.
inline cv::Mat gray_bytes(const Image& image) {
  const Matrix<float> gray = image.gray();
  cv::Mat out(image.height, image.width, CV_8U);
  for (int y = 0; y < image.height; ++y) {
    const float* in = gray.row(y);
    uint8_t* to = out.ptr<uint8_t>(y);
    for (int x = 0; x < image.width; ++x) to[x] = static_cast<uint8_t>(in[x] + 0.5f);
  }
  return out;
}

// Images are worked on in parallel, so OpenCV needs no threads itself: numbers and speed do
// not depend on them. Its log would go to stderr.
inline void quiet_opencv() {
  cv::setNumThreads(1);
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
}

}  // namespace milieu::internal
