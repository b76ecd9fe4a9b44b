// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

namespace milieu {
namespace {

using namespace internal;

TEST(Numbers, OneGrammarForAllNumbers) {
  EXPECT_EQ(parse_double("1.5"), 1.5);
  EXPECT_EQ(parse_double("+1.5"), 1.5);
  EXPECT_EQ(parse_double("-.5"), -0.5);
  EXPECT_EQ(parse_double("5."), 5.0);
  EXPECT_EQ(parse_double("1e3"), 1000.0);
  EXPECT_TRUE(std::isnan(*parse_double("NaN")));
  EXPECT_EQ(parse_double("-inf"), -std::numeric_limits<double>::infinity());
  for (const char* text :
       {"", "+", "-", "+-1", "++1", " 1", "1 ", "1,5", "0x10", "1e", "one", "1_0"})
    EXPECT_EQ(parse_double(text), std::nullopt) << text;
}

TEST(Numbers, FloatsAreRoundedOnce) {
  // Slightly more than half way between two floats in decimal: rounding through double would lose
  // it.
  EXPECT_EQ(parse_float("1.00000005960464477540"), std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(parse_float("1.00000005960464477539"), 1.0f);
  EXPECT_EQ(parse_float("1e39"), std::numeric_limits<float>::infinity());
}

TEST(Numbers, IntegersFillSixtyFourBits) {
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(parse_integer("+7"), 7);
  for (const char* text : {"", "9223372036854775808", "7.0", "7 ", "-", "+"})
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
}

TEST(Numbers, WholeNumbersMayBeWrittenAsFloats) {
  EXPECT_EQ(parse_whole_number("3"), 3);
  EXPECT_EQ(parse_whole_number("3.000"), 3);
  EXPECT_EQ(parse_whole_number("-1.0e+00"), -1);
  EXPECT_EQ(parse_whole_number("9007199254740993"), 9007199254740993);
  for (const char* text : {"3.5", "nan", "inf", "1e300", "x", ""})
    EXPECT_EQ(parse_whole_number(text), std::nullopt) << text;
}

TEST(Numbers, TrimTakesBlanksFromBothEnds) {
  EXPECT_EQ(trim(" \ta b\r"), "a b");
  EXPECT_EQ(trim(" \t "), "");
}

}  // namespace
}  // namespace milieu
