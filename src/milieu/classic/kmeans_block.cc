// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "milieu/classic/kmeans_block_internal.h"
#include "milieu/linalg/distance.h"

namespace milieu::internal {
namespace {

constexpr float kLargest = 1e30f;  // squared norms above it are left to double arithmetic

// Relative error of a float sum of d squares in 16 lanes, rounded up.
float sum_error(int64_t d) { return static_cast<float>(d / 16 + 24) * 6e-8f; }

uint16_t steps_up(float distance, float steps_per_unit) {
  const float steps = distance * steps_per_unit * 1.000001f + 1.0f;
  return steps < 65535.0f ? static_cast<uint16_t>(steps) : uint16_t{65535};
}

uint8_t byte_from(float value) {
  return static_cast<uint8_t>(value > 0 ? std::min(value, 255.0f) : 0.0f);
}

uint64_t all_groups(int count) { return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

}  // namespace

void AssignCost::merge(const AssignCost& other) {
  num_scored += other.num_scored;
  num_resolved += other.num_resolved;
  sum_squared_upper += other.sum_squared_upper;
}

// What is known about the nearest centre of a point.
struct BlockScratch::Decision {
  int label = -1;
  int group = -1;            // the scored group that holds it; -1: the old label, not scored
  float limit = 0;           // its score is at most this
  bool own_is_open = false;  // the old label, not scored, may be nearer
  float upper = 0;           // its scaled distance is at most this
};

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

float BlockScratch::error_of(const AssignJob& job, const Slot& slot, int g) const {
  return slot.norm * job.groups->slopes[g] + job.groups->offsets[g];
}

AssignCost BlockScratch::assign(const AssignJob& job, const Block& block) {
  AssignCost cost;
  scan(job, block);
  score(job, cost);
  for (int64_t s = 0; s < static_cast<int64_t>(slots_.size()); ++s) decide(job, s, cost);
  return cost;
}

// Collects the points for which some group cannot be excluded.
void BlockScratch::scan(const AssignJob& job, const Block& block) {
  slots_.clear();
  for (int64_t i = block.begin; i < block.end; ++i) {
    Slot slot;
    slot.point = i;
    slot.groups = all_groups(job.groups->num_groups);
    if (job.bounds && is_settled(job, i, slot)) continue;
    add_slot(job, job.points.row(i), slot);
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
      job.points.row(i), job.centers.row(label), job.scaling->factor, job.points.cols());
  if (!(slot.own_squared < kLargest)) return false;
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

// The lowest score of a slot, and how low the true one is at most.
BlockScratch::Decision BlockScratch::find_nearest(const AssignJob& job, int64_t s) const {
  const CenterGroups& groups = *job.groups;
  const Slot& slot = slots_[s];
  Decision decision;
  decision.group = MILIEU_SELECT_ISA(lowest_group)(best_.row(s), groups.num_groups);
  const float lowest = best_(s, decision.group);
  const int place = std::min<int>(best_center_(s, decision.group), groups.size(decision.group) - 1);
  decision.label = groups.centers[groups.first[decision.group] + place];
  decision.limit = lowest + error_of(job, slot, decision.group);
  if (job.bounds) {
    const int own = job.labels[slot.point];
    if (!(slot.groups >> groups.group_from_center[own] & 1)) {
      const float error = sum_error(job.points.cols()) * (slot.own_squared + slot.squared_norm);
      const float score = 0.5f * (slot.own_squared - slot.squared_norm);
      if (!(lowest < score)) {
        decision.group = -1;
        decision.label = own;
        decision.limit = score + error;
      } else {
        decision.own_is_open = !(score - error > decision.limit);
      }
    }
  }
  const float squared = (1 + sum_error(job.points.cols())) * slot.squared_norm + 2 * decision.limit;
  decision.upper = std::sqrt(std::max(0.0f, squared)) + 1e-6f * slot.norm;
  return decision;
}

// Stores lower bounds of the distances to all groups; returns the groups that may hold a centre as
// near as the one decided for.
uint64_t BlockScratch::write_bounds(const AssignJob& job, int64_t s, const Decision& decision) {
  const CenterGroups& groups = *job.groups;
  const Slot& slot = slots_[s];
  static const std::vector<float> no_drifts(kMaxGroups, 0.0f);
  BoundJob bound_job;
  bound_job.best = best_.row(s);
  bound_job.second = second_.row(s);
  bound_job.best_group = decision.group;
  bound_job.limit = decision.limit;
  bound_job.norm = slot.norm;
  bound_job.squared_norm = (1 - sum_error(job.points.cols())) * slot.squared_norm;
  bound_job.slopes = groups.slopes.data();
  bound_job.offsets = groups.offsets.data();
  bound_job.drifts = no_drifts.data();
  bound_job.count = groups.num_groups;
  if (job.bounds) {
    PointBounds& bounds = *job.bounds;
    const int64_t i = slot.point;
    const uint16_t upper = steps_up(decision.upper, bounds.steps_per_unit);
    bound_job.drifts = bounds.group_drifts.data();
    bound_job.steps_per_unit = bounds.steps_per_unit;
    bound_job.base = static_cast<float>(upper);
    bound_job.rebase = static_cast<int>(bounds.base[i]) - static_cast<int>(upper);
    bound_job.bounds = bounds.lower.data() + i * bounds.num_groups;
    bounds.upper[i] = upper;
    bounds.base[i] = upper;
  }
  return MILIEU_SELECT_ISA(bound_groups)(bound_job);
}

void BlockScratch::decide(const AssignJob& job, int64_t s, AssignCost& cost) {
  const Slot& slot = slots_[s];
  Decision decision = find_nearest(job, s);
  uint64_t open_groups = write_bounds(job, s, decision) & slot.groups;
  const int old_label = job.bounds ? job.labels[slot.point] : -1;
  if (open_groups != 0 || decision.own_is_open) {
    ++cost.num_resolved;
    resolve(job, s, open_groups, decision);
  } else if (job.bounds && decision.label != old_label) {
    // The old centre is now one of the others of its group; where that was not scored its bound
    // does not know.
    const int g = job.groups->group_from_center[old_label];
    if (!(slot.groups >> g & 1)) {
      PointBounds& bounds = *job.bounds;
      const float own = std::sqrt(slot.own_squared * (1 - sum_error(job.points.cols())));
      uint8_t& lower = bounds.lower[slot.point * bounds.num_groups + g];
      lower = std::min(lower, byte_from(own * bounds.steps_per_unit * 0.999999f +
                                        bounds.group_drifts[g] - bounds.base[slot.point] - 0.02f));
    }
  }
  job.labels[slot.point] = decision.label;
  cost.sum_squared_upper += static_cast<double>(decision.upper) * decision.upper;
}

// Decides by exact distances between the label found, the old one and all centres of the groups
// given; brings their bounds up to date.
void BlockScratch::resolve(const AssignJob& job, int64_t s, uint64_t open_groups,
                           Decision& decision) {
  const CenterGroups& groups = *job.groups;
  const Slot& slot = slots_[s];
  const float* x = job.points.row(slot.point);
  struct Nearest {
    double squared = std::numeric_limits<double>::infinity();
    int center = -1;
    bool add(double candidate, int j) {
      if (candidate > squared || (candidate == squared && j > center)) return false;
      squared = candidate;
      center = j;
      return true;
    }
  };
  const auto distance_to = [&](int j) {
    return squared_distance(x, job.centers.row(j), job.points.cols());
  };
  Nearest nearest;
  nearest.add(distance_to(decision.label), decision.label);
  const int old_label = job.bounds ? job.labels[slot.point] : decision.label;
  if (decision.own_is_open) nearest.add(distance_to(old_label), old_label);
  for (uint64_t left = open_groups; left != 0; left &= left - 1) {
    const int g = std::countr_zero(left);
    for (int i = groups.first[g]; i < groups.first[g + 1]; ++i)
      nearest.add(distance_to(groups.centers[i]), groups.centers[i]);
  }
  const int candidate = decision.label;
  decision.label = nearest.center;
  const float factor = job.scaling->factor;
  decision.upper = static_cast<float>(std::sqrt(nearest.squared)) * factor * 1.000001f;
  if (!job.bounds) return;
  PointBounds& bounds = *job.bounds;
  uint8_t* lower = bounds.lower.data() + slot.point * bounds.num_groups;
  bounds.upper[slot.point] = steps_up(decision.upper, bounds.steps_per_unit);
  const auto byte_of = [&](double squared, int g) {
    return byte_from(static_cast<float>(std::sqrt(squared)) * factor * bounds.steps_per_unit *
                         0.999999f +
                     bounds.group_drifts[g] - bounds.base[slot.point] - 0.02f);
  };
  for (uint64_t left = open_groups; left != 0; left &= left - 1) {
    const int g = std::countr_zero(left);
    Nearest other;
    for (int i = groups.first[g]; i < groups.first[g + 1]; ++i)
      if (groups.centers[i] != decision.label)
        other.add(distance_to(groups.centers[i]), groups.centers[i]);
    lower[g] = byte_of(other.squared, g);
  }
  for (const int loser : {candidate, old_label}) {
    const int g = groups.group_from_center[loser];
    if (loser == decision.label || (open_groups >> g & 1)) continue;
    lower[g] = std::min(lower[g], byte_of(distance_to(loser), g));
  }
}

void BlockScratch::separate(const AssignJob& job, const Block& block, std::span<uint16_t> out) {
  const CenterGroups& groups = *job.groups;
  const float steps_per_unit = job.bounds->steps_per_unit;
  slots_.clear();
  for (int64_t j = block.begin; j < block.end; ++j) {
    Slot slot;
    slot.point = j;
    slot.groups = all_groups(groups.num_groups);
    add_slot(job, job.centers.row(j), slot);
  }
  AssignCost cost;
  score(job, cost);
  for (size_t s = 0; s < slots_.size(); ++s) {
    const Slot& slot = slots_[s];
    uint16_t* row = out.data() + slot.point * kMaxGroups;
    const int own_group = groups.group_from_center[slot.point];
    for (int g = 0; g < groups.num_groups; ++g) {
      const int64_t at = static_cast<int64_t>(s);
      const float score = (g == own_group ? second_ : best_)(at, g) - error_of(job, slot, g);
      const float squared = (1 - sum_error(job.points.cols())) * slot.squared_norm + 2 * score;
      const float distance = squared > 0 ? std::sqrt(squared) : 0.0f;
      const float steps = (distance * 0.999999f - 2e-6f * slot.norm) * steps_per_unit;
      row[g] = steps > 0 ? static_cast<uint16_t>(std::min(steps, 65535.0f)) : uint16_t{0};
    }
  }
}

}  // namespace milieu::internal
