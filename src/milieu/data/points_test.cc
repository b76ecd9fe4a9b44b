// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "milieu/base/random.h"

namespace milieu {
namespace {

Matrix<float> counting_matrix(int64_t rows, int64_t cols) {
  Matrix<float> matrix(rows, cols);
  std::iota(matrix.data(), matrix.data() + matrix.size(), 0.0f);
  return matrix;
}

TEST(Points, CopiesShareTheirMemoryAndKeepItAlive) {
  Points copy;
  {
    const Points points(counting_matrix(3, 2));
    copy = points;
    EXPECT_EQ(copy.view().data(), points.view().data());
  }
  EXPECT_EQ(copy.view()(2, 1), 5);
  EXPECT_FALSE(copy.is_mapped());
}

TEST(Points, OneStretchOfRowsIsNotCopied) {
  const Points points(counting_matrix(5, 2));
  EXPECT_EQ(points.gather({0, 1, 2, 3, 4}).view().data(), points.view().data());
  const Points middle = points.gather({2, 3});
  EXPECT_EQ(middle.view().data(), points.view().row(2));
  EXPECT_EQ(middle.rows(), 2);
  EXPECT_EQ(points.gather({}).rows(), 0);
}

TEST(Points, ScatteredRowsAreCopiedInTheGivenOrder) {
  const Points points(counting_matrix(5, 2));
  const Points some = points.gather({4, 0, 0});
  ASSERT_EQ(some.rows(), 3);
  EXPECT_EQ(some.view()(0, 1), 9);
  EXPECT_EQ(some.view()(1, 0), 0);
  EXPECT_EQ(some.view()(2, 1), 1);
}

TEST(FindNonFinite, FindsNothingInFiniteNumbers) {
  Matrix<float> matrix(2, 3);
  matrix(0, 0) = std::numeric_limits<float>::max();
  matrix(1, 1) = std::numeric_limits<float>::lowest();
  matrix(1, 2) = std::numeric_limits<float>::denorm_min();
  matrix(0, 1) = -0.0f;
  EXPECT_EQ(find_non_finite(matrix), std::nullopt);
  EXPECT_EQ(find_non_finite(FloatView()), std::nullopt);
}

TEST(FindNonFinite, FindsEveryKindOfBadNumber) {
  for (const float bad : {std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), std::nanf(""), -std::nanf("")}) {
    Matrix<float> matrix(3, 4);
    matrix(2, 1) = bad;
    EXPECT_EQ(find_non_finite(matrix), (Position{2, 1})) << bad;
  }
}

// Against the plain loop, with bad numbers anywhere and views that have gaps between rows.
TEST(FindNonFinite, FirstOneWinsForAnyNumberOfThreads) {
  const Random root(1);
  for (uint64_t trial = 0; trial < 20; ++trial) {
    Random random = root.child(trial);
    Matrix<float> matrix(20'000, 50);
    for (int i = 0; i < 3; ++i)
      matrix(static_cast<int64_t>(random.uniform_index(20'000)),
             static_cast<int64_t>(random.uniform_index(50))) = NAN;
    const FloatView view(matrix.data(), 20'000, trial % 2 == 0 ? 50 : 31, 50);
    std::optional<Position> expected;
    for (int64_t i = 0; i < view.rows() && !expected; ++i)
      for (int64_t j = 0; j < view.cols() && !expected; ++j)
        if (!std::isfinite(view(i, j))) expected = Position{i, j};
    EXPECT_EQ(find_non_finite(view, 1), expected);
    EXPECT_EQ(find_non_finite(view, 4), expected);
  }
}

}  // namespace
}  // namespace milieu
