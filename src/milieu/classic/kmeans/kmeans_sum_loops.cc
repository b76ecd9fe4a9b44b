// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): sums of points, loops that the compiler vectorises.
#include "milieu/classic/kmeans/kmeans_loops.h"

namespace milieu::internal::MILIEU_ISA {

void add_row(double weight, const float* x, int64_t d, double* sum) {
  for (int64_t t = 0; t < d; ++t) sum[t] += weight * static_cast<double>(x[t]);
}

double add_centered_row(double weight, const float* x, const double* center, int64_t d,
                        double* sum) {
  constexpr int kLanes = 8;
  double lanes[kLanes] = {};
  int64_t t = 0;
  for (; t + kLanes <= d; t += kLanes)
    for (int l = 0; l < kLanes; ++l) {
      const double difference = static_cast<double>(x[t + l]) - center[t + l];
      sum[t + l] += weight * difference;
      lanes[l] += difference * difference;
    }
  for (int l = 0; t < d; ++t, ++l) {
    const double difference = static_cast<double>(x[t]) - center[t];
    sum[t] += weight * difference;
    lanes[l] += difference * difference;
  }
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
}

}  // namespace milieu::internal::MILIEU_ISA
