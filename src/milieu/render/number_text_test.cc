// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace milieu {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(NumberText, ThousandsAreSeparated) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(-1234), "\u22121,234");
  EXPECT_EQ(count_text(std::numeric_limits<int64_t>::min()), "\u22129,223,372,036,854,775,808");
}

TEST(NumberText, NounsFollowTheirNumber) {
  EXPECT_EQ(count_text(1, "cluster"), "1 cluster");
  EXPECT_EQ(count_text(0, "cluster"), "0 clusters");
  EXPECT_EQ(count_text(2000, "class", "classes"), "2,000 classes");
}

TEST(NumberText, RealsHaveFewDigits) {
  EXPECT_EQ(real_text(0), "0");
  EXPECT_EQ(real_text(-0.0), "0");
  EXPECT_EQ(real_text(12), "12");
  EXPECT_EQ(real_text(0.5), "0.5");
  EXPECT_EQ(real_text(13912.7781), "13,913");
  EXPECT_EQ(real_text(3.14159265), "3.1416");
  EXPECT_EQ(real_text(-0.00123456), "\u22120.0012346");
  EXPECT_EQ(real_text(9.9999999), "10");
  EXPECT_EQ(real_text(1234567, 7), "1,234,567");
  EXPECT_EQ(real_text(1.5e9), "1.5×10⁹");
  EXPECT_EQ(real_text(-2.25e-12), "\u22122.25×10⁻¹²");
  EXPECT_EQ(real_text(9999999.9), "1×10⁷");
}

TEST(NumberText, NonNumbersAreSpelledOut) {
  EXPECT_EQ(real_text(kNan), "not a number");
  EXPECT_EQ(real_text(INFINITY), "infinite");
  EXPECT_EQ(real_text(-INFINITY), "minus infinite");
  EXPECT_EQ(percent_text(kNan), "not a number");
  EXPECT_EQ(seconds_text(kNan), "not a number");
  EXPECT_EQ(fixed_text(kNan, 2), "not a number");
}

TEST(NumberText, FixedKeepsItsDecimals) {
  EXPECT_EQ(fixed_text(1234.5, 2), "1,234.50");
  EXPECT_EQ(fixed_text(-0.001, 2), "0.00");
  EXPECT_EQ(percent_text(0.12345), "12.3%");
}

TEST(NumberText, TimesHaveTheUnitThatFits) {
  EXPECT_EQ(seconds_text(0.0008), "0.8 ms");
  EXPECT_EQ(seconds_text(0.314), "0.31 s");
  EXPECT_EQ(seconds_text(9.999), "10.0 s");
  EXPECT_EQ(seconds_text(99.99), "1 min 40 s");
  EXPECT_EQ(seconds_text(3599.9), "1 h 0 min");
  EXPECT_EQ(seconds_text(11520), "3 h 12 min");
}

}  // namespace
}  // namespace milieu
