// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): loops that the compiler vectorises unaided.
#include "milieu/exemplar/search/dual_loops.h"

namespace milieu::internal::MILIEU_ISA {

double sum_below(const int* index, const float* cost, int64_t count, const double* v) {
  constexpr int kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int l = 0; l < kLanes; ++l) {
      const double difference = static_cast<double>(cost[i + l]) - v[index[i + l]];
      lanes[l] += difference < 0 ? difference : 0.0;
    }
  for (; i < count; ++i) {
    const double difference = static_cast<double>(cost[i]) - v[index[i]];
    lanes[0] += difference < 0 ? difference : 0.0;
  }
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
}

}  // namespace milieu::internal::MILIEU_ISA
