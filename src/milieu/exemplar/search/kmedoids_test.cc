// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/search/kmedoids.h"

#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

Matrix<float> random_points(int n, int d, uint64_t seed) {
  Random random(seed);
  Matrix<float> points(n, d);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(random.normal());
  return points;
}

double cost_of(const Matrix<float>& points, const std::vector<int64_t>& medoids) {
  double total = 0;
  for (int64_t p = 0; p < points.rows(); ++p) {
    double cheapest = INFINITY;
    for (int64_t q : medoids) {
      double squares = 0;
      for (int64_t t = 0; t < points.cols(); ++t)
        squares += std::pow(double{points(p, t)} - points(q, t), 2);
      cheapest = std::min(cheapest, std::sqrt(squares));
    }
    total += cheapest;
  }
  return total;
}

TEST(KMedoids, NoSingleSwapImprovesTheResult) {
  const Matrix<float> points = random_points(60, 3, 1);
  for (const int k : {2, 5, 9}) {
    KMedoidsOptions options;
    options.num_clusters = k;
    const KMedoidsResult result =
        fit_kmedoids({.points = points, .costs = {}, .initial_medoids = {}}, options);
    const double cost = cost_of(points, result.model.rows);
    EXPECT_NEAR(result.summary.objective, cost, 1e-4);
    for (int place = 0; place < k; ++place)
      for (int64_t q = 0; q < 60; ++q) {
        std::vector<int64_t> swapped = result.model.rows;
        swapped[place] = q;
        EXPECT_GE(cost_of(points, swapped), cost - 1e-4);
      }
  }
}

TEST(KMedoids, HandCaseOnALine) {
  Matrix<float> points(5, 1);
  const float values[] = {0, 1, 2, 10, 11};
  for (int i = 0; i < 5; ++i) points(i, 0) = values[i];
  KMedoidsOptions options;
  options.num_clusters = 2;
  const KMedoidsResult result =
      fit_kmedoids({.points = points, .costs = {}, .initial_medoids = {}}, options);
  EXPECT_EQ(result.model.rows, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(result.labels, (std::vector<int>{0, 0, 0, 1, 1}));
  EXPECT_EQ(result.summary.objective, 3);
  EXPECT_EQ(predict(result.model, points), result.labels);
}

TEST(KMedoids, OneMedoidIsTheBestOfAll) {
  const Matrix<float> points = random_points(40, 2, 2);
  KMedoidsOptions options;
  options.num_clusters = 1;
  const KMedoidsResult result =
      fit_kmedoids({.points = points, .costs = {}, .initial_medoids = {}}, options);
  for (int64_t q = 0; q < 40; ++q)
    EXPECT_GE(cost_of(points, {q}), cost_of(points, result.model.rows) - 1e-5);
}

TEST(KMedoids, EverySampleItsOwnMedoidCostsNothing) {
  const Matrix<float> points = random_points(6, 2, 3);
  KMedoidsOptions options;
  options.num_clusters = 6;
  EXPECT_EQ(fit_kmedoids({.points = points, .costs = {}, .initial_medoids = {}}, options)
                .summary.objective,
            0);
}

TEST(KMedoids, CostMatrixMayBeAsymmetric) {
  Random random(4);
  Matrix<float> costs(20, 20);
  for (int64_t i = 0; i < costs.size(); ++i) costs.data()[i] = static_cast<float>(random.uniform());
  KMedoidsOptions options;
  options.num_clusters = 3;
  const KMedoidsResult result =
      fit_kmedoids({.points = {}, .costs = costs, .initial_medoids = {}}, options);
  const auto total = [&](const std::vector<int64_t>& medoids) {
    double sum = 0;
    for (int64_t p = 0; p < 20; ++p) {
      double cheapest = INFINITY;
      for (int64_t q : medoids) cheapest = p == q ? -1 : std::min<double>(cheapest, costs(p, q));
      if (std::find(medoids.begin(), medoids.end(), p) != medoids.end()) cheapest = 0;
      sum += cheapest;
    }
    return sum;
  };
  EXPECT_NEAR(result.summary.objective, total(result.model.rows), 1e-5);
  for (int place = 0; place < 3; ++place)
    for (int64_t q = 0; q < 20; ++q) {
      std::vector<int64_t> swapped = result.model.rows;
      if (std::find(swapped.begin(), swapped.end(), q) != swapped.end()) continue;
      swapped[place] = q;
      EXPECT_GE(total(swapped), result.summary.objective - 1e-5);
    }
  EXPECT_THROW(predict(result.model, costs), InvalidArgument);
}

TEST(KMedoids, BadInputIsRefused) {
  const Matrix<float> points = random_points(3, 2, 5);
  KMedoidsOptions options;
  options.num_clusters = 4;
  EXPECT_THROW(fit_kmedoids({.points = points, .costs = {}, .initial_medoids = {}}, options),
               InvalidArgument);
  options.num_clusters = 2;
  EXPECT_THROW(fit_kmedoids({.points = points, .costs = {}, .initial_medoids = {1, 1}}, options),
               InvalidArgument);
  options.max_memory_gb = 1e-9;
  EXPECT_THROW(fit_kmedoids({.points = points, .costs = {}, .initial_medoids = {}}, options),
               InvalidArgument);
}

}  // namespace
}  // namespace milieu
