// SPDX-License-Identifier: Apache-2.0
#include "milieu/testing/matchers.h"

#include <limits>

namespace milieu {
namespace {

using ::testing::Not;

const double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Matchers, PartitionsAreComparedUpToNames) {
  const std::vector<int> labels = {0, 0, 2, 1, -1};
  EXPECT_THAT(labels, IsSamePartitionAs(std::vector<int>{5, 5, 0, 1, -1}));
  EXPECT_THAT(labels, Not(IsSamePartitionAs(std::vector<int>{5, 5, 0, 0, -1})));
  EXPECT_THAT(labels, Not(IsSamePartitionAs(std::vector<int>{5, 5, 0, 1, 2})));
  EXPECT_THAT(labels, Not(IsSamePartitionAs(std::vector<int>{5, 5, 0, 1})));
}

TEST(Matchers, LabelsMustLieInRange) {
  const std::vector<int> labels = {0, 2, 1};
  EXPECT_THAT(labels, HasLabelsBelow(3, false));
  EXPECT_THAT(labels, Not(HasLabelsBelow(2, false)));
  EXPECT_THAT((std::vector<int>{0, -1}), HasLabelsBelow(1, true));
  EXPECT_THAT((std::vector<int>{0, -1}), Not(HasLabelsBelow(1, false)));
  EXPECT_THAT((std::vector<int>{0, -2}), Not(HasLabelsBelow(1, true)));
}

TEST(Matchers, TracesMayBendWithinTheTolerance) {
  EXPECT_THAT((std::vector<double>{3, 2, 2, 1}), NeverRises(0.0));
  EXPECT_THAT((std::vector<double>{3, 2, 2.001}), Not(NeverRises(1e-6)));
  EXPECT_THAT((std::vector<double>{3, 2, 2.001}), NeverRises(1e-2));
  EXPECT_THAT((std::vector<double>{1, 2, 2, 3}), NeverFalls(0.0));
  EXPECT_THAT((std::vector<double>{1, 2, 1.9}), Not(NeverFalls(1e-2)));
  EXPECT_THAT((std::vector<double>{1, kNaN, 3}), Not(NeverFalls(1.0)));
  EXPECT_THAT((std::vector<double>{1, kNaN, 3}), Not(NeverRises(1.0)));
}

TEST(Matchers, BitsDistinguishZeroFromMinusZero) {
  EXPECT_THAT((std::vector<double>{1, kNaN}), HasBitsOf(std::vector<double>{1, kNaN}));
  EXPECT_THAT((std::vector<double>{0.0}), Not(HasBitsOf(std::vector<double>{-0.0})));
  EXPECT_THAT((std::vector<double>{0.0}), Not(HasBitsOf(std::vector<double>{0.0, 1.0})));
}

TEST(Matchers, MessageOfCatchesErrors) {
  EXPECT_EQ(message_of([] { throw DataError("bad row"); }), "bad row");
}

}  // namespace
}  // namespace milieu
