// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Links, NeighbourhoodsHoldTheSampleAndBothEnds_issue30) {
  const Groups groups = parse_links("# page, page\n0,2\n2 0\n3, 2\n2 3\n1 1\n", "links.csv", 5);
  EXPECT_EQ(groups.num_samples, 5);
  EXPECT_THAT(groups.offsets, ElementsAre(0, 2, 3, 6, 8, 9));
  EXPECT_THAT(groups.members, ElementsAre(0, 2, 1, 0, 2, 3, 2, 3, 4));
  EXPECT_THAT(groups.weights, Each(1));
}

TEST(Links, MatricesAreSymmetricOrMadeSo_issue30) {
  const std::string entries = "4 4 3\n3 1 0.5\n4 3 2\n2 2 1\n";
  const std::string banner = "%%MatrixMarket matrix coordinate real ";
  const Groups wanted = parse_links("0 2\n2 3\n", "text", 4);
  for (const char* symmetry : {"general\n", "symmetric\n"}) {
    const Groups groups = parse_links(banner + symmetry + entries, "a.mtx", 4);
    EXPECT_EQ(groups.offsets, wanted.offsets) << symmetry;
    EXPECT_EQ(groups.members, wanted.members) << symmetry;
  }
}

TEST(Links, SelectionKeepsLinksWithinIt_issue30) {
  const Groups groups = select_neighborhoods(parse_links("0 1\n1 3\n2 3\n", "text", 4), {1, 3});
  EXPECT_EQ(groups.num_samples, 2);
  EXPECT_THAT(groups.offsets, ElementsAre(0, 2, 4));
  EXPECT_THAT(groups.members, ElementsAre(0, 1, 0, 1));
}

TEST(Links, WrongFilesAreRefused_issue30) {
  const auto message = [](const std::string& text) {
    return message_of([&] { parse_links(text, "links.csv", 3); });
  };
  EXPECT_THAT(message("0 1\n0 1 2\n"), HasSubstr("link 2 names 3 samples, must name two"));
  EXPECT_THAT(message("0\n"), HasSubstr("link 1 names 1 sample, must name two"));
  EXPECT_THAT(message("0 3\n"), HasSubstr("row number 3 must be below 3"));
  EXPECT_THAT(message("a b\n"), HasSubstr("\"a\" is not the row number of a sample"));
  EXPECT_THAT(message("%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n"),
              HasSubstr("has 2 rows and 3 columns, links need a square matrix"));
  EXPECT_THAT(message("%%MatrixMarket matrix coordinate pattern hermitian\n3 3 1\n1 1\n"),
              HasSubstr("symmetry is \"hermitian\", must be general or symmetric"));
}

}  // namespace
}  // namespace milieu
