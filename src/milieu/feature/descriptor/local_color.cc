// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/local_color.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/feature/descriptor/sift_grid_internal.h"

namespace milieu {
namespace {

std::array<float, 3> hsv_of(const uint8_t* rgb) {
  const int r = rgb[0], g = rgb[1], b = rgb[2];
  const int high = std::max({r, g, b}), low = std::min({r, g, b});
  const int range = high - low;
  if (range == 0) return {0, 0, static_cast<float>(high) / 255};
  const float sixths = high == r   ? static_cast<float>(g - b) / range
                       : high == g ? 2 + static_cast<float>(b - r) / range
                                   : 4 + static_cast<float>(r - g) / range;
  return {(sixths < 0 ? sixths + 6 : sixths) / 6, static_cast<float>(range) / high,
          static_cast<float>(high) / 255};
}

std::array<float, 3> channels_of(const uint8_t* rgb, ColorSpace space) {
  if (space == ColorSpace::Hsv) return hsv_of(rgb);
  return {rgb[0] / 255.0f, rgb[1] / 255.0f, rgb[2] / 255.0f};
}

// The box of each pixel.
std::vector<uint16_t> boxes_of(const Image& image, const LocalColorOptions& options) {
  std::vector<uint16_t> boxes(static_cast<size_t>(image.width) * image.height);
  for (size_t i = 0; i < boxes.size(); ++i) {
    int box = 0;
    for (const float channel : channels_of(image.rgb.data() + 3 * i, options.color_space))
      box = box * options.num_bins +
            std::min(options.num_bins - 1, static_cast<int>(channel * options.num_bins));
    boxes[i] = static_cast<uint16_t>(box);
  }
  return boxes;
}

void scale_to_shares(std::span<float> counts) {
  float sum = 0;
  for (const float count : counts) sum += count;
  for (float& count : counts) count /= sum;
}

LocalDescriptors empty_descriptors(int64_t count, int num_bins) {
  LocalDescriptors out;
  out.descriptors = Matrix<float>(count, num_bins * num_bins * num_bins);
  out.frames = Matrix<float>(count, 4);
  return out;
}

// Counts the pixels of one frame.
void count_disc(const Image& image, const std::vector<uint16_t>& boxes, const float* frame,
                double extent, std::span<float> counts) {
  const double radius = extent * frame[2];
  const auto box = [&](int64_t x, int64_t y) { return boxes[y * image.width + x]; };
  const int64_t top = std::max<int64_t>(0, static_cast<int64_t>(std::ceil(frame[1] - radius)));
  const int64_t bottom =
      std::min<int64_t>(image.height - 1, static_cast<int64_t>(std::floor(frame[1] + radius)));
  bool any = false;
  for (int64_t y = top; y <= bottom; ++y) {
    const double half = std::sqrt(std::max(0.0, radius * radius - (y - frame[1]) * (y - frame[1])));
    const int64_t left = std::max<int64_t>(0, static_cast<int64_t>(std::ceil(frame[0] - half)));
    const int64_t right =
        std::min<int64_t>(image.width - 1, static_cast<int64_t>(std::floor(frame[0] + half)));
    for (int64_t x = left; x <= right; ++x) ++counts[box(x, y)];
    any = any || left <= right;
  }
  if (any) return;
  const auto nearest = [](float place, int size) {
    return std::clamp<int64_t>(std::lround(place), 0, size - 1);
  };
  ++counts[box(nearest(frame[0], image.width), nearest(frame[1], image.height))];
}

}  // namespace

LocalDescriptors local_color(const Image& image, const LocalColorOptions& options) {
  validate_options(options);
  internal::GridAxis rows = internal::grid_axis(image.height, options.patch_size, options.step);
  internal::GridAxis columns = internal::grid_axis(image.width, options.patch_size, options.step);
  if (rows.count * columns.count == 0) rows = columns = {};
  const std::vector<uint16_t> boxes = boxes_of(image, options);
  LocalDescriptors out = empty_descriptors(rows.count * columns.count, options.num_bins);
  out.grid_rows = static_cast<int>(rows.count);
  out.grid_cols = static_cast<int>(columns.count);
  for (int64_t i = 0; i < out.descriptors.rows(); ++i) {
    const int64_t top = rows.first + i / columns.count * options.step;
    const int64_t left = columns.first + i % columns.count * options.step;
    const std::span<float> counts = out.descriptors.row_span(i);
    for (int64_t y = top; y < top + options.patch_size; ++y)
      for (int64_t x = left; x < left + options.patch_size; ++x)
        ++counts[boxes[y * image.width + x]];
    scale_to_shares(counts);
    const int half = options.patch_size / 2;
    const float frame[] = {static_cast<float>(left + half), static_cast<float>(top + half),
                           static_cast<float>(options.patch_size), 0};
    std::copy_n(frame, 4, out.frames.row(i));
  }
  return out;
}

LocalDescriptors local_color_at(const Image& image, FloatView frames,
                                const LocalColorOptions& options) {
  validate_options(options);
  require(frames.rows() == 0 || frames.cols() == 4, [&] {
    return fmt::format("frames have {}, must have 4: x, y, scale, angle",
                       counted(frames.cols(), "column"));
  });
  const std::vector<uint16_t> boxes = boxes_of(image, options);
  LocalDescriptors out = empty_descriptors(frames.rows(), options.num_bins);
  for (int64_t i = 0; i < frames.rows(); ++i) {
    const float* frame = frames.row(i);
    const bool is_inside = frame[0] >= -0.5f && frame[0] <= image.width - 0.5f &&
                           frame[1] >= -0.5f && frame[1] <= image.height - 0.5f;
    require(is_inside, [&] {
      return fmt::format("frame {} is at ({}, {}), must be in the image of {} x {} pixels", i,
                         frame[0], frame[1], image.width, image.height);
    });
    count_disc(image, boxes, frame, options.extent, out.descriptors.row_span(i));
    scale_to_shares(out.descriptors.row_span(i));
    std::copy_n(frame, 4, out.frames.row(i));
  }
  return out;
}

}  // namespace milieu
