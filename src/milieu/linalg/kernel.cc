// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/linalg/distance_loops.h"
#include "milieu/linalg/non_negative_internal.h"
#include "milieu/linalg/pair_distance_loops.h"

namespace milieu {
namespace {

using namespace internal;

constexpr int64_t kBlockRows = 64;  // two blocks of a few hundred columns stay in the cache

using PairSum = double (*)(const float*, const float*, int64_t);

// The sum over coordinates that the kernel is a function of.
PairSum pair_sum(Kernel kernel) {
  switch (kernel) {
    case Kernel::Linear:
    case Kernel::Polynomial:
      return MILIEU_SELECT_ISA(dot_product);
    case Kernel::Intersection:
      return MILIEU_SELECT_ISA(sum_of_minima);
    case Kernel::ChiSquared:
      return MILIEU_SELECT_ISA(additive_chi_squared);
    case Kernel::ExpChiSquared:
      return MILIEU_SELECT_ISA(chi_squared_distance);
    case Kernel::Rbf:
      return MILIEU_SELECT_ISA(squared_distance);
  }
  return nullptr;
}

double integer_power(double base, int exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 == 1) result *= base;
  return result;
}

double from_sum(const KernelSpec& spec, double sum) {
  switch (spec.kernel) {
    case Kernel::Polynomial:
      return integer_power(spec.gamma * sum + spec.offset, spec.degree);
    case Kernel::ExpChiSquared:
    case Kernel::Rbf:
      return std::exp(-spec.gamma * sum);
    case Kernel::Linear:
    case Kernel::Intersection:
    case Kernel::ChiSquared:
      break;
  }
  return sum;
}

bool wants_histograms(Kernel kernel) {
  return kernel == Kernel::Intersection || kernel == Kernel::ChiSquared ||
         kernel == Kernel::ExpChiSquared;
}

void check_features(const KernelSpec& spec, FloatView points) {
  if (!wants_histograms(spec.kernel)) return;
  for (const auto& [name, value] : kernel_choices().choices)
    if (value == spec.kernel) check_not_negative(points, name + " kernel");
}

void check_shapes(FloatView a, FloatView b, int64_t rows, int64_t cols) {
  require(a.cols() == b.cols(), [&] {
    return fmt::format("kernel: one side has {}, the other {}: they must match",
                       counted(a.cols(), "column"), b.cols());
  });
  require(rows == a.rows() && cols == b.rows(), [&] {
    return fmt::format("kernel: out is {} x {}, must be {} x {}", rows, cols, a.rows(), b.rows());
  });
}

template <class T>
void fill_block(const KernelSpec& spec, FloatView a, FloatView b, MatrixView<T> out) {
  const PairSum sum = pair_sum(spec.kernel);
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < b.rows(); ++j)
      out(i, j) = static_cast<T>(from_sum(spec, sum(a.row(i), b.row(j), a.cols())));
}

template <class T>
MatrixView<T> part(MatrixView<T> m, const Block& rows, const Block& cols) {
  return {m.data() + rows.begin * m.stride() + cols.begin, rows.size(), cols.size(), m.stride()};
}

Block block_at(int64_t index, int64_t n) {
  return {index, index * kBlockRows, std::min(n, (index + 1) * kBlockRows)};
}

FloatView rows_of(FloatView points, const Block& block) {
  return points.rows_between(block.begin, block.end);
}

template <class T>
bool fill_cross(const KernelSpec& spec, FloatView a, FloatView b, MatrixView<T> out,
                int num_threads, Monitor& monitor) {
  validate_kernel(spec);
  check_shapes(a, b, out.rows(), out.cols());
  check_features(spec, a);
  check_features(spec, b);
  std::atomic<bool> is_whole = true;
  parallel_for(a.rows(), kBlockRows, num_threads, [&](const Block& rows) {
    for (int64_t j = 0; j < num_blocks(b.rows(), kBlockRows); ++j) {
      if (monitor.should_stop()) is_whole = false;
      if (!is_whole) return;
      const Block cols = block_at(j, b.rows());
      fill_block(spec, rows_of(a, rows), rows_of(b, cols), part(out, rows, cols));
    }
  });
  return is_whole;
}

// Mirrors a block above the diagonal below it; on the diagonal, its upper triangle.
template <class T>
void mirror(MatrixView<T> out, const Block& rows, const Block& cols) {
  for (int64_t i = rows.begin; i < rows.end; ++i)
    for (int64_t j = std::max(cols.begin, i + 1); j < cols.end; ++j) out(j, i) = out(i, j);
}

template <class T>
bool fill_gram(const KernelSpec& spec, FloatView points, MatrixView<T> out, int num_threads,
               Monitor& monitor) {
  validate_kernel(spec);
  check_shapes(points, points, out.rows(), out.cols());
  check_features(spec, points);
  const int64_t n = points.rows();
  const int64_t blocks = num_blocks(n, kBlockRows);
  std::atomic<bool> is_whole = true;
  // Block row i and its twin from the end together have the same work everywhere.
  parallel_for((blocks + 1) / 2, 1, num_threads, [&](const Block& pair) {
    const auto fill_row = [&](int64_t i) {
      const Block rows = block_at(i, n);
      for (int64_t j = i; j < blocks; ++j) {
        if (monitor.should_stop()) is_whole = false;
        if (!is_whole) return;
        const Block cols = block_at(j, n);
        fill_block(spec, rows_of(points, rows), rows_of(points, cols), part(out, rows, cols));
        mirror(out, rows, cols);
      }
    };
    fill_row(pair.begin);
    if (blocks - 1 - pair.begin != pair.begin) fill_row(blocks - 1 - pair.begin);
  });
  return is_whole;
}

// Mean |x - y|^2 over all pairs of different rows, by the variance of each column.
double mean_squared_distance(FloatView points) {
  const int64_t n = points.rows(), d = points.cols();
  std::vector<double> sums(d), squares(d);
  std::vector<double> shift(points.row(0), points.row(0) + d);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t t = 0; t < d; ++t) {
      const double value = points(i, t) - shift[t];
      sums[t] += value;
      squares[t] += value * value;
    }
  double total = 0;
  for (int64_t t = 0; t < d; ++t) total += squares[t] - sums[t] * sums[t] / n;
  return 2 * std::max(0.0, total) / (n - 1);
}

double mean_chi_squared(FloatView points, int num_threads) {
  constexpr int64_t kMostRows = 1000;
  const int64_t count = std::min(points.rows(), kMostRows);
  const auto row = [&](int64_t i) { return points.row(i * points.rows() / count); };
  const auto chi_squared = MILIEU_SELECT_ISA(chi_squared_distance);
  const double total = parallel_reduce(
      count, 16, num_threads, 0.0,
      [&](const Block& block, double& sum) {
        for (int64_t i = block.begin; i < block.end; ++i)
          for (int64_t j = 0; j < i; ++j) sum += chi_squared(row(i), row(j), points.cols());
      },
      [](double& sum, double other) { sum += other; });
  return total / (0.5 * static_cast<double>(count) * static_cast<double>(count - 1));
}

}  // namespace

ChoiceRule<Kernel> kernel_choices() {
  return one_of<Kernel>({{"linear", Kernel::Linear},
                         {"polynomial", Kernel::Polynomial},
                         {"intersection", Kernel::Intersection},
                         {"chi-squared", Kernel::ChiSquared},
                         {"exp-chi-squared", Kernel::ExpChiSquared},
                         {"rbf", Kernel::Rbf}});
}

void validate_kernel(const KernelSpec& spec) {
  const bool uses_gamma = spec.kernel == Kernel::Polynomial ||
                          spec.kernel == Kernel::ExpChiSquared || spec.kernel == Kernel::Rbf;
  require(!uses_gamma || (spec.gamma > 0 && std::isfinite(spec.gamma)),
          [&] { return fmt::format("gamma is {}, must be a number above 0", spec.gamma); });
  if (spec.kernel != Kernel::Polynomial) return;
  require(spec.offset >= 0 && std::isfinite(spec.offset),
          [&] { return fmt::format("offset is {}, must be at least 0", spec.offset); });
  require(spec.degree >= 1,
          [&] { return fmt::format("degree is {}, must be at least 1", spec.degree); });
}

double choose_gamma(Kernel kernel, FloatView points, int num_threads) {
  require(!points.empty(), "choose_gamma: there are no samples");
  if (kernel == Kernel::Polynomial) return 1.0 / static_cast<double>(points.cols());
  const bool is_exponential = kernel == Kernel::Rbf || kernel == Kernel::ExpChiSquared;
  if (!is_exponential || points.rows() < 2) return 1;
  check_features({.kernel = kernel}, points);
  const double mean =
      kernel == Kernel::Rbf ? mean_squared_distance(points) : mean_chi_squared(points, num_threads);
  return mean > 0 ? 1 / mean : 1;
}

void kernel_block(const KernelSpec& spec, FloatView a, FloatView b, MatrixView<double> out) {
  fill_cross(spec, a, b, out, 1, silent_monitor());
}
void kernel_block(const KernelSpec& spec, FloatView a, FloatView b, MatrixView<float> out) {
  fill_cross(spec, a, b, out, 1, silent_monitor());
}

bool cross_gram(const KernelSpec& spec, FloatView a, FloatView b, MatrixView<double> out,
                int num_threads, Monitor& monitor) {
  return fill_cross(spec, a, b, out, num_threads, monitor);
}
bool cross_gram(const KernelSpec& spec, FloatView a, FloatView b, MatrixView<float> out,
                int num_threads, Monitor& monitor) {
  return fill_cross(spec, a, b, out, num_threads, monitor);
}

bool gram(const KernelSpec& spec, FloatView points, MatrixView<double> out, int num_threads,
          Monitor& monitor) {
  return fill_gram(spec, points, out, num_threads, monitor);
}
bool gram(const KernelSpec& spec, FloatView points, MatrixView<float> out, int num_threads,
          Monitor& monitor) {
  return fill_gram(spec, points, out, num_threads, monitor);
}

Matrix<float> kernel_distances(FloatView kernel, const std::string& source) {
  constexpr double kRounding = 1e-4;  // of single numbers, of k_pp + k_qq
  const int64_t n = kernel.rows();
  if (kernel.cols() != n)
    throw DataError(
        fmt::format("{} holds a kernel of {} x {}, must be square", source, n, kernel.cols()));
  Matrix<float> distances(n, n);
  for (int64_t p = 0; p < n; ++p)
    for (int64_t q = 0; q < n; ++q) {
      const double own = static_cast<double>(kernel(p, p)) + kernel(q, q);
      const double squared = own - kernel(p, q) - kernel(q, p);
      if (!(squared >= -kRounding * std::abs(own)))
        throw DataError(fmt::format(
            "{} is no kernel: at row {}, column {} (counted from 0) the squared distance would be "
            "{}",
            source, p, q, squared));
      distances(p, q) = static_cast<float>(std::sqrt(std::max(squared, 0.0)));
    }
  return distances;
}

std::vector<double> kernel_diagonal(const KernelSpec& spec, FloatView points) {
  validate_kernel(spec);
  check_features(spec, points);
  const PairSum sum = pair_sum(spec.kernel);
  std::vector<double> diagonal(points.rows());
  for (int64_t i = 0; i < points.rows(); ++i)
    diagonal[i] = from_sum(spec, sum(points.row(i), points.row(i), points.cols()));
  return diagonal;
}

}  // namespace milieu
