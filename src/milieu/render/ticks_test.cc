// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/ticks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "milieu/base/random.h"

namespace milieu {
namespace {

std::vector<std::string> labels_of(const Ticks& ticks) {
  std::vector<std::string> labels;
  for (const Tick& tick : ticks.ticks) labels.push_back(tick.label);
  return labels;
}

// The label as a number again: without separators and with an ordinary minus.
double parse_label(std::string label) {
  std::erase(label, ',');
  const bool is_negative = label.starts_with("\u2212");
  if (is_negative) label.erase(0, std::string("\u2212").size());
  return (is_negative ? -1 : 1) * std::stod(label);
}

TEST(Ticks, HandCases) {
  EXPECT_EQ(labels_of(nice_ticks(0, 10, 5)),
            (std::vector<std::string>{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(labels_of(nice_ticks(-0.13, 0.42, 6)),
            (std::vector<std::string>{"\u22120.1", "0.0", "0.1", "0.2", "0.3", "0.4"}));
  EXPECT_EQ(labels_of(nice_ticks(13900, 22100, 5)),
            (std::vector<std::string>{"14,000", "16,000", "18,000", "20,000", "22,000"}));
}

TEST(Ticks, LargeAndSmallNumbersShareAPowerOfTen) {
  const Ticks large = nice_ticks(0, 3.2e6, 4);
  EXPECT_EQ(large.exponent, 6);
  EXPECT_EQ(labels_of(large), (std::vector<std::string>{"0", "1", "2", "3"}));
  const Ticks small = nice_ticks(0, 2.2e-5, 5);
  EXPECT_EQ(small.exponent, -5);
  EXPECT_EQ(labels_of(small), (std::vector<std::string>{"0.0", "0.5", "1.0", "1.5", "2.0"}));
}

TEST(Ticks, WholeNumbersGetNoTicksBetween) {
  EXPECT_EQ(labels_of(nice_ticks(0.9, 3.1, 6, true)), (std::vector<std::string>{"1", "2", "3"}));
}

// For many ranges: round steps, inside the range, not too many, labels that say the value.
TEST(Ticks, AreRoundInsideAndLabelledRightly) {
  Random random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    const double scale = std::pow(10.0, random.uniform(-12, 12));
    const double low = scale * random.uniform(-1, 1);
    const double high = low + scale * random.uniform(0.01, 1);
    const Ticks ticks = nice_ticks(low, high, 6);
    ASSERT_GE(ticks.ticks.size(), 2u) << low << " " << high;
    ASSERT_LE(ticks.ticks.size(), 7u) << low << " " << high;
    const double step = ticks.ticks[1].value - ticks.ticks[0].value;
    const double mantissa = step / std::pow(10.0, std::floor(std::log10(step) + 1e-6));
    EXPECT_TRUE(std::abs(mantissa - 1) < 1e-3 || std::abs(mantissa - 2) < 1e-3 ||
                std::abs(mantissa - 5) < 1e-3)
        << step;
    for (const Tick& tick : ticks.ticks) {
      EXPECT_GE(tick.value, low);
      EXPECT_LE(tick.value, high);
      EXPECT_NEAR(parse_label(tick.label) * std::pow(10.0, ticks.exponent), tick.value,
                  1e-6 * step);
    }
  }
}

TEST(Ticks, DegenerateRangesAreDefined) {
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(labels_of(nice_ticks(3, 3, 5)), (std::vector<std::string>{"3"}));
  EXPECT_TRUE(nice_ticks(2, 1, 5).ticks.empty());
  EXPECT_TRUE(nice_ticks(kNan, 1, 5).ticks.empty());
  EXPECT_TRUE(nice_ticks(0, INFINITY, 5).ticks.empty());
  EXPECT_EQ(nice_ticks(1, std::nextafter(1.0, 2.0), 5).ticks.size(), 2u);  // too narrow to divide
  EXPECT_EQ(nice_ticks(0, 5e-324, 5).ticks.size(), 2u);
  const Ticks huge = nice_ticks(-kMax, kMax, 5);
  EXPECT_GE(huge.ticks.size(), 2u);
  for (const Tick& tick : huge.ticks) EXPECT_TRUE(std::isfinite(tick.value));
}

}  // namespace
}  // namespace milieu
