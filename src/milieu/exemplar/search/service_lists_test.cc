// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/search/service_lists.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/exemplar/search/exemplar.h"

namespace milieu {
namespace {

Matrix<float> random_matrix(int n, uint64_t seed, int distinct) {
  Random random(seed);
  Matrix<float> costs(n, n);
  for (int64_t i = 0; i < costs.size(); ++i)
    costs.data()[i] =
        static_cast<float>(random.uniform_index(distinct)) / static_cast<float>(distinct) - 0.3f;
  return costs;
}

// Rows longer than 512 entries go through the radix sort: both sorts must agree with std::sort.
TEST(ServiceLists, RowsHoldWhatCanPaySortedByCostThenIndex) {
  for (const int n : {7, 900}) {
    const Matrix<float> costs = random_matrix(n, 1, 50);
    const std::vector<double> penalty(n, 0.5);
    const ServiceLists lists = lists_from_matrix(costs, penalty, 2, silent_monitor());
    EXPECT_TRUE(lists.is_complete());
    for (int p = 0; p < n; ++p) {
      std::vector<std::pair<float, int>> expected;
      for (int q = 0; q < n; ++q)
        if (q != p && costs(p, q) < 0.5) expected.emplace_back(costs(p, q), q);
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(lists.begin[p + 1] - lists.begin[p], static_cast<int64_t>(expected.size()));
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(lists.cost[lists.begin[p] + i], expected[i].first);
        EXPECT_EQ(lists.server[lists.begin[p] + i], expected[i].second);
      }
    }
  }
}

// Every column holds its clients, cheapest first.
void expect_transpose(const ServiceLists& lists, const Matrix<float>& costs) {
  int64_t entries = 0;
  for (int64_t q = 0; q < lists.n; ++q) {
    const ServiceRun column = lists.column(q);
    entries += column.size;
    for (int64_t i = 0; i < column.size; ++i) {
      EXPECT_EQ(column.cost[i], costs(column.index[i], q));
      if (i > 0) {
        EXPECT_LT(std::pair(column.cost[i - 1], column.index[i - 1]),
                  std::pair(column.cost[i], column.index[i]));
      }
    }
  }
  EXPECT_EQ(entries, lists.num_entries());
}

TEST(ServiceLists, ColumnsAreTheTranspose) {
  const Matrix<float> costs = random_matrix(40, 2, 1000);
  const ServiceLists lists =
      lists_from_matrix(costs, std::vector<double>(40, 0.2), 1, silent_monitor());
  EXPECT_FALSE(lists.is_symmetric);
  expect_transpose(lists, costs);
}

TEST(ServiceLists, SymmetricCostsNeedNoColumns) {
  Matrix<float> costs = random_matrix(40, 2, 1000);
  for (int p = 0; p < 40; ++p)
    for (int q = 0; q < p; ++q) costs(p, q) = costs(q, p);
  const auto make = [&](const std::vector<double>& penalty) {
    return lists_from_rows(
        40, penalty, 0, 1, silent_monitor(),
        [&](const Block& rows, MatrixView<float> out) {
          for (int64_t i = 0; i < rows.size(); ++i)
            std::copy_n(costs.row(rows.begin + i), 40, out.row(i));
        },
        true);
  };
  std::vector<double> penalty(40, 0.2);
  const ServiceLists lists = make(penalty);
  EXPECT_TRUE(lists.is_symmetric);
  EXPECT_TRUE(lists.client.empty());
  expect_transpose(lists, costs);
  penalty[3] = 0.1;  // row 3 is shorter than column 3 now
  const ServiceLists uneven = make(penalty);
  EXPECT_FALSE(uneven.is_symmetric);
  expect_transpose(uneven, costs);
}

TEST(ServiceLists, ClosedCandidatesAreOnNoList) {
  const Matrix<float> costs = random_matrix(40, 7, 1000);
  const ServiceLists lists =
      lists_from_matrix(costs, std::vector<double>(40, 0.3), 1, silent_monitor());
  std::vector<char> is_closed(40, 0);
  is_closed[5] = is_closed[20] = 1;
  const ServiceLists rest = without_candidates(lists, is_closed);
  EXPECT_EQ(rest.column(5).size, 0);
  EXPECT_EQ(rest.row(5).size,
            lists.row(5).size -
                std::count(lists.row(5).index, lists.row(5).index + lists.row(5).size, 20));
  EXPECT_EQ(rest.num_entries(), lists.num_entries() - lists.column(5).size - lists.column(20).size);
  expect_transpose(rest, costs);
}

TEST(ServiceLists, CutRowsKnowWhatTheFirstMissingCandidateCosts) {
  const Matrix<float> costs = random_matrix(50, 3, 1000);
  const ServiceLists lists =
      lists_from_rows(50, std::vector<double>(50, 0.6), 4, 1, silent_monitor(),
                      [&](const Block& rows, MatrixView<float> out) {
                        for (int64_t i = 0; i < rows.size(); ++i)
                          std::copy_n(costs.row(rows.begin + i), 50, out.row(i));
                      });
  EXPECT_FALSE(lists.is_complete());
  for (int p = 0; p < 50; ++p) {
    std::vector<float> row;
    for (int q = 0; q < 50; ++q)
      if (q != p) row.push_back(costs(p, q));
    std::sort(row.begin(), row.end());
    EXPECT_EQ(lists.cap[p], std::min(0.6, double{row[4]}));
  }
}

TEST(ServiceLists, RepeatedEntriesKeepTheSmallerCostAndSelfIsIgnored) {
  const ServiceLists lists = lists_from_entries(2, {{0, 1, 3.0f}, {0, 1, 2.0f}, {1, 1, 0.0f}},
                                                std::vector<double>(2, 9.0), {});
  ASSERT_EQ(lists.num_entries(), 1);
  EXPECT_EQ(lists.cost[0], 2.0f);
  EXPECT_TRUE(lists.is_complete());
}

TEST(ServiceLists, BadEntriesAreRefused) {
  const std::vector<double> penalty(2, 1.0);
  EXPECT_THROW(lists_from_entries(2, {{0, 2, 1.0f}}, penalty, {}), InvalidArgument);
  EXPECT_THROW(lists_from_entries(2, {{0, 1, NAN}}, penalty, {}), InvalidArgument);
  EXPECT_THROW(lists_from_entries(2, {}, std::vector<double>{1.0, NAN}, {}), InvalidArgument);
}

// Pairs of a sample with itself say nothing about penalties.
TEST(ServiceLists, PenaltyIsGivenOrTheMedianCostOfDifferentSamples) {
  const std::vector<ServiceEntry> entries = {{0, 0, 90.f}, {0, 1, 1.f}, {1, 2, 4.f}, {2, 0, 5.f}};
  EXPECT_EQ(lists_with_penalty(3, entries, {}, "median").penalty, std::vector<double>(3, 4.0));
  EXPECT_EQ(lists_with_penalty(3, entries, {}, "2.5").penalty, std::vector<double>(3, 2.5));
  const std::vector<double> given = {7, 8, 9};
  EXPECT_EQ(lists_with_penalty(3, entries, given, "median").penalty, given);
}

}  // namespace
}  // namespace milieu
