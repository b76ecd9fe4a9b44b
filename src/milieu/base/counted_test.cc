// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/counted.h"

#include <gtest/gtest.h>

namespace milieu {
namespace {

TEST(Counted, OneIsSingularAndAllElsePlural) {
  EXPECT_EQ(counted(1, "cluster"), "1 cluster");
  EXPECT_EQ(counted(0, "cluster"), "0 clusters");
  EXPECT_EQ(counted(2, "cluster"), "2 clusters");
  EXPECT_EQ(counted(11000, "row"), "11000 rows");
}

TEST(Counted, IrregularPluralsAreGiven) {
  EXPECT_EQ(counted(1, "entry", "entries"), "1 entry");
  EXPECT_EQ(counted(3, "entry", "entries"), "3 entries");
}

TEST(Counted, VerbsFollowTheNumber) {
  EXPECT_EQ(by_number(1, "is", "are"), "is");
  EXPECT_EQ(by_number(0, "is", "are"), "are");
}

}  // namespace
}  // namespace milieu
