// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/pair_distance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/linalg/isa.h"

namespace milieu {
namespace {

Matrix<float> random_features(int64_t rows, int64_t cols, uint64_t seed) {
  Random random(seed);
  Matrix<float> points(rows, cols);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = random.bernoulli(0.2) ? 0.0f : static_cast<float>(random.uniform());
  return points;
}

// All distances that are computed from features.
std::vector<std::pair<std::string, Distance>> computed_distances() {
  auto choices = distance_choices().choices;
  std::erase_if(choices, [](const auto& choice) { return choice.second == Distance::Precomputed; });
  return choices;
}

// One pair, straight from the definition.
double twin(Distance distance, std::span<const float> a, std::span<const float> b) {
  double squares = 0, absolute = 0, chi = 0, dot = 0, aa = 0, bb = 0;
  double minima = 0, a_sum = 0, b_sum = 0;
  for (size_t t = 0; t < a.size(); ++t) {
    const double x = a[t], y = b[t];
    squares += (x - y) * (x - y);
    absolute += std::abs(x - y);
    if (x + y > 0) chi += (x - y) * (x - y) / (x + y);
    dot += x * y;
    aa += x * x;
    bb += y * y;
    minima += std::min(x, y);
    a_sum += x;
    b_sum += y;
  }
  switch (distance) {
    case Distance::Euclidean:
      return std::sqrt(squares);
    case Distance::SquaredEuclidean:
      return squares;
    case Distance::L1:
      return absolute;
    case Distance::ChiSquared:
      return chi;
    case Distance::Cosine:
      return 1 - dot / std::sqrt(aa * bb);
    case Distance::Intersection:
      return a_sum + b_sum > 0 ? 1 - minima / std::max(a_sum, b_sum) : 0;
    case Distance::Rbf:
      return std::sqrt(2 - 2 * std::exp(-squares / static_cast<double>(a.size())));
    case Distance::Precomputed:
      break;
  }
  return NAN;
}

TEST(PairDistance, EveryDistanceEqualsItsDefinition) {
  for (const int64_t d : {1, 3, 16, 37}) {
    const Matrix<float> a = random_features(5, d, 1), b = random_features(7, d, 2);
    for (const auto& [name, distance] : computed_distances()) {
      if (distance == Distance::Cosine && d < 16) continue;  // zero rows have their own test
      Matrix<float> out(5, 7);
      pair_distances(distance, a, b, out);
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 7; ++j) {
          const double expected = twin(distance, a.row_span(i), b.row_span(j));
          EXPECT_NEAR(out(i, j), expected, 1e-6 * (1 + expected)) << name << " d " << d;
        }
    }
  }
}

TEST(PairDistance, EqualRowsAreAtDistanceZero) {
  const Matrix<float> a = random_features(4, 33, 3);
  for (const auto& [name, distance] : computed_distances()) {
    Matrix<float> out(4, 4);
    pair_distances(distance, a, a, out);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(out(i, i), 0.0f) << name;
  }
}

TEST(PairDistance, ZeroRowIsAtCosineDistanceOneFromOthers) {
  Matrix<float> a(1, 3), b(1, 3);
  b(0, 1) = 2;
  Matrix<float> out(1, 1);
  pair_distances(Distance::Cosine, a, b, out);
  EXPECT_EQ(out(0, 0), 1.0f);
}

TEST(PairDistance, ChiSquaredRefusesNegativeFeatures) {
  Matrix<float> a(1, 2), out(1, 1);
  a(0, 1) = -1;
  EXPECT_THROW(pair_distances(Distance::ChiSquared, a, a, out), InvalidArgument);
}

TEST(PairDistance, IntersectionOfUnitHistogramsIsHalfTheirL1Distance) {
  Matrix<float> a = random_features(4, 32, 6), l1(4, 4), out(4, 4);
  for (int i = 0; i < 4; ++i) {
    double sum = 0;
    for (const float value : a.row_span(i)) sum += value;
    for (float& value : a.row_span(i)) value = static_cast<float>(value / sum);
  }
  pair_distances(Distance::L1, a, a, l1);
  pair_distances(Distance::Intersection, a, a, out);
  for (int64_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out.data()[i], l1.data()[i] / 2, 1e-6);
}

TEST(PairDistance, IntersectionRefusesNegativeFeatures) {
  Matrix<float> a(1, 2), out(1, 1);
  a(0, 1) = -1;
  EXPECT_THROW(pair_distances(Distance::Intersection, a, a, out), InvalidArgument);
}

TEST(PairDistance, RbfTakesItsGamma) {
  Matrix<float> a(1, 2), b(1, 2), out(1, 1);
  b(0, 0) = 2;  // squared distance 4
  pair_distances(Distance::Rbf, a, b, out, 0.25);
  EXPECT_NEAR(out(0, 0), std::sqrt(2 - 2 * std::exp(-1.0)), 1e-6);
}

TEST(PairDistance, PrecomputedCannotBeComputed) {
  Matrix<float> a(1, 2), out(1, 1);
  EXPECT_THROW(pair_distances(Distance::Precomputed, a, a, out), InvalidArgument);
}

TEST(PairDistance, BitsAreTheSameForEveryInstructionSet) {
  const Matrix<float> a = random_features(6, 45, 4), b = random_features(6, 45, 5);
  for (const auto& [name, distance] : computed_distances()) {
    Matrix<float> base(6, 6), best(6, 6);
    {
      const ScopedIsa scope(Isa::Baseline);
      pair_distances(distance, a, b, base);
    }
    pair_distances(distance, a, b, best);
    EXPECT_EQ(base, best) << name;
  }
}

}  // namespace
}  // namespace milieu
