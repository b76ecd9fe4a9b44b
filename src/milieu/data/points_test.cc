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

}  // namespace
}  // namespace milieu
