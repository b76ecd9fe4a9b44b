// SPDX-License-Identifier: Apache-2.0
// What a model of k-means does with new samples.
#include <fmt/format.h>

#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/kmeans/kmeans_assign_internal.h"
#include "milieu/classic/kmeans/kmeans_centers.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {
namespace {

// Around the mean of the centres, in units of their spread.
internal::Scaling scaling_of(FloatView centers) {
  std::vector<double> mean(centers.cols());
  for (int64_t j = 0; j < centers.rows(); ++j)
    for (int64_t t = 0; t < centers.cols(); ++t)
      mean[t] += centers(j, t) / static_cast<double>(centers.rows());
  double squared = 0;
  for (int64_t j = 0; j < centers.rows(); ++j)
    for (int64_t t = 0; t < centers.cols(); ++t)
      squared += (centers(j, t) - mean[t]) * (centers(j, t) - mean[t]);
  const double size = std::sqrt(squared / static_cast<double>(centers.rows()));
  return {std::vector<float>(mean.begin(), mean.end()), internal::scaling_factor(size)};
}

}  // namespace

const char* to_string(KMeansDistance distance) {
  return distance == KMeansDistance::Cosine ? "cosine" : "euclidean";
}

KMeansDistance kmeans_distance_from(std::string_view name) {
  for (const KMeansDistance distance : {KMeansDistance::Euclidean, KMeansDistance::Cosine})
    if (name == to_string(distance)) return distance;
  throw DataError(fmt::format("kmeans model: distance is '{}', must be euclidean or cosine", name));
}

std::vector<int> predict(const KMeansModel& model, FloatView points, int num_threads) {
  require(points.cols() == model.centers.cols(), [&] {
    return fmt::format("points has {}, the model has {}: they must match",
                       counted(points.cols(), "column"), model.centers.cols());
  });
  if (points.rows() > 0) check_points(points, "points", num_threads);
  std::vector<int> labels(points.rows(), 0);
  std::vector<double> scales;
  if (model.distance == KMeansDistance::Cosine) scales = inverse_norms(points, num_threads);
  internal::NearestCenters nearest(points, scaling_of(model.centers), num_threads, scales);
  nearest.assign(model.centers, silent_monitor(), labels);
  return labels;
}

}  // namespace milieu
