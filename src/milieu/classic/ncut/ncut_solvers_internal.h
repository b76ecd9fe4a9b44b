// SPDX-License-Identifier: Apache-2.0
// The two eigenvalue solvers of normalized cut, each alone in its source file: Eigen and Spectra
// are slow to compile, so nothing else is compiled with them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "milieu/linalg/matrix.h"

namespace milieu::internal {

struct EigenPairs {
  std::vector<double> values;  // descending
  Matrix<double> vectors;      // one per row, of length 1, in the order of the values
};

// The `count` largest eigenvalues of a symmetric n x n matrix, count <= n, by Eigen's dense solver:
// O(n^3), and finds equal eigenvalues as often as they occur.
EigenPairs solve_dense(DoubleView symmetric, int64_t count);

struct LanczosOptions {
  int64_t count = 1;          // eigenvalues to find, below n
  double tolerance = 1e-8;    // residual relative to the eigenvalue
  int max_iterations = 1000;  // restarts
};

// The largest eigenvalues of the symmetric operator y = multiply(x), by Spectra's restarted Lanczos
// method from `start` (n numbers, not all 0). Returns those that converged; of equal eigenvalues
// usually one. What `multiply` throws comes through.
EigenPairs solve_lanczos(const std::function<void(const double* x, double* y)>& multiply,
                         std::span<const double> start, const LanczosOptions& options);

}  // namespace milieu::internal
