// SPDX-License-Identifier: Apache-2.0
// Points and comparisons that several tests of this folder share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/random.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// A point for each value.
inline Matrix<float> line(const std::vector<float>& values) {
  Matrix<float> points(static_cast<int64_t>(values.size()), 1);
  std::copy(values.begin(), values.end(), points.data());
  return points;
}

inline Matrix<float> normal_points(int64_t n, int64_t d, uint64_t seed) {
  Random random(seed);
  Matrix<float> points(n, d);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(random.normal());
  return points;
}

inline bool same_partition(const std::vector<int>& a, const std::vector<int>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if ((a[i] == a[j]) != (b[i] == b[j])) return false;
  return a.size() == b.size();
}

}  // namespace milieu
