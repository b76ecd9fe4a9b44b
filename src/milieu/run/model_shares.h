// SPDX-License-Identifier: Apache-2.0
// Soft results of models that define them.
#pragma once

#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// Shares of the clusters in new rows, for models that define them.
template <class Model>
concept HasShares = requires(const Model& model, FloatView points) {
  predict_probabilities(model, points, 1);
}
|| requires(const Model& model, FloatView points) { cluster_probabilities(model, points, 1); }
|| requires(const Model& model, FloatView points) { infer_topics(model, points, 1); };

template <HasShares Model>
Matrix<double> shares_of(const Model& model, FloatView points, int num_threads) {
  if constexpr (requires { predict_probabilities(model, points, num_threads); })
    return predict_probabilities(model, points, num_threads);
  else if constexpr (requires { cluster_probabilities(model, points, num_threads); })
    return cluster_probabilities(model, points, num_threads);
  else
    return infer_topics(model, points, num_threads);
}

}  // namespace milieu::internal
