// SPDX-License-Identifier: Apache-2.0
// Problem: new sets often hold the clusters that were shown. Then few axes are enough (Fisher's
//   discriminants): white within clusters, those along which the centers of the clusters differ
//   most. Sets of other clusters differ along other axes, and need a distance that favours none.
// Conventions: as many axes as the largest set has clusters less one. A new set is taken for the
//   known clusters if its samples are about as near to the centers as samples that were left out
//   of the fit: their median distance is at most a geometric mean of that and of the same samples'
//   distance to the second nearest center of a set (medians: single samples may be far off). It is
//   nearer to the former, because to take other clusters for known ones costs more than the
//   opposite.
// See: docs/algorithms/exemplar_learn.md, docs/experiments/exemplar_learn.md.
#include <algorithm>
#include <cmath>
#include <utility>

#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/exemplar/metric/learn_metric_internal.h"
#include "milieu/linalg/gemm.h"
#include "milieu/linalg/pca.h"

namespace milieu::internal {

namespace {

constexpr double kShareOfOther = 1.0 / 3;  // in the logarithm of the limit

double squared_distance(const float* a, const float* b, int64_t size) {
  double sum = 0;
  for (int64_t j = 0; j < size; ++j) {
    const double difference = static_cast<double>(a[j]) - b[j];
    sum += difference * difference;
  }
  return sum;
}

double limit_of(const std::vector<KnownDistances>& sets, size_t metric) {
  std::vector<double> nearest, other;
  for (const KnownDistances& set : sets) {
    nearest.insert(nearest.end(), set.nearest[metric].begin(), set.nearest[metric].end());
    other.insert(other.end(), set.other[metric].begin(), set.other[metric].end());
  }
  return std::pow(median_of(std::move(nearest)), 1 - kShareOfOther) *
         std::pow(median_of(std::move(other)), kShareOfOther);
}

}  // namespace

double nearest_share(const std::vector<Matrix<float>>& costs, const std::vector<LearnSet>& sets) {
  double right = 0, total = 0;
  for (size_t k = 0; k < sets.size(); ++k) {
    const std::vector<int>& labels = sets[k].labels;
    for (int64_t p = 0; p < costs[k].rows(); ++p) {
      int64_t best = p == 0 ? 1 : 0;
      for (int64_t q = 0; q < costs[k].cols(); ++q)
        if (q != p && costs[k](p, q) < costs[k](p, best)) best = q;
      right += labels[static_cast<size_t>(best)] == labels[static_cast<size_t>(p)] ? 1 : 0;
    }
    total += static_cast<double>(labels.size());
  }
  return right / total;
}

ClusterCenters cluster_centers(const MetricSpace& space, const LearnInput& input,
                               const std::vector<std::vector<char>>& is_kept) {
  ClusterCenters centers;
  std::vector<float> rows;
  const int64_t r = space.map.cols();
  for (size_t k = 0; k < input.sets.size(); ++k) {
    const std::vector<int>& labels = input.sets[k].labels;
    Matrix<double> sums(num_clusters(input.sets[k]), r);
    std::vector<double> counts(static_cast<size_t>(sums.rows()), 0.0);
    for (size_t p = 0; p < labels.size(); ++p) {
      if (is_kept[k][p] == 0) continue;
      ++counts[labels[p]];
      for (int64_t j = 0; j < r; ++j)
        sums(labels[p], j) += space.coordinates[k](static_cast<int64_t>(p), j);
    }
    for (int64_t c = 0; c < sums.rows(); ++c) {
      if (counts[c] == 0) continue;
      centers.set.push_back(static_cast<int>(k));
      for (int64_t j = 0; j < r; ++j) rows.push_back(static_cast<float>(sums(c, j) / counts[c]));
    }
  }
  centers.rows = Matrix<float>(FloatView(rows.data(), std::ssize(rows) / r, r));
  return centers;
}

Discriminants find_discriminants(const WithinAxes& fitted, const ClusterCenters& centers,
                                 double shrinkage) {
  Discriminants found;
  found.centers = fitted.white(centers.rows, shrinkage);
  const int64_t r = found.centers.cols();
  Matrix<float> about_means(found.centers.rows(), r);
  int64_t largest = 0;
  for (int64_t first = 0, last = 0; first < about_means.rows(); first = last) {
    while (last < about_means.rows() && centers.set[last] == centers.set[first]) ++last;
    largest = std::max(largest, last - first);
    for (int64_t j = 0; j < r; ++j) {
      double mean = 0;
      for (int64_t c = first; c < last; ++c)
        mean += found.centers(c, j) / static_cast<double>(last - first);
      for (int64_t c = first; c < last; ++c)
        about_means(c, j) = static_cast<float>(found.centers(c, j) - mean);
    }
  }
  const int64_t count = std::clamp<int64_t>(largest - 1, 1, std::min(r, about_means.rows()));
  const Pca pca = fit_pca(about_means, static_cast<int>(count));
  found.axes = Matrix<float>(r, count);
  for (int64_t j = 0; j < r; ++j)
    for (int64_t s = 0; s < count; ++s) found.axes(j, s) = static_cast<float>(pca.components(s, j));
  return found;
}

Matrix<float> along(const Discriminants& found, FloatView white) {
  Matrix<float> rows(white.rows(), found.axes.cols());
  gemm(1, white, found.axes, 0, rows);
  return rows;
}

void note_nearest(FloatView white, const std::vector<int>& set_of_center,
                  const Discriminants& found, int64_t p, size_t metric, KnownDistances& out) {
  double nearest = INFINITY, other = INFINITY, first = INFINITY, second = INFINITY;  // of one set
  for (int64_t c = 0; c < found.centers.rows(); ++c) {
    const auto at = static_cast<size_t>(c);
    if (c > 0 && set_of_center[at] != set_of_center[at - 1]) first = second = INFINITY;
    const double distance =
        squared_distance(white.row(p), found.centers.row(c), found.centers.cols());
    if (distance < first)
      second = std::exchange(first, distance);
    else
      second = std::min(second, distance);
    nearest = std::min(nearest, first);
    other = std::min(other, second);
  }
  out.nearest[metric][static_cast<size_t>(p)] = nearest;
  out.other[metric][static_cast<size_t>(p)] = other;
}

KnownFit choose_known(const MetricCandidates& metrics, const LearnInput& input) {
  KnownFit known;
  size_t best = 0;
  for (size_t l = 0; l < static_cast<size_t>(kNumMetrics); ++l) {
    std::vector<Matrix<float>> costs;
    for (const KnownDistances& set : metrics.known) costs.push_back(set.distances[l]);
    const double share = nearest_share(costs, input.sets);
    if (l > 0 && share <= known.nearest_share) continue;
    known.nearest_share = share;
    known.costs = std::move(costs);
    best = l;
  }
  const ClusterCenters centers = cluster_centers(metrics.space, input, keep_all(input));
  Discriminants all = find_discriminants(metrics.all, centers, kShrinkages[best]);
  known.clusters.space = metrics.all.white(metrics.space.map, kShrinkages[best]);
  known.clusters.axes = std::move(all.axes);
  known.clusters.centers = std::move(all.centers);
  known.clusters.limits = {limit_of(metrics.known, best)};
  return known;
}

}  // namespace milieu::internal
