// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/assert.h"

#include <gtest/gtest.h>

namespace milieu {
namespace {

#ifdef MILIEU_ENABLE_ASSERT

TEST(AssertDeathTest, FailureNamesConditionFileAndLine) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const int zero = 0;
  EXPECT_DEATH(MILIEU_ASSERT(zero == 1), "assert_test.cc:[0-9]+: assertion failed: zero == 1");
}

TEST(Assert, TrueConditionIsEvaluatedOnce) {
  int calls = 0;
  MILIEU_ASSERT(++calls == 1);
  EXPECT_EQ(calls, 1);
}

#else

TEST(AssertDeathTest, FailureNamesConditionFileAndLine) {
  GTEST_SKIP() << "assertions are off in this build: use the dev, asan or tsan preset";
}

TEST(Assert, ConditionIsNotEvaluatedInRelease) {
  int calls = 0;
  MILIEU_ASSERT(++calls == 0);
  EXPECT_EQ(calls, 0);
}

#endif

TEST(AssertDeathTest, AssertionFailedAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(assertion_failed("1 == 2", "file.cc", 7), "file.cc:7: assertion failed: 1 == 2");
}

}  // namespace
}  // namespace milieu
