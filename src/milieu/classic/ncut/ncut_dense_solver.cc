// SPDX-License-Identifier: Apache-2.0
// Only what needs Eigen's dense solver: see ncut_solvers_internal.h.
#include <Eigen/Eigenvalues>

#include "milieu/classic/ncut/ncut_solvers_internal.h"

namespace milieu::internal {

EigenPairs solve_dense(DoubleView symmetric, int64_t count) {
  const int64_t n = symmetric.rows();
  Eigen::MatrixXd matrix(n, n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) matrix(i, j) = symmetric(i, j);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
  EigenPairs pairs;
  pairs.vectors = Matrix<double>(count, n);
  for (int64_t c = 0; c < count; ++c) {
    const int64_t column = n - 1 - c;  // Eigen's order is ascending
    pairs.values.push_back(solver.eigenvalues()[column]);
    for (int64_t i = 0; i < n; ++i) pairs.vectors(c, i) = solver.eigenvectors()(i, column);
  }
  return pairs;
}

}  // namespace milieu::internal
