// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/service_lists.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

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

TEST(ServiceLists, ColumnsAreTheTranspose) {
  const Matrix<float> costs = random_matrix(40, 2, 1000);
  const ServiceLists lists =
      lists_from_matrix(costs, std::vector<double>(40, 0.2), 1, silent_monitor());
  ASSERT_EQ(lists.client.size(), lists.server.size());
  for (int q = 0; q < 40; ++q)
    for (int64_t e = lists.column_begin[q]; e < lists.column_begin[q + 1]; ++e) {
      EXPECT_EQ(lists.client_cost[e], costs(lists.client[e], q));
      if (e > lists.column_begin[q]) {
        EXPECT_LT(lists.client[e - 1], lists.client[e]);
      }
    }
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

TEST(ServiceLists, SmallerPenaltyCutsWhatIsThere) {
  const Matrix<float> costs = random_matrix(30, 4, 1000);
  const ServiceLists wide =
      lists_from_matrix(costs, std::vector<double>(30, 0.6), 1, silent_monitor());
  const std::vector<double> small(30, 0.1);
  const ServiceLists cut = with_penalty(wide, small);
  const ServiceLists direct = lists_from_matrix(costs, small, 1, silent_monitor());
  EXPECT_EQ(cut.server, direct.server);
  EXPECT_EQ(cut.cost, direct.cost);
  EXPECT_EQ(cut.client, direct.client);
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

}  // namespace
}  // namespace milieu
