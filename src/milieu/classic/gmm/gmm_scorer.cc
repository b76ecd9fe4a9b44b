// SPDX-License-Identifier: Apache-2.0
// From a mixture model, possibly read from a file, to what the score loops need.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/gmm/gmm_covariance_internal.h"
#include "milieu/classic/gmm/gmm_loops.h"
#include "milieu/classic/gmm/gmm_steps.h"

namespace milieu::internal {

namespace {

// Unless `holds`: what the model says is wrong, and it may have come from a file.
template <class MakeMessage>
void check_model(bool holds, MakeMessage&& make_message) {
  if (!holds) throw DataError("gmm model: " + make_message());
}

constexpr double kLog2Pi = 1.8378770664093454836;

// rows x cols that model.covariances must have.
std::pair<int64_t, int64_t> covariance_shape(GmmCovariance covariance, int64_t k, int64_t d) {
  switch (covariance) {
    case GmmCovariance::Spherical:
      return {k, 1};
    case GmmCovariance::Diagonal:
      return {k, d};
    case GmmCovariance::Full:
      return {k, d * d};
    case GmmCovariance::Tied:
      return {1, d * d};
  }
  return {0, 0};
}

void check_shapes(const GmmModel& model) {
  const int64_t k = model.means.rows();
  const int64_t d = model.means.cols();
  check_model(k >= 1 && d >= 1, [&] {
    return fmt::format("means is {} x {}, must have at least one component and feature", k, d);
  });
  check_model(static_cast<int64_t>(model.weights.size()) == k, [&] {
    return fmt::format("weights has {}, means {}: they must match",
                       counted(model.weights.size(), "entry", "entries"), counted(k, "row"));
  });
  const auto [rows, cols] = covariance_shape(model.covariance, k, d);
  check_model(model.covariances.rows() == rows && model.covariances.cols() == cols, [&, r = rows,
                                                                                     c = cols] {
    return fmt::format("covariances is {} x {}, must be {} x {} for {} of {} and covariance {}",
                       model.covariances.rows(), model.covariances.cols(), r, c, counted(k, "mean"),
                       counted(d, "feature"), to_string(model.covariance));
  });
}

void check_values(const GmmModel& model) {
  double sum = 0;
  for (size_t c = 0; c < model.weights.size(); ++c) {
    const double weight = model.weights[c];
    check_model(weight >= 0 && std::isfinite(weight), [&] {
      return fmt::format("weight of component {} is {}, must be at least 0", c, weight);
    });
    sum += weight;
  }
  check_model(sum > 0, [] {
    return std::string("all weights are 0, at least one component must have a weight");
  });
  for (int64_t c = 0; c < model.means.rows(); ++c)
    for (const double value : model.means.row_span(c))
      check_model(std::isfinite(value), [&] {
        return fmt::format("a mean of component {} is {}, must be finite", c, value);
      });
}

void check_positive(bool is_positive, int64_t c) {
  check_model(is_positive,
              [&] { return fmt::format("covariance {} is not positive definite", c); });
}

// Sets inverse_std and returns log det of each component.
std::vector<double> scale_diagonal(const GmmModel& model, GmmScorer& scorer) {
  const int64_t k = model.means.rows();
  const int64_t d = model.means.cols();
  std::vector<double> log_determinants(k, 0);
  scorer.inverse_std = Matrix<double>(k, d);
  const bool is_spherical = model.covariance == GmmCovariance::Spherical;
  for (int64_t c = 0; c < k; ++c)
    for (int64_t j = 0; j < d; ++j) {
      const double variance = model.covariances(c, is_spherical ? 0 : j);
      check_positive(variance >= std::numeric_limits<double>::min() && std::isfinite(variance), c);
      scorer.inverse_std(c, j) = 1 / std::sqrt(variance);
      log_determinants[c] += portable_log(variance);
    }
  return log_determinants;
}

// Sets whitening and returns log det of each component.
std::vector<double> scale_full(const GmmModel& model, GmmScorer& scorer) {
  const int64_t d = model.means.cols();
  const int64_t padded = (d + kGmmRowPadding - 1) / kGmmRowPadding * kGmmRowPadding;
  std::vector<double> log_determinants(model.covariances.rows());
  for (int64_t c = 0; c < model.covariances.rows(); ++c) {
    scorer.whitening.emplace_back(padded, d);
    const DoubleView covariance(model.covariances.row(c), d, d);
    check_positive(whiten(covariance, scorer.whitening.back(), &log_determinants[c]), c);
  }
  if (model.covariance == GmmCovariance::Tied)
    log_determinants.resize(model.means.rows(), log_determinants[0]);
  return log_determinants;
}

}  // namespace

GmmScorer make_scorer(const GmmModel& model) {
  check_shapes(model);
  check_values(model);
  GmmScorer scorer;
  scorer.covariance = model.covariance;
  scorer.means = model.means;
  const std::vector<double> log_determinants = has_full_matrices(model.covariance)
                                                   ? scale_full(model, scorer)
                                                   : scale_diagonal(model, scorer);
  for (size_t c = 0; c < model.weights.size(); ++c) {
    const double weight = model.weights[c];
    const bool is_empty = weight < std::numeric_limits<double>::min();
    scorer.constants.push_back(
        is_empty ? -std::numeric_limits<double>::infinity()
                 : portable_log(weight) - 0.5 * (static_cast<double>(model.means.cols()) * kLog2Pi +
                                                 log_determinants[c]));
  }
  return scorer;
}

}  // namespace milieu::internal
