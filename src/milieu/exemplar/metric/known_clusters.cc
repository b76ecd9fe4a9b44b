// SPDX-License-Identifier: Apache-2.0
// Uses of the known clusters of a learned distance; learn_known.cc finds them.
#include "milieu/exemplar/metric/known_clusters.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/linalg/gemm.h"
#include "milieu/linalg/pair_distance.h"

namespace milieu {

LearnedDistance known_distance(const LearnedDistance& model) {
  require(!model.known.empty(), "the distance was learned without known clusters");
  const KnownClusters& known = model.known;
  LearnedDistance own = model;
  own.known = {};
  std::fill(own.weights.begin(), own.weights.end(), 0.0);
  own.metric = Matrix<float>(known.space.rows(), known.axes.cols());
  gemm(1, known.space, known.axes, 0, own.metric);
  own.penalty = known.penalty.empty() ? model.penalty : known.penalty[0];
  own.penalty_rule = known.penalty_rule;
  own.same_cluster = known.same_cluster;
  own.grouping = known.grouping;
  return own;
}

LearnedDistance classifying_distance(const LearnedDistance& model) {
  return model.known.serves("classes") ? known_distance(model) : model;
}

KnownCheck compare_with_known(const LearnedDistance& model, FloatView points, int num_threads) {
  require(!model.known.empty(), "the distance was learned without known clusters");
  const Matrix<float> rows =
      internal::metric_coordinates(model.known.space, model.metric_roots, points, num_threads);
  Matrix<float> squares(rows.rows(), model.known.centers.rows());
  pair_distances(Distance::SquaredEuclidean, rows, model.known.centers, squares);
  std::vector<double> nearest;
  for (int64_t p = 0; p < squares.rows(); ++p) {
    const auto row = squares.row_span(p);
    const float least = *std::min_element(row.begin(), row.end());
    nearest.push_back(std::isfinite(least) ? least : INFINITY);  // the fit names a NaN
  }
  return {internal::median_of(std::move(nearest)), model.known.limits[0]};
}

namespace internal {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return values.empty() ? 0.0 : *middle;
}

}  // namespace internal

}  // namespace milieu
