// SPDX-License-Identifier: Apache-2.0
// Features of a kernel: rows whose products are the kernel's values, exactly [Lampert08, section
// 4]. They come from a Cholesky factorisation with pivots, G G^T = K + B^2: it finds the rank,
// finds out when K is not positive semi-definite, and needs the kernel with the pivots only to give
// a new sample its features. Any other square root of K, such as U sqrt(L), is a rotation of these
// rows, which changes no product and so no objective.
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/dcp/dcp_problem_internal.h"
#include "milieu/dcp/solve/dcp_gram_internal.h"

namespace milieu::internal {
namespace {

class KernelFeatures : public FeatureSource {
 public:
  KernelFeatures(const DcpOptions& options, KernelSpec spec, GramMatrix gram, PivotedFactor factor,
                 const DcpInput& input)
      : bias_(options.bias),
        is_precomputed_(options.kernel == DcpKernel::Precomputed),
        name_(kernel_name(options.kernel)),
        spec_(spec),
        gram_(std::move(gram)),
        factor_(std::move(factor)),
        input_(input) {}

  int64_t rows() const override { return factor_.rows.rows(); }
  int64_t cols() const override { return factor_.rows.cols(); }

  void fill(int64_t begin, int64_t end, double* out) const override {
    std::copy(factor_.rows.row(begin), factor_.rows.row(begin) + (end - begin) * cols(), out);
  }

  // f(x) = <w, features(x)>, features(x) = L^-1 (k(x, pivots) + B^2) with L the pivots' rows of G:
  // coefficients of the pivots are L^-T w. Centring and scaling are linear in k(x, .): they are
  // folded into the coefficients of all samples and the offset.
  DcpModel to_model(const Matrix<double>& planes) const override {
    DcpModel model;
    model.kernel = name_;
    model.gamma = spec_.gamma;
    model.coef0 = spec_.offset;
    model.degree = spec_.degree;
    if (!is_precomputed_) model.samples = join_rows(input_);
    model.coefficients = Matrix<double>(planes.rows(), rows());
    for (int64_t k = 0; k < planes.rows(); ++k) {
      const std::vector<double> beta = pivot_coefficients(planes.row_span(k));
      double sum = 0, offset = 0;
      for (int64_t j = 0; j < cols(); ++j) {
        const int64_t pivot = factor_.pivots[j];
        model.coefficients(k, pivot) = beta[j] * gram_.scale;
        sum += beta[j];
        if (gram_.is_centered)
          offset += beta[j] * gram_.scale * (gram_.total_mean - gram_.row_means[pivot]);
      }
      if (gram_.is_centered)
        for (int64_t i = 0; i < rows(); ++i)
          model.coefficients(k, i) -= share_of(i, sum * gram_.scale);
      model.offsets.push_back(offset + sum * bias_ * bias_);
    }
    return model;
  }

 private:
  // What a row gets of a sum over the mean of all rows.
  double share_of(int64_t i, double sum) const {
    return gram_.shares.empty() ? sum / static_cast<double>(rows()) : sum * gram_.shares[i];
  }

  // L^-T w by back substitution.
  std::vector<double> pivot_coefficients(std::span<const double> plane) const {
    std::vector<double> beta(plane.begin(), plane.end());
    for (int64_t j = cols() - 1; j >= 0; --j) {
      const double* row = factor_.rows.row(factor_.pivots[j]);
      beta[j] /= row[j];
      for (int64_t i = 0; i < j; ++i) beta[i] -= row[i] * beta[j];
    }
    return beta;
  }

  double bias_;
  bool is_precomputed_;
  std::string name_;
  KernelSpec spec_;
  GramMatrix gram_;  // only its means and scale are kept
  PivotedFactor factor_;
  DcpInput input_;
};

}  // namespace

std::unique_ptr<FeatureSource> make_kernel_features(const DcpInput& input,
                                                    const DcpOptions& options, Monitor& monitor) {
  const KernelSpec spec = resolve_kernel(input, options);
  GramMatrix gram = compute_gram(input, options, spec, monitor);
  if (gram.values.empty()) return nullptr;
  PivotedFactor factor =
      factor_gram(std::move(gram.values), gram.precision, options.num_threads, monitor);
  if (factor.rows.empty() && monitor.should_stop()) return nullptr;
  gram.values = Matrix<double>();
  return std::make_unique<KernelFeatures>(options, spec, std::move(gram), std::move(factor), input);
}

}  // namespace milieu::internal
