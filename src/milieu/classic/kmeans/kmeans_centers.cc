// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/kmeans/kmeans_centers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/classic/kmeans/kmeans_loops.h"
#include "milieu/linalg/distance.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {
namespace {

constexpr int64_t kBlockRows = 1024;
constexpr double kCancelled = 1e-12;  // of a cluster's weight: a shorter sum has no direction
constexpr int kClusterParts = 16;     // of the work of ClusterSums::update; independent of threads

// Weighted sums over all points, about a center near their mean.
struct TotalSums {
  std::vector<double> sum;  // of w (x - center)
  double squared = 0;       // of w |x - center|^2
  double weight = 0;
};

// The mean of a few rows.
std::vector<double> rough_center(const KMeansProblem& problem) {
  constexpr int64_t kSample = 64;
  const FloatView points = problem.points;
  const int64_t count = std::min(kSample, points.rows());
  std::vector<double> center(points.cols());
  std::vector<float> buffer;
  for (int64_t s = 0; s < count; ++s) MILIEU_SELECT_ISA(add_row)
  (1.0 / static_cast<double>(count), problem.row(s * points.rows() / count, buffer).data(),
   points.cols(), center.data());
  return center;
}

TotalSums sum_points(const KMeansProblem& problem, const std::vector<double>& center) {
  const int64_t d = problem.points.cols();
  const auto add_centered_row = MILIEU_SELECT_ISA(add_centered_row);
  return parallel_reduce(
      problem.points.rows(), kBlockRows, problem.num_threads,
      TotalSums{std::vector<double>(d), 0, 0},
      [&](const Block& block, TotalSums& sums) {
        std::vector<float> buffer;
        for (int64_t i = block.begin; i < block.end; ++i) {
          const double w = problem.weight(i);
          sums.squared += w * add_centered_row(w, problem.row(i, buffer).data(), center.data(), d,
                                               sums.sum.data());
          sums.weight += w;
        }
      },
      [](TotalSums& all, const TotalSums& part) {
        for (size_t t = 0; t < all.sum.size(); ++t) all.sum[t] += part.sum[t];
        all.squared += part.squared;
        all.weight += part.weight;
      });
}

void scale_points(KMeansProblem& problem) {
  problem.scales = inverse_norms(problem.points, problem.num_threads);
  bool has_direction = false;
  for (size_t i = 0; i < problem.scales.size(); ++i) {
    problem.num_zero_rows += problem.scales[i] == 0 ? 1 : 0;
    has_direction = has_direction || problem.weight(static_cast<int64_t>(i)) > 0;
  }
  require(has_direction,
          "distance is cosine, but every row of positive weight is zero and has no direction: use "
          "euclidean");
}

}  // namespace

void scale_row(std::span<const float> x, double scale, std::span<float> out) {
  for (size_t t = 0; t < x.size(); ++t) out[t] = static_cast<float>(scale * x[t]);
}

std::vector<double> inverse_norms(FloatView points, int num_threads) {
  const std::vector<float> origin(points.cols());
  std::vector<double> scales(points.rows());
  parallel_for(points.rows(), kBlockRows, num_threads, [&](const Block& block) {
    for (int64_t i = block.begin; i < block.end; ++i) {
      const double squared = squared_distance(points.row_span(i), origin);
      scales[i] = squared > 0 ? 1 / std::sqrt(squared) : squared;
    }
  });
  return scales;
}

KMeansProblem make_kmeans_problem(const KMeansInput& input, const KMeansOptions& options) {
  KMeansProblem problem;
  problem.points = input.points;
  problem.weights = input.weights;
  problem.num_clusters = options.num_clusters;
  problem.num_threads = options.num_threads;
  if (options.distance == KMeansDistance::Cosine) {
    check_points(problem.points, "points", problem.num_threads);
    scale_points(problem);
  }
  const std::vector<double> center = rough_center(problem);
  const TotalSums total = sum_points(problem, center);
  // Sums of finite floats are finite in double: NaN and infinity show here without a separate
  // pass.
  if (!std::isfinite(total.squared)) {
    check_points(problem.points, "points", problem.num_threads);
    throw InvalidArgument("weights are too large for double precision: divide them by their sum");
  }
  problem.total_weight = total.weight;
  problem.scatter = total.squared;
  for (size_t t = 0; t < center.size(); ++t) {
    const double offset = total.sum[t] / total.weight;
    problem.mean.push_back(center[t] + offset);
    problem.scatter -= total.weight * offset * offset;
  }
  problem.scatter = std::max(0.0, problem.scatter);
  return problem;
}

ClusterSums::ClusterSums(const KMeansProblem& problem)
    : problem_(problem),
      labels_(problem.points.rows(), -1),
      sums_(problem.num_clusters, problem.points.cols()),
      weights_(problem.num_clusters),
      counts_(problem.num_clusters) {}

// In chunks, so that the list of moves stays short.
int64_t ClusterSums::update(std::span<const int> labels) {
  constexpr size_t kChunk = 1 << 16;
  const int64_t k = sums_.rows();
  int64_t num_moved = 0;
  std::vector<uint32_t> moved;
  moved.reserve(std::min(kChunk, labels.size()));
  for (size_t begin = 0; begin < labels.size(); begin += kChunk) {
    moved.clear();
    for (size_t i = begin; i < std::min(labels.size(), begin + kChunk); ++i)
      if (labels[i] != labels_[i]) moved.push_back(static_cast<uint32_t>(i));
    parallel_for(k, num_blocks(k, kClusterParts), problem_.num_threads, [&](const Block& part) {
      move_points(moved, labels, static_cast<int>(part.begin), static_cast<int>(part.end));
    });
    for (const uint32_t i : moved) labels_[i] = labels[i];
    num_moved += static_cast<int64_t>(moved.size());
  }
  return num_moved;
}

// Applies the moves that concern clusters [first, last).
void ClusterSums::move_points(std::span<const uint32_t> moved, std::span<const int> labels,
                              int first, int last) {
  const int64_t d = problem_.points.cols();
  const auto add_row = MILIEU_SELECT_ISA(add_row);
  const auto add = [&](int j, int64_t i, double sign) {
    if (j < first || j >= last) return;
    const double w = sign * problem_.weight(i);
    const double scale = problem_.is_spherical() ? problem_.scales[i] : 1;
    add_row(w * scale, problem_.points.row(i), d, sums_.row(j));
    weights_[j] += w;
    counts_[j] += w > 0 ? 1 : w < 0 ? -1 : 0;
  };
  for (const uint32_t i : moved) {
    add(labels_[i], i, -1);
    add(labels[i], i, 1);
  }
}

double ClusterSums::length_of_sum(int64_t j) const {
  double squared = 0;
  for (int64_t t = 0; t < sums_.cols(); ++t) squared += sums_(j, t) * sums_(j, t);
  return std::sqrt(squared);
}

// sum w |x - m_j|^2 = sum w |x - m|^2 - sum_j W_j |m_j - m|^2, with m the mean of all points.
// Spherical, with |x| = 1 and c_j = S_j / |S_j|: sum w |x - c_j|^2 = 2 (W - sum_j |S_j|)
// [Dhillon01].
double ClusterSums::objective() const {
  if (problem_.is_spherical()) {
    double length = 0;
    for (int64_t j = 0; j < sums_.rows(); ++j)
      if (!is_empty(static_cast<int>(j))) length += length_of_sum(j);
    return std::max(0.0, 2 * (problem_.total_weight - length));
  }
  double between = 0;
  for (int64_t j = 0; j < sums_.rows(); ++j) {
    if (is_empty(static_cast<int>(j))) continue;
    double squared = 0;
    for (int64_t t = 0; t < sums_.cols(); ++t) {
      const double difference = sums_(j, t) / weights_[j] - problem_.mean[t];
      squared += difference * difference;
    }
    between += weights_[j] * squared;
  }
  return std::max(0.0, problem_.scatter - between);
}

void ClusterSums::write_center(int j, std::span<float> out) const {
  const double divisor = problem_.is_spherical() ? length_of_sum(j) : weights_[j];
  if (problem_.is_spherical() && divisor <= kCancelled * weights_[j]) return;
  for (size_t t = 0; t < out.size(); ++t)
    out[t] = static_cast<float>(sums_(j, static_cast<int64_t>(t)) / divisor);
}

std::vector<int> update_centers(const ClusterSums& sums, MatrixView<float> centers) {
  std::vector<int> empty_clusters;
  for (int j = 0; j < static_cast<int>(centers.rows()); ++j) {
    if (sums.is_empty(j))
      empty_clusters.push_back(j);
    else
      sums.write_center(j, centers.row_span(j));
  }
  return empty_clusters;
}

void reseed_empty_clusters(const KMeansProblem& problem, std::span<const int> labels,
                           std::span<const int> empty_clusters, MatrixView<float> centers) {
  if (empty_clusters.empty()) return;
  const FloatView points = problem.points;
  std::vector<double> distances(points.rows());
  parallel_for(points.rows(), kBlockRows, problem.num_threads, [&](const Block& block) {
    std::vector<float> buffer;
    for (int64_t i = block.begin; i < block.end; ++i)
      if (problem.weight(i) > 0)
        distances[i] =
            squared_distance(problem.row(i, buffer), FloatView(centers).row_span(labels[i]));
  });
  std::vector<uint32_t> ranked;
  for (size_t i = 0; i < distances.size(); ++i)
    if (distances[i] > 0) ranked.push_back(static_cast<uint32_t>(i));
  std::sort(ranked.begin(), ranked.end(), [&](uint32_t a, uint32_t b) {
    return distances[a] != distances[b] ? distances[a] > distances[b] : a < b;
  });
  std::vector<uint32_t> taken;
  std::vector<float> buffer, other_buffer;
  // Equal rows have equal labels and distances, so only those need comparing.
  const auto repeats_a_taken_point = [&](uint32_t i) {
    return std::any_of(taken.begin(), taken.end(), [&](uint32_t other) {
      return distances[i] == distances[other] &&
             std::ranges::equal(problem.row(i, buffer), problem.row(other, other_buffer));
    });
  };
  for (const uint32_t i : ranked) {
    if (taken.size() == empty_clusters.size()) break;
    if (repeats_a_taken_point(i)) continue;
    std::ranges::copy(problem.row(i, buffer), centers.row(empty_clusters[taken.size()]));
    taken.push_back(i);
  }
}

double kmeans_objective(const KMeansProblem& problem, FloatView centers,
                        std::span<const int> labels) {
  return parallel_reduce(
      problem.points.rows(), kBlockRows, problem.num_threads, 0.0,
      [&](const Block& block, double& sum) {
        std::vector<float> buffer;
        for (int64_t i = block.begin; i < block.end; ++i)
          if (labels[i] >= 0)
            sum += problem.weight(i) *
                   squared_distance(problem.row(i, buffer), centers.row_span(labels[i]));
      },
      [](double& all, double part) { all += part; });
}

}  // namespace milieu
