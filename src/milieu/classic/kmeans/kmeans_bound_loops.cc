// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): the loops over the groups of one point. They are
// written so that the compiler vectorises them, with errno and traps of mathematics switched off
// for this file (CMakeLists.txt).
#include "milieu/base/sanitizer.h"
#include "milieu/classic/kmeans/kmeans_loops.h"
#include "milieu/linalg/simd_bits.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

constexpr int kMaxCount = 64;

// Whole vectors of bytes are read, also those beyond the bounds of a row; nothing depends on them.
// They belong to the next row, which another thread may be writing: ThreadSanitizer would object.
#ifdef MILIEU_TSAN
constexpr bool kReadsBeyond = false;
#else
constexpr bool kReadsBeyond = true;
#endif

inline Int8 load_bounds(const uint8_t* from, int64_t left) {
  if (kReadsBeyond || left >= 8) return load_bytes(from);
  uint8_t bytes[8] = {};
  for (int64_t l = 0; l < left; ++l) bytes[l] = from[l];
  return load_bytes(bytes);
}

uint64_t low_bits(int64_t count) {
  return count >= kMaxCount ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

}  // namespace

uint64_t groups_not_excluded(const uint8_t* bounds, const uint8_t* thresholds, int slack,
                             int64_t count) {
  const uint8_t up = static_cast<uint8_t>(slack > 255 ? 255 : slack > 0 ? slack : 0);
  const uint8_t down = static_cast<uint8_t>(slack < -255 ? 255 : slack < 0 ? -slack : 0);
  uint8_t flags[kMaxCount];
  if (!kReadsBeyond) __builtin_memset(flags, 0, sizeof(flags));
  for (int64_t g = 0; g < (kReadsBeyond ? kMaxCount : count); ++g) {
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

// Calls visit(g) for every g = 0, 8, ... such that one of the groups g to g + 7 is among `groups`.
template <class Visit>
inline void visit_eights(uint64_t groups, const Visit& visit) {
  while (groups != 0) {
    const int g = __builtin_ctzll(groups) & ~7;
    visit(g);
    groups &= ~(uint64_t{255} << g);
  }
}

// The first of the lowest scores; when a NaN is among them any scored group.
int lowest_group(const BoundJob& job) {
  Float8 lanes = Float8{} + kNotScored;
  visit_eights(job.groups, [&](int g) { lanes = min_of(load<Float8>(job.best + g), lanes); });
  const Float8 fours = min_of(lanes, __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7, 0, 1, 2, 3));
  const Float8 pairs = min_of(fours, __builtin_shufflevector(fours, fours, 2, 3, 0, 1, 6, 7, 4, 5));
  const Float8 lowest =
      min_of(pairs, __builtin_shufflevector(pairs, pairs, 1, 0, 3, 2, 5, 4, 7, 6));
  uint64_t found = 0;
  visit_eights(job.groups, [&](int g) {
    found |= static_cast<uint64_t>(bits_of(load<Float8>(job.best + g) == lowest)) << g;
  });
  found &= job.groups;
  return __builtin_ctzll(found != 0 ? found : job.groups);
}

// The nearest of the scored centres and the one outside: none with a score above the returned limit
// is as near.
float decide_nearest(const BoundTable& table, const BoundJob& job, BoundResult& result) {
  const float lowest = job.best[result.group];
  float limit = lowest + (job.rest * table.largest_norms[result.group] +
                          job.norm * table.slopes[result.group] + table.offsets[result.group]);
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
  result.upper_steps = steps < 65535.0f ? static_cast<int>(steps) : 65535;
  // Bounds keep their base as long as it is near enough for a byte to hold what matters.
  constexpr int kFar = 24;
  const int difference = result.upper_steps - job.base;
  result.base = difference > kFar || difference < -2 ? result.upper_steps : job.base;
  return limit;
}

inline Int8 cut_to_byte(Int8 values) {
  values = values < 0 ? Int8{} : values;
  return values > 255 ? Int8{} + 255 : values;
}

// The first `left` of eight lanes in [0, 255].
inline void store_bytes(Int8 values, uint8_t* to, int64_t left) {
  const uint64_t bytes = pack_bytes(values);
  if (left >= 8) {
    __builtin_memcpy(to, &bytes, 8);
    return;
  }
  for (int64_t l = 0; l < left; ++l) to[l] = static_cast<uint8_t>(bytes >> (8 * l));
}

}  // namespace

BoundResult bound_groups(const BoundTable& table, const BoundJob& job) {
  constexpr Int8 kPlaces{0, 1, 2, 3, 4, 5, 6, 7};
  BoundResult result;
  result.group = lowest_group(job);
  const float limit = decide_nearest(table, job, result);
  const float second = result.group >= 0 ? job.second[result.group] : 0.0f;
  const float squared_norm = (1 - table.sum_error) * job.squared_norm;
  const float steps = 0.999999f * table.steps_per_unit;
  const float slack =
      1e-6f * job.norm * table.steps_per_unit + static_cast<float>(result.base) + 0.02f;
  const int32_t rebase = job.base - result.base;
  visit_eights(rebase != 0 ? low_bits(table.count) : job.groups, [&](int g) {
    const Float8 best = load<Float8>(job.best + g);
    const Int8 is_nearest = kPlaces + g == result.group;
    const Float8 error = job.rest * load<Float8>(table.largest_norms + g) +
                         job.norm * load<Float8>(table.slopes + g) +
                         load<Float8>(table.offsets + g);
    const Float8 low = (is_nearest ? Float8{} + second : best) - error;
    // Not "low <= limit": what is not a number must stay open.
    result.open_groups |= static_cast<uint64_t>(bits_of(~(low > limit))) << g;
    if (!job.bounds) return;
    const Float8 squared = squared_norm + 2 * low;
    const Float8 distance = sqrt_of(squared > 0 ? squared : Float8{});
    const Float8 value = distance * steps + (load<Float8>(table.drifts + g) - slack);
    const Float8 cut = min_of(value > 0 ? value : Float8{}, Float8{} + 255.0f);
    const Int8 kept = cut_to_byte(load_bounds(job.bounds + g, table.count - g) + rebase);
    const Int8 bound = best < kNotScored ? __builtin_convertvector(cut, Int8) : kept;
    store_bytes(bound, job.bounds + g, table.count - g);
  });
  result.open_groups &= job.groups;
  return result;
}

}  // namespace milieu::internal::MILIEU_ISA
