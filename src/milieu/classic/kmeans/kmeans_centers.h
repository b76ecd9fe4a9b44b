// SPDX-License-Identifier: Apache-2.0
// The centre step of k-means, for fit_kmeans and for methods that label points by their own
// rule and then move centres to means (cac). Symbols are those of kmeans.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// out = scale x, rounded once to float.
void scale_row(std::span<const float> x, double scale, std::span<float> out);

// 1 / |x| of every row, 0 for rows of zeros.
std::vector<double> inverse_norms(FloatView points, int num_threads);

// What all restarts share. The rows of the problem are the points, or for the distance cosine the
// points times `scales`; they are made one at a time where they are needed.
struct KMeansProblem {
  Rows rows;                        // n, of all ranks; arrays by row are of own ones
  FloatView points;                 // n x d
  std::span<const double> weights;  // n, or empty: all 1
  int num_clusters = 0;
  int num_threads = 0;
  bool is_spherical = false;   // the distance is cosine
  std::vector<double> scales;  // n, 1 / |x|, and 0 for a row of zeros; not spherical: none
  int64_t num_zero_rows = 0;   // of all ranks: rows without direction; their weight is 0
  std::vector<double> mean;    // d, weighted mean of the rows
  double total_weight = 0;
  double scatter = 0;  // weighted sum of |x - mean|^2

  double weight(int64_t i) const {
    if (num_zero_rows > 0 && scales[i] == 0) return 0;
    return weights.empty() ? 1.0 : weights[i];
  }
  // Row i of all ranks, on every rank: all of them must ask.
  std::vector<float> shared_row(int64_t i) const;
  // Row i, in the points or in `buffer`, which must not be used by two threads.
  std::span<const float> row(int64_t i, std::vector<float>& buffer) const {
    if (scales.empty()) return points.row_span(i);
    buffer.resize(points.cols());
    scale_row(points.row_span(i), scales[i], buffer);
    return buffer;
  }
};

// Fills scales, mean, total_weight and scatter. Throws DataError when a point is not finite, and
// InvalidArgument for the distance cosine when no row of positive weight has a direction.
KMeansProblem make_kmeans_problem(const KMeansInput& input, const KMeansOptions& options);

// What the points that changed their cluster add to the clusters' sums.
struct ClusterMoves {
  explicit ClusterMoves(int64_t num_clusters);
  void merge(const ClusterMoves& other);
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(sums, weights, counts, num_moved);
  }

  std::vector<std::vector<double>> sums;  // k, each of d numbers, or none where no point moved
  std::vector<double> weights;            // k
  std::vector<int64_t> counts;            // k, points of positive weight
  int64_t num_moved = 0;
};

// Weighted sums of the rows of each cluster, in double. An update adds what the points moved whose
// label changed: an ordered reduction over the points (parallel_reduce). Refers to `problem`, which
// must outlive it.
class ClusterSums {
 public:
  explicit ClusterSums(const KMeansProblem& problem);

  // Accounts for `labels`; returns how many points changed their cluster since the last call (all
  // of them at the first).
  int64_t update(std::span<const int> labels);

  // The sums as they stand, for a checkpoint, and back again: `labels` are those they belong to.
  ClusterMoves state() const;
  void restore(const ClusterMoves& state, std::vector<int> labels);

  // The labels accounted for; -1 before the first update.
  const std::vector<int>& labels() const { return labels_; }
  // No member has a positive weight.
  bool is_empty(int j) const { return counts_[j] == 0; }
  // The sum of w |x - c_j|^2 over all rows, from the sums alone; c_j as write_center gives it.
  double objective() const;
  // The mean of cluster j, which must not be empty; for the distance cosine its direction. Rows
  // that cancel out have no mean direction: `out` is left as it is.
  void write_center(int j, std::span<float> out) const;

 private:
  double length_of_sum(int64_t j) const;
  // The moves from labels() to `labels`, which become labels().
  ClusterMoves add_moves(std::span<const int> labels);

  const KMeansProblem& problem_;
  std::vector<int> labels_;
  Matrix<double> sums_;          // k x d
  std::vector<double> weights_;  // k
  std::vector<int64_t> counts_;  // k, members of positive weight
};

// Every non-empty cluster's centre becomes its mean or its direction; empty ones keep theirs.
// Returns the empty ones.
std::vector<int> update_centers(const ClusterSums& sums, MatrixView<float> centers);

// Gives each empty cluster a new centre: the points of positive weight are ranked by their distance
// to the centre of their cluster, farthest first, ties by lowest index; the first empty cluster
// takes the first of them, the next one the next that differs from those taken. Points that lie on
// their centre are not taken: when they run out, the remaining empty clusters keep their centres.
void reseed_empty_clusters(const KMeansProblem& problem, std::span<const int> labels,
                           std::span<const int> empty_clusters, MatrixView<float> centers);

// Weighted sum of squared distances of the points to the centres they are labelled with, each
// distance in double; points labelled -1 are ignored.
double kmeans_objective(const KMeansProblem& problem, FloatView centers,
                        std::span<const int> labels);

}  // namespace milieu
