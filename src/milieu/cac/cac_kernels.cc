// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): loops over lanes that the compiler vectorises.
#include "milieu/cac/cac_kernels.h"

namespace milieu::MILIEU_ISA {
namespace {

constexpr int64_t kLanes = internal::kScoreLanes;
constexpr int64_t kDoubles = 8;

inline float lower(float a, float b) { return a < b ? a : b; }

inline float lowest_lane(float* lanes) {
  for (int64_t width = kLanes / 2; width > 0; width /= 2)
    for (int64_t l = 0; l < width; ++l) lanes[l] = lower(lanes[l], lanes[l + width]);
  return lanes[0];
}

}  // namespace

float score_words(const float* distances, int64_t stride, const float* const* signs,
                  const float* weights, int num_signs, float* scores) {
  float lanes[kLanes];
  for (int64_t l = 0; l < kLanes; ++l) lanes[l] = __builtin_inff();
  for (int64_t m = 0; m < stride; m += kLanes) {
    float part[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) part[l] = distances[m + l];
    for (int t = 0; t < num_signs; ++t) {
      const float weight = weights[t];
      const float* row = signs[t] + m;
      for (int64_t l = 0; l < kLanes; ++l) part[l] -= weight * row[l];
    }
    for (int64_t l = 0; l < kLanes; ++l) {
      scores[m + l] = part[l];
      lanes[l] = lower(part[l], lanes[l]);
    }
  }
  return lowest_lane(lanes);
}

internal::WordCount count_within(const float* scores, int64_t stride, float limit) {
  int count = 0, index_sum = 0;
  for (int64_t m = 0; m < stride; ++m) {
    const int is_within = scores[m] <= limit ? 1 : 0;
    count += is_within;
    index_sum += is_within * static_cast<int>(m);
  }
  return {count, index_sum};
}

void add_rows(const int* members, int64_t count, const int* words, const double* table,
              int64_t stride, double* sums) {
  if (stride == kDoubles) {  // the usual few phrases: the sums stay in registers
    double part[kDoubles];
    for (int64_t k = 0; k < kDoubles; ++k) part[k] = sums[k];
    for (int64_t e = 0; e < count; ++e) {
      const double* row = table + static_cast<int64_t>(words[members[e]]) * kDoubles;
      for (int64_t k = 0; k < kDoubles; ++k) part[k] += row[k];
    }
    for (int64_t k = 0; k < kDoubles; ++k) sums[k] = part[k];
    return;
  }
  for (int64_t e = 0; e < count; ++e) {
    const double* row = table + static_cast<int64_t>(words[members[e]]) * stride;
    for (int64_t k = 0; k < stride; ++k) sums[k] += row[k];
  }
}

}  // namespace milieu::MILIEU_ISA
