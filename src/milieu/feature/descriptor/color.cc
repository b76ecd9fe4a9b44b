// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/color.h"

#include <algorithm>
#include <cmath>

namespace milieu {
namespace {

struct Hsv {
  double hue;  // in [0, 6)
  double saturation;
  double value;  // both in [0, 1]
};

Hsv to_hsv(const uint8_t* rgb) {
  const int largest = std::max({rgb[0], rgb[1], rgb[2]});
  const int smallest = std::min({rgb[0], rgb[1], rgb[2]});
  const double range = largest - smallest;
  if (range == 0) return {0, 0, largest / 255.0};
  double hue = 0;
  if (largest == rgb[0])
    hue = (rgb[1] - rgb[2]) / range;
  else if (largest == rgb[1])
    hue = 2 + (rgb[2] - rgb[0]) / range;
  else
    hue = 4 + (rgb[0] - rgb[1]) / range;
  return {hue < 0 ? hue + 6 : hue, range / largest, largest / 255.0};
}

int cell(double share, int bins) { return std::min(bins - 1, static_cast<int>(share * bins)); }

}  // namespace

std::vector<float> color_histogram(const Image& image, const ColorOptions& options) {
  validate_options(options);
  const int hues = options.hue_bins;
  std::vector<int64_t> counts(static_cast<size_t>(hues) * options.saturation_bins *
                              options.value_bins);
  for (size_t i = 0; i + 2 < image.rgb.size(); i += 3) {
    const Hsv color = to_hsv(&image.rgb[i]);
    const int hue = static_cast<int>(color.hue * hues / 6 + 0.5) % hues;
    const int saturation = cell(color.saturation, options.saturation_bins);
    const int value = cell(color.value, options.value_bins);
    ++counts[(static_cast<size_t>(hue) * options.saturation_bins + saturation) *
                 options.value_bins +
             value];
  }
  std::vector<float> shares(counts.size());
  const double total = static_cast<double>(image.rgb.size()) / 3;
  std::transform(counts.begin(), counts.end(), shares.begin(), [&](int64_t count) {
    return static_cast<float>(static_cast<double>(count) / total);
  });
  return shares;
}

}  // namespace milieu
