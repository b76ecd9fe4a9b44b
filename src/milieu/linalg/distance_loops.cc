// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): plain loops that the compiler vectorises.
#include "milieu/linalg/distance_loops.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

constexpr int kLanes = 16;

// The partial sums in a fixed tree.
double sum_lanes(double* lanes) {
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
}

}  // namespace

double squared_distance(const float* a, const float* b, int64_t d) {
  double lanes[kLanes] = {};
  int64_t t = 0;
  for (; t + kLanes <= d; t += kLanes)
    for (int l = 0; l < kLanes; ++l) {
      const double difference = static_cast<double>(a[t + l]) - static_cast<double>(b[t + l]);
      lanes[l] += difference * difference;
    }
  for (int l = 0; t < d; ++t, ++l) {
    const double difference = static_cast<double>(a[t]) - static_cast<double>(b[t]);
    lanes[l] += difference * difference;
  }
  return sum_lanes(lanes);
}

void squared_distances_to(const float* a, const float* columns, int64_t stride, int64_t d,
                          int64_t count, double* out) {
  constexpr int64_t kTile = 64;
  double lanes[kLanes][kTile];
  for (int64_t first = 0; first < count; first += kTile) {
    const int64_t width = count - first < kTile ? count - first : kTile;
    for (int64_t t = 0; t < d; ++t) {
      const double own = static_cast<double>(a[t]);
      const float* other = columns + t * stride + first;
      for (int64_t j = 0; j < width; ++j) {
        const double difference = own - static_cast<double>(other[j]);
        lanes[t][j] = difference * difference;
      }
    }
    // The tree of sum_lanes; lanes that hold nothing would add 0.
    int64_t used = d;
    for (int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (int64_t l = 0; l < half && l + half < used; ++l)
        for (int64_t j = 0; j < width; ++j) lanes[l][j] += lanes[l + half][j];
      used = used < half ? used : half;
    }
    for (int64_t j = 0; j < width; ++j) out[first + j] = lanes[0][j];
  }
}

double squared_norm(const float* a, int64_t d) {
  double lanes[kLanes] = {};
  int64_t t = 0;
  for (; t + kLanes <= d; t += kLanes)
    for (int l = 0; l < kLanes; ++l)
      lanes[l] += static_cast<double>(a[t + l]) * static_cast<double>(a[t + l]);
  for (int l = 0; t < d; ++t, ++l)
    lanes[l] += static_cast<double>(a[t]) * static_cast<double>(a[t]);
  return sum_lanes(lanes);
}

// 0 * x is 0 for finite x and NaN otherwise, and a NaN stays in the sum.
bool all_finite(const float* values, int64_t count) {
  float lanes[kLanes] = {};
  int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes)
    for (int l = 0; l < kLanes; ++l) lanes[l] += 0.0f * values[j + l];
  for (; j < count; ++j) lanes[0] += 0.0f * values[j];
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum == 0;
}

}  // namespace milieu::internal::MILIEU_ISA
