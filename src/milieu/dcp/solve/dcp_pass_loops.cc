// SPDX-License-Identifier: Apache-2.0
// An ISA source: compiled once for each instruction set (cmake/MilieuModule.cmake).
#include "milieu/dcp/solve/dcp_pass_loops.h"

#include "milieu/linalg/simd.h"

namespace milieu::internal::MILIEU_ISA {

namespace {

constexpr int kLanes = 16;
constexpr int64_t kGroup = 8;   // rows added to a gradient together
constexpr int64_t kList = 256;  // rows scanned at a time

// gradient += sum_r slopes_r rows_r for `count` <= kGroup rows; missing ones have the slope 0.
void add_group(const float* const* rows, const float* slopes, int64_t d, float* gradient) {
  int64_t b = 0;
  for (; b + kLanes <= d; b += kLanes) {
    Float16 sum = load<Float16>(gradient + b), other = {};
    for (int64_t r = 0; r < kGroup; r += 2) {
      sum += slopes[r] * load<Float16>(rows[r] + b);
      other += slopes[r + 1] * load<Float16>(rows[r + 1] + b);
    }
    store(sum + other, gradient + b);
  }
  for (; b < d; ++b)
    for (int64_t r = 0; r < kGroup; ++r) gradient[b] += slopes[r] * rows[r][b];
}

}  // namespace

int64_t count_slopes(const float* f, int64_t stride, int64_t num_planes, int64_t count) {
  int64_t total = 0;
  for (int64_t p = 0; p < num_planes; ++p) {
    int32_t some = 0;
    for (int64_t i = 0; i < count; ++i) some += f[p * stride + i] != 0 ? 1 : 0;
    total += some;
  }
  return total;
}

void add_slopes(const float* f, int64_t stride, int64_t num_planes, const float* rows,
                int64_t count, int64_t d, float* gradient) {
  for (int64_t p = 0; p < num_planes; ++p)
    for (int64_t begin = 0; begin < count; begin += kList) {
      const int64_t end = count - begin < kList ? count : begin + kList;
      int32_t list[kList + kGroup];
      int64_t num_listed = 0;
      for (int64_t i = begin; i < end; ++i) {
        list[num_listed] = static_cast<int32_t>(i - begin);
        num_listed += f[p * stride + i] != 0 ? 1 : 0;
      }
      for (int64_t at = 0; at < num_listed; at += kGroup) {
        const float* group[kGroup];
        float slopes[kGroup];
        for (int64_t r = 0; r < kGroup; ++r) {
          const bool is_there = at + r < num_listed;
          const int64_t i = begin + list[is_there ? at + r : at];
          group[r] = rows + i * d;
          slopes[r] = is_there ? f[p * stride + i] : 0;
        }
        add_group(group, slopes, d, gradient + p * d);
      }
    }
}

}  // namespace milieu::internal::MILIEU_ISA
