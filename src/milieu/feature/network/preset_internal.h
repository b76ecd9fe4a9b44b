// SPDX-License-Identifier: Apache-2.0
// How the usual networks want their images, and how Hugging Face's preprocessor_config.json says
// it.
#pragma once

#include <array>

#include "milieu/feature/network/preprocess_internal.h"

namespace milieu::internal {

// The input is (pixel * scale - mean) / std, pixels in [0, 255].
struct Preset {
  int size = 224;  // where the network takes any
  double margin = 1;
  bool keeps_aspect = true;
  Interpolation interpolation = Interpolation::Bilinear;
  std::array<double, 3> scale = {1 / 255.0, 1 / 255.0, 1 / 255.0};
  std::array<double, 3> mean = {0, 0, 0};
  std::array<double, 3> std = {1, 1, 1};
};

// Auto is Unit.
Preset preset_of(NetworkPreset name);

// Throws DataError that names the file.
Preset read_preset(const PreprocessorConfig& config);

}  // namespace milieu::internal
