// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/distance_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"

namespace milieu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(DistanceList, EveryViewHasItsOwnOrTheCommonOnes_issue30) {
  const DistanceList list = parse_distance_list("gist:l2,lbp:l1+rbf=0.5,chi-squared");
  ASSERT_EQ(list.of("gist").size(), 1u);
  EXPECT_EQ(list.of("gist")[0].distance, Distance::SquaredEuclidean);
  ASSERT_EQ(list.of("lbp").size(), 2u);
  EXPECT_EQ(list.of("lbp")[1].distance, Distance::Rbf);
  EXPECT_EQ(list.of("lbp")[1].gamma, 0.5);
  EXPECT_EQ(list.of("other")[0].distance, Distance::ChiSquared);
  for (const ListedDistance& each : parse_distance_list("chi-squared,l1,rbf,cosine").common)
    EXPECT_EQ(distance_name(each.distance), each.text);
}

TEST(DistanceList, FeaturesCarryTheirDistances_issue30) {
  std::string distances;
  EXPECT_EQ(take_distances("gist:distance=l2,dense-sift:step=8:distance=l1+rbf", distances),
            "gist,dense-sift:step=8");
  EXPECT_EQ(distances, "gist:l2,dense-sift:l1+rbf");
  distances = "chi-squared";
  EXPECT_EQ(take_distances("gist:distance=l2,color", distances), "gist,color");
  EXPECT_EQ(distances, "gist:l2,chi-squared");
  EXPECT_EQ(take_distances("gist,color", distances), "gist,color");
}

TEST(DistanceList, MistakesAreNamed_issue30) {
  EXPECT_THAT([] { parse_distance_list("l1,gist:cosin"); },
              ThrowsMessage<InvalidArgument>(
                  AllOf(HasSubstr("distance is 'cosin'"), HasSubstr("separated by commas"))));
  EXPECT_THAT([] { parse_distance_list("rbf=-1"); },
              ThrowsMessage<InvalidArgument>(HasSubstr("must be a number above 0")));
  EXPECT_THAT([] { parse_distance_list("l1=2"); },
              ThrowsMessage<InvalidArgument>(HasSubstr("only rbf has a width")));
}

}  // namespace
}  // namespace milieu
