// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/distance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/linalg/isa.h"

namespace milieu {
namespace {

Matrix<float> random_matrix(int64_t rows, int64_t cols, uint64_t seed) {
  Random random(seed);
  Matrix<float> m(rows, cols);
  for (int64_t i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(random.uniform(-1, 1));
  return m;
}

long double slow_squared_distance(std::span<const float> a, std::span<const float> b) {
  long double sum = 0;
  for (size_t t = 0; t < a.size(); ++t) {
    const long double difference = static_cast<long double>(a[t]) - b[t];
    sum += difference * difference;
  }
  return sum;
}

TEST(Distance, PairIsExactToDoubleRounding) {
  for (const int64_t d : {1, 3, 16, 17, 128, 1000}) {
    const Matrix<float> x = random_matrix(2, d, 7);
    const double exact = static_cast<double>(slow_squared_distance(x.row_span(0), x.row_span(1)));
    EXPECT_NEAR(squared_distance(x.row_span(0), x.row_span(1)), exact, 1e-14 * exact);
  }
}

TEST(Distance, PairOfEqualRowsIsZero) {
  const Matrix<float> x = random_matrix(1, 77, 7);
  EXPECT_EQ(squared_distance(x.row_span(0), x.row_span(0)), 0.0);
  EXPECT_EQ(squared_distance(x.data(), x.data(), 0), 0.0);
}

TEST(Distance, PairHasTheSameBitsOnEveryInstructionSet) {
  const Matrix<float> x = random_matrix(2, 131, 3);
  const ScopedIsa baseline(Isa::Baseline);
  const double expected = squared_distance(x.row_span(0), x.row_span(1));
  const std::vector<float> norms = squared_row_norms(x);
  for (const Isa isa : {Isa::V3, Isa::V4}) {
    if (isa > best_isa()) continue;
    const ScopedIsa scoped(isa);
    EXPECT_EQ(squared_distance(x.row_span(0), x.row_span(1)), expected);
    EXPECT_EQ(squared_row_norms(x), norms);
  }
}

TEST(Distance, BlockAgreesWithPairs) {
  const Matrix<float> a = random_matrix(37, 50, 1), b = random_matrix(23, 50, 2);
  Matrix<float> out(37, 23);
  squared_distances(a, b, out);
  for (int64_t i = 0; i < 37; ++i)
    for (int64_t j = 0; j < 23; ++j)
      EXPECT_NEAR(out(i, j), squared_distance(a.row_span(i), b.row_span(j)), 1e-4);
}

TEST(Distance, BlockIsNeverNegative) {
  Matrix<float> a = random_matrix(40, 64, 1);
  for (int64_t i = 0; i < a.size(); ++i) a.data()[i] += 1000;
  Matrix<float> out(40, 40);
  squared_distances(a, a, out);
  for (int64_t i = 0; i < out.size(); ++i) EXPECT_GE(out.data()[i], 0);
}

TEST(Distance, NormsAreRoundedOnce) {
  const Matrix<float> a = random_matrix(5, 300, 9);
  const std::vector<float> norms = squared_row_norms(a);
  const std::vector<float> origin(300, 0.0f);
  for (int64_t i = 0; i < 5; ++i)
    EXPECT_FLOAT_EQ(norms[i], static_cast<float>(slow_squared_distance(a.row_span(i), origin)));
}

TEST(Distance, WrongSizesAreRefused) {
  const Matrix<float> a(3, 4), b(2, 4);
  Matrix<float> out(3, 2);
  std::vector<float> too_short(2);
  EXPECT_THROW(squared_row_norms(a, too_short), InvalidArgument);
  EXPECT_THROW(squared_distances(a, too_short, b, too_short, out), InvalidArgument);
}

}  // namespace
}  // namespace milieu
