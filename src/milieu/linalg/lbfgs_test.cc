// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/lbfgs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace milieu {
namespace {

using Function = std::function<double(std::span<const double>, std::vector<double>&)>;

Lbfgs run(const Function& function, std::vector<double> start, const LbfgsOptions& options,
          std::vector<double>* trace = nullptr) {
  Lbfgs lbfgs(std::move(start), options);
  std::vector<double> gradient(lbfgs.trial().size());
  for (int i = 0; i < 100000 && !lbfgs.has_ended(); ++i) {
    const double value = function(lbfgs.trial(), gradient);
    lbfgs.update(value, gradient);
    if (trace != nullptr) trace->push_back(lbfgs.value());
  }
  return lbfgs;
}

double rosenbrock(std::span<const double> x, std::vector<double>& g) {
  const double a = x[1] - x[0] * x[0], b = 1 - x[0];
  g = {-400 * x[0] * a - 2 * b, 200 * a};
  return 100 * a * a + b * b;
}

TEST(Lbfgs, FindsTheMinimumOfRosenbrocksValley) {
  LbfgsOptions options;
  options.rel_tolerance = 0;
  options.gradient_tolerance = 1e-8;
  std::vector<double> trace;
  const Lbfgs lbfgs = run(rosenbrock, {-1.2, 1}, options, &trace);
  EXPECT_EQ(lbfgs.end(), LbfgsEnd::Converged);
  EXPECT_NEAR(lbfgs.point()[0], 1, 1e-6);
  EXPECT_NEAR(lbfgs.point()[1], 1, 1e-6);
  for (size_t i = 1; i < trace.size(); ++i) EXPECT_LE(trace[i], trace[i - 1]);
}

TEST(Lbfgs, EndsAtTheIterationLimitAndAtAFlatStart) {
  LbfgsOptions options;
  options.max_iterations = 3;
  EXPECT_EQ(run(rosenbrock, {-1.2, 1}, options).end(), LbfgsEnd::IterationLimit);
  EXPECT_EQ(run(rosenbrock, {1, 1}, options).end(), LbfgsEnd::Converged);
}

// |x| + 10 |y|: kinks everywhere that matter.
TEST(Lbfgs, NeverRisesOverKinks) {
  const Function function = [](std::span<const double> x, std::vector<double>& g) {
    g = {x[0] > 0 ? 1.0 : -1.0, x[1] > 0 ? 10.0 : -10.0};
    return std::abs(x[0]) + 10 * std::abs(x[1]);
  };
  std::vector<double> trace;
  const Lbfgs lbfgs = run(function, {3.3, 1.7}, {}, &trace);
  EXPECT_TRUE(lbfgs.has_ended());
  EXPECT_LT(lbfgs.value(), 10);
  for (size_t i = 1; i < trace.size(); ++i) EXPECT_LE(trace[i], trace[i - 1]);
}

TEST(Lbfgs, ShortensStepsIntoTheUndefined) {
  const Function function = [](std::span<const double> x, std::vector<double>& g) {
    g = {1 - 1 / x[0]};
    return x[0] > 0 ? x[0] - std::log(x[0]) : std::numeric_limits<double>::quiet_NaN();
  };
  LbfgsOptions options;
  options.rel_tolerance = 0;
  options.gradient_tolerance = 1e-9;
  EXPECT_NEAR(run(function, {40}, options).point()[0], 1, 1e-6);
}

TEST(Lbfgs, ValueThatIsNotFiniteAtTheStartEndsIt) {
  const Function function = [](std::span<const double>, std::vector<double>& g) {
    g = {1};
    return std::numeric_limits<double>::infinity();
  };
  EXPECT_EQ(run(function, {1}, {}).end(), LbfgsEnd::NoDescent);
}

}  // namespace
}  // namespace milieu
