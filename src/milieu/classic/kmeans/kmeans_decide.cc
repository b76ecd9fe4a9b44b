// SPDX-License-Identifier: Apache-2.0
// From scores to labels and bounds: the second half of BlockScratch.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "milieu/classic/kmeans/kmeans_block_internal.h"
#include "milieu/linalg/distance.h"

namespace milieu::internal {
namespace {

constexpr float kLargestSquare = 1e30f;  // what overflowed is at least that large

uint8_t byte_from(float value) {
  return static_cast<uint8_t>(value > 0 ? std::min(value, 255.0f) : 0.0f);
}

// The stored form of a lower bound `distance` (scaled) of point i to group g.
uint8_t stored_bound(const PointBounds& bounds, int64_t i, int g, float distance) {
  return byte_from(distance * bounds.steps_per_unit * 0.999999f + bounds.group_drifts[g] -
                   static_cast<float>(bounds.base[i]) - 0.02f);
}

template <class Visitor>
void visit_bits(uint64_t bits, Visitor&& visit) {
  for (; bits != 0; bits &= bits - 1) visit(std::countr_zero(bits));
}

}  // namespace

float sum_error(int64_t d) { return static_cast<float>(d / 16 + 24) * 6e-8f; }

uint16_t steps_up(float distance, float steps_per_unit) {
  const float steps = distance * steps_per_unit * 1.000001f + 1.0f;
  return steps < 65535.0f ? static_cast<uint16_t>(steps) : uint16_t{65535};
}

BoundTable bound_table(const AssignJob& job) {
  static constexpr float kNoDrifts[kMaxGroups] = {};
  BoundTable table;
  table.largest_norms = job.groups->largest_norms.data();
  table.slopes = job.groups->slopes.data();
  table.offsets = job.groups->offsets.data();
  table.sum_error = sum_error(job.points.cols());
  table.drifts = job.bounds ? job.bounds->group_drifts.data() : kNoDrifts;
  table.steps_per_unit = job.bounds ? job.bounds->steps_per_unit : 0;
  table.count = job.groups->num_groups;
  return table;
}

void BlockScratch::decide(const AssignJob& job, const BoundTable& table, int64_t s,
                          AssignCost& cost) {
  const CenterGroups& groups = *job.groups;
  const Slot& slot = slots_[s];
  const int64_t i = slot.point;
  const int old_label = job.bounds ? job.labels[i] : -1;
  const bool is_outside = job.bounds && !(slot.groups >> groups.group_from_center[old_label] & 1);
  BoundJob bound_job;
  bound_job.best = best_.row(s);
  bound_job.second = second_.row(s);
  bound_job.groups = slot.groups;
  bound_job.rest = slot.rest;
  bound_job.norm = slot.norm;
  bound_job.squared_norm = slot.squared_norm;
  bound_job.own_squared = is_outside ? slot.own_squared : kNotScored;
  if (job.bounds) {
    bound_job.bounds = job.bounds->lower.data() + i * job.bounds->num_groups;
    bound_job.base = job.bounds->base[i];
  }
  const BoundResult found = MILIEU_SELECT_ISA(bound_groups)(table, bound_job);
  if (job.bounds) {
    job.bounds->base[i] = static_cast<uint16_t>(found.base);
    job.bounds->upper[i] = static_cast<uint16_t>(found.upper_steps);
  }
  int label = old_label;
  if (found.group >= 0) {
    const int place = std::min<int>(best_center_(s, found.group), groups.size(found.group) - 1);
    label = groups.centers[groups.first[found.group] + place];
  }
  cost.sum_squared_upper += static_cast<double>(found.upper) * found.upper;
  if (found.open_groups != 0 || found.outside_is_open) {
    ++cost.num_resolved;
    return resolve(job, slot, found, label);
  }
  if (is_outside && label != old_label)
    lower_bound_of_old_center(job, i, old_label, slot.own_squared);
  job.labels[i] = label;
}

// The centre of the old label has become one of the others of its group, which was not scored.
void BlockScratch::lower_bound_of_old_center(const AssignJob& job, int64_t i, int old_label,
                                             float squared) {
  PointBounds& bounds = *job.bounds;
  const int g = job.groups->group_from_center[old_label];
  const float own = std::sqrt(squared * (1 - sum_error(job.points.cols())));
  uint8_t& lower = bounds.lower[i * bounds.num_groups + g];
  lower = std::min(lower, stored_bound(bounds, i, g, own));
}

// Decides between the label found, the old one and all centres of the open groups, by differences
// in float and, where these are too close to call, by exact distances; brings the bounds up to
// date.
void BlockScratch::resolve(const AssignJob& job, const Slot& slot, const BoundResult& found,
                           int label) {
  const int64_t i = slot.point;
  const float* x = row_of(job, i);
  const int old_label = job.bounds ? job.labels[i] : label;
  rivals_.clear();
  add_rival(job, x, label);
  if (old_label != label && found.outside_is_open) add_rival(job, x, old_label);
  visit_bits(found.open_groups, [&](int g) {
    for (int c = job.groups->first[g]; c < job.groups->first[g + 1]; ++c)
      if (job.groups->centers[c] != label) add_rival(job, x, job.groups->centers[c]);
  });
  const Rival nearest = nearest_rival(job, x);
  job.labels[i] = nearest.center;
  if (!job.bounds) return;

  PointBounds& bounds = *job.bounds;
  const float error = sum_error(job.points.cols());
  bounds.upper[i] =
      steps_up(std::sqrt(nearest.squared * (1 + error) + 1e-37f), bounds.steps_per_unit);
  uint8_t* lower = bounds.lower.data() + i * bounds.num_groups;
  visit_bits(found.open_groups, [&](int g) { lower[g] = 255; });
  for (const Rival& rival : rivals_) {
    if (rival.center == nearest.center) continue;
    const int g = job.groups->group_from_center[rival.center];
    const float distance = std::sqrt(std::min(rival.squared, kLargestSquare) * (1 - error));
    lower[g] = std::min(lower[g], stored_bound(bounds, i, g, distance));
  }
  if (old_label != nearest.center && !found.outside_is_open &&
      !(slot.groups >> job.groups->group_from_center[old_label] & 1))
    lower_bound_of_old_center(job, i, old_label, slot.own_squared);
}

void BlockScratch::add_rival(const AssignJob& job, const float* x, int center) {
  rivals_.push_back({MILIEU_SELECT_ISA(scaled_squared_distance)(
                         x, job.centers.row(center), job.scaling->factor, job.points.cols()),
                     center});
}

// The rival nearest to x; exactly, with ties to the lowest index.
BlockScratch::Rival BlockScratch::nearest_rival(const AssignJob& job, const float* x) const {
  const float error = sum_error(job.points.cols());
  Rival nearest = rivals_[0];
  for (const Rival& rival : rivals_)
    if (rival.squared < nearest.squared) nearest = rival;
  const float limit = nearest.squared * (1 + error) + 1e-37f;
  const auto exact = [&](int center) {
    return squared_distance(x, job.centers.row(center), job.points.cols());
  };
  double squared = -1;  // exact, of `nearest`, once it is needed
  for (const Rival& rival : rivals_) {
    if (rival.squared * (1 - error) > limit || rival.center == nearest.center) continue;
    if (squared < 0) squared = exact(nearest.center);
    const double other = exact(rival.center);
    if (other < squared || (other == squared && rival.center < nearest.center)) {
      nearest = rival;
      squared = other;
    }
  }
  return nearest;
}

void BlockScratch::separate(const AssignJob& job, const Block& block, std::span<uint16_t> out) {
  const CenterGroups& groups = *job.groups;
  const float error = sum_error(job.points.cols());
  slots_.clear();
  for (int64_t j = block.begin; j < block.end; ++j) {
    Slot slot;
    slot.point = j;
    slot.groups = all_groups(groups.num_groups);
    add_slot(job, job.centers.row(j), slot);
  }
  AssignCost cost;
  score(job, cost);
  for (int64_t s = 0; s < static_cast<int64_t>(slots_.size()); ++s) {
    const Slot& slot = slots_[s];
    uint16_t* row = out.data() + slot.point * kMaxGroups;
    const int own_group = groups.group_from_center[slot.point];
    for (int g = 0; g < groups.num_groups; ++g) {
      const float score =
          (g == own_group ? second_ : best_)(s, g) -
          (slot.rest * groups.largest_norms[g] + slot.norm * groups.slopes[g] + groups.offsets[g]);
      const float squared = (1 - error) * slot.squared_norm + 2 * score;
      const float distance = squared > 0 ? std::sqrt(squared) : 0.0f;
      const float steps = (distance * 0.999999f - 2e-6f * slot.norm) * job.bounds->steps_per_unit;
      row[g] = steps > 0 ? static_cast<uint16_t>(std::min(steps, 65535.0f)) : uint16_t{0};
    }
  }
}

}  // namespace milieu::internal
