// SPDX-License-Identifier: Apache-2.0
#include "milieu/metrics/paired_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "milieu/base/error.h"

namespace milieu {
namespace {

// One and two degrees of freedom have closed forms.
TEST(PairedTest, ProbabilitiesOfFewDegreesAreExact) {
  for (const double t : {0.0, 0.1, 0.7, 1.0, 2.5, 12.7062, 1000.0}) {
    EXPECT_NEAR(two_sided_t_probability(t, 1), 1 - 2 * std::atan(t) / std::numbers::pi, 1e-12);
    EXPECT_NEAR(two_sided_t_probability(t, 2), 1 - t / std::sqrt(2 + t * t), 1e-12);
  }
  EXPECT_EQ(two_sided_t_probability(std::numeric_limits<double>::infinity(), 5), 0);
}

// The trapezoid rule on the density, for many degrees of freedom.
TEST(PairedTest, ProbabilityIsTheAreaOfTheTails) {
  for (const double nu : {3.0, 19.0, 200.0})
    for (const double limit : {0.5, 2.093, 4.0}) {
      const double scale = std::exp(std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2)) /
                           std::sqrt(nu * std::numbers::pi);
      const int steps = 200000;
      double area = 0;
      for (int i = 0; i <= steps; ++i) {
        const double t = -limit + 2 * limit * i / steps;
        area += (i == 0 || i == steps ? 0.5 : 1.0) * std::pow(1 + t * t / nu, -(nu + 1) / 2);
      }
      area *= scale * 2 * limit / steps;
      EXPECT_NEAR(two_sided_t_probability(limit, nu), 1 - area, 1e-8) << nu << " " << limit;
    }
}

TEST(PairedTest, HandCase) {
  const std::vector<double> a = {3, 5, 4}, b = {1, 2, 3};  // differences 2, 3, 1
  const PairedTest test = paired_t_test(a, b);
  EXPECT_DOUBLE_EQ(test.mean_difference, 2);
  EXPECT_NEAR(test.t, 2 * std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(test.p_value, 1 - test.t / std::sqrt(2 + test.t * test.t), 1e-12);
}

TEST(PairedTest, EqualScoresAndEqualDifferences) {
  const std::vector<double> a = {1, 2, 3}, b = {0, 1, 2};
  EXPECT_EQ(paired_t_test(a, a).p_value, 1);
  EXPECT_EQ(paired_t_test(a, b).p_value, 0);
  const std::vector<double> one = {1};
  EXPECT_THROW(paired_t_test(one, one), InvalidArgument);
  EXPECT_THROW(paired_t_test(a, one), InvalidArgument);
}

}  // namespace
}  // namespace milieu
