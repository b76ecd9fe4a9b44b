// SPDX-License-Identifier: Apache-2.0
// Classifiers that do not split: Gaussians with their own or a pooled covariance on the first m
// principal axes. The scatters of a fold are computed once; every m is their leading block.
// Symbols: S scatter of a class about its mean, P pooled covariance, as in classify/quadratic.cc.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "milieu/icc/icc_choose_internal.h"

namespace milieu::internal {

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kRidge = 1e-6;  // of QuadraticOptions and LdaOptions

struct Sums {
  std::vector<double> counts;
  RowMatrix means;                        // classes x m
  std::vector<Eigen::MatrixXd> scatters;  // the first kMostFullDims axes
  Eigen::MatrixXd pooled;                 // m x m
  RowMatrix test;
};

RowMatrix gather(const Matrix<float>& rows, std::span<const int64_t> chosen, int64_t m) {
  RowMatrix out(static_cast<int64_t>(chosen.size()), m);
  for (size_t r = 0; r < chosen.size(); ++r)
    for (int64_t j = 0; j < m; ++j) out(static_cast<int64_t>(r), j) = rows(chosen[r], j);
  return out;
}

Sums sums_of(const Matrix<float>& rows, std::span<const int> classes, const Fold& fold, int64_t m,
             int64_t full) {
  const int num_classes = 1 + *std::ranges::max_element(classes);
  std::vector<std::vector<int64_t>> members(num_classes);
  for (const int64_t row : fold.train) members[classes[row]].push_back(row);
  Sums sums;
  sums.means.resize(num_classes, m);
  sums.pooled = Eigen::MatrixXd::Zero(m, m);
  for (int c = 0; c < num_classes; ++c) {
    RowMatrix own = gather(rows, members[c], m);
    sums.counts.push_back(static_cast<double>(own.rows()));
    sums.means.row(c) = own.colwise().mean();
    own.rowwise() -= sums.means.row(c);
    sums.pooled.selfadjointView<Eigen::Lower>().rankUpdate(own.transpose());
    Eigen::MatrixXd scatter = Eigen::MatrixXd::Zero(full, full);
    scatter.selfadjointView<Eigen::Lower>().rankUpdate(own.leftCols(full).transpose());
    scatter.triangularView<Eigen::StrictlyUpper>() = scatter.transpose();
    sums.scatters.push_back(std::move(scatter));
  }
  sums.pooled.triangularView<Eigen::StrictlyUpper>() = sums.pooled.transpose();
  sums.pooled /= static_cast<double>(fold.train.size());
  sums.test = gather(rows, fold.test, m);
  return sums;
}

double log_prior(const Sums& sums, size_t c, Priors priors) {
  return priors == Priors::Uniform ? 0 : std::log(sums.counts[c]);
}

void add_ridge(Eigen::MatrixXd& covariance, const Eigen::MatrixXd& pooled) {
  for (Eigen::Index j = 0; j < covariance.rows(); ++j)
    covariance(j, j) += pooled(j, j) > 0 ? kRidge * pooled(j, j) : 1;
}

// Rows: classes; columns: test rows.
Eigen::MatrixXd pooled_scores(const Sums& sums, int m, Priors priors) {
  Eigen::MatrixXd covariance = sums.pooled.topLeftCorner(m, m);
  add_ridge(covariance, sums.pooled);
  const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
  Eigen::MatrixXd test = sums.test.leftCols(m).transpose();
  Eigen::MatrixXd means = sums.means.leftCols(m).transpose();
  factor.matrixL().solveInPlace(means);
  // |L^-1 (x - mu)|^2 without what does not depend on the class.
  const Eigen::MatrixXd directions = factor.matrixU().solve(means);
  Eigen::MatrixXd scores = directions.transpose() * test;
  for (Eigen::Index c = 0; c < scores.rows(); ++c)
    scores.row(c).array() +=
        log_prior(sums, static_cast<size_t>(c), priors) - means.col(c).squaredNorm() / 2;
  return scores;
}

Eigen::MatrixXd own_scores(const Sums& sums, int m, double shrinkage, Priors priors) {
  const Eigen::MatrixXd pooled = sums.pooled.topLeftCorner(m, m);
  const Eigen::MatrixXd test = sums.test.leftCols(m).transpose();
  Eigen::MatrixXd scores(static_cast<Eigen::Index>(sums.counts.size()), test.cols());
  for (size_t c = 0; c < sums.counts.size(); ++c) {
    const double count = sums.counts[c];
    double a = shrinkage / (shrinkage + count);
    if (count <= m) a = std::max(a, 0.5);
    if (count <= 1) a = 1;
    Eigen::MatrixXd covariance = a * pooled;
    if (a < 1) covariance += (1 - a) / (count - 1) * sums.scatters[c].topLeftCorner(m, m);
    add_ridge(covariance, pooled);
    const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
    Eigen::MatrixXd away =
        test.colwise() - sums.means.row(static_cast<Eigen::Index>(c)).head(m).transpose();
    factor.matrixL().solveInPlace(away);
    const double log_root = Eigen::MatrixXd(factor.matrixL()).diagonal().array().log().sum();
    scores.row(static_cast<Eigen::Index>(c)) =
        (log_prior(sums, c, priors) - log_root - away.colwise().squaredNorm().array() / 2).matrix();
  }
  return scores;
}

}  // namespace

std::vector<SpaceChoice> spaces(int64_t num_axes, int64_t num_rows) {
  std::vector<SpaceChoice> all;
  int64_t last = 0;
  for (const int64_t m : {4, 8, 12, 18, 25, 35, 50, 70, 100, 150, 200, 300, 400, 512, 1 << 20}) {
    const int64_t dims = std::min({m, num_axes, num_rows / 2});
    if (dims <= last) break;
    last = dims;
    all.push_back({static_cast<int>(dims), kPooled});
    if (dims > kMostFullDims) continue;
    for (const double shrinkage : {5.0, 20.0, 80.0})
      all.push_back({static_cast<int>(dims), shrinkage});
  }
  return all;
}

TestFold test_spaces(const Matrix<float>& rows, std::span<const int> classes, Priors priors,
                     std::vector<SpaceChoice> candidates) {
  return [&rows, classes, priors, candidates](const Fold& fold, const std::vector<char>& is_racing,
                                              const Report& report) {
    int most = 1, full = 1;
    for (size_t c = 0; c < candidates.size(); ++c) {
      if (!is_racing[c]) continue;
      most = std::max(most, candidates[c].num_dims);
      if (candidates[c].shrinkage < kPooled) full = std::max(full, candidates[c].num_dims);
    }
    const Sums sums = sums_of(rows, classes, fold, most, full);
    for (size_t c = 0; c < candidates.size(); ++c) {
      if (!is_racing[c]) continue;
      const auto& [dims, shrinkage] = candidates[c];
      const Eigen::MatrixXd scores = shrinkage < kPooled ? own_scores(sums, dims, shrinkage, priors)
                                                         : pooled_scores(sums, dims, priors);
      std::vector<int> predicted(fold.test.size());
      for (size_t r = 0; r < predicted.size(); ++r) {
        Eigen::Index best = 0;
        scores.col(static_cast<Eigen::Index>(r)).maxCoeff(&best);
        predicted[r] = static_cast<int>(best);
      }
      report(c, predicted);
    }
  };
}

}  // namespace milieu::internal
