// SPDX-License-Identifier: Apache-2.0
// Principal component analysis: mean, directions of largest variance, projection.
#pragma once

#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct Pca {
  std::vector<double> mean;   // d
  Matrix<double> components;  // num_components x d, orthonormal rows, largest variance first
  std::vector<double> explained_variance;  // num_components, divisor n - 1 (n when n is 1)
  double total_variance = 0;               // of all d directions together
};

// The `num_components` leading directions of the rows of `points` (n x d, n >= 1, finite), with
// 1 <= num_components <= min(n, d). Decomposes the smaller of the covariance (d x d) and the Gram
// matrix (n x n): meant for min(n, d) up to a few thousands. Directions of no variance complete the
// basis by a fixed rule. Sign: the entry of largest magnitude of each component is positive (the
// first one where several are equal). Deterministic; throws InvalidArgument on wrong sizes.
Pca fit_pca(FloatView points, int num_components);

// Coordinates of the rows of `points` along the components: n x num_components.
Matrix<float> project(const Pca& pca, FloatView points);

}  // namespace milieu
