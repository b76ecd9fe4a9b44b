// SPDX-License-Identifier: Apache-2.0
#include "milieu/metrics/dip_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

TEST(DipTest, EvenlySpacedValuesHaveTheSmallestDip) {
  std::vector<double> values;
  for (int i = 0; i < 25; ++i) values.push_back(3.0 * i);
  EXPECT_NEAR(dip_of(values), 1.0 / 50, 1e-12);
}

// Half of the mass at each of two places: any function with one mode misses one of them by 1/4.
TEST(DipTest, TwoPlacesHaveTheLargestDip) {
  std::vector<double> values(40, -1.0);
  std::fill_n(values.begin(), 20, 5.0);
  EXPECT_NEAR(dip_of(values), 0.25, 1e-12);
  EXPECT_NEAR(dip_of(std::vector<double>(40, 2.0)), 1.0 / 80, 1e-12);
}

// Figures of a linear program over all distribution functions with one mode, one program per mode
// (scipy's linprog).
TEST(DipTest, AgreesWithALinearProgram) {
  EXPECT_NEAR(dip_of(std::vector<double>{0, 1, 2, 10, 11, 12}), 0.2, 1e-9);
  EXPECT_NEAR(dip_of(std::vector<double>{1.764, 3.4, 0.979, 5.241, 1.868, 2.023, 0.95, 2.849,
                                         -0.103, 3.411, 0.144, 4.454}),
              0.08234269932756964, 1e-9);
  EXPECT_NEAR(dip_of(std::vector<double>{0.761, 3.122, 0.444, 3.334, 1.494, 2.795, 0.313, 2.146,
                                         -2.553, 3.654, 0.864, 2.258}),
              0.09235364396654708, 1e-9);
  EXPECT_NEAR(dip_of(std::vector<double>{2.27, 1.546, 0.046, 2.813, 1.533, 4.469, 0.155, 3.378,
                                         -0.888, 1.019, -0.348, 3.156}),
              0.08043150806308699, 1e-9);
}

TEST(DipTest, OrderShiftScaleAndReflectionDoNotMatter) {
  Random random(3);
  std::vector<double> values, other;
  for (int i = 0; i < 80; ++i) values.push_back(random.normal() + (i % 2 ? 4 : 0));
  for (auto v = values.rbegin(); v != values.rend(); ++v) other.push_back(7 - 3 * *v);
  EXPECT_NEAR(dip_of(values), dip_of(other), 1e-9);
}

TEST(DipTest, UniformSamplesAreRarelyRefusedAndTwoModesFound) {
  DipTest test;
  int refused = 0, found = 0;
  Random random(5);
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<double> one, two;
    for (int i = 0; i < 90; ++i) {
      one.push_back(random.uniform());
      two.push_back(random.normal() + (i % 3 == 0 ? 7 : 0));
    }
    refused += test.p_value(dip_of(one), 90) <= 0.05;
    found += test.p_value(dip_of(two), 90) <= 0.05;
  }
  EXPECT_LE(refused, 34);  // 5 % of 400, and three standard deviations
  EXPECT_GE(refused, 6);
  EXPECT_GE(found, 380);
}

TEST(DipTest, WrongValuesAreRefused) {
  EXPECT_THROW(dip_of({}), InvalidArgument);
  EXPECT_THROW(dip_of(std::vector<double>{1, NAN}), InvalidArgument);
}

}  // namespace
}  // namespace milieu
