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
};

// True where metrics can be fitted and may be weighted: points, enough samples, weights >= 0.
bool can_fit_metrics(const LearnInput& input, const ExemplarLearnOptions& options);

// What the matrices of distances take.
double metric_bytes(const std::vector<LearnSet>& sets);

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
