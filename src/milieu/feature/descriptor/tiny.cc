// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/tiny.h"

#include <cmath>

namespace milieu {
namespace {

void normalize(std::vector<float>& values) {
  double mean = 0, squares = 0;
  for (const float value : values) mean += value;
  mean /= static_cast<double>(values.size());
  for (const float value : values) squares += (value - mean) * (value - mean);
  // Rounding leaves about 1e-7 of a constant image.
  const double scale = squares > 1e-9 ? 1 / std::sqrt(squares) : 0;
  for (float& value : values) value = static_cast<float>((value - mean) * scale);
}

}  // namespace

std::vector<float> tiny(const Image& image, const TinyOptions& options) {
  validate_options(options);
  const Image small = resize(image, options.size, options.size);
  std::vector<float> values;
  if (options.color) {
    values.assign(small.rgb.begin(), small.rgb.end());
  } else {
    const Matrix<float> gray = small.gray();
    values.assign(gray.data(), gray.data() + gray.size());
  }
  for (float& value : values) value /= 255;
  if (options.normalize) normalize(values);
  return values;
}

}  // namespace milieu
