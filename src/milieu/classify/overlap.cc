// SPDX-License-Identifier: Apache-2.0
#include "milieu/classify/overlap.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/linalg/log_sum_exp.h"

namespace milieu {

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double half_log_determinant(const Eigen::MatrixXd& covariance) {
  const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
  const Eigen::MatrixXd lower = factor.matrixL();
  return lower.diagonal().array().log().sum();
}

// Log of each class's share: the sum over its sub-classes.
std::vector<double> class_log_priors(const QuadraticModel& model) {
  std::vector<std::vector<double>> parts(model.num_classes());
  for (size_t s = 0; s < model.log_priors.size(); ++s)
    parts[model.class_from_subclass[s]].push_back(model.log_priors[s]);
  std::vector<double> logs;
  for (const std::vector<double>& own : parts) logs.push_back(log_sum_exp(own));
  return logs;
}

// `num_draws` samples of every class, class by class.
Matrix<double> draw_classes(const QuadraticModel& model, int num_draws, uint64_t seed) {
  const int64_t d = model.means.cols();
  Matrix<double> draws(static_cast<int64_t>(num_draws) * model.num_classes(), d);
  for (int c = 0; c < model.num_classes(); ++c) {
    Random random = Random(seed).child(static_cast<uint64_t>(c));
    std::vector<double> weights(model.log_priors.size(), 0.0);
    std::vector<Eigen::MatrixXd> factors(model.log_priors.size());
    for (size_t s = 0; s < weights.size(); ++s) {
      if (model.class_from_subclass[s] != c) continue;
      weights[s] = std::exp(model.log_priors[s]);
      factors[s] = Eigen::Map<const RowMatrix>(model.covariances.row(static_cast<int64_t>(s)), d, d)
                       .llt()
                       .matrixL();
    }
    for (int i = 0; i < num_draws; ++i) {
      const int64_t s = random.weighted_index(weights);
      Eigen::VectorXd z(d);
      for (double& entry : z) entry = random.normal();
      const Eigen::VectorXd x =
          Eigen::Map<const Eigen::VectorXd>(model.means.row(s), d) + factors[s] * z;
      std::copy_n(x.data(), d, draws.row(static_cast<int64_t>(c) * num_draws + i));
    }
  }
  return draws;
}

}  // namespace

double gaussian_overlap(std::span<const double> mean_a, std::span<const double> covariance_a,
                        std::span<const double> mean_b, std::span<const double> covariance_b) {
  const auto d = static_cast<Eigen::Index>(mean_a.size());
  const Eigen::MatrixXd a = Eigen::Map<const RowMatrix>(covariance_a.data(), d, d);
  const Eigen::MatrixXd b = Eigen::Map<const RowMatrix>(covariance_b.data(), d, d);
  const Eigen::VectorXd away = Eigen::Map<const Eigen::VectorXd>(mean_a.data(), d) -
                               Eigen::Map<const Eigen::VectorXd>(mean_b.data(), d);
  const Eigen::MatrixXd mean = (a + b) / 2;
  const double distance = away.dot(mean.llt().solve(away)) / 8 + half_log_determinant(mean) -
                          (half_log_determinant(a) + half_log_determinant(b)) / 2;
  return std::exp(-distance);
}

Matrix<double> class_overlaps(const QuadraticModel& model, int num_draws, uint64_t seed) {
  require(num_draws >= 1, "class_overlaps: num_draws must be at least 1");
  const int classes = model.num_classes();
  Matrix<double> logs = class_scores(model, draw_classes(model, num_draws, seed));
  const std::vector<double> priors = class_log_priors(model);
  for (int64_t i = 0; i < logs.rows(); ++i)
    for (int c = 0; c < classes; ++c) logs(i, c) -= priors[c];
  Matrix<double> overlaps(classes, classes);
  for (int a = 0; a < classes; ++a)
    for (int b = a; b < classes; ++b) {
      double sum = 0;
      for (const int from : {a, b})
        for (int i = 0; i < num_draws; ++i) {
          const double half = (logs(static_cast<int64_t>(from) * num_draws + i, a) -
                               logs(static_cast<int64_t>(from) * num_draws + i, b)) /
                              2;
          sum += 1 / std::cosh(half);  // sqrt(p q) / ((p + q) / 2)
        }
      overlaps(a, b) = overlaps(b, a) = sum / (2.0 * num_draws);
    }
  return overlaps;
}

double mean_overlap(const QuadraticModel& model, int num_draws, uint64_t seed) {
  const Matrix<double> overlaps = class_overlaps(model, num_draws, seed);
  double sum = 0, pairs = 0;
  for (int64_t a = 0; a < overlaps.rows(); ++a)
    for (int64_t b = a + 1; b < overlaps.rows(); ++b) {
      sum += overlaps(a, b);
      ++pairs;
    }
  return pairs > 0 ? sum / pairs : 0;
}

}  // namespace milieu
