// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/error.h"

#include <gtest/gtest.h>

namespace milieu {
namespace {

TEST(Error, RequireThrowsItsMessageOnlyWhenItFails) {
  EXPECT_NO_THROW(require(true, "unused"));
  try {
    require(false, "num_clusters is 0, must be at least 1");
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "num_clusters is 0, must be at least 1");
  }
}

TEST(Error, RequireBuildsAMessageOnlyOnFailure) {
  int built = 0;
  const auto make_message = [&] {
    ++built;
    return std::string("costly");
  };
  require(true, make_message);
  EXPECT_EQ(built, 0);
  EXPECT_THROW(require(false, make_message), InvalidArgument);
  EXPECT_EQ(built, 1);
}

TEST(Error, EveryKindIsAnError) {
  EXPECT_THROW(throw InvalidArgument("a"), Error);
  EXPECT_THROW(throw DataError("b"), Error);
  EXPECT_THROW(throw IoError("c"), Error);
}

}  // namespace
}  // namespace milieu
