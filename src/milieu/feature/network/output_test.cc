// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/output_internal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "milieu/base/error.h"

namespace milieu::internal {
namespace {

using ::testing::ElementsAre;

Tensor counting(std::vector<int64_t> shape) {
  Tensor tensor{std::move(shape), {}};
  const int64_t n = std::accumulate(tensor.shape.begin(), tensor.shape.end(), int64_t{1},
                                    std::multiplies<int64_t>());
  tensor.values.resize(static_cast<size_t>(n));
  std::iota(tensor.values.begin(), tensor.values.end(), 0.0f);
  return tensor;
}

TEST(Output, AMapIsAGrid) {
  const Tensor map = counting({1, 2, 2, 3});
  const auto grid = grid_of(map.shape, 64, 64, false);
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->rows, 2);
  EXPECT_EQ(grid->cols, 3);
  const Matrix<float> rows = positions_of(map, *grid);
  EXPECT_EQ(rows(0, 1), 6);
  EXPECT_EQ(rows(5, 0), 5);
  EXPECT_THAT(pool(map, grid, PoolMode::Auto), ElementsAre(2.5f, 8.5f));
  EXPECT_EQ(pool(map, grid, PoolMode::Flat).size(), 12u);
  EXPECT_THROW(pool(map, grid, PoolMode::Class), DataError);
  const auto last = grid_of({1, 2, 3, 2}, 64, 64, true);
  EXPECT_EQ(positions_of(counting({1, 2, 3, 2}), *last)(1, 1), 3);
}

TEST(Output, TokensAreAGridBehindTheClassToken) {
  const struct {
    int64_t tokens;
    int width, height;
    int64_t rows, cols, extra;
  } cases[] = {{197, 224, 224, 14, 14, 1}, {196, 224, 224, 14, 14, 0}, {257, 224, 224, 16, 16, 1},
               {261, 224, 224, 16, 16, 5}, {49, 224, 224, 7, 7, 0},    {51, 160, 320, 10, 5, 1},
               {50, 225, 223, 7, 7, 1}};
  for (const auto& c : cases) {
    const auto grid = grid_of({1, c.tokens, 8}, c.width, c.height, false);
    ASSERT_TRUE(grid) << c.tokens;
    EXPECT_EQ(grid->rows, c.rows) << c.tokens;
    EXPECT_EQ(grid->cols, c.cols) << c.tokens;
    EXPECT_EQ(grid->num_extra, c.extra) << c.tokens;
    EXPECT_EQ(grid->num_channels, 8);
  }
  const Tensor tokens = counting({1, 5, 2});
  const auto grid = grid_of(tokens.shape, 32, 32, false);
  EXPECT_THAT(pool(tokens, grid, PoolMode::Auto), ElementsAre(0, 1));
  EXPECT_THAT(pool(tokens, grid, PoolMode::Mean), ElementsAre(5, 6));
  EXPECT_EQ(positions_of(tokens, *grid)(0, 0), 2);
}

TEST(Output, AVectorHasNoGrid) {
  EXPECT_FALSE(grid_of({1, 1280}, 224, 224, false));
  EXPECT_FALSE(grid_of({1, 60, 8}, 224, 224, false));
  EXPECT_FALSE(grid_of({1, 0, 2, 2}, 224, 224, false));
  const Tensor vector = counting({1, 3});
  EXPECT_THAT(pool(vector, {}, PoolMode::Auto), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace milieu::internal
