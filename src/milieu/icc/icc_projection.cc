// SPDX-License-Identifier: Apache-2.0
// The projections: principal axes [Yu13, Algorithm 1, line 2], discriminant axes, or as given.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/classify/class_labels.h"
#include "milieu/classify/lda.h"
#include "milieu/icc/density/icc_loops.h"
#include "milieu/icc/icc_frame_internal.h"
#include "milieu/icc/icc_options_internal.h"
#include "milieu/linalg/pca.h"

namespace milieu::internal {

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int64_t kRowsPerBlock = 1 << 14;
constexpr int64_t kFewColumns = 8;  // moments by plain loops, over all threads

struct Sums {
  std::vector<double> sums, products;
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(sums, products);
  }
};

Projection centred_at(Matrix<double> axes, std::span<const double> mean) {
  Projection projection{std::move(axes), {}};
  for (int64_t a = 0; a < projection.axes.rows(); ++a) {
    double sum = 0;
    for (size_t j = 0; j < mean.size(); ++j) sum += projection.axes(a, j) * mean[j];
    projection.origin.push_back(-sum);
  }
  return projection;
}

// Standard deviations of the columns; 1 for a constant one.
std::vector<double> column_deviations(FloatView points, std::vector<double>& mean) {
  const int64_t n = points.rows(), d = points.cols();
  mean.assign(d, 0);
  std::vector<double> squares(d, 0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < d; ++j) mean[j] += points(i, j) / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < d; ++j)
      squares[j] += (points(i, j) - mean[j]) * (points(i, j) - mean[j]);
  for (double& square : squares) {
    square = std::sqrt(square / static_cast<double>(n));
    if (!(square > 0)) square = 1;
  }
  return squares;
}

Projection principal_projection(FloatView points, int dims) {
  const Pca pca = fit_pca(points, dims);
  return centred_at(pca.components, pca.mean);
}

Projection standardized_projection(FloatView points, int dims) {
  std::vector<double> mean;
  const std::vector<double> deviations = column_deviations(points, mean);
  Matrix<float> scaled(points.rows(), points.cols());
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t j = 0; j < points.cols(); ++j)
      scaled(i, j) = static_cast<float>((points(i, j) - mean[j]) / deviations[j]);
  Matrix<double> axes = fit_pca(scaled, dims).components;
  for (int64_t a = 0; a < axes.rows(); ++a)
    for (int64_t j = 0; j < axes.cols(); ++j) axes(a, j) /= deviations[j];
  return centred_at(std::move(axes), mean);
}

Projection discriminant_projection(const IccInput& input, int dims, int num_classes) {
  require(!input.classes.empty() && num_classes >= 2,
          "projection is lda, which needs two classes or more: give labels, or use pca");
  std::vector<int64_t> rows;
  for (size_t i = 0; i < input.classes.size(); ++i)
    if (input.classes[i] >= 0) rows.push_back(static_cast<int64_t>(i));
  Matrix<double> points(static_cast<int64_t>(rows.size()), input.points.cols());
  std::vector<int> labels;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::copy_n(input.points.row(rows[r]), points.cols(), points.row(static_cast<int64_t>(r)));
    labels.push_back(input.classes[rows[r]]);
  }
  const int informative =
      static_cast<int>(std::min<int64_t>({dims, num_classes - 1, points.cols()}));
  const LdaModel lda = fit_lda(points, labels, {.num_dims = informative});
  return centred_at(lda.components, lda.mean);
}

}  // namespace

Projection identity_projection(int columns) {
  Matrix<double> axes(columns, columns);
  for (int a = 0; a < columns; ++a) axes(a, a) = 1;
  return {std::move(axes), std::vector<double>(columns, 0.0)};
}

Projection choose_axes(Projection found, const IccOptions& options) {
  if (options.components.empty()) return found;
  const AxisChoice choice = parse_components(options);
  require(choice.num_needed <= found.dims(), [&] {
    return fmt::format("components is '{}', but there are {}", options.components,
                       counted(found.dims(), "axis", "axes"));
  });
  const auto count = static_cast<int64_t>(choice.places.size());
  Projection chosen{Matrix<double>(count, found.axes.cols()), {}};
  for (int64_t a = 0; a < count; ++a) {
    std::copy_n(found.axes.row(choice.places[a]), found.axes.cols(), chosen.axes.row(a));
    chosen.origin.push_back(found.origin[choice.places[a]]);
  }
  return chosen;
}

void Moments::add(FloatView points, int num_threads, const Team& team) {
  if (points.rows() == 0) return;
  if (n_ == 0) {
    pivot_.assign(points.row(0), points.row(0) + d_);
    sums_.assign(d_, 0);
    products_.assign(d_ * d_, 0);
  }
  const auto add_rows = MILIEU_SELECT_ISA(add_moments);
  const Sums zero{std::vector<double>(d_, 0.0), std::vector<double>(d_ * d_, 0.0)};
  const auto merge = [](Sums& total, const Sums& part) {
    for (size_t j = 0; j < total.sums.size(); ++j) total.sums[j] += part.sums[j];
    for (size_t j = 0; j < total.products.size(); ++j) total.products[j] += part.products[j];
  };
  Sums total = team.parallel_reduce(
      points.rows(), kRowsPerBlock, num_threads, zero,
      [&](const Block& block, Sums& sums) {
        add_rows(points.row(block.begin), block.size(), points.stride(), d_, pivot_.data(),
                 sums.sums.data(), sums.products.data());
      },
      merge);
  for (int64_t j = 0; j < d_; ++j) sums_[j] += total.sums[j];
  for (int64_t j = 0; j < d_ * d_; ++j) products_[j] += total.products[j];
  n_ += points.rows();
}

Projection Moments::principal_axes(const IccOptions& options) const {
  const int dims = static_cast<int>(std::min<int64_t>(parse_components(options).num_needed, d_));
  const auto n = static_cast<double>(n_);
  std::vector<double> mean(d_);
  Eigen::MatrixXd covariance(d_, d_);
  for (int64_t j = 0; j < d_; ++j)
    for (int64_t k = 0; k <= j; ++k)
      covariance(j, k) = covariance(k, j) = (products_[j * d_ + k] - sums_[j] * sums_[k] / n) / n;
  Eigen::VectorXd unit = Eigen::VectorXd::Ones(d_);
  for (int64_t j = 0; j < d_; ++j) {
    mean[j] = pivot_[j] + sums_[j] / n;
    if (options.standardize && covariance(j, j) > 0) unit[j] = 1 / std::sqrt(covariance(j, j));
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      (unit.asDiagonal() * covariance * unit.asDiagonal()).eval());
  Matrix<double> axes(dims, d_);
  for (int a = 0; a < dims; ++a) {
    Eigen::VectorXd axis = solver.eigenvectors().col(d_ - 1 - a);
    Eigen::Index largest = 0;  // sign: the entry of largest magnitude is positive, as in linalg/pca
    for (Eigen::Index j = 1; j < d_; ++j)
      if (std::abs(axis[j]) > std::abs(axis[largest])) largest = j;
    if (axis[largest] < 0) axis = -axis;
    for (int64_t j = 0; j < d_; ++j) axes(a, j) = axis[j] * unit[j];
  }
  return choose_axes(centred_at(std::move(axes), mean), options);
}

Projection fit_projection(const IccInput& input, const IccOptions& options, int num_classes) {
  const FloatView points = input.coordinates.empty() ? input.points : input.coordinates;
  if (!input.axes.empty())
    return {Matrix<double>(input.axes), std::vector<double>(input.axes.rows(), 0.0)};
  if (!input.coordinates.empty()) return identity_projection(static_cast<int>(points.cols()));
  const int64_t widest = std::min(points.rows(), points.cols());
  if (options.projection == IccProjection::None) {
    const int columns = static_cast<int>(points.cols());
    require(
        options.climb == IccClimb::Free || columns <= kMaxGridDims || !options.components.empty(),
        [&] {
          return fmt::format(
              "projection is none, but points have {} and a grid at most {}: use pca or "
              "lda, choose components, or use climb free",
              counted(columns, "column"), kMaxGridDims);
        });
    return choose_axes(identity_projection(columns), options);
  }
  const int dims =
      static_cast<int>(std::min<int64_t>(parse_components(options).num_needed, widest));
  if (options.projection == IccProjection::Lda)
    return choose_axes(discriminant_projection(input, dims, num_classes), options);
  if (points.cols() <= kFewColumns && points.cols() <= points.rows()) {
    Moments moments(points.cols());
    moments.add(points, options.num_threads, team_of(input));
    return moments.principal_axes(options);
  }
  return choose_axes(options.standardize ? standardized_projection(points, dims)
                                         : principal_projection(points, dims),
                     options);
}

std::vector<double> rotate_to_kernel(Projection& projection, const Range& range,
                                     std::span<const double> matrix) {
  const int64_t p = projection.dims(), d = projection.axes.cols();
  const Eigen::Map<const RowMatrix> lambda(matrix.data(), p, p);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(lambda);
  Eigen::MatrixXd turn = solver.eigenvectors().transpose();
  for (int64_t a = 0; a < p; ++a) {
    Eigen::Index largest = 0;
    turn.row(a).cwiseAbs().maxCoeff(&largest);
    if (turn(a, largest) < 0) turn.row(a) *= -1;
  }
  Eigen::Map<RowMatrix> axes(projection.axes.data(), p, d);
  Eigen::Map<Eigen::VectorXd> origin(projection.origin.data(), p);
  for (int64_t a = 0; a < p; ++a) {
    const double extent = range.high[a] - range.low[a];
    axes.row(a) /= extent;
    origin[a] = (origin[a] - range.low[a]) / extent;
  }
  axes = (turn * axes).eval();
  origin = (turn * origin).eval();
  std::vector<double> deviations(p);
  for (int64_t a = 0; a < p; ++a) deviations[a] = std::sqrt(solver.eigenvalues()[a]);
  return deviations;
}

}  // namespace milieu::internal
