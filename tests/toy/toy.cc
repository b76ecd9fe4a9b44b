// SPDX-License-Identifier: Apache-2.0
#include "toy.h"

#include <algorithm>
#include <cmath>

#include "milieu/run/predictor_internal.h"  // private: for entries of the table, as this one
#include "milieu/run/rows_method.h"

namespace milieu {

std::vector<int> predict(const ToyModel& model, FloatView points, int) {
  std::vector<int> labels;
  for (int64_t i = 0; i < points.rows(); ++i) {
    int best = 0;
    for (int64_t k = 1; k < model.centers.rows(); ++k)
      if (std::abs(points(i, 0) - model.centers(k, 0)) <
          std::abs(points(i, 0) - model.centers(best, 0)))
        best = static_cast<int>(k);
    labels.push_back(best);
  }
  return labels;
}

ToyResult fit_toy(const ToyInput& input, const ToyOptions& options, Monitor&) {
  validate_options(options);
  float low = input.points(0, 0), high = low;
  for (int64_t i = 0; i < input.points.rows(); ++i) {
    const float offset = input.offsets.empty() ? 0 : static_cast<float>(input.offsets[i]);
    low = std::min(low, input.points(i, 0) + offset);
    high = std::max(high, input.points(i, 0) + offset);
  }
  ToyResult result;
  result.model.centers = Matrix<float>(options.num_clusters, input.points.cols());
  for (int k = 0; k < options.num_clusters; ++k)
    result.model.centers(k, 0) = low + (high - low) * (static_cast<float>(k) + 0.5f) /
                                           static_cast<float>(options.num_clusters);
  result.labels = predict(result.model, input.points, 1);
  result.summary.method = "toy";
  result.summary.version = version();
  result.summary.n = input.points.rows();
  result.summary.d = input.points.cols();
  set_sizes(result.summary, result.labels, options.num_clusters);
  return result;
}

MethodEntry toy_method() {
  return rows_method<fit_toy>({.name = "toy",
                               .title = "Slices",
                               .summary = "slices of the first column",
                               .shared_files = {"offsets"},
                               .example = "  milieu toy X.npy -k 2\n",
                               .predictors = {internal::predictor<&ToyModel::centers>()}});
}

}  // namespace milieu
