// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): the loops over the groups of one point. They are
// written so that the compiler vectorises them, with errno and traps of mathematics switched off
// for this file (CMakeLists.txt).
#include "milieu/classic/kmeans_kernels.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace milieu::MILIEU_ISA {
namespace {

using internal::BoundJob;
using internal::BoundResult;
using internal::BoundTable;
using internal::kNotScored;

constexpr int kLanes = 16;
constexpr int kMaxCount = 64;

uint64_t low_bits(int64_t count) {
  return count >= kMaxCount ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

// Bit g of the result is the top bit of flags[g], for 64 of them.
uint64_t top_bits(const uint8_t* flags) {
  uint64_t bits = 0;
#if defined(__AVX2__)
  for (int part = 0; part < 2; ++part) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(flags + 32 * part));
    bits |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(v))) << (32 * part);
  }
#elif defined(__SSE2__)
  for (int part = 0; part < 4; ++part) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(flags + 16 * part));
    bits |= static_cast<uint64_t>(_mm_movemask_epi8(v)) << (16 * part);
  }
#else
  for (int g = 0; g < kMaxCount; ++g) bits |= static_cast<uint64_t>(flags[g] >> 7) << g;
#endif
  return bits;
}

}  // namespace

uint64_t groups_not_excluded(const uint8_t* bounds, const uint8_t* thresholds, int slack,
                             int64_t count) {
  const uint8_t up = static_cast<uint8_t>(slack > 255 ? 255 : slack > 0 ? slack : 0);
  const uint8_t down = static_cast<uint8_t>(slack < -255 ? 255 : slack < 0 ? -slack : 0);
  uint8_t flags[kMaxCount];
  for (int g = 0; g < kMaxCount; ++g) {
    uint8_t threshold = static_cast<uint8_t>(thresholds[g] + up);
    threshold = threshold < up ? uint8_t{255} : threshold;
    threshold = threshold > down ? static_cast<uint8_t>(threshold - down) : uint8_t{0};
    flags[g] = bounds[g] <= threshold ? 255 : 0;
  }
  return top_bits(flags) & low_bits(count);
}

uint64_t groups_within(const uint16_t* distances, uint16_t limit, int64_t count) {
  uint8_t flags[kMaxCount];
  for (int g = 0; g < kMaxCount; ++g) flags[g] = distances[g] <= limit ? 255 : 0;
  return top_bits(flags) & low_bits(count);
}

void subtract_drifts(uint8_t* bounds, const uint8_t* amounts, int64_t count) {
  for (int64_t g = 0; g < count; ++g)
    bounds[g] = bounds[g] > amounts[g] ? static_cast<uint8_t>(bounds[g] - amounts[g]) : uint8_t{0};
}

namespace {

uint64_t bits_of(const int32_t* flags, int32_t padded) {
  uint8_t bytes[kMaxCount] = {};
  for (int32_t g = 0; g < padded; ++g) bytes[g] = static_cast<uint8_t>(flags[g]);
  return top_bits(bytes);
}

// The first of the lowest scores; 0 when a NaN is among them.
int lowest_group(const float* best, int32_t padded, int64_t count) {
  float lanes[kLanes];
  for (int l = 0; l < kLanes; ++l) lanes[l] = best[l];
  for (int32_t g = kLanes; g < padded; g += kLanes)
    for (int l = 0; l < kLanes; ++l) lanes[l] = best[g + l] < lanes[l] ? best[g + l] : lanes[l];
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l)
      lanes[l] = lanes[l + width] < lanes[l] ? lanes[l + width] : lanes[l];
  int32_t is_lowest[kMaxCount];
  const float lowest = lanes[0];
  for (int32_t g = 0; g < padded; ++g) is_lowest[g] = best[g] == lowest ? -1 : 0;
  const uint64_t bits = bits_of(is_lowest, padded) & low_bits(count);
  return bits == 0 ? 0 : __builtin_ctzll(bits);
}

// The nearest of the scored centres and the one outside: no other with a score above `limit`
// counts.
float decide_nearest(const BoundTable& table, const BoundJob& job, BoundResult& result) {
  const float lowest = job.best[result.group];
  float limit = lowest + (job.norm * table.slopes[result.group] + table.offsets[result.group]);
  if (job.own_squared != kNotScored) {
    const float error = table.sum_error * (job.own_squared + job.squared_norm);
    const float score = 0.5f * (job.own_squared - job.squared_norm);
    if (lowest < score) {
      result.outside_is_open = !(score - error > limit);
    } else {
      result.group = -1;
      limit = score + error;
    }
  }
  const float squared = (1 + table.sum_error) * job.squared_norm + 2 * limit;
  result.upper = __builtin_sqrtf(squared > 0 ? squared : 0.0f) + 1e-6f * job.norm;
  const float steps = result.upper * table.steps_per_unit * 1.000001f + 1.0f;
  result.base = steps < 65535.0f ? static_cast<int>(steps) : 65535;
  return limit;
}

}  // namespace

BoundResult bound_groups(const BoundTable& table, const BoundJob& job) {
  alignas(64) float scores[kMaxCount];
  alignas(64) int32_t values[kMaxCount];
  alignas(64) int32_t is_open[kMaxCount];
  const int32_t count = static_cast<int32_t>(table.count);
  const int32_t padded = (count + kLanes - 1) / kLanes * kLanes;
  BoundResult result;
  result.group = lowest_group(job.best, padded, count);
  const float limit = decide_nearest(table, job, result);
  for (int32_t g = 0; g < padded; ++g) scores[g] = job.best[g];
  if (result.group >= 0) scores[result.group] = job.second[result.group];
  const float norm = job.norm;
  const float squared_norm = (1 - table.sum_error) * job.squared_norm;
  const float steps = 0.999999f * table.steps_per_unit;
  const float slack = 1e-6f * norm * table.steps_per_unit + static_cast<float>(result.base) + 0.02f;
  const float* slopes = table.slopes;
  const float* offsets = table.offsets;
  const float* drifts = table.drifts;
  for (int32_t g = 0; g < padded; ++g) {
    const float low = scores[g] - (norm * slopes[g] + offsets[g]);
    is_open[g] = low > limit ? 0 : -1;
    const float squared = squared_norm + 2 * low;
    const float value = __builtin_sqrtf(squared > 0 ? squared : 0.0f) * steps + (drifts[g] - slack);
    const float positive = value > 0 ? value : 0.0f;
    values[g] = static_cast<int32_t>(positive < 255 ? positive : 255.0f);
  }
  result.open_groups = bits_of(is_open, padded) & low_bits(count);
  if (job.bounds) {
    uint8_t* bounds = job.bounds;
    const float* best = job.best;
    const int32_t rebase = job.base - result.base;
    for (int32_t g = 0; g < count; ++g) {
      const int32_t moved = bounds[g] + rebase;
      const int32_t kept = moved < 0 ? 0 : moved > 255 ? 255 : moved;
      bounds[g] = static_cast<uint8_t>(best[g] < kNotScored ? values[g] : kept);
    }
  }
  return result;
}

}  // namespace milieu::MILIEU_ISA
