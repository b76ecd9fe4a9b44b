// SPDX-License-Identifier: Apache-2.0
#include "milieu/classify/nearest.h"

#include <fmt/format.h>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/classify/class_labels.h"
#include "milieu/neighbors/check_points.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu {

namespace {

NeighborLists search(const NearestModel& model, FloatView points, int num_threads) {
  require(points.cols() == model.points.cols(), [&] {
    return fmt::format("points have {}, the classifier was fitted on {}",
                       counted(points.cols(), "column"), model.points.cols());
  });
  NeighborOptions options;
  options.num_threads = num_threads;
  return nearest_neighbors(model.points, points, model.num_neighbors, options);
}

}  // namespace

NearestModel fit_nearest(FloatView points, std::span<const int> labels, int num_neighbors) {
  check_points(points);
  const std::vector<int64_t> counts = count_classes(labels, points.rows());
  require(num_neighbors >= 1 && num_neighbors <= points.rows(), [&] {
    return fmt::format("num_neighbors is {}, must be between 1 and the {} points", num_neighbors,
                       points.rows());
  });
  return {Matrix<float>(points),
          {labels.begin(), labels.end()},
          num_neighbors,
          static_cast<int>(counts.size())};
}

std::vector<int> predict(const NearestModel& model, FloatView points, int num_threads) {
  const NeighborLists lists = search(model, points, num_threads);
  std::vector<int> predicted(points.rows());
  std::vector<int> votes(model.num_classes);
  for (int64_t i = 0; i < points.rows(); ++i) {
    votes.assign(votes.size(), 0);
    for (const int neighbor : lists.indices.row_span(i)) ++votes[model.labels[neighbor]];
    int best = model.labels[lists.indices(i, 0)];
    for (const int neighbor : lists.indices.row_span(i))  // nearest first: ties stay with it
      if (votes[model.labels[neighbor]] > votes[best]) best = model.labels[neighbor];
    predicted[i] = best;
  }
  return predicted;
}

Matrix<double> predict_probabilities(const NearestModel& model, FloatView points, int num_threads) {
  const NeighborLists lists = search(model, points, num_threads);
  Matrix<double> shares(points.rows(), model.num_classes);
  for (int64_t i = 0; i < points.rows(); ++i)
    for (const int neighbor : lists.indices.row_span(i))
      shares(i, model.labels[neighbor]) += 1.0 / model.num_neighbors;
  return shares;
}

}  // namespace milieu
