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

constexpr double kCancelled = 1e-12;  // of a cluster's weight: a shorter sum has no direction

// Weighted sums over all points, about a center near their mean.
struct TotalSums {
  std::vector<double> sum;  // of w (x - center)
  double squared = 0;       // of w |x - center|^2
  double weight = 0;
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(sum, squared, weight);
  }
};

// What the scales of rows are checked for.
struct Directions {
  int64_t num_zero_rows = 0;
  int64_t num_directions = 0;  // rows of positive weight that have one
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(num_zero_rows, num_directions);
  }
};

// The mean of a few rows.
std::vector<double> rough_center(const KMeansProblem& problem) {
  constexpr int64_t kSample = 64;
  const int64_t n = problem.rows.size(), d = problem.points.cols();
  const int64_t count = std::min(kSample, n);
  const auto add_row = MILIEU_SELECT_ISA(add_row);
  std::vector<double> center(d);
  for (int64_t s = 0; s < count; ++s)
    add_row(1.0 / static_cast<double>(count), problem.shared_row(s * n / count).data(), d,
            center.data());
  return center;
}

TotalSums sum_points(const KMeansProblem& problem, const std::vector<double>& center) {
  const int64_t d = problem.points.cols();
  const auto add_centered_row = MILIEU_SELECT_ISA(add_centered_row);
  return parallel_reduce(
      problem.rows, problem.num_threads, TotalSums{std::vector<double>(d), 0, 0},
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
  problem.is_spherical = true;
  problem.scales = inverse_norms(problem.points, problem.num_threads);
  const Directions found = parallel_reduce(
      problem.rows, problem.num_threads, Directions(),
      [&](const Block& block, Directions& part) {
        for (int64_t i = block.begin; i < block.end; ++i) {
          const bool has_direction = problem.scales[i] != 0;
          part.num_zero_rows += has_direction ? 0 : 1;
          part.num_directions += has_direction && problem.weight(i) > 0 ? 1 : 0;
        }
      },
      [](Directions& all, const Directions& part) {
        all.num_zero_rows += part.num_zero_rows;
        all.num_directions += part.num_directions;
      });
  problem.num_zero_rows = found.num_zero_rows;
  require(found.num_directions > 0,
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
  parallel_for(points.rows(), KMeansInput::kBlockRows, num_threads, [&](const Block& block) {
    for (int64_t i = block.begin; i < block.end; ++i) {
      const double squared = squared_distance(points.row_span(i), origin);
      scales[i] = squared > 0 ? 1 / std::sqrt(squared) : squared;
    }
  });
  return scales;
}

std::vector<float> KMeansProblem::shared_row(int64_t i) const {
  std::vector<float> shared(points.cols());
  std::vector<float> buffer;
  if (rows.owns(i)) std::ranges::copy(row(i - rows.begin(), buffer), shared.begin());
  rows.share_from_owner<float>(i, shared);
  return shared;
}

KMeansProblem make_kmeans_problem(const KMeansInput& input, const KMeansOptions& options) {
  KMeansProblem problem;
  problem.rows = input.rows ? *input.rows : Rows(input.points.rows(), KMeansInput::kBlockRows);
  problem.points = input.points;
  problem.weights = input.weights;
  problem.num_clusters = options.num_clusters;
  problem.num_threads = options.num_threads;
  if (options.distance == KMeansDistance::Cosine) {
    check_points(problem.points, problem.rows, "points", problem.num_threads);
    scale_points(problem);
  }
  const std::vector<double> center = rough_center(problem);
  const TotalSums total = sum_points(problem, center);
  // Sums of finite floats are finite in double: NaN and infinity show here without a separate
  // pass.
  if (!std::isfinite(total.squared)) {
    check_points(problem.points, problem.rows, "points", problem.num_threads);
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

ClusterMoves::ClusterMoves(int64_t num_clusters)
    : sums(num_clusters), weights(num_clusters), counts(num_clusters) {}

void ClusterMoves::merge(const ClusterMoves& other) {
  for (size_t j = 0; j < sums.size(); ++j) {
    weights[j] += other.weights[j];
    counts[j] += other.counts[j];
    if (sums[j].empty())
      sums[j] = other.sums[j];
    else
      for (size_t t = 0; t < other.sums[j].size(); ++t) sums[j][t] += other.sums[j][t];
  }
  num_moved += other.num_moved;
}

ClusterSums::ClusterSums(const KMeansProblem& problem)
    : problem_(problem),
      labels_(problem.points.rows(), -1),
      sums_(problem.num_clusters, problem.points.cols()),
      weights_(problem.num_clusters),
      counts_(problem.num_clusters) {}

ClusterMoves ClusterSums::add_moves(std::span<const int> labels) {
  const auto add_row = MILIEU_SELECT_ISA(add_row);
  return parallel_reduce(
      problem_.rows, problem_.num_threads, ClusterMoves(sums_.rows()),
      [&](const Block& block, ClusterMoves& moves) {
        for (int64_t i = block.begin; i < block.end; ++i) {
          if (labels[i] == labels_[i]) continue;
          const double w = problem_.weight(i);
          const double scale = problem_.is_spherical ? problem_.scales[i] : 1;
          for (const auto& [j, sign] : {std::pair(labels_[i], -1), std::pair(labels[i], 1)}) {
            if (j < 0) continue;
            moves.sums[j].resize(sums_.cols());
            add_row(sign * w * scale, problem_.points.row(i), sums_.cols(), moves.sums[j].data());
            moves.weights[j] += sign * w;
            moves.counts[j] += w > 0 ? sign : 0;
          }
          labels_[i] = labels[i];
          ++moves.num_moved;
        }
      },
      [](ClusterMoves& all, const ClusterMoves& part) { all.merge(part); });
}

int64_t ClusterSums::update(std::span<const int> labels) {
  const ClusterMoves moves = add_moves(labels);
  for (int64_t j = 0; j < sums_.rows(); ++j) {
    weights_[j] += moves.weights[j];
    counts_[j] += moves.counts[j];
    for (size_t t = 0; t < moves.sums[j].size(); ++t) sums_.row(j)[t] += moves.sums[j][t];
  }
  return moves.num_moved;
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
  if (problem_.is_spherical) {
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
  const double divisor = problem_.is_spherical ? length_of_sum(j) : weights_[j];
  if (problem_.is_spherical && divisor <= kCancelled * weights_[j]) return;
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

namespace {

// Points far from their centres: different ones, farthest first, ties by lowest index.
struct FarPoints {
  std::vector<double> distances;
  std::vector<int64_t> points;  // of all ranks
  std::vector<std::vector<float>> rows;
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(distances, points, rows);
  }
  // Equal rows have equal labels and distances, so only those need comparing.
  bool has(double distance, std::span<const float> row) const {
    for (size_t t = 0; t < rows.size(); ++t)
      if (distances[t] == distance && std::ranges::equal(rows[t], row)) return true;
    return false;
  }
};

// The `count` own points that are farthest from their centres. A heap, because only the first few
// of all points are wanted.
FarPoints farthest_own(const KMeansProblem& problem, std::span<const double> distances,
                       size_t count) {
  std::vector<uint32_t> heap;
  for (size_t i = 0; i < distances.size(); ++i)
    if (distances[i] > 0) heap.push_back(static_cast<uint32_t>(i));
  const auto is_nearer = [&](uint32_t a, uint32_t b) {
    return distances[a] != distances[b] ? distances[a] < distances[b] : a > b;
  };
  std::ranges::make_heap(heap, is_nearer);
  FarPoints found;
  std::vector<float> buffer;
  while (!heap.empty() && found.rows.size() < count) {
    std::ranges::pop_heap(heap, is_nearer);
    const uint32_t i = heap.back();
    heap.pop_back();
    const std::span<const float> row = problem.row(i, buffer);
    if (found.has(distances[i], row)) continue;
    found.distances.push_back(distances[i]);
    found.points.push_back(problem.rows.begin() + i);
    found.rows.emplace_back(row.begin(), row.end());
  }
  return found;
}

// Of all ranks. Each has as many as may be wanted from it.
FarPoints farthest_of_all(const Rows& rows, FarPoints own, size_t count) {
  if (!rows.is_shared()) return own;
  FarPoints all;
  for (const Message& message : rows.ranks().gather(pack(own))) {
    FarPoints part;
    unpack(message, part);
    for (size_t t = 0; t < part.rows.size(); ++t) {
      all.distances.push_back(part.distances[t]);
      all.points.push_back(part.points[t]);
      all.rows.push_back(std::move(part.rows[t]));
    }
  }
  std::vector<size_t> order(all.rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {  // parts come in the order of points
    return all.distances[a] > all.distances[b];
  });
  FarPoints found;
  for (const size_t t : order) {
    if (found.rows.size() == count) break;
    if (found.has(all.distances[t], all.rows[t])) continue;
    found.distances.push_back(all.distances[t]);
    found.points.push_back(all.points[t]);
    found.rows.push_back(std::move(all.rows[t]));
  }
  return found;
}

}  // namespace

void reseed_empty_clusters(const KMeansProblem& problem, std::span<const int> labels,
                           std::span<const int> empty_clusters, MatrixView<float> centers) {
  if (empty_clusters.empty()) return;
  std::vector<double> distances(problem.points.rows());
  parallel_for(
      problem.points.rows(), KMeansInput::kBlockRows, problem.num_threads, [&](const Block& block) {
        std::vector<float> buffer;
        for (int64_t i = block.begin; i < block.end; ++i)
          if (problem.weight(i) > 0)
            distances[i] =
                squared_distance(problem.row(i, buffer), FloatView(centers).row_span(labels[i]));
      });
  const FarPoints far = farthest_of_all(
      problem.rows, farthest_own(problem, distances, empty_clusters.size()), empty_clusters.size());
  for (size_t t = 0; t < far.rows.size(); ++t)
    std::ranges::copy(far.rows[t], centers.row(empty_clusters[t]));
}

double kmeans_objective(const KMeansProblem& problem, FloatView centers,
                        std::span<const int> labels) {
  return parallel_reduce(
      problem.rows, problem.num_threads, 0.0,
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
