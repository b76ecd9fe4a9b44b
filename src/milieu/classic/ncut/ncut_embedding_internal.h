// SPDX-License-Identifier: Apache-2.0
// The leading eigenvectors of the normalized affinities, and the rows that k-means clusters. See
// ncut.cc for the problem and the symbols.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/classic/ncut/ncut_graph_internal.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

enum class EigenStatus { Converged, NotConverged, Stopped };

struct EigenOptions {
  int max_iterations = 1000;   // restarts of one Lanczos run
  double tolerance = 1e-8;     // relative residual
  int64_t max_direct_n = 600;  // up to here a direct dense solver is used at once
  uint64_t seed = 1;           // of the starting vectors
  int num_threads = 0;
};

// Eigenvectors of D^-1/2 W D^-1/2 for its largest eigenvalues, descending.
struct Eigenvectors {
  Matrix<double> vectors;      // n x (number found), orthonormal columns
  std::vector<double> values;  // at most 1
  EigenStatus status = EigenStatus::Converged;
  bool is_direct = false;  // by the dense solver
};

// The `count` leading ones, count < n. `component_from_row` gives the connected components, at most
// `count` many: their eigenvectors (value 1) are known and not searched for. When the iteration
// does not converge and n is too large for the direct solver, fewer are returned, all of them
// converged. Each column's entry of largest magnitude (lowest row of ties) is positive.
Eigenvectors leading_eigenvectors(const AffinityGraph& graph,
                                  std::span<const int> component_from_row, int count,
                                  const EigenOptions& options, Monitor& monitor);

// Rows scaled to length 1, as float [Ng01, step 4]; rows of zeros stay.
Matrix<float> normalize_rows(const Matrix<double>& vectors);

}  // namespace milieu::internal
