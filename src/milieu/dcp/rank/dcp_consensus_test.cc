// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/rank/dcp_consensus_internal.h"

#include <gtest/gtest.h>

#include "milieu/base/random.h"
#include "milieu/metrics/metrics.h"

namespace milieu::internal {
namespace {

using Splits = std::vector<std::vector<int>>;

Splits random_splits(int count, int n, int num_parts) {
  Random random(7);
  Splits splits(static_cast<size_t>(count));
  for (std::vector<int>& split : splits)
    for (int i = 0; i < n; ++i) split.push_back(static_cast<int>(random.uniform_index(num_parts)));
  return splits;
}

std::vector<double> means_of(const Splits& splits, int num_parts, int64_t most) {
  const std::vector<std::span<const int>> views(splits.begin(), splits.end());
  return mean_agreement(views, num_parts, most, 2);
}

// The simple twin: every pair, all figures of agreement.
std::vector<double> means_of_all_pairs(const Splits& splits) {
  std::vector<double> means;
  for (const auto& one : splits) {
    double sum = 0;
    for (const auto& other : splits)
      if (&one != &other) sum += compute_metrics(one, other).ari;
    means.push_back(splits.size() < 2 ? 0 : sum / static_cast<double>(splits.size() - 1));
  }
  return means;
}

TEST(DcpConsensus, FewSplitsAreComparedInAllPairs) {
  for (const int num_parts : {2, 3, 5})
    for (const int count : {1, 2, 9}) {
      const Splits splits = random_splits(count, 31, num_parts);
      EXPECT_EQ(means_of(splits, num_parts, 9), means_of_all_pairs(splits));
    }
}

// Only 0, 3 and 6 of nine are compared with; 3 is not compared with itself.
TEST(DcpConsensus, ManySplitsAreComparedWithSomeSpreadEvenly) {
  const Splits splits = random_splits(9, 31, 2);
  const std::vector<double> means = means_of(splits, 2, 3);
  const auto ari = [&](int a, int b) { return compute_metrics(splits[a], splits[b]).ari; };
  EXPECT_EQ(means[1], (ari(1, 0) + ari(1, 3) + ari(1, 6)) / 3);
  EXPECT_EQ(means[3], (ari(3, 0) + ari(3, 6)) / 2);
}

TEST(DcpConsensus, EqualSplitsAgreeWhateverTheirNumbers) {
  EXPECT_EQ(means_of({{0, 0, 1, 1, 1}, {1, 1, 0, 0, 0}}, 2, 10), (std::vector<double>{1, 1}));
  EXPECT_EQ(means_of({{0, 0, 0}, {0, 0, 0}}, 2, 10), (std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace milieu::internal
