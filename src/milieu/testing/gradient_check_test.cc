// SPDX-License-Identifier: Apache-2.0
#include "milieu/testing/gradient_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "milieu/base/error.h"

namespace milieu {
namespace {

// f(x, y) = x^2 y + sin(y)
double example(std::span<const double> x) { return x[0] * x[0] * x[1] + std::sin(x[1]); }

TEST(GradientCheck, PassesTheRightGradient) {
  const std::vector<double> point = {1.5, -0.7};
  const std::vector<double> gradient = {2 * 1.5 * -0.7, 1.5 * 1.5 + std::cos(-0.7)};
  EXPECT_LT(check_gradient(example, point, gradient).max_error, 1e-8);
}

TEST(GradientCheck, NamesTheWrongCoordinate) {
  const std::vector<double> point = {1.5, -0.7};
  const std::vector<double> gradient = {2 * 1.5 * -0.7, 1.5 * 1.5 - std::cos(-0.7)};
  const GradientCheck check = check_gradient(example, point, gradient);
  EXPECT_EQ(check.worst_index, 1);
  EXPECT_GT(check.max_error, 0.1);
  EXPECT_EQ(check.text().find("coordinate 1: analytic"), 0u);
}

TEST(GradientCheck, LargeCoordinatesGetLargeSteps) {
  const auto square = [](std::span<const double> x) { return x[0] * x[0]; };
  EXPECT_LT(check_gradient(square, std::vector{1e6}, std::vector{2e6}).max_error, 1e-8);
}

TEST(GradientCheck, NaNIsAnError) {
  const auto root = [](std::span<const double> x) { return std::sqrt(x[0]); };
  EXPECT_TRUE(std::isinf(check_gradient(root, std::vector{-1.0}, std::vector{0.0}).max_error));
  const auto line = [](std::span<const double> x) { return x[0]; };
  EXPECT_TRUE(
      std::isinf(check_gradient(line, std::vector{1.0}, std::vector{std::nan("")}).max_error));
}

TEST(GradientCheck, ShapesMustMatch) {
  EXPECT_THROW(check_gradient(example, std::vector{1.0, 2.0}, std::vector{1.0}), InvalidArgument);
  EXPECT_EQ(check_gradient(example, {}, {}).worst_index, -1);
}

}  // namespace
}  // namespace milieu
