// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/dcp_vote.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/random.h"
#include "milieu/metrics/metrics.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Splits = std::vector<std::vector<int>>;

TEST(DcpVote, MostContextsDecide_issue30) {
  const DcpVote vote = vote_on_parts(Splits{{0, 0, 0, 1, 1, 1},
                                            {1, 1, 1, 0, 0, 0},  // the same, numbered otherwise
                                            {0, 0, 1, 1, 1, 1}},
                                     2);
  EXPECT_THAT(vote.labels, ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(vote.agreement, ElementsAre(1, 1, 2.0 / 3, 1, 1, 1));
  EXPECT_THAT(vote.margins, ElementsAre(1, 1, 1.0f / 3, 1, 1, 1));
  EXPECT_THAT(vote.split_share, ElementsAre(1, 1, 5.0 / 6));
}

TEST(DcpVote, OneContextElectsItself_issue30) {
  const DcpVote vote = vote_on_parts(Splits{{2, 0, 1, 2}}, 3);
  EXPECT_THAT(vote.labels, ElementsAre(2, 0, 1, 2));
  EXPECT_THAT(vote.agreement, Each(1));
}

TEST(DcpVote, TiesGoToTheFirstContext_issue30) {
  const DcpVote vote = vote_on_parts(Splits{{0, 0, 1, 1, 1}, {0, 0, 0, 1, 1}}, 2);
  EXPECT_THAT(vote.labels, ElementsAre(0, 0, 1, 1, 1));
  EXPECT_EQ(vote.agreement[2], 0.5);
  EXPECT_EQ(vote.margins[2], 0);
}

// Each context has one fifth of the samples wrong and its parts numbered at random: many together
// are right where more than half of them are.
TEST(DcpVote, ManyWeakContextsAreBetterThanOne_issue30) {
  constexpr int kParts = 3, kSamples = 300, kContexts = 15;
  Random random(3);
  std::vector<int> truth;
  for (int i = 0; i < kSamples; ++i) truth.push_back(i % kParts);
  Splits splits;
  for (int c = 0; c < kContexts; ++c) {
    const int turn = static_cast<int>(random.uniform_index(kParts));
    std::vector<int> labels;
    for (const int part : truth) {
      const bool is_wrong = random.uniform() < 0.2;
      const int shift = is_wrong ? 1 + static_cast<int>(random.uniform_index(kParts - 1)) : 0;
      labels.push_back((part + shift + turn) % kParts);
    }
    splits.push_back(labels);
  }
  const DcpVote vote = vote_on_parts(splits, kParts);
  // A majority of 15 votes of 0.8 fails with probability .0042 (binomial), a plurality less often:
  // 5 % of 300 samples would be 12 standard deviations more.
  EXPECT_LE(compute_metrics(vote.labels, truth).error, 0.05);
  EXPECT_GT(compute_metrics(splits[0], truth).error, 0.1);
}

TEST(DcpVote, WrongSplitsAreRefused_issue30) {
  EXPECT_THAT(message_of([] { vote_on_parts(Splits{}, 2); }), HasSubstr("no splits"));
  EXPECT_THAT(message_of([] { vote_on_parts(Splits{{0, 1}, {0}}, 2); }), HasSubstr("must match"));
  EXPECT_THAT(message_of([] { vote_on_parts(Splits{{0, 2}}, 2); }), HasSubstr("label 2"));
}

}  // namespace
}  // namespace milieu
