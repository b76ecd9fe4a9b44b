// SPDX-License-Identifier: Apache-2.0
// Full metrics as candidate distances beside those of single columns or features: the inverse of
// the covariance within clusters, shrunk, on the leading principal components of all columns. A
// metric is fitted to labels, so on the samples it has seen it looks better than it is: in training
// every pair is measured by a metric that has seen neither of its two samples.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "milieu/exemplar/learn/learn.h"
#include "milieu/exemplar/metric/known_clusters.h"

namespace milieu::internal {

// Shares of the identity in the covariance, one candidate each; chosen with the other defaults
// (docs/experiments/exemplar_learn.md).
inline constexpr double kShrinkages[] = {0.1, 0.3, 0.6};
inline constexpr int64_t kNumMetrics = 3;

// The space in which metrics are fitted; made without labels.
struct MetricSpace {
  std::vector<int64_t> is_root;            // D; 1: the square root of the column is taken first
  Matrix<float> map;                       // D x r: scale of the view times principal components
  std::vector<Matrix<float>> coordinates;  // n x r each, of the sets
};

// One fitted metric: within clusters the variance along row j of `axes` is variances[j].
struct WithinAxes {
  Matrix<float> axes;             // r x r, orthonormal rows
  std::vector<double> variances;  // r
  // The factor of the squared difference along each axis, for one of kShrinkages.
  std::vector<double> factors(double shrinkage) const;
  // Coordinates of `points` along the axes, each times the root of its factor: white within
  // clusters.
  Matrix<float> white(FloatView points, double shrinkage) const;
};

// Centers of the clusters of the training sets, set by set; clusters of which no sample is kept are
// left out.
struct ClusterCenters {
  Matrix<float> rows;    // C x r, in the coordinates of the space
  std::vector<int> set;  // C
};

// The axes along which known clusters differ most, in white coordinates.
struct Discriminants {
  Matrix<float> axes;     // r x s, orthonormal columns
  Matrix<float> centers;  // C x r
};

// One training set under discriminants that have not seen its samples, for each of kShrinkages.
struct KnownDistances {
  std::vector<Matrix<float>> distances;      // n x n, along the axes
  std::vector<std::vector<double>> nearest;  // n: squared distance to the nearest center
  std::vector<std::vector<double>> other;    // n: to the second nearest one of any one set
};

// The discriminants that are used.
struct KnownFit {
  KnownClusters clusters;            // without its use, penalty and grouping
  std::vector<Matrix<float>> costs;  // per set: n x n, cross-fitted
  double nearest_share = 0;          // of samples whose nearest other one is of their cluster
};

// Incomplete when the monitor stops it.
MetricSpace make_metric_space(const LearnInput& input,
                              const std::vector<CandidateDistance>& candidates,
                              const std::vector<char>& is_kept, int num_threads,
                              const Monitor& monitor);

int64_t total_samples(const LearnInput& input);

struct MetricCandidates {
  MetricSpace space;
  WithinAxes all;                                     // fitted to all samples, for new ones
  std::vector<std::vector<Matrix<float>>> distances;  // per set: kNumMetrics of n x n, cross-fitted
  std::vector<KnownDistances> known;                  // per set
};

// True where metrics can be fitted and may be weighted: points, enough samples, weights >= 0.
bool can_fit_metrics(const LearnInput& input, const ExemplarLearnOptions& options);

// What the matrices of distances take.
double metric_bytes(const std::vector<LearnSet>& sets);

// learn_known.cc: discriminants of the samples that are kept, of pairs and samples that they have
// not seen, and of all samples for new sets.
std::vector<std::vector<char>> keep_all(const LearnInput& input);
ClusterCenters cluster_centers(const MetricSpace& space, const LearnInput& input,
                               const std::vector<std::vector<char>>& is_kept);
Discriminants find_discriminants(const WithinAxes& fitted, const ClusterCenters& centers,
                                 double shrinkage);
Matrix<float> along(const Discriminants& found, FloatView white);
void note_nearest(FloatView white, const std::vector<int>& set_of_center,
                  const Discriminants& found, int64_t p, size_t metric, KnownDistances& out);
KnownFit choose_known(const MetricCandidates& metrics, const LearnInput& input);

// Views are the columns of each candidate; without candidates every column is one. A view counts if
// one of its candidates is kept (one entry per candidate or column). Incomplete when the monitor
// stops it.
MetricCandidates fit_metrics(const LearnInput& input,
                             const std::vector<CandidateDistance>& candidates,
                             const std::vector<char>& is_kept, uint64_t seed, int num_threads,
                             Monitor& monitor);

// D x r: the weighted sum of the metrics as one, |P^T (g(x) - g(y))|^2. Empty without weight.
Matrix<float> joined_projection(const MetricCandidates& metrics, std::span<const double> weights);

// The features of `base`, then one for each matrix; all are symmetric.
std::shared_ptr<PairFeatures> make_joined_features(std::shared_ptr<PairFeatures> base,
                                                   std::vector<Matrix<float>> matrices);

}  // namespace milieu::internal
