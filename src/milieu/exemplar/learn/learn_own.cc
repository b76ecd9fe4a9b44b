// SPDX-License-Identifier: Apache-2.0
// Costs of exemplars that depend on weights [Komodakis11, Eq. 10 with p = q]: features of the
// samples themselves, or the diagonals of matrices. Conventions: features are taken less their mean
// over all sets, so that the penalty is what an
//   average exemplar costs; divided by their mean size where features are normalised. Their weights
//   start at 0 and may have any sign. Diagonals have the weights of their matrices and are taken as
//   they are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/exemplar/learn/learned_clusters_internal.h"

namespace milieu {

namespace internal {

namespace {

Matrix<float> diagonals_of(const LearnSet& set) {
  const int64_t n = set.matrices[0].rows();
  Matrix<float> own(n, std::ssize(set.matrices));
  for (int64_t q = 0; q < n; ++q)
    for (int64_t t = 0; t < own.cols(); ++t) own(q, t) = set.matrices[t](q, q);
  return own;
}

// The columns first, then the further features.
Matrix<float> features_of(FloatView points, FloatView further,
                          const std::vector<int64_t>& columns) {
  const int64_t first = std::ssize(columns);
  const int64_t n = further.empty() ? points.rows() : further.rows();
  Matrix<float> own(n, first + further.cols());
  for (int64_t q = 0; q < n; ++q) {
    for (int64_t s = 0; s < first; ++s) own(q, s) = points(q, columns[s]);
    for (int64_t s = 0; s < further.cols(); ++s) own(q, first + s) = further(q, s);
  }
  return own;
}

std::vector<double> means_of(const std::vector<Matrix<float>>& all, bool is_size) {
  std::vector<double> means(all[0].cols(), 0.0);
  double count = 0;
  for (const Matrix<float>& each : all) {
    count += static_cast<double>(each.rows());
    for (int64_t q = 0; q < each.rows(); ++q)
      for (size_t s = 0; s < means.size(); ++s)
        means[s] += is_size ? std::abs(each(q, s)) : each(q, s);
  }
  for (double& mean : means) mean /= count;
  return means;
}

void check_columns(const LearnInput& input) {
  const int64_t d = input.sets[0].points.cols();
  std::vector<int64_t> sorted = input.exemplar_columns;
  std::sort(sorted.begin(), sorted.end());
  for (const int64_t column : sorted)
    require(column >= 0 && column < d, [&] {
      return fmt::format("exemplar_columns names column {}, the points have {} (counted from 0)",
                         column, d);
    });
  require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
          "exemplar_columns names a column twice");
  require(std::ssize(sorted) < d,
          "exemplar_columns names every column: nothing is left to compare");
}

}  // namespace

void check_own_costs(const LearnInput& input, const ExemplarLearnOptions& options) {
  const bool has_matrices = !input.sets[0].matrices.empty();
  const int64_t count = input.sets[0].exemplar_features.cols();
  require(!options.diagonals || has_matrices, "diagonals is set, but the sets are not matrices");
  require(!options.diagonals || count == 0,
          "diagonals and features of exemplars are given: leave one of them out");
  require(input.exemplar_columns.empty() || (!has_matrices && input.candidates.empty()),
          "exemplar_columns need sets of points whose columns are the candidates: give features of "
          "exemplars instead");
  if (!input.exemplar_columns.empty()) check_columns(input);
  for (size_t k = 0; k < input.sets.size(); ++k) {
    const FloatView features = input.sets[k].exemplar_features;
    const auto n = std::ssize(input.sets[k].labels);
    require(features.cols() == count && (count == 0 || features.rows() == n), [&] {
      return fmt::format("the features of exemplars of set {} are {} x {}, must be {} x {}", k,
                         features.rows(), features.cols(), n, count);
    });
    for (int64_t q = 0; q < features.rows(); ++q)
      for (int64_t s = 0; s < count; ++s)
        if (!std::isfinite(features(q, s)))
          throw DataError(fmt::format(
              "the features of exemplars of set {} have {} at row {}, column {} (counted from 0)",
              k, features(q, s), q, s));
  }
  require(input.exemplar_names.empty() || std::ssize(input.exemplar_names) == count, [&] {
    return fmt::format("{} names for {} of exemplars: they must match", input.exemplar_names.size(),
                       counted(count, "feature"));
  });
}

OwnCosts make_own_costs(const LearnInput& input, const ExemplarLearnOptions& options) {
  OwnCosts own;
  own.is_shared = options.diagonals;
  if (own.is_shared) {
    for (const LearnSet& set : input.sets) own.features.push_back(diagonals_of(set));
    return own;
  }
  const int64_t further = input.sets[0].exemplar_features.cols();
  if (input.exemplar_columns.empty() && further == 0) return own;
  for (const LearnSet& set : input.sets)
    own.features.push_back(features_of(set.points, set.exemplar_features, input.exemplar_columns));
  own.means = means_of(own.features, false);
  for (Matrix<float>& each : own.features)
    for (int64_t q = 0; q < each.rows(); ++q)
      for (int64_t s = 0; s < each.cols(); ++s)
        each(q, s) = static_cast<float>(each(q, s) - own.means[s]);
  for (const double size : means_of(own.features, true))
    own.scale.push_back(size == 0 ? 0.0 : options.normalize ? 1 / size : 1.0);
  for (const int64_t column : input.exemplar_columns)
    own.names.push_back(input.names.empty() ? fmt::format("column {}", column)
                                            : input.names[column]);
  for (int64_t s = 0; s < further; ++s)
    own.names.push_back(input.exemplar_names.empty() ? fmt::format("exemplar feature {}", s)
                                                     : input.exemplar_names[s]);
  return own;
}

void put_own_costs(const LearnedDistance& model, FloatView points,
                   const std::vector<FloatView>& matrices, FloatView features,
                   MatrixView<float> costs) {
  const std::vector<double> all = matrices.empty() ? exemplar_penalties(model, points, features)
                                                   : exemplar_penalties(model, matrices, features);
  const double growth = penalty_growth(model, costs.rows());
  for (int64_t q = 0; q < costs.rows(); ++q)
    costs(q, q) = static_cast<float>(all[q] / growth - model.penalty);
}

}  // namespace internal

bool has_own_costs(const LearnedDistance& model) {
  return !model.exemplar_weights.empty() || !model.diagonal_factor.empty();
}

namespace {

// `points` may be empty where no columns are features.
std::vector<double> penalties_by_features(const LearnedDistance& model, FloatView points,
                                          FloatView features, int64_t n) {
  const int64_t further = std::ssize(model.exemplar_weights) - std::ssize(model.exemplar_columns);
  require(features.cols() == further && (further == 0 || features.rows() == n), [&] {
    return fmt::format(
        "the features of exemplars are {} x {}, must be {} x {}: what an exemplar costs was "
        "learned "
        "from {}",
        features.rows(), features.cols(), n, further,
        fmt::join(packed_names(model.exemplar_names), ", "));
  });
  const double growth = internal::penalty_growth(model, n);
  const Matrix<float> own = internal::features_of(points, features, model.exemplar_columns);
  std::vector<double> penalties(static_cast<size_t>(n), model.penalty);
  for (int64_t q = 0; q < n; ++q) {
    for (int64_t s = 0; s < own.cols(); ++s)
      penalties[q] += model.exemplar_weights[s] * (own(q, s) - model.exemplar_means[s]);
    penalties[q] *= growth;
  }
  return penalties;
}

}  // namespace

std::vector<double> exemplar_penalties(const LearnedDistance& model, FloatView points,
                                       FloatView features) {
  return penalties_by_features(model, points, features, points.rows());
}

std::vector<double> exemplar_penalties(const LearnedDistance& model,
                                       const std::vector<FloatView>& matrices, FloatView features) {
  const int64_t n = matrices[0].rows();
  std::vector<double> penalties = penalties_by_features(model, {}, features, n);
  if (model.diagonal_factor.empty()) return penalties;
  const double factor = model.diagonal_factor[0] * internal::penalty_growth(model, n);
  for (int64_t q = 0; q < n; ++q)
    for (size_t t = 0; t < matrices.size(); ++t)
      penalties[q] += factor * model.weights[t] * matrices[t](q, q);
  return penalties;
}

}  // namespace milieu
