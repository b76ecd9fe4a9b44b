// SPDX-License-Identifier: Apache-2.0
// PCA in double through Eigen's symmetric eigenvalue solver. With X the centred points: either
// X^T X v = s v directly, or, when there are fewer points than dimensions, X X^T u = s u and
// v = X^T u / |X^T u|.
#include "milieu/linalg/pca.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"

namespace milieu {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int64_t kBlockRows = 256;

Eigen::RowVectorXd column_means(FloatView points) {
  Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(points.cols());
  for (int64_t i = 0; i < points.rows(); ++i)
    mean += Eigen::Map<const Eigen::RowVectorXf>(points.row(i), points.cols()).cast<double>();
  return mean / static_cast<double>(points.rows());
}

RowMatrix centred(FloatView points, const Eigen::RowVectorXd& mean) {
  const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
                   Eigen::OuterStride<>>
      rows(points.data(), points.rows(), points.cols(), Eigen::OuterStride<>(points.stride()));
  return rows.cast<double>().rowwise() - mean;
}

// X^T X, lower triangle, block by block so that X is never held in double.
RowMatrix scatter_matrix(FloatView points, const Eigen::RowVectorXd& mean) {
  RowMatrix scatter = RowMatrix::Zero(points.cols(), points.cols());
  for (int64_t begin = 0; begin < points.rows(); begin += kBlockRows) {
    const int64_t end = std::min(points.rows(), begin + kBlockRows);
    const RowMatrix block = centred(points.rows_between(begin, end), mean);
    scatter.selfadjointView<Eigen::Lower>().rankUpdate(block.transpose());
  }
  return scatter;
}

// Makes row r orthogonal to the rows above it; when nothing is left, takes the first axis that is
// not in their span.
void orthonormalise_row(RowMatrix& rows, int64_t r) {
  const double norm_before = rows.row(r).norm();
  for (int64_t axis = -1; axis < rows.cols(); ++axis) {
    if (axis >= 0) rows.row(r) = Eigen::RowVectorXd::Unit(rows.cols(), axis);
    for (int pass = 0; pass < 2; ++pass)
      for (int64_t above = 0; above < r; ++above)
        rows.row(r) -= rows.row(r).dot(rows.row(above)) * rows.row(above);
    const double norm = rows.row(r).norm();
    if (norm > 1e-8 * (axis >= 0 ? 1.0 : norm_before) && norm > 0) {
      rows.row(r) /= norm;
      return;
    }
  }
}

void fix_sign(Eigen::Ref<Eigen::RowVectorXd> component) {
  int64_t largest = 0;
  for (int64_t j = 1; j < component.size(); ++j)
    if (std::abs(component[j]) > std::abs(component[largest])) largest = j;
  if (component[largest] < 0) component = -component;
}

struct Spectrum {
  RowMatrix components;    // largest eigenvalue first
  Eigen::VectorXd values;  // of X^T X
};

Spectrum decompose_covariance(FloatView points, const Eigen::RowVectorXd& mean, int count) {
  const RowMatrix scatter = scatter_matrix(points, mean);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(scatter);
  return {solver.eigenvectors().rightCols(count).rowwise().reverse().transpose(),
          solver.eigenvalues().tail(count).reverse()};
}

Spectrum decompose_gram(FloatView points, const Eigen::RowVectorXd& mean, int count) {
  const RowMatrix x = centred(points, mean);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(x * x.transpose());
  Spectrum spectrum;
  spectrum.values = solver.eigenvalues().tail(count).reverse();
  spectrum.components = solver.eigenvectors().rightCols(count).rowwise().reverse().transpose() * x;
  // Left vectors of tiny eigenvalues give rows that are not orthogonal, or zero.
  for (int r = 0; r < count; ++r) {
    if (spectrum.values[r] <= 1e-14 * std::max(spectrum.values[0], 0.0))
      spectrum.components.row(r).setZero();
    orthonormalise_row(spectrum.components, r);
  }
  return spectrum;
}

}  // namespace

Pca fit_pca(FloatView points, int num_components) {
  const int64_t n = points.rows(), d = points.cols();
  require(!points.empty(), "fit_pca: there are no points");
  require(num_components >= 1 && num_components <= std::min(n, d), [&] {
    return fmt::format("num_components is {}, must be between 1 and {} for {} of {}",
                       num_components, std::min(n, d), counted(n, "point"),
                       counted(d, "dimension"));
  });
  const Eigen::RowVectorXd mean = column_means(points);
  Spectrum spectrum = d <= n ? decompose_covariance(points, mean, num_components)
                             : decompose_gram(points, mean, num_components);
  const double divisor = static_cast<double>(std::max<int64_t>(1, n - 1));
  Pca pca;
  pca.mean.assign(mean.data(), mean.data() + d);
  pca.components = Matrix<double>(num_components, d);
  for (int r = 0; r < num_components; ++r) {
    fix_sign(spectrum.components.row(r));
    std::copy_n(spectrum.components.row(r).data(), d, pca.components.row(r));
    pca.explained_variance.push_back(std::max(0.0, spectrum.values[r]) / divisor);
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < d; ++j)
      pca.total_variance += (points(i, j) - mean[j]) * (points(i, j) - mean[j]) / divisor;
  return pca;
}

Matrix<float> project(const Pca& pca, FloatView points) {
  require(points.cols() == static_cast<int64_t>(pca.mean.size()), [&] {
    return fmt::format("project: points have {}, the analysis has {}: they must match",
                       counted(points.cols(), "dimension"), pca.mean.size());
  });
  const Eigen::Map<const RowMatrix> components(pca.components.data(), pca.components.rows(),
                                               pca.components.cols());
  const Eigen::Map<const Eigen::RowVectorXd> mean(pca.mean.data(), points.cols());
  Matrix<float> out(points.rows(), components.rows());
  for (int64_t begin = 0; begin < points.rows(); begin += kBlockRows) {
    const int64_t end = std::min(points.rows(), begin + kBlockRows);
    const RowMatrix coordinates =
        centred(points.rows_between(begin, end), mean) * components.transpose();
    for (int64_t i = begin; i < end; ++i)
      for (int64_t c = 0; c < components.rows(); ++c)
        out(i, c) = static_cast<float>(coordinates(i - begin, c));
  }
  return out;
}

}  // namespace milieu
