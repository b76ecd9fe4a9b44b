// SPDX-License-Identifier: Apache-2.0
// What experiments with learned distances share: matrices of candidates, their sums, nearest
// neighbours, exemplars.
#pragma once

#include <cstdint>
#include <vector>

#include "milieu/exemplar/learn/pair_features.h"
#include "milieu/linalg/matrix.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

// Distances of the candidates, one matrix each; from the rows of `a` to those of `b`.
std::vector<Matrix<float>> all_distances(const std::vector<CandidateDistance>& candidates,
                                         FloatView a, FloatView b);
Matrix<float> weighted_sum(const std::vector<Matrix<float>>& all, const std::vector<double>& w);

// Share of rows whose nearest column has their class.
double nearest_accuracy(const Matrix<float>& distances, const std::vector<int>& rows,
                        const std::vector<int>& columns);

struct Found {
  double accuracy = 0, f = 0;
  double count = 0;
  std::vector<int64_t> exemplars;
};
// With `num_clusters` > 0 the true number is given, otherwise the penalty decides.
Found cluster_exemplars(const Matrix<float>& costs, const std::vector<int>& truth, double penalty,
                        int num_clusters, ReproduceRun& run);

}  // namespace milieu::cli
