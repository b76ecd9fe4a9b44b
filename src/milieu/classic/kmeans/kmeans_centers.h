// SPDX-License-Identifier: Apache-2.0
// The centre step of k-means, for fit_kmeans and for methods that label points by their own
// rule and then move centres to means (cac). Symbols are those of kmeans.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/linalg/matrix.h"

namespace milieu {

// What all restarts share.
struct KMeansProblem {
  FloatView points;                 // n x d
  std::span<const double> weights;  // n, or empty: all 1
  int num_clusters = 0;
  int num_threads = 0;
  std::vector<double> mean;  // d, weighted mean of the points
  double total_weight = 0;
  double scatter = 0;  // weighted sum of |x - mean|^2

  double weight(int64_t i) const { return weights.empty() ? 1.0 : weights[i]; }
};

// Fills mean, total_weight and scatter. Throws DataError when a point is not finite.
KMeansProblem make_kmeans_problem(const KMeansInput& input, const KMeansOptions& options);

// Weighted sums of the points of each cluster, in double. An update moves only the points whose
// label changed; each sum adds its terms in the order of the points, for any number of threads.
// Refers to `problem`, which must outlive it.
class ClusterSums {
 public:
  explicit ClusterSums(const KMeansProblem& problem);

  // Accounts for `labels`; returns how many points changed their cluster since the last call (all
  // of them at the first).
  int64_t update(std::span<const int> labels);

  // The labels accounted for; -1 before the first update.
  const std::vector<int>& labels() const { return labels_; }
  // No member has a positive weight.
  bool is_empty(int j) const { return counts_[j] == 0; }
  // The sum of w |x - mean_j|^2 over all points, from the sums alone.
  double objective() const;
  // The mean of cluster j, which must not be empty.
  void write_mean(int j, std::span<float> out) const;

 private:
  void move_points(std::span<const uint32_t> moved, std::span<const int> labels, int first,
                   int last);

  const KMeansProblem& problem_;
  std::vector<int> labels_;
  Matrix<double> sums_;          // k x d
  std::vector<double> weights_;  // k
  std::vector<int64_t> counts_;  // k, members of positive weight
};

// Every non-empty cluster's centre becomes its mean; empty ones keep theirs. Returns the empty
// ones.
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
