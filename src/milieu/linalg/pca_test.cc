// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/pca.h"

#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

Matrix<float> from_rows(std::initializer_list<std::initializer_list<float>> rows) {
  Matrix<float> m(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows.begin()->size()));
  int64_t i = 0;
  for (const auto& row : rows) std::copy(row.begin(), row.end(), m.row(i++));
  return m;
}

// Independent normal coordinates with standard deviations 1, 2, ..., d, far from the origin.
Matrix<float> stretched_points(int64_t n, int64_t d, uint64_t seed) {
  Random random(seed);
  Matrix<float> m(n, d);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < d; ++j)
      m(i, j) = static_cast<float>(100 + static_cast<double>(j + 1) * random.normal());
  return m;
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t t = 0; t < a.size(); ++t) sum += a[t] * b[t];
  return sum;
}

void expect_orthonormal(const Pca& pca) {
  for (int64_t r = 0; r < pca.components.rows(); ++r)
    for (int64_t s = 0; s <= r; ++s)
      EXPECT_NEAR(dot(pca.components.row_span(r), pca.components.row_span(s)), r == s, 1e-9);
}

TEST(Pca, PointsOnALineHaveOneDirection) {
  const Pca pca = fit_pca(from_rows({{0, 0}, {3, 4}, {6, 8}}), 2);
  EXPECT_NEAR(pca.mean[0], 3, 1e-12);
  EXPECT_NEAR(pca.mean[1], 4, 1e-12);
  EXPECT_NEAR(pca.components(0, 0), 0.6, 1e-12);
  EXPECT_NEAR(pca.components(0, 1), 0.8, 1e-12);
  EXPECT_NEAR(pca.explained_variance[0], 25, 1e-10);
  EXPECT_NEAR(pca.explained_variance[1], 0, 1e-10);
  EXPECT_NEAR(pca.total_variance, 25, 1e-10);
}

TEST(Pca, CovarianceAndGramGiveTheSameAnswer) {
  const Matrix<float> tall = stretched_points(12, 11, 3);
  const Pca from_covariance = fit_pca(tall, 5);
  // The same points with a constant column more than there are points: decided by the Gram matrix.
  Matrix<float> wide(12, 13);
  for (int64_t i = 0; i < 12; ++i)
    for (int64_t j = 0; j < 13; ++j) wide(i, j) = j < 11 ? tall(i, j) : 42.0f;
  const Pca from_gram = fit_pca(wide, 5);
  for (int r = 0; r < 5; ++r) {
    EXPECT_NEAR(from_gram.explained_variance[r], from_covariance.explained_variance[r], 1e-9);
    for (int64_t j = 0; j < 11; ++j)
      EXPECT_NEAR(from_gram.components(r, j), from_covariance.components(r, j), 1e-9);
    EXPECT_NEAR(from_gram.components(r, 12), 0, 1e-9);
  }
}

TEST(Pca, ComponentsAreOrthonormalAndSigned) {
  for (const auto& [n, d] : {std::pair<int64_t, int64_t>{200, 6}, {6, 20}, {1, 4}, {5, 5}}) {
    const Pca pca = fit_pca(stretched_points(n, d, 11), static_cast<int>(std::min(n, d)));
    expect_orthonormal(pca);
    for (int64_t r = 0; r < pca.components.rows(); ++r) {
      double largest = 0;
      for (const double value : pca.components.row_span(r))
        if (std::abs(value) > std::abs(largest)) largest = value;
      EXPECT_GT(largest, 0);
    }
  }
}

TEST(Pca, VariancesFallAndSumToTheTotal) {
  const Pca pca = fit_pca(stretched_points(500, 8, 2), 8);
  double sum = 0;
  for (int r = 0; r < 8; ++r) {
    EXPECT_LE(pca.explained_variance[r], pca.explained_variance[std::max(0, r - 1)]);
    sum += pca.explained_variance[r];
  }
  EXPECT_NEAR(sum, pca.total_variance, 1e-9 * sum);
}

TEST(Pca, ProjectedCoordinatesHaveTheExplainedVariance) {
  const Matrix<float> points = stretched_points(300, 7, 4);
  const Pca pca = fit_pca(points, 3);
  const Matrix<float> coordinates = project(pca, points);
  for (int c = 0; c < 3; ++c) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 300; ++i) {
      sum += coordinates(i, c);
      squares += static_cast<double>(coordinates(i, c)) * coordinates(i, c);
    }
    EXPECT_NEAR(sum / 300, 0, 1e-4);
    EXPECT_NEAR(squares / 299, pca.explained_variance[c], 1e-4 * pca.explained_variance[c]);
  }
}

TEST(Pca, EqualPointsGiveABasisAndNoVariance) {
  for (const int64_t n : {3, 40}) {
    Matrix<float> points(n, 5);
    for (int64_t i = 0; i < points.size(); ++i) points.data()[i] = 2.5f;
    const Pca pca = fit_pca(points, 3);
    expect_orthonormal(pca);
    EXPECT_EQ(pca.total_variance, 0);
    const Matrix<float> coordinates = project(pca, points);
    for (int64_t i = 0; i < coordinates.size(); ++i) EXPECT_EQ(coordinates.data()[i], 0);
  }
}

TEST(Pca, WrongSizesAreRefused) {
  const Matrix<float> points = stretched_points(4, 3, 1);
  EXPECT_THROW(fit_pca(points, 0), InvalidArgument);
  EXPECT_THROW(fit_pca(points, 4), InvalidArgument);
  EXPECT_THROW(fit_pca(Matrix<float>(), 1), InvalidArgument);
  EXPECT_THROW(project(fit_pca(points, 1), Matrix<float>(2, 4)), InvalidArgument);
}

}  // namespace
}  // namespace milieu
