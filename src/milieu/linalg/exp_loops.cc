// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): loops over fixed lanes that the compiler vectorises.
//
// exp(x) = 2^n * exp(r), n = round(x / ln 2), |r| <= ln(2)/2. r is found by subtracting n * ln 2 in
// two parts (the first exact in float for |n| < 2^9); exp(r) is its Taylor polynomial of degree 7,
// whose remainder is below 1e-8 of the value on that interval.
#include "milieu/linalg/exp_loops.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

constexpr int kLanes = 16;

constexpr float kLowest = -87.0f;  // exp is 0 below: results would leave the normal floats
constexpr float kHighest = 88.0f;
constexpr float kLog2E = 1.44269504088896341f;
constexpr float kLn2High = 0.693359375f;  // nine bits
constexpr float kLn2Low = -2.12194440e-4f;
constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer

union FloatBits {
  float value;
  int32_t bits;
};

inline float exp_of(float x) {
  const float clipped = x < kLowest ? kLowest : x > kHighest ? kHighest : x;
  const float n = (clipped * kLog2E + kRound) - kRound;
  const float r = (clipped - n * kLn2High) - n * kLn2Low;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  FloatBits scale;
  scale.bits = (static_cast<int32_t>(n) + 127) << 23;
  return x < kLowest ? 0.0f : p * scale.value;
}

float largest_of(const float* row, int64_t count) {
  float lanes[kLanes];
  for (int l = 0; l < kLanes; ++l) lanes[l] = row[0];
  int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes)
    for (int l = 0; l < kLanes; ++l) lanes[l] = row[j + l] > lanes[l] ? row[j + l] : lanes[l];
  for (; j < count; ++j) lanes[0] = row[j] > lanes[0] ? row[j] : lanes[0];
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l)
      lanes[l] = lanes[l + width] > lanes[l] ? lanes[l + width] : lanes[l];
  return lanes[0];
}

}  // namespace

float softmax_row(float* row, int64_t count, double* sum) {
  const float largest = largest_of(row, count);
  double lanes[kLanes] = {};
  int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes) {
    for (int l = 0; l < kLanes; ++l) row[j + l] = exp_of(row[j + l] - largest);
    for (int l = 0; l < kLanes; ++l) lanes[l] += static_cast<double>(row[j + l]);
  }
  for (int l = 0; j < count; ++j, ++l) {
    row[j] = exp_of(row[j] - largest);
    lanes[l] += static_cast<double>(row[j]);
  }
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  *sum = lanes[0];
  const float factor = static_cast<float>(1.0 / lanes[0]);
  for (j = 0; j < count; ++j) row[j] *= factor;
  return largest;
}

void exp_values(float* values, int64_t count) {
  for (int64_t j = 0; j < count; ++j) values[j] = exp_of(values[j]);
}

}  // namespace milieu::internal::MILIEU_ISA
