// SPDX-License-Identifier: Apache-2.0
#include "milieu/testing/guarded_points.h"

#include <gtest/gtest.h>

#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

TEST(GuardedPoints, AreAnEqualCopy) {
  const Matrix<float> points = make_blobs({.n = 77, .d = 5}).points;
  const GuardedPoints guarded(points);
  EXPECT_EQ(Matrix<float>(guarded.view()), points);
}

TEST(GuardedPointsDeathTest, WritingAndReadingBeyondTheEndDie) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const GuardedPoints guarded(make_blobs({.n = 10, .d = 3}).points);
  EXPECT_DEATH(const_cast<float*>(guarded.view().data())[0] = 1, "");
  const volatile float* end = guarded.view().data() + 30;
  EXPECT_DEATH(static_cast<void>(*end), "");
}

}  // namespace
}  // namespace milieu
