// SPDX-License-Identifier: Apache-2.0
// maximum_assignment against hand cases and against its brute-force twin over all permutations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/metrics/metrics.h"

namespace milieu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

int64_t total(std::span<const int64_t> profit, int cols, const std::vector<int>& assignment) {
  int64_t sum = 0;
  for (size_t i = 0; i < assignment.size(); ++i)
    if (assignment[i] >= 0) sum += profit[i * cols + assignment[i]];
  return sum;
}

// The largest sum over all one-to-one assignments of the shorter side, by trying every permutation
// of the longer side.
int64_t brute_force_total(std::span<const int64_t> profit, int rows, int cols) {
  std::vector<int> order(std::max(rows, cols));
  std::iota(order.begin(), order.end(), 0);
  int64_t best = std::numeric_limits<int64_t>::min();
  do {
    int64_t sum = 0;
    for (int i = 0; i < std::min(rows, cols); ++i)
      sum += rows <= cols ? profit[i * cols + order[i]] : profit[order[i] * cols + i];
    best = std::max(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

// Each column at most once, and as many rows served as there can be.
void expect_one_to_one(const std::vector<int>& assignment, int rows, int cols) {
  ASSERT_EQ(assignment.size(), static_cast<size_t>(rows));
  std::set<int> used;
  for (int col : assignment) {
    EXPECT_GE(col, -1);
    EXPECT_LT(col, cols);
    if (col < 0) continue;
    EXPECT_TRUE(used.insert(col).second) << "column " << col << " is used twice";
  }
  EXPECT_EQ(used.size(), static_cast<size_t>(std::min(rows, cols)));
}

TEST(MaximumAssignment, HandCaseNeedsToGiveUpTheLargestEntry) {
  const std::vector<int64_t> profit = {10, 9,  //
                                       9, 0};
  EXPECT_THAT(maximum_assignment(profit, 2, 2), ElementsAre(1, 0));
}

TEST(MaximumAssignment, MoreRowsThanColumnsLeavesTheLeastUsefulRowsOut) {
  const std::vector<int64_t> profit = {1, 2,  //
                                       8, 3,  //
                                       4, 7};
  EXPECT_THAT(maximum_assignment(profit, 3, 2), ElementsAre(-1, 0, 1));
}

TEST(MaximumAssignment, MoreColumnsThanRowsServesEveryRow) {
  const std::vector<int64_t> profit = {1, 8, 4,  //
                                       2, 9, 3};
  EXPECT_THAT(maximum_assignment(profit, 2, 3), ElementsAre(2, 1));
}

TEST(MaximumAssignment, TiesGoToTheLowestIndex) {
  EXPECT_THAT(maximum_assignment(std::vector<int64_t>(9, 5), 3, 3), ElementsAre(0, 1, 2));
}

TEST(MaximumAssignment, EmptySidesAreAllowed) {
  EXPECT_THAT(maximum_assignment({}, 0, 0), IsEmpty());
  EXPECT_THAT(maximum_assignment({}, 0, 4), IsEmpty());
  EXPECT_THAT(maximum_assignment({}, 2, 0), ElementsAre(-1, -1));
}

TEST(MaximumAssignment, ExtremeValuesDoNotOverflow) {
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t> profit = {kHigh, kLow,  kLow,  //
                                       kHigh, kHigh, kLow,  //
                                       kHigh, kHigh, kHigh};
  EXPECT_THAT(maximum_assignment(profit, 3, 3), ElementsAre(0, 1, 2));
}

TEST(MaximumAssignment, EqualsBruteForceOnAllSmallShapes) {
  Random random(7);
  for (int rows = 1; rows <= 6; ++rows)
    for (int cols = 1; cols <= 6; ++cols)
      for (int round = 0; round < 30; ++round) {
        // Few distinct values make many ties; wide ranges make few.
        const int64_t spread = round % 3 == 0 ? 3 : round % 3 == 1 ? 20 : 1'000'000;
        std::vector<int64_t> profit(rows * cols);
        for (int64_t& value : profit) value = random.uniform_index(2 * spread + 1) - spread;
        const std::vector<int> assignment = maximum_assignment(profit, rows, cols);
        expect_one_to_one(assignment, rows, cols);
        EXPECT_EQ(total(profit, cols, assignment), brute_force_total(profit, rows, cols))
            << rows << " x " << cols << ", round " << round;
      }
}

// A larger case whose best sum is known: a hidden permutation gets more than any other entry.
TEST(MaximumAssignment, FindsAHiddenPermutation) {
  constexpr int kSize = 200;
  Random random(8);
  const std::vector<int64_t> hidden = random.sample_without_replacement(kSize, kSize);
  std::vector<int64_t> profit(kSize * kSize);
  for (int64_t& value : profit) value = random.uniform_index(1000);
  for (int i = 0; i < kSize; ++i) profit[i * kSize + hidden[i]] = 1000;
  const std::vector<int> assignment = maximum_assignment(profit, kSize, kSize);
  for (int i = 0; i < kSize; ++i) EXPECT_EQ(assignment[i], hidden[i]);
}

TEST(MaximumAssignment, WrongNumberOfEntriesIsRefused) {
  try {
    maximum_assignment(std::vector<int64_t>(5), 2, 3);
    FAIL() << "five entries were taken for 2 x 3";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "profit has 5 entries, must have rows x cols = 2 x 3");
  }
  EXPECT_THROW(maximum_assignment({}, -1, 0), InvalidArgument);
}

}  // namespace
}  // namespace milieu
