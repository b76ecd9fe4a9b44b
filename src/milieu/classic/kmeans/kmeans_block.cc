// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "milieu/classic/kmeans/kmeans_block_internal.h"
#include "milieu/classic/kmeans/kmeans_centers.h"

namespace milieu::internal {
namespace {

constexpr float kLargest = 1e30f;  // squared norms above it are left to double arithmetic

}  // namespace

void AssignCost::merge(const AssignCost& other) {
  num_scored += other.num_scored;
  num_resolved += other.num_resolved;
  sum_squared_upper += other.sum_squared_upper;
}

BlockScratch::BlockScratch(int64_t block_size, int64_t row_length)
    : block_size_(block_size),
      row_length_(row_length),
      scales_(block_size),
      rows_(block_size, row_length),
      best_(block_size, kMaxGroups),
      second_(block_size, kMaxGroups),
      best_center_(block_size, kMaxGroups),
      slots_of_group_(kMaxGroups, block_size),
      num_of_group_(kMaxGroups) {
  slots_.reserve(block_size);
}

AssignCost BlockScratch::assign(const AssignJob& job, const Block& block) {
  AssignCost cost;
  scaled_point_ = -1;
  scan(job, block);
  score(job, cost);
  const BoundTable table = bound_table(job);
  for (int64_t s = 0; s < static_cast<int64_t>(slots_.size()); ++s) decide(job, table, s, cost);
  return cost;
}

// The point times its scale; valid until another one is asked for.
const float* BlockScratch::row_of(const AssignJob& job, int64_t i) {
  if (job.scales.empty()) return job.points.row(i);
  if (scaled_point_ == i) return scaled_row_.data();
  scaled_row_.resize(job.points.cols());
  scale_row(job.points.row_span(i), job.scales[i], scaled_row_);
  scaled_point_ = i;
  return scaled_row_.data();
}

// Collects the points for which some group cannot be excluded.
void BlockScratch::scan(const AssignJob& job, const Block& block) {
  slots_.clear();
  for (int64_t i = block.begin; i < block.end; ++i) {
    if (!job.scales.empty() && job.scales[i] == 0) {
      job.labels[i] = 0;
      continue;
    }
    Slot slot;
    slot.point = i;
    slot.groups = all_groups(job.groups->num_groups);
    if (job.bounds && is_settled(job, i, slot)) continue;
    add_slot(job, row_of(job, i), slot);
  }
}

// True when the bounds prove that the label stays. Otherwise sets slot.groups and slot.own_squared.
bool BlockScratch::is_settled(const AssignJob& job, int64_t i, Slot& slot) {
  PointBounds& bounds = *job.bounds;
  const int label = job.labels[i];
  const int64_t count = bounds.num_groups;
  uint8_t* lower = bounds.lower.data() + i * count;
  if (!bounds.subtract.empty())
    MILIEU_SELECT_ISA(subtract_drifts)(lower, bounds.subtract.data(), count);
  const auto open_groups = MILIEU_SELECT_ISA(groups_not_excluded);
  const int upper = std::min(65535, bounds.upper[i] + bounds.last_moves[label]);
  bounds.upper[i] = static_cast<uint16_t>(upper);
  slot.groups = open_groups(lower, bounds.thresholds.data(), upper - bounds.base[i], count);
  if (upper < 65535 && slot.groups == 0) return true;
  if (upper == 65535) slot.groups = all_groups(bounds.num_groups);
  slot.own_squared = MILIEU_SELECT_ISA(scaled_squared_distance)(
      row_of(job, i), job.centers.row(label), job.scaling->factor, job.points.cols());
  if (!(slot.own_squared < kLargest)) {
    slot.own_squared = std::numeric_limits<float>::infinity();
    return false;
  }
  const float own = std::sqrt(slot.own_squared * (1 + sum_error(job.points.cols())));
  const uint16_t tight = steps_up(own, bounds.steps_per_unit);
  if (tight == 65535) return false;
  bounds.upper[i] = tight;
  slot.groups = open_groups(lower, bounds.thresholds.data(), tight - bounds.base[i], count);
  if (slot.groups != 0 && !bounds.separations.empty() && tight < 32768)
    slot.groups &=
        MILIEU_SELECT_ISA(groups_within)(bounds.separations.data() + int64_t{label} * kMaxGroups,
                                         static_cast<uint16_t>(2 * tight), count);
  return slot.groups == 0;
}

void BlockScratch::add_slot(const AssignJob& job, const float* x, Slot slot) {
  const int64_t s = static_cast<int64_t>(slots_.size());
  const QuantisedRow row =
      MILIEU_SELECT_ISA(quantise_row)(x, job.scaling->shift.data(), job.scaling->factor,
                                      job.points.cols(), row_length_, rows_.row(s));
  slot.squared_norm =
      row.squared_norm < kLargest ? row.squared_norm : std::numeric_limits<float>::quiet_NaN();
  slot.norm = 1.002f * std::sqrt(slot.squared_norm) + 1e-18f;
  slot.rest = row.rest;
  scales_[s] = row.scale;
  slots_.push_back(slot);
}

// Scores every slot against its groups, group by group.
void BlockScratch::score(const AssignJob& job, AssignCost& cost) {
  const CenterGroups& groups = *job.groups;
  std::fill(num_of_group_.begin(), num_of_group_.end(), 0);
  const int64_t padded = (groups.num_groups + 15) / 16 * 16;
  for (size_t s = 0; s < slots_.size(); ++s) {
    std::fill_n(best_.row(static_cast<int64_t>(s)), padded, kNotScored);
    for (uint64_t left = slots_[s].groups; left != 0; left &= left - 1) {
      const int g = std::countr_zero(left);
      slots_of_group_(g, num_of_group_[g]++) = static_cast<uint16_t>(s);
    }
  }
  const auto score_group = MILIEU_SELECT_ISA(score_group);
  for (int g = 0; g < groups.num_groups; ++g) {
    const int64_t place = groups.first_place[g];
    ScoreJob score_job;
    score_job.points = rows_.data();
    score_job.point_scales = scales_.data();
    score_job.row_length = row_length_;
    score_job.slots = slots_of_group_.row(g);
    score_job.num_slots = num_of_group_[g];
    score_job.centers = groups.tiles.row(place / kCenterTile);
    score_job.center_scale = groups.scales[g];
    score_job.half_norms = groups.half_norms.data() + place;
    score_job.num_centers = groups.first_place[g + 1] - place;
    score_job.best = best_.data() + g;
    score_job.second = second_.data() + g;
    score_job.best_center = best_center_.data() + g;
    score_job.result_stride = kMaxGroups;
    score_group(score_job);
    cost.num_scored += num_of_group_[g] * groups.size(g);
  }
}

}  // namespace milieu::internal
