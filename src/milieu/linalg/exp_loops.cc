// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): sums run over fixed lanes.
#include "milieu/linalg/exp_loops.h"

#include "milieu/linalg/simd_exp.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

constexpr int kLanes = 16;

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
    for (int l = 0; l < kLanes; l += kFloatWidth)
      store(exp_of(load<Floats>(row + j + l) - largest), row + j + l);
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
  for (int64_t j = 0; j < count; j += kFloatWidth) {
    const Floats part = load_part<Floats>(values + j, count - j);
    store_part(exp_of(part), count - j, values + j);
  }
}

}  // namespace milieu::internal::MILIEU_ISA
