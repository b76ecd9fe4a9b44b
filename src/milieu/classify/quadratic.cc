// SPDX-License-Identifier: Apache-2.0
// Problem: p(c | x) with p(x | c) the sum over the sub-classes s of c of pi_s N(x; mu_s, S_s).
// Symbols: S the covariance of a sub-class, L its Cholesky factor, pooled the covariance inside all
// sub-classes. Conventions: ties go to the lowest class. See [Friedman89], docs/algorithms/icc.md.
#include "milieu/classify/quadratic.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/classify/class_labels.h"
#include "milieu/linalg/log_sum_exp.h"

namespace milieu {

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::Map<const Eigen::RowVectorXd>;

constexpr int64_t kBlockRows = 256;

struct Scatters {
  RowMatrix means;
  std::vector<Eigen::MatrixXd> scatters;  // about the mean of each sub-class
  Eigen::MatrixXd pooled;                 // their sum divided by n
};

Scatters subclass_scatters(DoubleView points, std::span<const int> labels,
                           const std::vector<int64_t>& counts) {
  const int64_t d = points.cols();
  Scatters out;
  out.means = RowMatrix::Zero(static_cast<int64_t>(counts.size()), d);
  for (int64_t i = 0; i < points.rows(); ++i) out.means.row(labels[i]) += Row(points.row(i), d);
  for (size_t s = 0; s < counts.size(); ++s) out.means.row(s) /= static_cast<double>(counts[s]);
  out.scatters.assign(counts.size(), Eigen::MatrixXd::Zero(d, d));
  for (int64_t i = 0; i < points.rows(); ++i) {
    const Eigen::RowVectorXd x = Row(points.row(i), d) - out.means.row(labels[i]);
    out.scatters[labels[i]].selfadjointView<Eigen::Lower>().rankUpdate(x.transpose());
  }
  out.pooled = Eigen::MatrixXd::Zero(d, d);
  for (Eigen::MatrixXd& scatter : out.scatters) {
    scatter.triangularView<Eigen::StrictlyUpper>() = scatter.transpose();
    out.pooled += scatter;
  }
  out.pooled /= static_cast<double>(points.rows());
  return out;
}

// How far the covariance of a sub-class of `count` samples is drawn to the pooled one.
double shrinkage_of(double shrinkage, int64_t count, int64_t d) {
  if (count == 1) return 1;
  const double a = shrinkage / (shrinkage + static_cast<double>(count));
  return count <= d ? std::max(a, 0.5) : a;
}

Eigen::MatrixXd shrunk_covariance(const Eigen::MatrixXd& scatter, const Eigen::MatrixXd& pooled,
                                  int64_t count, const QuadraticOptions& options) {
  const double a = shrinkage_of(options.shrinkage, count, pooled.rows());
  Eigen::MatrixXd covariance = a * pooled;
  if (a < 1) covariance += (1 - a) / static_cast<double>(count - 1) * scatter;
  for (int64_t j = 0; j < pooled.rows() && options.ridge > 0; ++j)
    covariance(j, j) += pooled(j, j) > 0 ? options.ridge * pooled(j, j) : 1;
  return covariance;
}

// Prepared for scoring: |L^-1 (x - mu)|^2 and log det S.
struct Component {
  Eigen::LLT<Eigen::MatrixXd> factor;
  double constant = 0;  // log prior - log det / 2
};

std::vector<Component> prepare(const QuadraticModel& model) {
  const int64_t d = model.means.cols();
  std::vector<Component> components(model.means.rows());
  for (int64_t s = 0; s < model.means.rows(); ++s) {
    const Eigen::Map<const RowMatrix> covariance(model.covariances.row(s), d, d);
    Component& component = components[s];
    component.factor.compute(covariance);
    if (component.factor.info() != Eigen::Success)
      throw DataError(fmt::format(
          "the covariance of sub-class {} is not positive definite: give a ridge above 0", s));
    const Eigen::MatrixXd lower = component.factor.matrixL();
    component.constant = model.log_priors[s] - lower.diagonal().array().log().sum();
  }
  return components;
}

void check_model(const QuadraticModel& model, DoubleView points) {
  const int64_t k = model.means.rows(), d = model.means.cols();
  if (k == 0 || model.covariances.rows() != k || model.covariances.cols() != d * d ||
      static_cast<int64_t>(model.log_priors.size()) != k ||
      static_cast<int64_t>(model.class_from_subclass.size()) != k)
    throw DataError("the arrays of the quadratic classifier are inconsistent");
  for (int64_t s = 0; s < k; ++s) {
    const int c = model.class_from_subclass[s];  // there are no more classes than sub-classes
    if (c < 0 || c >= k) throw DataError(fmt::format("sub-class {} has the class {}", s, c));
  }
  require(points.cols() == d, [&] {
    return fmt::format("points have {}, the classifier was fitted on {}",
                       counted(points.cols(), "column"), d);
  });
}

void check_options(const QuadraticOptions& options) {
  require(options.shrinkage >= 0,
          [&] { return fmt::format("shrinkage is {}, must be at least 0", options.shrinkage); });
  require(options.ridge >= 0,
          [&] { return fmt::format("ridge is {}, must be at least 0", options.ridge); });
}

}  // namespace

int QuadraticModel::num_classes() const {
  return class_from_subclass.empty() ? 0 : *std::ranges::max_element(class_from_subclass) + 1;
}

QuadraticModel fit_quadratic(DoubleView points, std::span<const int> subclasses,
                             std::span<const int> class_from_subclass,
                             const QuadraticOptions& options) {
  require(!points.empty(), "fit_quadratic: there are no points");
  check_options(options);
  const std::vector<int64_t> counts = count_classes(subclasses, points.rows());
  require(class_from_subclass.empty() || class_from_subclass.size() == counts.size(), [&] {
    return fmt::format("class_from_subclass has {} for {} sub-classes: they must match",
                       counted(class_from_subclass.size(), "entry", "entries"), counts.size());
  });
  const int64_t d = points.cols();
  const Scatters moments = subclass_scatters(points, subclasses, counts);
  QuadraticModel model;
  model.means = Matrix<double>(static_cast<int64_t>(counts.size()), d);
  model.covariances = Matrix<double>(static_cast<int64_t>(counts.size()), d * d);
  for (size_t s = 0; s < counts.size(); ++s) {
    const auto row = static_cast<int64_t>(s);
    std::copy_n(moments.means.row(row).data(), d, model.means.row(row));
    Eigen::Map<RowMatrix>(model.covariances.row(row), d, d) =
        shrunk_covariance(moments.scatters[s], moments.pooled, counts[s], options);
    const double share = options.priors == Priors::Uniform
                             ? 1.0 / static_cast<double>(counts.size())
                             : static_cast<double>(counts[s]) / static_cast<double>(points.rows());
    model.log_priors.push_back(std::log(share));
    model.class_from_subclass.push_back(class_from_subclass.empty() ? static_cast<int>(s)
                                                                    : class_from_subclass[s]);
  }
  return model;
}

Matrix<double> subclass_scores(const QuadraticModel& model, DoubleView points, int num_threads) {
  check_model(model, points);
  const std::vector<Component> components = prepare(model);
  const int64_t d = points.cols();
  Matrix<double> scores(points.rows(), model.means.rows());
  parallel_for(points.rows(), kBlockRows, num_threads, [&](const Block& block) {
    Eigen::MatrixXd centred(d, block.size());
    for (size_t s = 0; s < components.size(); ++s) {
      const Row mean(model.means.row(static_cast<int64_t>(s)), d);
      for (int64_t i = 0; i < block.size(); ++i)
        centred.col(i) = (Row(points.row(block.begin + i), d) - mean).transpose();
      components[s].factor.matrixL().solveInPlace(centred);
      for (int64_t i = 0; i < block.size(); ++i)
        scores(block.begin + i, static_cast<int64_t>(s)) =
            components[s].constant - centred.col(i).squaredNorm() / 2;
    }
  });
  return scores;
}

Matrix<double> class_scores(const QuadraticModel& model, DoubleView points, int num_threads) {
  const Matrix<double> parts = subclass_scores(model, points, num_threads);
  std::vector<std::vector<int64_t>> subclasses(model.num_classes());
  for (size_t s = 0; s < model.class_from_subclass.size(); ++s)
    subclasses[model.class_from_subclass[s]].push_back(static_cast<int64_t>(s));
  Matrix<double> scores(points.rows(), model.num_classes());
  std::vector<double> of_class;
  for (int64_t i = 0; i < parts.rows(); ++i)
    for (size_t c = 0; c < subclasses.size(); ++c) {
      of_class.clear();
      for (const int64_t s : subclasses[c]) of_class.push_back(parts(i, s));
      scores(i, static_cast<int64_t>(c)) = log_sum_exp(of_class);
    }
  return scores;
}

std::vector<int> predict(const QuadraticModel& model, DoubleView points, int num_threads) {
  return argmax_rows(class_scores(model, points, num_threads));
}

std::vector<int> predict_by_best(const QuadraticModel& model, DoubleView points, int num_threads) {
  std::vector<int> best = argmax_rows(subclass_scores(model, points, num_threads));
  for (int& label : best) label = model.class_from_subclass[label];
  return best;
}

Matrix<double> predict_probabilities(const QuadraticModel& model, DoubleView points,
                                     int num_threads) {
  Matrix<double> scores = class_scores(model, points, num_threads);
  normalize_log_scores(scores);
  return scores;
}

}  // namespace milieu
