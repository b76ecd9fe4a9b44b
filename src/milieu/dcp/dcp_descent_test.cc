// SPDX-License-Identifier: Apache-2.0
// Subgradient descent on functions whose minimum is known.
#include "milieu/dcp/dcp_descent_internal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace milieu::internal {
namespace {

// 1/2 w^2 + c max(0, 1 - w): a hinge, least at min(1, c).
struct Hinge {
  double cost;
  double value(double w) const { return 0.5 * w * w + cost * std::max(0.0, 1 - w); }
  double slope(double w) const { return w - (w <= 1 ? cost : 0); }
};

double minimize(const Hinge& f, double start, int max_iterations) {
  Subgradient descent({start}, max_iterations);
  while (!descent.has_ended()) {
    const double w = descent.trial()[0], slope = f.slope(w);
    descent.update(f.value(w), {&slope, 1});
  }
  EXPECT_EQ(descent.iterations(), max_iterations);
  EXPECT_EQ(descent.value(), f.value(descent.point()[0]));
  return descent.point()[0];
}

TEST(DcpDescent, SubgradientsFindTheMinimumOfAHinge_issue30) {
  EXPECT_NEAR(minimize({0.5}, 0, 1000), 0.5, 1e-2);  // where the slope is 0
  EXPECT_NEAR(minimize({7}, 0, 1000), 1, 1e-2);      // at the corner
  EXPECT_NEAR(minimize({7}, -3, 1000), 1, 1e-2);
}

// After t steps of length 1/t on a function of curvature 1 with subgradients up to G, the best
// value is within G^2 (1 + ln t) / (2 t) of the least one [Shalev11, Theorem 1].
TEST(DcpDescent, ValueIsWithinTheBoundOfTheTheory_issue30) {
  const Hinge f{7};
  for (const int t : {10, 100, 1000}) {
    const double steepest = 7 + std::sqrt(2 * f.value(0));
    EXPECT_LE(f.value(minimize(f, 0, t)) - f.value(1),
              steepest * steepest * (1 + std::log(t)) / (2 * t));
  }
}

TEST(DcpDescent, ValueNeverLiesAboveTheStart_issue30) {
  const Hinge f{1000};
  EXPECT_LE(f.value(minimize(f, 0.999, 3)), f.value(0.999));
}

}  // namespace
}  // namespace milieu::internal
