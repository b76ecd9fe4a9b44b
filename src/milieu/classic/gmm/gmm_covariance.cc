// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>

#include "milieu/base/random.h"
#include "milieu/classic/gmm/gmm_covariance_internal.h"

namespace milieu::internal {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kLeastEigenvalueShare = 1e-12;

// True when all eigenvalues of the symmetric `scaled` are at least 1 and none is so large that
// rounding hides the smallest.
bool is_above_floor(const RowMajor& scaled) {
  const auto d = scaled.rows();
  if (scaled.diagonal().maxCoeff() * static_cast<double>(d) > 1 / kLeastEigenvalueShare)
    return false;
  const RowMajor rest = scaled - RowMajor::Identity(d, d);
  return Eigen::LLT<RowMajor>(rest).info() == Eigen::Success;
}

}  // namespace

void raise_to_floor(MatrixView<double> covariance, std::span<const double> floors) {
  const int64_t d = covariance.rows();
  Eigen::Map<RowMajor> matrix(covariance.data(), d, d);
  const Eigen::Map<const Eigen::ArrayXd> floor(floors.data(), d);
  const Eigen::VectorXd scale = floor.sqrt();
  const Eigen::VectorXd inverse_scale = scale.cwiseInverse();
  const RowMajor scaled = inverse_scale.asDiagonal() * matrix * inverse_scale.asDiagonal();
  if (is_above_floor(scaled)) return;
  const Eigen::SelfAdjointEigenSolver<RowMajor> solver(scaled);
  const double least = std::max(1.0, kLeastEigenvalueShare * solver.eigenvalues().maxCoeff());
  const Eigen::VectorXd raised = solver.eigenvalues().cwiseMax(least);
  const RowMajor back = scale.asDiagonal() * solver.eigenvectors();
  matrix = back * raised.asDiagonal() * back.transpose();
}

bool whiten(DoubleView covariance, MatrixView<double> whitening, double* log_determinant) {
  const int64_t d = covariance.rows();
  const Eigen::Map<const RowMajor> matrix(covariance.data(), d, d);
  const Eigen::LLT<RowMajor> factor(matrix);
  if (factor.info() != Eigen::Success) return false;
  const RowMajor inverse = factor.matrixL().solve(RowMajor::Identity(d, d));
  *log_determinant = 0;
  for (int64_t i = 0; i < d; ++i) {
    *log_determinant += 2 * portable_log(factor.matrixLLT()(i, i));
    for (int64_t j = 0; j < d; ++j) whitening(i, j) = j <= i ? inverse(i, j) : 0;
  }
  return true;
}

}  // namespace milieu::internal
