// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "milieu/base/random.h"
#include "milieu/linalg/isa.h"

namespace milieu {
namespace {

TEST(Finite, EveryPositionAndKindIsFound) {
  for (const Isa isa : {Isa::Baseline, Isa::V3, Isa::V4}) {
    if (isa > best_isa()) continue;
    const ScopedIsa scoped(isa);
    for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()})
      for (int64_t column = 0; column < 37; ++column) {
        Matrix<float> values(3, 37);
        values(1, column) = bad;
        const auto place = find_non_finite(values);
        ASSERT_TRUE(place.has_value());
        EXPECT_EQ(place->row, 1);
        EXPECT_EQ(place->column, column);
      }
  }
}

TEST(Finite, ExtremeNumbersAreFinite) {
  Matrix<float> values(1, 20);
  values(0, 0) = std::numeric_limits<float>::max();
  values(0, 1) = std::numeric_limits<float>::lowest();
  values(0, 19) = std::numeric_limits<float>::denorm_min();
  EXPECT_FALSE(find_non_finite(values));
  EXPECT_FALSE(find_non_finite(Matrix<float>()));
}

TEST(Finite, TheFirstOfManyIsNamedForAnyNumberOfThreads) {
  Matrix<float> values(100000, 3);
  values(70001, 2) = std::nanf("");
  values(99999, 0) = std::nanf("");
  for (const int threads : {1, 2, 8}) EXPECT_EQ(find_non_finite(values, threads)->row, 70001);
}

// Against the plain loop, with bad numbers anywhere and views that have gaps between rows.
TEST(Finite, ViewsWithGapsAreReadOnlyInsideTheirColumns) {
  const Random root(1);
  for (uint64_t trial = 0; trial < 20; ++trial) {
    Random random = root.child(trial);
    Matrix<float> matrix(2000, 50);
    for (int i = 0; i < 3; ++i)
      matrix(random.uniform_index(2000), random.uniform_index(50)) = std::nanf("");
    const FloatView view(matrix.data(), 2000, 31, 50);
    std::optional<MatrixPlace> expected;
    for (int64_t i = 0; i < view.rows() && !expected; ++i)
      for (int64_t j = 0; j < view.cols() && !expected; ++j)
        if (!std::isfinite(view(i, j))) expected = MatrixPlace{i, j};
    const auto found = find_non_finite(view, 4);
    ASSERT_EQ(found.has_value(), expected.has_value());
    if (expected) {
      EXPECT_EQ(found->row, expected->row);
      EXPECT_EQ(found->column, expected->column);
    }
  }
}

}  // namespace
}  // namespace milieu
