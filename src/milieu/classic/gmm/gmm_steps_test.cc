// SPDX-License-Identifier: Apache-2.0
// The parts of EM one by one: vector loops against plain loops on every instruction set,
// statistics, floors.
#include "milieu/classic/gmm/gmm_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/random.h"
#include "milieu/classic/gmm/gmm_covariance_internal.h"
#include "milieu/classic/gmm/gmm_loops.h"
#include "milieu/linalg/isa.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using namespace internal;

using ::testing::ElementsAre;

std::vector<Isa> available_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::Baseline, Isa::V3, Isa::V4})
    if (isa <= best_isa()) isas.push_back(isa);
  return isas;
}

Matrix<float> random_points(int64_t n, int64_t d, Random& random) {
  Matrix<float> points(n, d);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(3 * random.normal());
  return points;
}

Matrix<double> random_matrix(int64_t rows, int64_t cols, Random& random) {
  Matrix<double> matrix(rows, cols);
  for (int64_t i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.normal();
  return matrix;
}

// A A^T with A d x rank: positive semi-definite of that rank.
Matrix<double> random_covariance(int64_t d, int64_t rank, Random& random) {
  const Matrix<double> factor = random_matrix(d, rank, random);
  Matrix<double> matrix(d, d);
  for (int64_t i = 0; i < d; ++i)
    for (int64_t j = 0; j < d; ++j)
      for (int64_t m = 0; m < rank; ++m) matrix(i, j) += factor(i, m) * factor(j, m);
  return matrix;
}

GmmModel random_model(GmmCovariance kind, int64_t k, int64_t d, Random& random) {
  GmmModel model;
  model.covariance = kind;
  for (int64_t c = 0; c < k; ++c) model.weights.push_back(1.0 / static_cast<double>(k));
  model.means = random_matrix(k, d, random);
  if (has_full_matrices(kind)) {
    model.covariances = Matrix<double>(kind == GmmCovariance::Tied ? 1 : k, d * d);
    for (int64_t c = 0; c < model.covariances.rows(); ++c) {
      const Matrix<double> matrix = random_covariance(d, d + 3, random);
      std::copy_n(matrix.data(), d * d, model.covariances.row(c));
    }
  } else {
    model.covariances = Matrix<double>(k, kind == GmmCovariance::Spherical ? 1 : d);
    for (int64_t i = 0; i < model.covariances.size(); ++i)
      model.covariances.data()[i] = 0.5 + random.uniform();
  }
  return model;
}

// |L^-1 (x - mean)|^2 and log det by solving, not by inverting.
double plain_score(const GmmModel& model, int64_t c, std::span<const float> x) {
  const int64_t d = model.means.cols();
  const double* matrix = model.covariances.row(model.covariance == GmmCovariance::Tied ? 0 : c);
  Matrix<double> factor(d, d);
  std::vector<double> y(d);
  double score = std::log(model.weights[c]) - 0.5 * static_cast<double>(d) * std::log(2 * M_PI);
  for (int64_t i = 0; i < d; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double sum = has_full_matrices(model.covariance)            ? matrix[i * d + j]
                   : i != j                                       ? 0.0
                   : model.covariance == GmmCovariance::Spherical ? matrix[0]
                                                                  : matrix[i];
      for (int64_t m = 0; m < j; ++m) sum -= factor(i, m) * factor(j, m);
      factor(i, j) = i == j ? std::sqrt(sum) : sum / factor(j, j);
    }
    double sum = x[i] - model.means(c, i);
    for (int64_t j = 0; j < i; ++j) sum -= factor(i, j) * y[j];
    y[i] = sum / factor(i, i);
    score -= 0.5 * y[i] * y[i] + std::log(factor(i, i));
  }
  return score;
}

TEST(GmmSteps, TilesEqualPlainLoopsOnEveryInstructionSet) {
  Random random(5);
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    for (const GmmCovariance kind : {GmmCovariance::Spherical, GmmCovariance::Diagonal,
                                     GmmCovariance::Full, GmmCovariance::Tied})
      for (const int64_t d : {1, 2, 3, 4, 5, 9})
        for (const int64_t k : {1, 2, 3, 6}) {
          const int64_t rows = 1 + random.uniform_index(kGmmTileRows);
          const Matrix<float> points = random_points(rows, d, random);
          const GmmModel model = random_model(kind, k, d, random);
          const GmmScorer scorer = make_scorer(model);
          GmmTile tile(k, d, kind);
          tile.load(points, {});
          tile.score(scorer);
          tile.normalize();
          GmmStats stats(k, d, kind);
          stats.add(scorer, tile);
          const int64_t i = random.uniform_index(rows);
          double largest = -std::numeric_limits<double>::infinity();
          std::vector<double> scores;
          for (int64_t c = 0; c < k; ++c) {
            scores.push_back(plain_score(model, c, points.row_span(i)));
            largest = std::max(largest, scores.back());
          }
          double sum = 0;
          for (const double score : scores) sum += std::exp(score - largest);
          EXPECT_NEAR(tile.log_sums()[i], largest + std::log(sum), 1e-11 * (1 + std::abs(largest)));
          for (int64_t c = 0; c < k; ++c)
            EXPECT_NEAR(tile.share(c, i), std::exp(scores[c] - largest) / sum, 1e-10);
          EXPECT_EQ(tile.labels()[i], std::ranges::max_element(scores) - scores.begin());
          for (int64_t c = 0; c < k; ++c) {
            double count = 0;
            double first = 0;
            double second = 0;  // the last entry of the moment
            for (int64_t s = 0; s < rows; ++s) {
              const double difference = points(s, d - 1) - model.means(c, d - 1);
              count += tile.share(c, s);
              first += tile.share(c, s) * difference;
              second += tile.share(c, s) * difference * difference;
            }
            const int64_t order = d + d % 2;
            const double entry = has_full_matrices(kind) ? stats.second(c, (d - 1) * order + d - 1)
                                                         : stats.second(c, d - 1);
            EXPECT_NEAR(stats.counts[c], count, 1e-12 * static_cast<double>(rows));
            EXPECT_NEAR(stats.first(c, d - 1), first, 1e-11 * static_cast<double>(rows));
            EXPECT_NEAR(entry, second, 1e-11 * (1 + second));
          }
        }
  }
}

TEST(GmmSteps, FullMomentsAreOuterProducts) {
  Random random(6);
  const int64_t d = 5;
  const Matrix<float> points = random_points(77, d, random);
  const GmmModel model = random_model(GmmCovariance::Full, 1, d, random);
  const GmmScorer scorer = make_scorer(model);
  std::vector<double> weights(77);
  for (double& weight : weights) weight = random.uniform();
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    GmmTile tile(1, d, GmmCovariance::Full);
    tile.load(points, weights);
    tile.score(scorer);
    tile.normalize();
    GmmStats stats(1, d, GmmCovariance::Full);
    stats.add(scorer, tile);
    for (int64_t i = 0; i < d; ++i)
      for (int64_t j = 0; j <= i; ++j) {
        double sum = 0;
        for (int64_t s = 0; s < 77; ++s)
          sum +=
              weights[s] * (points(s, i) - model.means(0, i)) * (points(s, j) - model.means(0, j));
        EXPECT_NEAR(stats.second(0, i * 6 + j), sum, 1e-10);
      }
  }
}

TEST(GmmSteps, SoftmaxIsExactOverTheWholeRange) {
  alignas(64) double scores[3 * kGmmTileStride];
  alignas(64) double weights[kGmmTileStride];
  alignas(64) double log_sums[kGmmTileStride];
  int labels[kGmmTileRows];
  Random random(7);
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    double given[3][kGmmTileRows];
    for (int64_t s = 0; s < kGmmTileRows; ++s) {
      weights[s] = 1;
      for (int c = 0; c < 3; ++c) {
        given[c][s] = -1000 + 2 * random.uniform() * std::pow(10, random.uniform_index(4));
        scores[c * kGmmTileStride + s] = given[c][s];
      }
    }
    MILIEU_SELECT_ISA(gmm_softmax)(scores, 3, weights, log_sums, labels);
    for (int64_t s = 0; s < kGmmTileRows; ++s) {
      const long double largest = std::max({given[0][s], given[1][s], given[2][s]});
      long double sum = 0;
      for (int c = 0; c < 3; ++c) sum += std::exp(given[c][s] - largest);
      EXPECT_NEAR(log_sums[s], static_cast<double>(largest + std::log(sum)), 1e-12);
      for (int c = 0; c < 3; ++c) {
        const double exact = static_cast<double>(std::exp(given[c][s] - largest) / sum);
        if (given[c][s] - largest < -708) {
          EXPECT_EQ(scores[c * kGmmTileStride + s], 0);
        } else {
          EXPECT_NEAR(scores[c * kGmmTileStride + s], exact, 2e-15 * exact);
        }
      }
    }
  }
}

TEST(GmmSteps, EmptyComponentsGetNothingAndTiesGoToTheLowest) {
  GmmModel model;
  model.covariance = GmmCovariance::Spherical;
  model.weights = {0, 0.5, 0.5};
  model.means = Matrix<double>(3, 1);
  model.means(1, 0) = -1;
  model.means(2, 0) = 1;
  model.covariances = Matrix<double>(3, 1);
  std::fill_n(model.covariances.data(), 3, 1.0);
  const Matrix<float> points(1, 1);  // one sample at 0, on the mean of the empty component
  const GmmScorer scorer = make_scorer(model);
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    GmmTile tile(3, 1, GmmCovariance::Spherical);
    tile.load(points, {});
    tile.score(scorer);
    tile.normalize();
    EXPECT_EQ(tile.share(0, 0), 0);
    EXPECT_EQ(tile.share(1, 0), 0.5);
    EXPECT_EQ(tile.share(2, 0), 0.5);
    EXPECT_THAT(tile.labels(), ElementsAre(1));
  }
}

TEST(GmmSteps, MergedStatisticsAreThoseOfTheWhole) {
  Random random(8);
  const Matrix<float> points = random_points(100, 3, random);
  for (const GmmCovariance kind : {GmmCovariance::Diagonal, GmmCovariance::Full}) {
    const GmmScorer scorer = make_scorer(random_model(kind, 2, 3, random));
    const auto stats_of = [&](int64_t begin, int64_t end) {
      GmmProblem problem;
      problem.points = points.view().rows_between(begin, end);
      problem.rows = Rows(end - begin, GmmInput::kBlockRows);
      problem.covariance = kind;
      std::vector<int> labels(end - begin);
      return *run_expectation(problem, scorer, GmmSharing::Soft, silent_monitor(), labels);
    };
    const GmmStats whole = stats_of(0, 100);
    GmmStats parts = stats_of(0, 37);
    parts.merge(stats_of(37, 100));
    EXPECT_NEAR(parts.log_likelihood, whole.log_likelihood, 1e-10);
    EXPECT_NEAR(parts.counts[1], whole.counts[1], 1e-12);
    for (int64_t i = 0; i < whole.second.size(); ++i)
      EXPECT_NEAR(parts.second.data()[i], whole.second.data()[i], 1e-10);
  }
}

TEST(GmmSteps, FloorsFollowEachFeature) {
  GmmModel pooled;
  pooled.covariances = Matrix<double>(1, 3);
  pooled.covariances(0, 0) = 4;
  pooled.covariances(0, 2) = 100;
  EXPECT_THAT(variance_floors(pooled, 0.01), ElementsAre(0.04, 0.52, 1.0));
  pooled.covariances = Matrix<double>(1, 2);
  EXPECT_THAT(variance_floors(pooled, 0.01), ElementsAre(0.01, 0.01));
}

TEST(GmmSteps, PooledGaussianIsExactForConstantFeatures) {
  Matrix<float> points(3, 2);
  for (int64_t i = 0; i < 3; ++i) {
    points(i, 0) = 0.1f;
    points(i, 1) = static_cast<float>(1000000 + i);
  }
  GmmProblem problem;
  problem.points = points;
  problem.rows = Rows(points.rows(), GmmInput::kBlockRows);
  problem.total_weight = 3;
  const GmmModel pooled = pool_samples(problem);
  EXPECT_EQ(pooled.means(0, 0), static_cast<double>(0.1f));
  EXPECT_EQ(pooled.covariances(0, 0), 0);
  EXPECT_EQ(pooled.means(0, 1), 1000001);
  EXPECT_NEAR(pooled.covariances(0, 1), 2.0 / 3, 1e-15);
  points(0, 0) = 1e6f;  // without weight: the feature is constant where it counts
  const std::vector<double> weights = {0, 1, 1};
  problem.weights = weights;
  problem.total_weight = 2;
  EXPECT_EQ(pool_samples(problem).covariances(0, 0), 0);
}

// -log det(C) - trace(C^-1 S): what the M-step maximises over C.
double m_step_objective(const Matrix<double>& candidate, const Matrix<double>& scatter) {
  const int64_t d = candidate.rows();
  Matrix<double> whitening(d, d);
  double log_determinant = 0;
  if (!whiten(candidate, whitening, &log_determinant)) return -HUGE_VAL;
  double trace = 0;
  for (int64_t i = 0; i < d; ++i)
    for (int64_t a = 0; a <= i; ++a)
      for (int64_t b = 0; b <= i; ++b) trace += whitening(i, a) * scatter(a, b) * whitening(i, b);
  return -log_determinant - trace;
}

TEST(GmmSteps, RaisedCovarianceMaximisesTheExpectedLogLikelihood) {
  Random random(9);
  const int64_t d = 4;
  for (const int64_t rank : {0, 1, 3, 4}) {
    std::vector<double> floors(d);
    for (double& floor : floors) floor = 0.5 + 2 * random.uniform();
    const Matrix<double> scatter = random_covariance(d, rank, random);
    Matrix<double> raised = scatter;
    raise_to_floor(raised, floors);
    const double best = m_step_objective(raised, scatter);
    for (int trial = 0; trial < 200; ++trial) {
      // Another feasible matrix: a step from the floor, or from the answer, by one that is PSD.
      const Matrix<double> step = random_covariance(d, 1 + trial % 4, random);
      const double size = std::pow(10.0, -static_cast<double>(trial % 5));
      Matrix<double> other(d, d);
      for (int64_t i = 0; i < d; ++i)
        for (int64_t j = 0; j < d; ++j) {
          const double base = trial % 2 == 0 ? raised(i, j) : (i == j ? floors[i] : 0);
          other(i, j) = base + size * step(i, j);
        }
      EXPECT_LE(m_step_objective(other, scatter), best + 1e-9);
      // Half way to it is feasible too: the constraints are convex.
      for (int64_t i = 0; i < other.size(); ++i)
        other.data()[i] = 0.99 * raised.data()[i] + 0.01 * other.data()[i];
      EXPECT_LE(m_step_objective(other, scatter), best + 1e-9);
    }
  }
}

TEST(GmmSteps, CovarianceAboveTheFloorStaysAsItIs) {
  Random random(10);
  Matrix<double> matrix = random_covariance(3, 6, random);
  for (int64_t i = 0; i < 3; ++i) matrix(i, i) += 1;
  const Matrix<double> before = matrix;
  raise_to_floor(matrix, std::vector<double>{0.9, 0.5, 0.7});
  EXPECT_EQ(matrix, before);
}

TEST(GmmSteps, ExtremeCovarianceCanStillBeFactored) {
  Matrix<double> matrix(2, 2);  // rank one, and 1e20 floors long
  matrix(0, 0) = matrix(0, 1) = matrix(1, 0) = matrix(1, 1) = 1e20;
  raise_to_floor(matrix, std::vector<double>{1, 1});
  Matrix<double> whitening(2, 2);
  double log_determinant = 0;
  EXPECT_TRUE(whiten(matrix, whitening, &log_determinant));
}

TEST(GmmSteps, StoppedPassReturnsNothing) {
  Random random(11);
  const Matrix<float> points = random_points(50, 2, random);
  GmmProblem problem;
  problem.points = points;
  problem.rows = Rows(points.rows(), GmmInput::kBlockRows);
  Monitor monitor;
  monitor.set_time_limit(-1);
  std::vector<int> labels(50);
  const GmmScorer scorer = make_scorer(random_model(GmmCovariance::Diagonal, 2, 2, random));
  EXPECT_FALSE(run_expectation(problem, scorer, GmmSharing::Soft, monitor, labels).has_value());
}

TEST(GmmSteps, DyingComponentIsSwitchedOffAndKeepsItsPlace) {
  const Matrix<float> points(4, 1);
  GmmProblem problem;
  problem.points = points;
  problem.rows = Rows(points.rows(), GmmInput::kBlockRows);
  problem.total_weight = 4;
  problem.floors = {1e-3};
  GmmModel previous;
  previous.weights = {0.5, 0.5};
  previous.means = Matrix<double>(2, 1);
  previous.means(1, 0) = 9;
  previous.covariances = Matrix<double>(2, 1);
  previous.covariances(0, 0) = previous.covariances(1, 0) = 2;
  GmmStats stats(2, 1, GmmCovariance::Diagonal);
  stats.counts = {4, 1e-11};
  stats.first(0, 0) = 2;
  stats.second(0, 0) = 8;
  const GmmModel model = maximize(problem, previous, stats);
  EXPECT_THAT(model.weights, ElementsAre(1, 0));
  EXPECT_EQ(model.means(0, 0), 0.5);
  EXPECT_EQ(model.covariances(0, 0), 1.75);
  EXPECT_EQ(model.means(1, 0), 9);
  EXPECT_EQ(model.covariances(1, 0), 2);
}

}  // namespace
}  // namespace milieu
