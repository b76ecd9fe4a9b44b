// SPDX-License-Identifier: Apache-2.0
// Problem: maximise |V Sb V^T| / |V Sw V^T| over V, Sb the covariance of the class means, Sw the
// pooled covariance inside the classes. Find: Sb v = lambda Sw v through Cholesky of Sw.
// Conventions: covariances are divided by n; v Sw v^T = 1; signs as PCA's. See [Fisher36].
#include "milieu/classify/lda.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/classify/class_labels.h"

namespace milieu {

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstRows = Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>>;

ConstRows rows_of(DoubleView view) {
  return {view.data(), view.rows(), view.cols(), Eigen::OuterStride<>(view.stride())};
}

struct ClassMoments {
  Eigen::RowVectorXd mean;  // of all
  RowMatrix class_means;    // classes x d
  Eigen::MatrixXd within;   // d x d, divided by n
  Eigen::MatrixXd between;  // likewise
};

ClassMoments class_moments(DoubleView points, std::span<const int> labels,
                           const std::vector<int64_t>& counts) {
  const ConstRows x = rows_of(points);
  const auto n = static_cast<double>(points.rows());
  ClassMoments m;
  m.mean = x.colwise().mean();
  m.class_means = RowMatrix::Zero(static_cast<int64_t>(counts.size()), points.cols());
  for (int64_t i = 0; i < points.rows(); ++i)
    m.class_means.row(labels[i]) += x.row(i) - m.mean;  // about the mean: no digits are lost
  RowMatrix centred(points.rows(), points.cols());
  m.between = Eigen::MatrixXd::Zero(points.cols(), points.cols());
  for (size_t c = 0; c < counts.size(); ++c) {
    m.class_means.row(c) /= static_cast<double>(counts[c]);
    m.between += static_cast<double>(counts[c]) / n * m.class_means.row(c).transpose() *
                 m.class_means.row(c);
  }
  m.class_means.rowwise() += m.mean;
  for (int64_t i = 0; i < points.rows(); ++i)
    centred.row(i) = x.row(i) - m.class_means.row(labels[i]);
  m.within = centred.transpose() * centred / n;
  return m;
}

void add_ridge(ClassMoments& m, double ridge) {
  for (int64_t j = 0; j < m.within.rows(); ++j) {
    const double total = m.within(j, j) + m.between(j, j);
    const double variance = m.within(j, j) > 0 ? m.within(j, j) : total;
    m.within(j, j) += variance > 0 ? ridge * variance : 1;
  }
}

void fix_sign(Eigen::Ref<Eigen::RowVectorXd> component) {
  Eigen::Index largest = 0;
  component.cwiseAbs().maxCoeff(&largest);
  if (component[largest] < 0) component = -component;
}

void check_width(const LdaModel& model, DoubleView points) {
  require(points.cols() == static_cast<int64_t>(model.mean.size()), [&] {
    return fmt::format("points have {}, the analysis was fitted on {}",
                       counted(points.cols(), "column"), model.mean.size());
  });
}

// log prior - |z - m|^2 / 2: what is left of the Gaussian's log density with one covariance.
Matrix<double> linear_scores(const LdaModel& model, DoubleView points) {
  const Matrix<double> z = project(model, points);
  Matrix<double> scores(points.rows(), model.class_means.rows());
  for (int64_t i = 0; i < z.rows(); ++i)
    for (int64_t c = 0; c < scores.cols(); ++c) {
      double squares = 0;
      for (int64_t j = 0; j < z.cols(); ++j)
        squares += (z(i, j) - model.class_means(c, j)) * (z(i, j) - model.class_means(c, j));
      scores(i, c) = model.log_priors[c] - squares / 2;
    }
  return scores;
}

}  // namespace

LdaModel fit_lda(DoubleView points, std::span<const int> labels, const LdaOptions& options) {
  const int64_t n = points.rows(), d = points.cols();
  require(!points.empty(), "fit_lda: there are no points");
  const std::vector<int64_t> counts = count_classes(labels, n);
  const int64_t informative = std::max<int64_t>(1, std::min<int64_t>(counts.size() - 1, d));
  const int64_t dims = options.num_dims == 0 ? informative : options.num_dims;
  require(dims >= 1 && dims <= d, [&] {
    return fmt::format("num_dims is {}, must be between 0 and the {}", options.num_dims,
                       counted(d, "column"));
  });
  require(options.ridge >= 0,
          [&] { return fmt::format("ridge is {}, must be at least 0", options.ridge); });
  ClassMoments m = class_moments(points, labels, counts);
  if (options.ridge > 0) add_ridge(m, options.ridge);
  const Eigen::LLT<Eigen::MatrixXd> factor(m.within);
  require(factor.info() == Eigen::Success,
          "fit_lda: the covariance inside the classes is singular: give a ridge above 0");
  const Eigen::MatrixXd half = factor.matrixL().solve(m.between);
  const Eigen::MatrixXd whitened = factor.matrixL().solve(half.transpose());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver((whitened + whitened.transpose()) /
                                                              2);
  const Eigen::MatrixXd vectors = factor.matrixU().solve(solver.eigenvectors());

  LdaModel model;
  model.mean.assign(m.mean.data(), m.mean.data() + d);
  model.components = Matrix<double>(dims, d);
  for (int64_t r = 0; r < dims; ++r) {
    Eigen::RowVectorXd component = vectors.col(d - 1 - r).transpose();
    fix_sign(component);
    std::copy_n(component.data(), d, model.components.row(r));
    model.eigenvalues.push_back(std::max(0.0, solver.eigenvalues()[d - 1 - r]));
  }
  model.class_means =
      project(model, DoubleView(m.class_means.data(), m.class_means.rows(), m.class_means.cols()));
  for (const int64_t count : counts)
    model.log_priors.push_back(std::log(static_cast<double>(count) / static_cast<double>(n)));
  return model;
}

Matrix<double> project(const LdaModel& model, DoubleView points) {
  check_width(model, points);
  Matrix<double> z(points.rows(), model.components.rows());
  const Eigen::Map<const Eigen::RowVectorXd> mean(model.mean.data(), points.cols());
  Eigen::Map<RowMatrix>(z.data(), z.rows(), z.cols()) =
      (rows_of(points).rowwise() - mean) * rows_of(model.components.view()).transpose();
  return z;
}

std::vector<int> predict(const LdaModel& model, DoubleView points) {
  return argmax_rows(linear_scores(model, points));
}

Matrix<double> predict_probabilities(const LdaModel& model, DoubleView points) {
  Matrix<double> scores = linear_scores(model, points);
  normalize_log_scores(scores);
  return scores;
}

}  // namespace milieu
