// SPDX-License-Identifier: Apache-2.0
// Features of the linear kernel: x~ = ((x - mean) / length, B), with weighted mean and length over
// samples and context together [Lampert08, section 3.1: the bias is a component of w].
#include <cmath>

#include "milieu/base/parallel.h"
#include "milieu/dcp/dcp_problem_internal.h"

namespace milieu::internal {
namespace {

constexpr int64_t kBlock = 1024;

void add_to(std::vector<double>& total, const std::vector<double>& part) {
  for (size_t i = 0; i < total.size(); ++i) total[i] += part[i];
}

class LinearFeatures : public FeatureSource {
 public:
  LinearFeatures(const DcpInput& input, const DcpOptions& options)
      : points_(input.points),
        context_(input.context),
        bias_(options.bias),
        shares_(joined_shares(input)),
        mean_(input.points.cols()) {
    if (options.center) set_mean(options.num_threads);
    if (options.scale) set_length(options.num_threads);
  }

  int64_t rows() const override { return points_.rows() + context_.rows(); }
  int64_t cols() const override { return points_.cols() + (bias_ > 0 ? 1 : 0); }

  void fill(int64_t begin, int64_t end, double* out) const override {
    for (int64_t i = begin; i < end; ++i) {
      const float* x = row(i);
      for (int64_t j = 0; j < points_.cols(); ++j) *out++ = (x[j] - mean_[j]) * inverse_length_;
      if (bias_ > 0) *out++ = bias_;
    }
  }

  DcpModel to_model(const Matrix<double>& planes) const override {
    DcpModel model;
    model.coefficients = Matrix<double>(planes.rows(), points_.cols());
    for (int64_t k = 0; k < planes.rows(); ++k) {
      double offset = bias_ > 0 ? bias_ * planes(k, points_.cols()) : 0;
      for (int64_t j = 0; j < points_.cols(); ++j) {
        const double coefficient = planes(k, j) * inverse_length_;
        model.coefficients(k, j) = coefficient;
        offset -= coefficient * mean_[j];
      }
      model.offsets.push_back(offset);
    }
    return model;
  }

 private:
  const float* row(int64_t i) const {
    return i < points_.rows() ? points_.row(i) : context_.row(i - points_.rows());
  }

  double total() const { return shares_.empty() ? static_cast<double>(rows()) : 1; }
  double weight(int64_t i) const { return shares_.empty() ? 1 : shares_[i]; }

  void set_mean(int num_threads) {
    mean_ = parallel_reduce(
        rows(), kBlock, num_threads, std::vector<double>(points_.cols()),
        [&](const Block& block, std::vector<double>& sum) {
          for (int64_t i = block.begin; i < block.end; ++i) {
            const float* x = row(i);
            for (size_t j = 0; j < sum.size(); ++j) sum[j] += weight(i) * x[j];
          }
        },
        add_to);
    for (double& value : mean_) value /= total();
  }

  // Mean squared length 1, unless all rows are 0.
  void set_length(int num_threads) {
    const double squared = parallel_reduce(
        rows(), kBlock, num_threads, 0.0,
        [&](const Block& block, double& sum) {
          for (int64_t i = block.begin; i < block.end; ++i) {
            const float* x = row(i);
            for (size_t j = 0; j < mean_.size(); ++j) {
              const double difference = x[j] - mean_[j];
              sum += weight(i) * difference * difference;
            }
          }
        },
        [](double& total, double part) { total += part; });
    if (squared > 0) inverse_length_ = std::sqrt(total() / squared);
  }

  FloatView points_, context_;
  double bias_;
  std::vector<double> shares_;  // of samples and context; empty: equal
  std::vector<double> mean_;
  double inverse_length_ = 1;
};

}  // namespace

std::unique_ptr<FeatureSource> make_linear_features(const DcpInput& input,
                                                    const DcpOptions& options) {
  return std::make_unique<LinearFeatures>(input, options);
}

}  // namespace milieu::internal
