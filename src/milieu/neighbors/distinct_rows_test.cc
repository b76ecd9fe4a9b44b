// SPDX-License-Identifier: Apache-2.0
// Groups of equal rows by hand and against a quadratic twin.
#include "milieu/neighbors/distinct_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/random.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;

TEST(DistinctRows, HandCase) {
  const float values[] = {5, 1, 2, 0, 5, 1, 2, 1, 2, -0.0f, 5, 1};
  const RowGroups groups = group_equal_rows(FloatView(values, 6, 2));
  EXPECT_THAT(groups.group_from_row, ElementsAre(0, 1, 0, 2, 1, 0));
  EXPECT_THAT(groups.first_rows, ElementsAre(0, 1, 3));
}

TEST(DistinctRows, NoRowsHaveNoGroups) {
  EXPECT_TRUE(group_equal_rows(FloatView(nullptr, 0, 3)).first_rows.empty());
}

TEST(DistinctRows, EqualTheNaiveTwin) {
  Random random(3);
  Matrix<float> rows(300, 3);
  for (int64_t i = 0; i < rows.size(); ++i)
    rows.data()[i] = static_cast<float>(random.uniform_index(4)) - 2;
  const RowGroups groups = group_equal_rows(rows);
  std::vector<int> firsts;
  for (int i = 0; i < 300; ++i) {
    int first = 0;
    while (!std::equal(rows.row(first), rows.row(first) + 3, rows.row(i))) ++first;
    if (first == i) firsts.push_back(i);
    ASSERT_EQ(groups.first_rows[groups.group_from_row[i]], first);
  }
  EXPECT_EQ(groups.first_rows, firsts);
}

}  // namespace
}  // namespace milieu
