// SPDX-License-Identifier: Apache-2.0
// The steps of mean shift; mean_shift.cc has the problem, the symbols and the conventions.
#include "milieu/classic/meanshift/mean_shift_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/linalg/distance.h"
#include "milieu/neighbors/distinct_rows.h"

namespace milieu::internal {

namespace {

constexpr double kGaussianReach = 5;  // bandwidths

}  // namespace

ShiftKernel::ShiftKernel(MeanShiftKernel kernel, double bandwidth)
    : kernel_(kernel),
      squared_bandwidth_(bandwidth * bandwidth),
      reach_(kernel == MeanShiftKernel::Flat ? bandwidth : kGaussianReach * bandwidth),
      offset_(std::exp(-kGaussianReach * kGaussianReach / 2)) {}

double ShiftKernel::weight(double squared_distance) const {
  if (kernel_ == MeanShiftKernel::Flat) return 1;
  return std::exp(-squared_distance / (2 * squared_bandwidth_));
}

double ShiftKernel::density(double squared_distance) const {
  if (kernel_ == MeanShiftKernel::Flat)
    return std::max(0.0, 1 - squared_distance / squared_bandwidth_);
  return std::max(0.0, weight(squared_distance) - offset_);
}

namespace {

// The sample of the bin that is nearest to the bin's mean, ties to the lowest row.
int central_row(FloatView points, std::span<const int> rows) {
  std::vector<double> mean(points.cols());
  for (const int i : rows)
    for (int64_t j = 0; j < points.cols(); ++j)
      mean[j] += points(i, j) / static_cast<double>(rows.size());
  int best = rows.front();
  double best_distance = std::numeric_limits<double>::infinity();
  for (const int i : rows) {
    double distance = 0;
    for (int64_t j = 0; j < points.cols(); ++j)
      distance += (points(i, j) - mean[j]) * (points(i, j) - mean[j]);
    if (distance < best_distance) {
      best = i;
      best_distance = distance;
    }
  }
  return best;
}

// One seed for each cell of the grid of width h that holds enough samples.
std::vector<int> bin_seeds(FloatView points, double bandwidth, int min_bin_size) {
  Matrix<float> cells(points.rows(), points.cols());
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t j = 0; j < points.cols(); ++j)
      cells(i, j) = static_cast<float>(std::floor(points(i, j) / bandwidth));
  const RowGroups bins = group_equal_rows(cells);
  std::vector<std::vector<int>> rows(bins.first_rows.size());
  for (int i = 0; i < points.rows(); ++i) rows[bins.group_from_row[i]].push_back(i);
  std::vector<int> seeds;
  size_t largest = 0;
  for (const std::vector<int>& bin : rows) {
    largest = std::max(largest, bin.size());
    if (static_cast<int>(bin.size()) >= min_bin_size) seeds.push_back(central_row(points, bin));
  }
  require(!seeds.empty(), [&] {
    return fmt::format("min_bin_size is {}, the fullest bin has {}: use at most {}", min_bin_size,
                       counted(largest, "sample"), largest);
  });
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

}  // namespace

std::vector<int> choose_seeds(FloatView points, double bandwidth, const MeanShiftOptions& options) {
  if (options.seeds == MeanShiftSeeds::Bins)
    return bin_seeds(points, bandwidth, options.min_bin_size);
  return group_equal_rows(points).first_rows;
}

namespace {

// The neighbours of one position, and where it should move.
struct Window {
  std::span<const int> rows;
  std::span<const double> squared_distances;
};

double window_density(const Window& window, const ShiftKernel& kernel, int64_t n) {
  double sum = 0;
  for (const double squared_distance : window.squared_distances)
    sum += kernel.density(squared_distance);
  return sum / static_cast<double>(n);
}

// position + sum_i w_i (x_i - position) / sum_i w_i, rounded to float; the position itself when
// nothing is around it. [Comaniciu02, Eq. 20]
void window_mean(const Window& window, FloatView points, const ShiftKernel& kernel,
                 std::span<const float> position, std::span<float> mean) {
  std::vector<double> shift(position.size());
  double total = 0;
  for (size_t k = 0; k < window.rows.size(); ++k) {
    const double weight = kernel.weight(window.squared_distances[k]);
    const float* row = points.row(window.rows[k]);
    total += weight;
    for (size_t j = 0; j < shift.size(); ++j)
      shift[j] += weight * (static_cast<double>(row[j]) - position[j]);
  }
  for (size_t j = 0; j < shift.size(); ++j)
    mean[j] = static_cast<float>(position[j] + (total > 0 ? shift[j] / total : 0));
}

// Seeds searched together: so few that their windows fit into some 100 MB even when each holds all
// samples. Depends on n only.
int64_t seeds_per_block(int64_t n) { return std::clamp<int64_t>(2'000'000 / n, 1, 64); }

std::vector<int> moving_seeds(const Seeds& seeds) {
  std::vector<int> moving;
  for (size_t s = 0; s < seeds.is_resting.size(); ++s)
    if (!seeds.is_resting[s]) moving.push_back(static_cast<int>(s));
  return moving;
}

}  // namespace

bool move_seeds(const NeighborIndex& index, FloatView points, const ShiftKernel& kernel,
                double tolerance, bool may_move, int num_threads, const Monitor& monitor,
                Seeds& seeds) {
  const std::vector<int> moving = moving_seeds(seeds);
  const NeighborOptions search{
      .num_threads = 1, .is_sorted = false, .max_num_pairs = std::numeric_limits<int64_t>::max()};
  std::atomic<bool> is_complete = true;
  const auto move_block = [&](const Block& block) {
    Monitor quiet = monitor;  // no reports: this is not the calling thread
    Matrix<float> positions(block.size(), points.cols());
    for (int64_t i = 0; i < block.size(); ++i)
      std::copy_n(seeds.positions.row(moving[block.begin + i]), points.cols(), positions.row(i));
    const RadiusNeighbors found = index.within(positions, kernel.reach(), search, quiet);
    if (!found.is_complete) is_complete = false;
    if (!is_complete) return;
    std::vector<float> mean(points.cols());
    for (int64_t i = 0; i < block.size(); ++i) {
      const int s = moving[block.begin + i];
      const size_t begin = found.offsets[i];
      const size_t count = found.offsets[i + 1] - begin;
      const Window window{std::span(found.indices).subspan(begin, count),
                          std::span(found.squared_distances).subspan(begin, count)};
      seeds.density[s] = window_density(window, kernel, points.rows());
      window_mean(window, points, kernel, positions.row_span(i), mean);
      if (squared_distance(mean, positions.row_span(i)) <= tolerance * tolerance)
        seeds.is_resting[s] = 1;
      else if (may_move)
        std::copy(mean.begin(), mean.end(), seeds.positions.row(s));
    }
  };
  parallel_for(static_cast<int64_t>(moving.size()), seeds_per_block(points.rows()), num_threads,
               move_block);
  return is_complete;
}

Matrix<float> merge_modes(const Seeds& seeds, std::vector<int> candidates, double bandwidth,
                          const Monitor& monitor) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](int a, int b) { return seeds.density[a] > seeds.density[b]; });
  const int64_t d = seeds.positions.cols();
  std::vector<int> kept;
  for (const int s : candidates) {
    if (!kept.empty() && monitor.should_stop()) break;
    const bool is_new = std::none_of(kept.begin(), kept.end(), [&](int k) {
      return squared_distance(seeds.positions.row(s), seeds.positions.row(k), d) <=
             bandwidth * bandwidth;
    });
    if (is_new) kept.push_back(s);
  }
  Matrix<float> modes(static_cast<int64_t>(kept.size()), d);
  for (size_t i = 0; i < kept.size(); ++i)
    std::copy_n(seeds.positions.row(kept[i]), d, modes.row(static_cast<int64_t>(i)));
  return modes;
}

}  // namespace milieu::internal
