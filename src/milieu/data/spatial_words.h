// SPDX-License-Identifier: Apache-2.0
// Synthetic data for context-aware clustering: a stand-in for the simulation of [Yuan08, Sec. 3.1],
// whose parameters the paper does not print. Five overlapping classes in the plane of features; in
// the plane of positions classes 0 and 1 occur together, and classes 2, 3 and 4.
#pragma once

#include <cstdint>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

inline constexpr double kSpatialWordsEpsilon = 100;  // the radius of its groups

struct SpatialWords {
  Matrix<float> features;    // n x 2
  Matrix<float> positions;   // n x 2, whole numbers
  std::vector<int> words;    // n: class, 0 to 4
  std::vector<int> phrases;  // n: pattern, 0 = {0, 1}, 1 = {2, 3, 4}
};

// Set `start` >= 1 of the family; the same numbers wherever the C library's log and cos are the
// same.
SpatialWords make_spatial_words(int64_t start);

}  // namespace milieu
