// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/pair_distance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/linalg/distance_loops.h"
#include "milieu/linalg/non_negative_internal.h"
#include "milieu/linalg/pair_distance_loops.h"

namespace milieu {

namespace {

using namespace internal;

constexpr int64_t kMaxColumns = 16;  // of squared_distances_to

template <class OfPair>
void fill(FloatView a, FloatView b, MatrixView<float> out, OfPair of_pair) {
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < b.rows(); ++j)
      out(i, j) = static_cast<float>(of_pair(a.row(i), b.row(j)));
}

// Squared distances, or their roots. In few dimensions the coordinates of many points at a time.
void fill_squared(FloatView a, FloatView b, MatrixView<float> out, bool take_root) {
  const int64_t d = a.cols(), n = b.rows();
  const auto to_pair = MILIEU_SELECT_ISA(squared_distance);
  if (d < 1 || d > kMaxColumns || a.rows() < 4)
    return fill(a, b, out, [&](auto* x, auto* y) {
      const double squared = to_pair(x, y, d);
      return take_root ? std::sqrt(squared) : squared;
    });
  std::vector<float> columns(d * n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t t = 0; t < d; ++t) columns[t * n + j] = b(j, t);
  const auto to_columns = MILIEU_SELECT_ISA(squared_distances_to);
  std::vector<double> row(n);
  for (int64_t i = 0; i < a.rows(); ++i) {
    to_columns(a.row(i), columns.data(), n, d, n, row.data());
    for (int64_t j = 0; j < n; ++j)
      out(i, j) = static_cast<float>(take_root ? std::sqrt(row[j]) : row[j]);
  }
}

std::vector<double> row_lengths(FloatView points) {
  const auto dot = MILIEU_SELECT_ISA(dot_product);
  std::vector<double> lengths(points.rows());
  for (int64_t i = 0; i < points.rows(); ++i)
    lengths[i] = std::sqrt(dot(points.row(i), points.row(i), points.cols()));
  return lengths;
}

void fill_cosine(FloatView a, FloatView b, MatrixView<float> out) {
  const auto dot = MILIEU_SELECT_ISA(dot_product);
  const std::vector<double> a_lengths = row_lengths(a);
  const std::vector<double> b_lengths = row_lengths(b);
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < b.rows(); ++j) {
      const double product = a_lengths[i] * b_lengths[j];
      const double cosine = product > 0 ? dot(a.row(i), b.row(j), a.cols()) / product : 0.0;
      // Rounding may leave equal rows a little below 1: they are at distance 0 by definition.
      const bool are_equal = std::equal(a.row(i), a.row(i) + a.cols(), b.row(j));
      out(i, j) = are_equal ? 0.0f : static_cast<float>(std::clamp(1.0 - cosine, 0.0, 2.0));
    }
}

// 1 - sum min(a, b) / max(sum a, sum b): 0 exactly for equal rows, as both sums run alike.
void fill_intersection(FloatView a, FloatView b, MatrixView<float> out) {
  const auto minima = MILIEU_SELECT_ISA(sum_of_minima);
  const auto row_sums = [&](FloatView points) {
    std::vector<double> sums(points.rows());
    for (int64_t i = 0; i < points.rows(); ++i)
      sums[i] = minima(points.row(i), points.row(i), points.cols());
    return sums;
  };
  const std::vector<double> a_sums = row_sums(a), b_sums = row_sums(b);
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < b.rows(); ++j) {
      const double larger = std::max(a_sums[i], b_sums[j]);
      const double shared = larger > 0 ? minima(a.row(i), b.row(j), a.cols()) / larger : 1.0;
      out(i, j) = static_cast<float>(std::max(0.0, 1 - shared));
    }
}

}  // namespace

void internal::check_not_negative(FloatView points, const std::string& who) {
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t j = 0; j < points.cols(); ++j)
      require(points(i, j) >= 0, [&] {
        return fmt::format("{}: a feature is {} in column {}, must not be negative", who,
                           points(i, j), j);
      });
}

ChoiceRule<Distance> distance_choices() {
  return one_of<Distance>({{"euclidean", Distance::Euclidean},
                           {"squared-euclidean", Distance::SquaredEuclidean},
                           {"l1", Distance::L1},
                           {"chi-squared", Distance::ChiSquared},
                           {"cosine", Distance::Cosine},
                           {"intersection", Distance::Intersection},
                           {"rbf", Distance::Rbf},
                           {"precomputed", Distance::Precomputed}});
}

void pair_distances(Distance distance, FloatView a, FloatView b, MatrixView<float> out,
                    double gamma) {
  MILIEU_ASSERT(a.cols() == b.cols() && out.rows() == a.rows() && out.cols() == b.rows());
  const int64_t d = a.cols();
  const auto squared = MILIEU_SELECT_ISA(squared_distance);
  const auto l1 = MILIEU_SELECT_ISA(l1_distance);
  const auto chi_squared = MILIEU_SELECT_ISA(chi_squared_distance);
  switch (distance) {
    case Distance::Euclidean:
      return fill_squared(a, b, out, true);
    case Distance::SquaredEuclidean:
      return fill_squared(a, b, out, false);
    case Distance::L1:
      return fill(a, b, out, [&](auto* x, auto* y) { return l1(x, y, d); });
    case Distance::ChiSquared:
      check_not_negative(a, "chi-squared distance");
      check_not_negative(b, "chi-squared distance");
      return fill(a, b, out, [&](auto* x, auto* y) { return chi_squared(x, y, d); });
    case Distance::Cosine:
      return fill_cosine(a, b, out);
    case Distance::Intersection:
      check_not_negative(a, "intersection distance");
      check_not_negative(b, "intersection distance");
      return fill_intersection(a, b, out);
    case Distance::Rbf: {
      const double scale = gamma > 0 ? gamma : 1.0 / static_cast<double>(std::max<int64_t>(d, 1));
      return fill(a, b, out, [&](auto* x, auto* y) {
        return std::sqrt(-2 * std::expm1(-scale * squared(x, y, d)));  // 2 - 2 k, without rounding
      });
    }
    case Distance::Precomputed:
      throw InvalidArgument("distance is precomputed: there are no features to compute it from");
  }
}

}  // namespace milieu
