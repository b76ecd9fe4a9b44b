// SPDX-License-Identifier: Apache-2.0
// The synthetic words of [Yuan08, Sec. 3.1] as the tests of this folder use them.
#pragma once

#include "milieu/base/export.h"
#include "milieu/cac/cac.h"
#include "milieu/data/spatial_words.h"

namespace MILIEU_API milieu {

inline CacInput input_of(const SpatialWords& data) {
  CacInput input;
  input.views = {data.features};
  input.positions = data.positions;
  return input;
}

inline CacOptions simulation_options() {
  CacOptions options;
  options.num_words = 5;
  options.num_phrases = 2;
  options.epsilon = kSpatialWordsEpsilon;
  return options;
}

}  // namespace milieu
