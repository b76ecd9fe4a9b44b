// SPDX-License-Identifier: Apache-2.0
// Small dense matrices of the mixture with full covariances; the only part of it that uses Eigen.
#pragma once

#include <span>

#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// Replaces S (`covariance`, d x d, symmetric, positive semi-definite up to rounding) by the matrix
// that maximises -log det(C) - trace(C^-1 S) over all C with C - diag(floors) positive
// semi-definite: in coordinates scaled by 1/sqrt(floors), eigenvalues below 1 become 1. This is the
// exact M-step under a lower bound on the variance in every direction, so EM stays monotone. floors
// > 0.
//
// Eigenvalues below 1e-12 of the largest are raised to that share too: C can then be factored.
void raise_to_floor(MatrixView<double> covariance, std::span<const double> floors);

// W, lower triangular, with W C W^T = I (the inverse of C's Cholesky factor), written to the first
// d rows of `whitening` (at least d x d; the rest is left alone), and log det C. Returns false
// when C is not positive definite. Only the lower triangle of C is read.
bool whiten(DoubleView covariance, MatrixView<double> whitening, double* log_determinant);

}  // namespace milieu::internal
