// SPDX-License-Identifier: Apache-2.0
// Principal components of samples and context together, by block iteration with a Rayleigh-Ritz
// step, and the features that are made of them: component j divided by sqrt(v_j + floor).
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/dcp/dcp_problem_internal.h"
#include "milieu/linalg/gemm.h"

namespace milieu::internal {
namespace {

using DoubleRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int64_t kMaxComponents = 60;
constexpr int64_t kMoreVectors = 10;  // iterated beside those that are kept
constexpr int kIterations = 8;
constexpr int64_t kBlock = 512;
constexpr double kSmallVariance = 1e-9;  // of the largest: components below it are rounding

Matrix<float> read_rows(const FeatureSource& source, int num_threads) {
  Matrix<float> rows(source.rows(), source.cols());
  parallel_for(rows.rows(), kBlock, num_threads, [&](const Block& block) {
    std::vector<double> exact(static_cast<size_t>(block.size() * rows.cols()));
    source.fill(block.begin, block.end, exact.data());
    std::transform(exact.begin(), exact.end(), rows.row(block.begin),
                   [](double value) { return static_cast<float>(value); });
  });
  return rows;
}

// Coordinates of the rows along the rows of `axes`.
Matrix<float> coordinates_of(FloatView rows, FloatView axes, int num_threads) {
  Matrix<float> out(rows.rows(), axes.rows());
  parallel_for(rows.rows(), kBlock, num_threads, [&](const Block& block) {
    gemm_nt(1, rows.rows_between(block.begin, block.end), axes, 0,
            MatrixView<float>(out.row(block.begin), block.size(), out.cols()));
  });
  return out;
}

// sum_i w_i (axes x_i) x_i^T: the axes times the second moment.
Matrix<float> apply_moment(FloatView rows, const std::vector<double>& shares, FloatView axes,
                           int num_threads, const Team& team) {
  const auto accumulate = [&](const Block& block, Matrix<float>& sum) {
    Matrix<float> along(block.size(), axes.rows()), turned(axes.rows(), block.size());
    const FloatView part = rows.rows_between(block.begin, block.end);
    gemm_nt(1, part, axes, 0, along);
    for (int64_t i = 0; i < block.size(); ++i) {
      const auto share = static_cast<float>(
          shares.empty() ? 1.0
                         : shares[static_cast<size_t>(block.begin + i)] * double(rows.rows()));
      for (int64_t k = 0; k < axes.rows(); ++k) turned(k, i) = share * along(i, k);
    }
    gemm(1, turned, part, 1, sum);
  };
  return team.parallel_reduce(rows.rows(), kBlock, num_threads,
                              Matrix<float>(axes.rows(), rows.cols()), accumulate,
                              [](Matrix<float>& total, const Matrix<float>& part) {
                                for (int64_t i = 0; i < total.size(); ++i)
                                  total.data()[i] += part.data()[i];
                              });
}

// Orthonormal rows that span those of `rows`.
DoubleRows orthonormal(const Matrix<float>& rows) {
  DoubleRows turned =
      Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
          rows.data(), rows.rows(), rows.cols())
          .cast<double>()
          .transpose();
  const Eigen::HouseholderQR<DoubleRows> qr(turned);
  const DoubleRows thin = DoubleRows::Identity(rows.cols(), rows.rows());
  return (qr.householderQ() * thin).transpose();
}

Matrix<float> rounded(const DoubleRows& rows) {
  Matrix<float> out(rows.rows(), rows.cols());
  std::transform(rows.data(), rows.data() + rows.size(), out.data(),
                 [](double value) { return static_cast<float>(value); });
  return out;
}

// A space that holds the leading components; all of it where there are few columns.
DoubleRows leading_space(FloatView rows, const std::vector<double>& shares, int num_threads,
                         const Team& team, const Monitor& monitor) {
  const int64_t count = std::min({rows.rows(), rows.cols(), kMaxComponents + kMoreVectors});
  if (count == rows.cols()) return DoubleRows::Identity(count, count);
  Random random(1);
  Matrix<float> axes(count, rows.cols());
  for (int64_t i = 0; i < axes.size(); ++i) axes.data()[i] = static_cast<float>(random.normal());
  DoubleRows space = orthonormal(axes);
  for (int step = 0; step < kIterations && !monitor.should_stop(); ++step)
    space = orthonormal(apply_moment(rows, shares, rounded(space), num_threads, team));
  return space;
}

class WhitenedFeatures : public FeatureSource {
 public:
  WhitenedFeatures(std::shared_ptr<const PrincipalRows> rows, double floor, double bias)
      : principal_(std::move(rows)), bias_(bias) {
    double sum = 0, squares = 0;
    for (const double v : principal_->variances) {
      sum += v;
      squares += v * v;
    }
    const double least = sum > 0 ? floor * squares / sum : 0;
    for (const double v : principal_->variances)
      scales_.push_back(v + least > 0 ? 1 / std::sqrt(v + least) : 0);
  }

  int64_t rows() const override { return principal_->coordinates.rows(); }
  int64_t cols() const override { return num_axes() + (bias_ > 0 ? 1 : 0); }

  void fill(int64_t begin, int64_t end, double* out) const override {
    for (int64_t i = begin; i < end; ++i) {
      const float* x = principal_->coordinates.row(i);
      for (int64_t j = 0; j < num_axes(); ++j) *out++ = x[j] * scales_[static_cast<size_t>(j)];
      if (bias_ > 0) *out++ = bias_;
    }
  }

  DcpModel to_model(const Matrix<double>& planes) const override {
    const Matrix<double>& axes = principal_->axes;
    Matrix<double> inner(planes.rows(), axes.cols());
    for (int64_t k = 0; k < planes.rows(); ++k)
      for (int64_t j = 0; j < num_axes(); ++j) {
        const double along = planes(k, j) * scales_[static_cast<size_t>(j)];
        for (int64_t t = 0; t < axes.cols(); ++t) inner(k, t) += along * axes(j, t);
      }
    DcpModel model = principal_->source->to_model(inner);
    for (int64_t k = 0; bias_ > 0 && k < planes.rows(); ++k)
      model.offsets[static_cast<size_t>(k)] += bias_ * planes(k, num_axes());
    return model;
  }

 private:
  int64_t num_axes() const { return principal_->axes.rows(); }

  std::shared_ptr<const PrincipalRows> principal_;
  double bias_;
  std::vector<double> scales_;  // one per component
};

}  // namespace

std::shared_ptr<const PrincipalRows> find_principal_rows(
    std::unique_ptr<const FeatureSource> source, const std::vector<double>& shares, int num_threads,
    const Monitor& monitor, const Team& team) {
  const Matrix<float> rows = read_rows(*source, num_threads);
  const DoubleRows space = leading_space(rows, shares, num_threads, team, monitor);
  if (monitor.should_stop()) return nullptr;
  const Matrix<float> along = coordinates_of(rows, rounded(space), num_threads);
  DoubleRows moment = DoubleRows::Zero(space.rows(), space.rows());
  for (int64_t i = 0; i < along.rows(); ++i) {
    const Eigen::VectorXd x =
        Eigen::Map<const Eigen::VectorXf>(along.row(i), along.cols()).cast<double>();
    const double share =
        shares.empty() ? 1 / static_cast<double>(along.rows()) : shares[static_cast<size_t>(i)];
    moment.selfadjointView<Eigen::Lower>().rankUpdate(x, share);
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver{Eigen::MatrixXd(moment)};
  const Eigen::VectorXd values = solver.eigenvalues().reverse();
  int64_t count = 1;
  while (count < std::min<int64_t>(kMaxComponents, values.size()) &&
         values[count] > kSmallVariance * values[0])
    ++count;
  const DoubleRows axes =
      solver.eigenvectors().rowwise().reverse().leftCols(count).transpose() * space;
  auto out = std::make_shared<PrincipalRows>();
  out->axes = Matrix<double>(count, space.cols());
  std::copy_n(axes.data(), axes.size(), out->axes.data());
  for (int64_t j = 0; j < count; ++j) out->variances.push_back(std::max(0.0, values[j]));
  out->coordinates = coordinates_of(rows, rounded(axes), num_threads);
  out->source = std::move(source);
  return out;
}

std::unique_ptr<FeatureSource> make_whitened_features(std::shared_ptr<const PrincipalRows> rows,
                                                      double floor, double bias) {
  return std::make_unique<WhitenedFeatures>(std::move(rows), floor, bias);
}

}  // namespace milieu::internal
