// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "milieu/base/parallel.h"
#include "milieu/classic/kmeans/kmeans_assign_internal.h"
#include "milieu/linalg/distance.h"

namespace milieu::internal {
namespace {

// All memory of a run, as a share of the memory of the points. What labels, sums and centres leave
// of it goes to the lower bounds, one byte for each point and group.
constexpr double kMemoryShare = 0.125;
constexpr double kOtherBytesPerPoint = 14;
constexpr double kOtherBytesPerNumber = 24;  // of the centres
constexpr int kMinGroups = 8;
constexpr float kStepsPerDistance = 400;  // steps in a typical distance to the nearest centre
constexpr float kFoldAt = 40;             // drifts above it are taken from the bounds themselves
constexpr int64_t kPointsPerCenter = 16;  // fewer, and distances between centres do not pay

int max_groups(FloatView points, FloatView centers) {
  const double d = static_cast<double>(points.cols());
  const double per_point = static_cast<double>(centers.rows()) / static_cast<double>(points.rows());
  const double bytes =
      kMemoryShare * sizeof(float) * d - kOtherBytesPerPoint - kOtherBytesPerNumber * d * per_point;
  return static_cast<int>(std::clamp<double>(bytes, kMinGroups, kMaxGroups));
}

int64_t choose_block_size(int64_t row_length) {
  constexpr int64_t kBlockBytes = 128 * 1024;
  return std::clamp<int64_t>(kBlockBytes / (2 * row_length), 64, 256);
}

int64_t padded_length(int64_t d) {
  return (d + kQuantisedPadding - 1) / kQuantisedPadding * kQuantisedPadding;
}

}  // namespace

NearestCenters::NearestCenters(FloatView points, Scaling scaling, int num_threads,
                               std::span<const double> scales)
    : points_(points),
      scales_(scales),
      scaling_(std::move(scaling)),
      num_threads_(num_threads),
      block_size_(choose_block_size(padded_length(points.cols()))) {}

bool NearestCenters::assign(FloatView centers, const Monitor& monitor, std::span<int> labels) {
  const bool has_bounds = num_calls_ > 0;
  if (num_calls_ == 0) groups_ = group_centers(centers, kMaxGroups);
  if (num_calls_ == 1) begin_bounds(centers);
  if (num_calls_ > 1) move_centers(centers);
  ++num_calls_;
  load_centers(groups_, centers, scaling_);
  const AssignJob job{
      points_, scales_, centers, &scaling_, &groups_, has_bounds ? &bounds_ : nullptr, labels};
  if (has_bounds) separate_centers(job);

  std::atomic<bool> is_stopped = false;
  std::vector<AssignCost> costs(num_blocks(points_.rows(), block_size_));
  parallel_for(points_.rows(), block_size_, num_threads_, [&](const Block& block) {
    if (is_stopped || monitor.should_stop()) {
      is_stopped = true;
      return;
    }
    std::unique_ptr<BlockScratch> scratch = take_scratch();
    costs[block.index] = scratch->assign(job, block);
    give_scratch(std::move(scratch));
  });
  if (is_stopped) return false;
  cost_ = {};
  for (const AssignCost& cost : costs) cost_.merge(cost);
  if (centers_.empty()) centers_ = Matrix<float>(centers.rows(), centers.cols());
  for (int64_t j = 0; j < centers.rows(); ++j)
    std::copy_n(centers.row(j), centers.cols(), centers_.row(j));
  return true;
}

// Groups the centres again and begins with bounds that exclude nothing.
void NearestCenters::begin_bounds(FloatView centers) {
  groups_ = group_centers(centers, max_groups(points_, centers));
  const int64_t n = points_.rows();
  const double typical = std::sqrt(cost_.sum_squared_upper / static_cast<double>(n));
  bounds_.steps_per_unit =
      typical > 0 ? static_cast<float>(kStepsPerDistance / (0.75 * typical)) : 1.0f;
  bounds_.num_groups = groups_.num_groups;
  bounds_.upper.assign(n, 65535);
  bounds_.base.assign(n, 0);
  bounds_.lower.assign(n * groups_.num_groups + kMaxGroups, 0);
  bounds_.group_drifts.assign(kMaxGroups, 0);
  bounds_.thresholds.assign(kMaxGroups, 0);
  bounds_.last_moves.assign(centers.rows(), 0);
}

// Accounts for what the centres moved since the last call.
void NearestCenters::move_centers(FloatView centers) {
  std::vector<float> largest(kMaxGroups, 0.0f);
  for (int64_t j = 0; j < centers.rows(); ++j) {
    const double squared = squared_distance(centers.row_span(j), FloatView(centers_).row_span(j));
    const double steps = std::sqrt(squared) * scaling_.factor * bounds_.steps_per_unit * 1.000001;
    bounds_.last_moves[j] =
        static_cast<uint16_t>(steps == 0 ? 0 : std::min(65535.0, std::ceil(steps)));
    float& group_move = largest[groups_.group_from_center[j]];
    group_move = std::max(group_move, static_cast<float>(steps * 1.000001));
  }
  float largest_drift = 0;
  for (int g = 0; g < groups_.num_groups; ++g) {
    bounds_.group_drifts[g] += largest[g];
    largest_drift = std::max(largest_drift, bounds_.group_drifts[g]);
  }
  const auto round_up = [](float drift) {
    return static_cast<uint8_t>(std::min(255.0f, std::ceil(drift)));
  };
  const bool is_folded = largest_drift > kFoldAt;
  bounds_.subtract.assign(is_folded ? kMaxGroups : 0, 0);
  for (int g = 0; g < groups_.num_groups; ++g) {
    if (is_folded) {
      bounds_.subtract[g] = round_up(bounds_.group_drifts[g]);
      bounds_.group_drifts[g] = 0;
    }
    bounds_.thresholds[g] = round_up(bounds_.group_drifts[g]);
  }
}

void NearestCenters::separate_centers(AssignJob job) {
  const int64_t k = job.centers.rows();
  bounds_.separations.clear();
  if (points_.rows() < kPointsPerCenter * k) return;
  bounds_.separations.resize(k * kMaxGroups);
  parallel_for(k, block_size_, num_threads_, [&](const Block& block) {
    std::unique_ptr<BlockScratch> scratch = take_scratch();
    scratch->separate(job, block, bounds_.separations);
    give_scratch(std::move(scratch));
  });
}

std::unique_ptr<BlockScratch> NearestCenters::take_scratch() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_scratch_.empty()) {
      std::unique_ptr<BlockScratch> scratch = std::move(free_scratch_.back());
      free_scratch_.pop_back();
      return scratch;
    }
  }
  return std::make_unique<BlockScratch>(block_size_, padded_length(points_.cols()));
}

void NearestCenters::give_scratch(std::unique_ptr<BlockScratch> scratch) {
  const std::lock_guard lock(mutex_);
  free_scratch_.push_back(std::move(scratch));
}

}  // namespace milieu::internal
