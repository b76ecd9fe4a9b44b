// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/gist.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <opencv2/core.hpp>
#include <tuple>

namespace milieu {
namespace {

// The image and its margin: at least an eighth of the side, so that OpenCV transforms the size
// fast.
struct GistSize {
  int side = 0;
  int margin = 0;

  explicit GistSize(const GistOptions& options) : side(options.side) {
    const int wanted = options.side + options.side / 4;
    int size = cv::getOptimalDFTSize(wanted);
    while ((size - side) % 2) size = cv::getOptimalDFTSize(size + 1);
    margin = (size - side) / 2;
  }
  int full() const { return side + 2 * margin; }
};

// Cycles per pixel of place i in a transformed row of n.
double frequency(int i, int n) { return static_cast<double>(i < (n + 1) / 2 ? i : i - n) / n; }

// transfer(fx, fy) at each place of the spectrum, fy downwards.
template <class Transfer>
cv::Mat sampled_transfer(int size, Transfer&& transfer) {
  cv::Mat out(size, size, CV_32F);
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x)
      out.at<float>(y, x) = static_cast<float>(transfer(frequency(x, size), frequency(y, size)));
  return out;
}

cv::Mat low_pass(const GistSize& size) {
  return sampled_transfer(size.full(), [&](double fx, double fy) {
    const double cycles = (fx * fx + fy * fy) * size.side * size.side;
    return std::exp(-cycles * std::numbers::ln2 / 16);
  });
}

// Step 3 of gist.h.
cv::Mat band_pass(const GistSize& size, const GistOptions& options, int scale, int direction) {
  const double center = 0.3 / std::pow(1.85, scale);
  const double angle = std::numbers::pi * direction / options.num_directions;
  const double sharpness =
      std::numbers::pi * options.num_directions * options.num_directions / 16.0;
  return sampled_transfer(size.full(), [&](double fx, double fy) {
    const double f = std::hypot(fx, fy);
    if (f == 0) return 0.0;  // no direction
    const double radial = f / center - 1;
    const double turn = std::remainder(std::atan2(fy, fx) - angle, 2 * std::numbers::pi);
    return std::exp(-3.5 * radial * radial - sharpness * turn * turn);
  });
}

struct GistFilters {
  cv::Mat low;
  std::vector<cv::Mat> bands;  // scale slowest
};

// Filters are large and the same for every image: made once for each set of options.
std::shared_ptr<const GistFilters> filters_for(const GistOptions& options) {
  using Key = std::tuple<int, int, int>;
  static std::mutex mutex;
  static std::map<Key, std::shared_ptr<const GistFilters>> known;
  const std::lock_guard lock(mutex);
  auto& entry = known[Key(options.side, options.num_scales, options.num_directions)];
  if (!entry) {
    const GistSize size(options);
    auto filters = std::make_shared<GistFilters>();
    filters->low = low_pass(size);
    for (int s = 0; s < options.num_scales; ++s)
      for (int d = 0; d < options.num_directions; ++d)
        filters->bands.push_back(band_pass(size, options, s, d));
    entry = filters;
  }
  return entry;
}

cv::Mat spectrum_of(const cv::Mat& image) {
  cv::Mat out;
  cv::dft(image, out, cv::DFT_COMPLEX_OUTPUT);
  return out;
}

// Real numbers times complex ones.
cv::Mat filtered(const cv::Mat& spectrum, const cv::Mat& transfer) {
  cv::Mat out(spectrum.size(), CV_32FC2);
  for (int y = 0; y < out.rows; ++y) {
    const auto* in = spectrum.ptr<cv::Vec2f>(y);
    const float* factor = transfer.ptr<float>(y);
    auto* to = out.ptr<cv::Vec2f>(y);
    for (int x = 0; x < out.cols; ++x) to[x] = in[x] * factor[x];
  }
  cv::dft(out, out, cv::DFT_INVERSE | cv::DFT_SCALE);
  return out;
}

cv::Mat smoothed(const cv::Mat& image, const cv::Mat& low) {
  cv::Mat channels[2];
  cv::split(filtered(spectrum_of(image), low), channels);
  return channels[0];
}

// Steps 1 and 2 of gist.h.
cv::Mat evened(const Image& image, const GistSize& size, const cv::Mat& low) {
  const Matrix<float> gray = resize(image, size.side, size.side).gray();
  cv::Mat small(size.side, size.side, CV_32F);
  for (int y = 0; y < size.side; ++y)
    for (int x = 0; x < size.side; ++x) small.at<float>(y, x) = std::log1p(gray(y, x));
  cv::Mat padded;
  cv::copyMakeBorder(small, padded, size.margin, size.margin, size.margin, size.margin,
                     cv::BORDER_REFLECT);
  const cv::Mat high = padded - smoothed(padded, low);
  const cv::Mat energy = smoothed(high.mul(high), low);
  cv::Mat out(high.size(), CV_32F);
  for (int y = 0; y < out.rows; ++y)
    for (int x = 0; x < out.cols; ++x)
      out.at<float>(y, x) =
          high.at<float>(y, x) / (0.2f + std::sqrt(std::max(0.0f, energy.at<float>(y, x))));
  return out;
}

void append_block_means(const cv::Mat& response, const GistSize& size, int num_blocks,
                        std::vector<float>& out) {
  for (int by = 0; by < num_blocks; ++by)
    for (int bx = 0; bx < num_blocks; ++bx) {
      const int top = by * size.side / num_blocks, bottom = (by + 1) * size.side / num_blocks;
      const int left = bx * size.side / num_blocks, right = (bx + 1) * size.side / num_blocks;
      double sum = 0;
      for (int y = top; y < bottom; ++y) {
        const auto* row = response.ptr<cv::Vec2f>(y + size.margin) + size.margin;
        for (int x = left; x < right; ++x)
          sum += std::sqrt(row[x][0] * row[x][0] + row[x][1] * row[x][1]);
      }
      out.push_back(static_cast<float>(sum / ((bottom - top) * (right - left))));
    }
}

}  // namespace

std::vector<float> gist(const Image& image, const GistOptions& options) {
  validate_options(options);
  const GistSize size(options);
  const auto filters = filters_for(options);
  const cv::Mat spectrum = spectrum_of(evened(image, size, filters->low));
  std::vector<float> out;
  for (const cv::Mat& band : filters->bands)
    append_block_means(filtered(spectrum, band), size, options.num_blocks, out);
  return out;
}

}  // namespace milieu
