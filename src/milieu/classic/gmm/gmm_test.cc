// SPDX-License-Identifier: Apache-2.0
// The Gaussian mixture as its users see it: hand cases, invariants, bad input. The numbers of the
// EM rounds themselves are compared with a twin in gmm_twin_test.cc.
#include "milieu/classic/gmm/gmm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <variant>

#include "milieu/base/error.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr GmmCovariance kAllKinds[] = {GmmCovariance::Spherical, GmmCovariance::Diagonal,
                                       GmmCovariance::Full, GmmCovariance::Tied};
const double kLog2Pi = std::log(2 * std::numbers::pi);

Matrix<float> column(std::initializer_list<float> values) {
  Matrix<float> points(static_cast<int64_t>(values.size()), 1);
  std::ranges::copy(values, points.data());
  return points;
}

Matrix<float> make_overlapping(int64_t n, int64_t d, int k, uint64_t seed = 1) {
  BlobOptions options;
  options.n = n;
  options.d = d;
  options.num_clusters = k;
  options.separation = 2;
  options.seed = seed;
  return make_blobs(options).points;
}

GmmOptions options_for(int k, GmmCovariance covariance = GmmCovariance::Diagonal) {
  GmmOptions options;
  options.num_clusters = k;
  options.covariance = covariance;
  options.init = GmmInit::Random;
  return options;
}

void expect_never_falls(const std::vector<double>& trace, double tolerance = 1e-12) {
  for (size_t i = 1; i < trace.size(); ++i)
    EXPECT_GE(trace[i], trace[i - 1] - tolerance * std::abs(trace[i])) << "round " << i + 1;
}

double extra(const RunSummary& summary, const std::string& name) {
  for (const auto& [key, value] : summary.extra)
    if (key == name) return std::get<double>(value);
  return std::nan("");
}

TEST(Gmm, OneComponentIsTheMeanAndTheVariance) {
  const Matrix<float> points = column({0, 2, 4});
  for (const GmmCovariance kind : kAllKinds) {
    const GmmResult result = fit_gmm({points}, options_for(1, kind));
    EXPECT_NEAR(result.model.means(0, 0), 2, 1e-14);
    EXPECT_NEAR(result.model.covariances(0, 0), 8.0 / 3, 1e-14);
    EXPECT_EQ(result.model.weights[0], 1);
    const double expected = -1.5 * (kLog2Pi + std::log(8.0 / 3)) - 1.5;
    EXPECT_NEAR(result.summary.objective, expected, 1e-13);
    EXPECT_NEAR(extra(result.summary, "mean_log_likelihood"), expected / 3, 1e-13);
    EXPECT_NEAR(extra(result.summary, "aic"), 2 * 2 - 2 * expected, 1e-12);
    EXPECT_NEAR(extra(result.summary, "bic"), 2 * std::log(3.0) - 2 * expected, 1e-12);
    EXPECT_THAT(result.labels, ElementsAre(0, 0, 0));
    EXPECT_EQ(result.summary.termination, Termination::Converged);
  }
}

TEST(Gmm, TwoDistantPairsAreFoundExactly) {
  const Matrix<float> points = column({0, 100, 2, 102});
  const Matrix<float> means = column({3, 90});
  const GmmResult result = fit_gmm({points, {}, means}, options_for(2));
  EXPECT_THAT(result.labels, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(result.model.weights, ElementsAre(0.5, 0.5));
  EXPECT_EQ(result.model.means(0, 0), 1);
  EXPECT_EQ(result.model.means(1, 0), 101);
  EXPECT_EQ(result.model.covariances(0, 0), 1);
  EXPECT_EQ(result.model.covariances(1, 0), 1);
  EXPECT_NEAR(result.summary.objective, 4 * (std::log(0.5) - 0.5 * kLog2Pi - 0.5), 1e-12);
  EXPECT_THAT(result.summary.sizes, ElementsAre(2, 2));
  // Given means: nearest samples, one round to the optimum, one to see that it is one.
  EXPECT_EQ(result.summary.iterations, 2);
}

TEST(Gmm, FullCovarianceOfFourPoints) {
  Matrix<float> points(4, 2);
  const float values[] = {2, 1, -2, -1, 1, -1, -1, 1};
  std::ranges::copy(values, points.data());
  const GmmResult full = fit_gmm({points}, options_for(1, GmmCovariance::Full));
  // Sums of squares 10 and 4, of products 2 + 2 - 1 - 1 = 2, over four samples.
  EXPECT_THAT(full.model.covariances.row_span(0),
              ElementsAre(::testing::DoubleNear(2.5, 1e-14), ::testing::DoubleNear(0.5, 1e-14),
                          ::testing::DoubleNear(0.5, 1e-14), ::testing::DoubleNear(1, 1e-14)));
  EXPECT_NEAR(full.summary.objective, 4 * (-kLog2Pi - 0.5 * std::log(2.5 - 0.25) - 1), 1e-12);
  const GmmResult round = fit_gmm({points}, options_for(1, GmmCovariance::Spherical));
  EXPECT_NEAR(round.model.covariances(0, 0), 1.75, 1e-14);
}

TEST(Gmm, WeightsCountAsRepeatedSamples) {
  const Matrix<float> points = make_overlapping(60, 3, 2);
  std::vector<double> weights(60);
  Matrix<float> repeated(0, 0);
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < 60; ++i) {
    weights[i] = static_cast<double>(i % 3);
    rows.insert(rows.end(), i % 3, i);
  }
  repeated = Matrix<float>(static_cast<int64_t>(rows.size()), 3);
  for (size_t i = 0; i < rows.size(); ++i)
    std::ranges::copy(points.row_span(rows[i]), repeated.row(static_cast<int64_t>(i)));
  const FloatView means = points.view().rows_between(1, 3);
  for (const GmmCovariance kind : kAllKinds) {
    const GmmResult weighted = fit_gmm({points, weights, means}, options_for(2, kind));
    const GmmResult twice = fit_gmm({repeated, {}, means}, options_for(2, kind));
    EXPECT_NEAR(weighted.summary.objective, twice.summary.objective,
                1e-11 * std::abs(twice.summary.objective));
    EXPECT_EQ(weighted.summary.iterations, twice.summary.iterations);
    for (int64_t i = 0; i < weighted.model.means.size(); ++i)
      EXPECT_NEAR(weighted.model.means.data()[i], twice.model.means.data()[i], 1e-9);
  }
}

TEST(Gmm, LogLikelihoodNeverFalls) {
  for (const GmmCovariance kind : kAllKinds)
    for (const uint64_t seed : {1, 2, 3}) {
      GmmOptions options = options_for(5, kind);
      options.seed = seed;
      options.rel_tolerance = 0;
      options.max_iterations = 60;
      const Matrix<float> points = make_overlapping(400, 4, 3, seed);
      const GmmResult result = fit_gmm({points}, options);
      ASSERT_THAT(result.summary.trace, SizeIs(60));
      expect_never_falls(result.summary.trace);
      EXPECT_EQ(result.summary.objective, result.summary.trace.back());
      EXPECT_EQ(result.summary.termination, Termination::IterationLimit);
    }
}

// Components shrink onto single samples or repeated ones: the floors hold, the bound M-step is
// exact.
TEST(Gmm, LogLikelihoodNeverFallsAtTheVarianceFloor) {
  Matrix<float> points = make_overlapping(24, 6, 2);
  for (int64_t i = 0; i < 8; ++i) std::ranges::copy(points.row_span(0), points.row(i));
  for (const GmmCovariance kind : kAllKinds)
    for (const double regularization : {1e-10, 1e-6, 1e-1}) {
      GmmOptions options = options_for(6, kind);
      options.regularization = regularization;
      options.rel_tolerance = 0;
      options.max_iterations = 40;
      const GmmResult result = fit_gmm({points}, options);
      // Full matrices at the floor have a condition of 1 / regularization: so much of the 1e-16
      // comes through.
      expect_never_falls(result.summary.trace, 1e-14 / regularization);
      EXPECT_TRUE(std::isfinite(result.summary.objective));
    }
}

TEST(Gmm, VarianceStaysAboveItsFloor) {
  Matrix<float> points(6, 2);
  const float values[] = {0, 0, 0, 50, 0, 100, 8, 0, 8, 50, 8, 100};
  std::ranges::copy(values, points.data());
  GmmOptions options = options_for(2);
  options.regularization = 0.25;
  Matrix<float> means(2, 2);
  means(1, 0) = 8;
  means(0, 1) = means(1, 1) = 50;
  const GmmResult result = fit_gmm({points, {}, means}, options);
  // Feature 0 is constant in each component: a quarter of its variance 16 over all samples.
  EXPECT_NEAR(result.model.covariances(0, 0), 4, 1e-12);
  EXPECT_NEAR(result.model.covariances(0, 1), 5000.0 / 3, 1e-9);
}

TEST(Gmm, LabelsAreThePredictionAndTheLargestProbability) {
  const Matrix<float> points = make_overlapping(700, 3, 4);
  for (const GmmCovariance kind : kAllKinds) {
    const GmmResult result = fit_gmm({points}, options_for(4, kind));
    EXPECT_EQ(result.labels, predict(result.model, points));
    const Matrix<double> probabilities = predict_probabilities(result.model, points);
    const std::vector<double> densities = log_densities(result.model, points);
    for (int64_t i = 0; i < points.rows(); ++i) {
      const std::span<const double> row = probabilities.row_span(i);
      EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-14);
      EXPECT_EQ(std::ranges::max_element(row) - row.begin(), result.labels[i]);
    }
    EXPECT_NEAR(std::accumulate(densities.begin(), densities.end(), 0.0), result.summary.objective,
                1e-11 * std::abs(result.summary.objective));
    EXPECT_NEAR(std::accumulate(result.model.weights.begin(), result.model.weights.end(), 0.0), 1,
                1e-14);
  }
}

TEST(Gmm, PredictionDoesNotDependOnTheOtherRows) {
  const Matrix<float> points = make_overlapping(300, 5, 3);
  for (const GmmCovariance kind : kAllKinds) {
    const GmmModel model = fit_gmm({points}, options_for(3, kind)).model;
    const std::vector<double> all = log_densities(model, points);
    for (const int64_t i : {0, 1, 131, 299})
      EXPECT_EQ(log_densities(model, points.view().rows_between(i, i + 1))[0], all[i]);
  }
}

TEST(Gmm, PermutingTheSamplesPermutesTheLabels) {
  const int64_t n = 500;
  const Matrix<float> points = make_overlapping(n, 3, 3);
  const Matrix<float> means(points.view().rows_between(0, 3));
  Matrix<float> reversed(n, 3);
  for (int64_t i = 0; i < n; ++i) std::ranges::copy(points.row_span(n - 1 - i), reversed.row(i));
  for (const GmmCovariance kind : kAllKinds) {
    const GmmResult straight = fit_gmm({points, {}, means}, options_for(3, kind));
    GmmResult back = fit_gmm({reversed, {}, means}, options_for(3, kind));
    std::ranges::reverse(back.labels);
    EXPECT_EQ(straight.labels, back.labels);
    EXPECT_NEAR(straight.summary.objective, back.summary.objective,
                1e-11 * std::abs(straight.summary.objective));
  }
}

TEST(Gmm, ScalingTheFeaturesShiftsTheLogLikelihoodOnly) {
  const Matrix<float> points = make_overlapping(400, 3, 3);
  Matrix<float> scaled = points;
  for (int64_t i = 0; i < scaled.rows(); ++i) {  // powers of two: exact in float
    scaled(i, 0) *= 1024;
    scaled(i, 2) /= 4096;
  }
  GmmOptions options = options_for(3);
  options.rel_tolerance = 0;
  options.max_iterations = 30;
  for (const GmmCovariance kind : {GmmCovariance::Diagonal, GmmCovariance::Full}) {
    options.covariance = kind;
    GmmModel start = fit_gmm({points}, options).model;
    const GmmResult plain = fit_gmm({points, {}, {}, &start}, options);
    for (int64_t c = 0; c < 3; ++c) {
      const double factor[] = {1024, 1, 1.0 / 4096};
      const bool is_full = kind == GmmCovariance::Full;
      for (int64_t i = 0; i < 3; ++i) {
        start.means(c, i) *= factor[i];
        for (int64_t j = 0; j < 3; ++j)
          if (is_full) start.covariances(c, i * 3 + j) *= factor[i] * factor[j];
        if (!is_full) start.covariances(c, i) *= factor[i] * factor[i];
      }
    }
    const GmmResult other = fit_gmm({scaled, {}, {}, &start}, options);
    EXPECT_EQ(plain.labels, other.labels);
    EXPECT_NEAR(other.summary.objective, plain.summary.objective - 400 * std::log(1024.0 / 4096),
                1e-10 * std::abs(plain.summary.objective));
  }
}

TEST(Gmm, ThreadsDoNotChangeABit) {
  const Matrix<float> points = make_overlapping(9000, 3, 4);
  for (const GmmCovariance kind : kAllKinds) {
    GmmOptions options = options_for(4, kind);
    options.max_iterations = 8;
    options.num_restarts = 2;
    options.num_threads = 1;
    const GmmResult one = fit_gmm({points}, options);
    for (const int threads : {2, 8}) {
      options.num_threads = threads;
      const GmmResult many = fit_gmm({points}, options);
      EXPECT_EQ(one.labels, many.labels);
      EXPECT_EQ(one.summary.trace, many.summary.trace);
      EXPECT_EQ(one.summary.restart, many.summary.restart);
      EXPECT_EQ(one.model.weights, many.model.weights);
      EXPECT_EQ(one.model.means, many.model.means);
      EXPECT_EQ(one.model.covariances, many.model.covariances);
      EXPECT_EQ(predict_probabilities(one.model, points, 1),
                predict_probabilities(many.model, points, threads));
    }
  }
}

TEST(Gmm, MoreRestartsNeverLowerTheObjective) {
  const Matrix<float> points = make_overlapping(300, 2, 5);
  GmmOptions options = options_for(5);
  const GmmResult single = fit_gmm({points}, options);
  options.num_restarts = 6;
  const GmmResult several = fit_gmm({points}, options);
  EXPECT_GE(several.summary.objective, single.summary.objective);
  EXPECT_EQ(several.summary.num_restarts, 6);
  EXPECT_EQ(several.summary.objective, several.summary.trace.back());
}

TEST(Gmm, WarmStartContinuesWhereTheFirstFitStopped) {
  const Matrix<float> points = make_overlapping(300, 3, 3);
  GmmOptions options = options_for(3, GmmCovariance::Full);
  options.rel_tolerance = 0;
  options.max_iterations = 12;
  const GmmResult whole = fit_gmm({points}, options);
  options.max_iterations = 7;
  const GmmResult first = fit_gmm({points}, options);
  options.max_iterations = 5;
  const GmmResult rest = fit_gmm({points, {}, {}, &first.model}, options);
  EXPECT_EQ(whole.summary.objective, rest.summary.objective);
  EXPECT_EQ(whole.labels, rest.labels);
  EXPECT_EQ(rest.summary.num_restarts, 1);
}

TEST(Gmm, KMeansStartFindsSeparateBlobs) {
  BlobOptions blobs;
  blobs.n = 600;
  blobs.d = 4;
  blobs.num_clusters = 5;
  blobs.separation = 12;
  const LabelledPoints data = make_blobs(blobs);
  GmmOptions options = options_for(5);
  options.init = GmmInit::KMeans;
  const GmmResult result = fit_gmm({data.points}, options);
  // A one-to-one map between parts and labels.
  std::vector<int> label_from_part(5, -1);
  for (size_t i = 0; i < data.labels.size(); ++i) {
    int& label = label_from_part[data.labels[i]];
    if (label < 0) label = result.labels[i];
    EXPECT_EQ(label, result.labels[i]);
  }
  EXPECT_THAT(result.summary.sizes, Each(120));
  EXPECT_THAT(result.model.weights, Each(::testing::DoubleNear(0.2, 1e-6)));
}

}  // namespace
}  // namespace milieu
