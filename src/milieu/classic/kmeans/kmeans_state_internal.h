// SPDX-License-Identifier: Apache-2.0
// Where a k-means fit stands: what a checkpoint holds. Labels are not in it: they are those of the
// nearest centres.
#pragma once

#include <cstdint>
#include <vector>

#include "milieu/classic/kmeans/kmeans_centers.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

struct KMeansState {
  KMeansState(int64_t k, int64_t d) : centers(k, d), labelled(k, d), sums(k), best_centers(k, d) {}

  // The restart that runs: its next centres, and those that the sums belong to.
  int64_t restart = 0;
  Matrix<float> centers;
  Matrix<float> labelled;
  ClusterMoves sums;
  std::vector<double> trace;
  // The best of those before it; best_restart is -1 where there is none.
  int64_t best_restart = -1;
  Matrix<float> best_centers;
  std::vector<double> best_trace;
  double best_objective = 0;
  int64_t best_termination = 0;

  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(restart, centers, labelled, sums, trace, best_restart, best_centers, best_trace,
      best_objective, best_termination);
  }
};

}  // namespace milieu::internal
