// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/counted.h"
#include "milieu/dcp/solve/dcp_gram_internal.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/dcp/dcp_problem_internal.h"

namespace milieu::internal {
namespace {

constexpr int64_t kMaxRows = 20000;       // 3.2 GB of Gram matrix
constexpr int64_t kPanel = 64;            // columns factored before the rest is updated
constexpr int64_t kRowBlock = 128;        // rows of one task
constexpr double kGivenPrecision = 2e-6;  // of a precomputed kernel

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MapRows = Eigen::Map<RowMajor, 0, Eigen::OuterStride<>>;

Kernel library_kernel(DcpKernel kernel) {
  switch (kernel) {
    case DcpKernel::Polynomial:
      return Kernel::Polynomial;
    case DcpKernel::Intersection:
      return Kernel::Intersection;
    case DcpKernel::ChiSquared:
      return Kernel::ChiSquared;
    case DcpKernel::ExpChiSquared:
      return Kernel::ExpChiSquared;
    case DcpKernel::Rbf:
      return Kernel::Rbf;
    default:
      return Kernel::Linear;
  }
}

constexpr std::pair<DcpKernel, const char*> kNames[] = {
    {DcpKernel::Linear, "linear"},
    {DcpKernel::Polynomial, "polynomial"},
    {DcpKernel::Intersection, "intersection"},
    {DcpKernel::ChiSquared, "chi-squared"},
    {DcpKernel::ExpChiSquared, "exp-chi-squared"},
    {DcpKernel::Rbf, "rbf"},
    {DcpKernel::Precomputed, "precomputed"}};

// Precomputed values, made symmetric; refused where they are not.
Matrix<double> copy_precomputed(const DcpInput& input) {
  const Matrix<float> given = join_rows(input);
  const int64_t rows = given.rows();
  double largest = 0;
  for (int64_t i = 0; i < given.size(); ++i)
    largest = std::max<double>(largest, std::abs(given.data()[i]));
  Matrix<double> out(rows, rows);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      const double a = given(i, j), b = given(j, i);
      require(std::abs(a - b) <= 1e-4 * largest, [&] {
        return fmt::format(
            "the precomputed kernel is not symmetric: entry ({}, {}) is {}, entry ({}, {}) is {}",
            i, j, a, j, i, b);
      });
      out(i, j) = out(j, i) = 0.5 * (a + b);
    }
  return out;
}

double largest_entry(const Matrix<double>& values) {
  double largest = 0;
  for (int64_t i = 0; i < values.size(); ++i)
    largest = std::max(largest, std::abs(values.data()[i]));
  return largest;
}

double mean_of(std::span<const double> values, std::span<const double> shares) {
  if (shares.empty())
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return std::inner_product(values.begin(), values.end(), shares.begin(), 0.0);
}

// K - row means - column means + total mean, with the weights of the samples.
void center(GramMatrix& gram) {
  const int64_t rows = gram.values.rows();
  gram.is_centered = true;
  gram.row_means.resize(rows);
  for (int64_t i = 0; i < rows; ++i)
    gram.row_means[i] = mean_of(gram.values.row_span(i), gram.shares);
  gram.total_mean = mean_of(gram.row_means, gram.shares);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < rows; ++j)
      gram.values(i, j) += gram.total_mean - gram.row_means[i] - gram.row_means[j];
}

void scale_to_unit(GramMatrix& gram) {
  const bool is_weighted = !gram.shares.empty();
  double trace = 0;
  for (int64_t i = 0; i < gram.values.rows(); ++i)
    trace += gram.values(i, i) * (is_weighted ? gram.shares[i] : 1);
  if (!(trace > 0)) return;
  gram.scale = (is_weighted ? 1 : static_cast<double>(gram.values.rows())) / trace;
  for (int64_t i = 0; i < gram.values.size(); ++i) gram.values.data()[i] *= gram.scale;
}

}  // namespace

std::string kernel_name(DcpKernel kernel) {
  for (const auto& [value, name] : kNames)
    if (value == kernel) return name;
  return "";
}

KernelSpec kernel_of_model(const DcpModel& model) {
  for (const auto& [value, name] : kNames)
    if (name == model.kernel)
      return {library_kernel(value), model.gamma, model.coef0, model.degree};
  throw DataError(fmt::format("the model has the kernel '{}', which is unknown", model.kernel));
}

Matrix<float> join_rows(const DcpInput& input) {
  const int64_t n = input.points.rows(), m = input.context.rows();
  Matrix<float> rows(n + m, input.points.cols());
  for (int64_t i = 0; i < n + m; ++i)
    std::copy_n(i < n ? input.points.row(i) : input.context.row(i - n), rows.cols(), rows.row(i));
  return rows;
}

KernelSpec resolve_kernel(const DcpInput& input, const DcpOptions& options) {
  KernelSpec spec{library_kernel(options.kernel), options.gamma, options.coef0, options.degree};
  if (options.gamma == 0)
    spec.gamma = options.kernel == DcpKernel::Precomputed
                     ? 1
                     : choose_gamma(spec.kernel, join_rows(input), options.num_threads);
  return spec;
}

GramMatrix compute_gram(const DcpInput& input, const DcpOptions& options, const KernelSpec& spec,
                        Monitor& monitor) {
  const int64_t rows = input.points.rows() + input.context.rows();
  require(rows <= kMaxRows, [&] {
    return fmt::format(
        "samples and context have {}, kernels other than linear take at most {}: use a "
        "sub-sample, or --kernel linear on suitable features",
        counted(rows, "row"), kMaxRows);
  });
  GramMatrix gram;
  gram.shares = joined_shares(input);
  if (options.kernel == DcpKernel::Precomputed) {
    gram.values = copy_precomputed(input);
    gram.precision = kGivenPrecision;
  } else {
    gram.values = Matrix<double>(rows, rows);
    if (!milieu::gram(spec, join_rows(input), gram.values, options.num_threads, monitor)) return {};
  }
  const double before = largest_entry(gram.values);
  if (options.center) center(gram);
  if (options.scale) scale_to_unit(gram);
  // What centring cancels is lost.
  if (const double after = largest_entry(gram.values); after > 0)
    gram.precision = std::min(0.1, gram.precision * std::max(1.0, before * gram.scale / after));
  for (int64_t i = 0; i < gram.values.size(); ++i)
    gram.values.data()[i] += options.bias * options.bias;
  return gram;
}

namespace {

// The factorisation in place: a panel of columns at a time, then the rest minus the panel's share.
class Factorization {
 public:
  Factorization(Matrix<double> gram, double precision, int num_threads)
      : a_(std::move(gram)),
        n_(a_.rows()),
        precision_(precision),
        num_threads_(num_threads),
        order_(n_),
        diagonal_(n_) {
    std::iota(order_.begin(), order_.end(), 0);
    for (int64_t i = 0; i < n_; ++i) diagonal_[i] = a_(i, i);
    largest_ = largest_entry(a_);
  }

  // False when stopped.
  bool run(const Monitor& monitor) {
    const double smallest = precision_ * std::max(largest_, 1e-300);
    while (rank_ < n_) {
      if (monitor.should_stop()) return false;
      const int64_t begin = rank_;
      while (rank_ < n_ && rank_ - begin < kPanel && take_pivot(begin, smallest)) ++rank_;
      update_rest(begin);
      if (rank_ - begin < kPanel) break;
    }
    check_rest();
    return true;
  }

  PivotedFactor result() const {
    PivotedFactor factor;
    factor.pivots.assign(order_.begin(), order_.begin() + rank_);
    factor.rows = Matrix<double>(n_, rank_);
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t j = 0; j < std::min(i + 1, rank_); ++j) factor.rows(order_[i], j) = a_(i, j);
    return factor;
  }

 private:
  // Brings the largest diagonal to the front and makes its column; false when nothing is left.
  bool take_pivot(int64_t begin, double smallest) {
    const auto largest = std::max_element(diagonal_.begin() + rank_, diagonal_.end());
    if (!(*largest > smallest)) return false;
    swap_rows(rank_, largest - diagonal_.begin());
    const double root = std::sqrt(diagonal_[rank_]);
    const int64_t width = rank_ - begin;
    const double* pivot = a_.row(rank_) + begin;
    for (int64_t i = rank_ + 1; i < n_; ++i) {
      double* row = a_.row(i);
      double value = row[rank_];
      for (int64_t j = 0; j < width; ++j) value -= row[begin + j] * pivot[j];
      value /= root;
      row[rank_] = value;
      diagonal_[i] -= value * value;
    }
    a_(rank_, rank_) = root;
    return true;
  }

  // Rows and columns i < j of the symmetric rest, and rows of the factor.
  void swap_rows(int64_t i, int64_t j) {
    if (i == j) return;
    std::swap_ranges(a_.row(i), a_.row(i) + i, a_.row(j));
    for (int64_t k = i + 1; k < j; ++k) std::swap(a_(k, i), a_(j, k));
    std::swap(a_(i, i), a_(j, j));
    for (int64_t k = j + 1; k < n_; ++k) std::swap(a_(k, i), a_(k, j));
    std::swap(diagonal_[i], diagonal_[j]);
    std::swap(order_[i], order_[j]);
  }

  void update_rest(int64_t begin) {
    const int64_t width = rank_ - begin;
    if (width == 0) return;
    parallel_for(n_ - rank_, kRowBlock, num_threads_, [&](const Block& block) {
      const int64_t first = rank_ + block.begin, last = rank_ + block.end;
      const Eigen::OuterStride<> stride(a_.cols());
      const MapRows left(a_.row(first) + begin, last - first, width, stride);
      const MapRows right(a_.row(rank_) + begin, last - rank_, width, stride);
      MapRows rest(a_.row(first) + rank_, last - first, last - rank_, stride);
      rest.noalias() -= left * right.transpose();
    });
  }

  // What no pivot was left for must be 0: else some direction has a negative square.
  void check_rest() const {
    double worst = 0;
    for (int64_t i = rank_; i < n_; ++i) {
      worst = std::max(worst, -diagonal_[i]);
      for (int64_t j = rank_; j < i; ++j) worst = std::max(worst, std::abs(a_(i, j)));
    }
    // Rounding adds up over the pivots.
    require(worst <= 100 * std::max(precision_, 1e-8) * largest_, [&] {
      return fmt::format(
          "the kernel is not positive semi-definite: a direction has the square {:.3g}, with "
          "entries up to {:.3g}: add a constant to the diagonal, or use another kernel",
          -worst, largest_);
    });
  }

  Matrix<double> a_;  // lower triangle: the factor's first columns, then the rest
  int64_t n_;
  double precision_;
  int num_threads_;
  std::vector<int64_t> order_;
  std::vector<double> diagonal_;  // of the rest, up to date
  double largest_ = 0;
  int64_t rank_ = 0;
};

}  // namespace

PivotedFactor factor_gram(Matrix<double> gram, double precision, int num_threads,
                          const Monitor& monitor) {
  Factorization factorization(std::move(gram), precision, num_threads);
  if (!factorization.run(monitor)) return {};
  return factorization.result();
}

}  // namespace milieu::internal
