// SPDX-License-Identifier: Apache-2.0
// The golden cases of the method's note: exhaustive optima of small problems, values at given
// planes. Objectives to the six digits that the note prints.
#include <cmath>
#include <numbers>

#include "milieu/dcp/dcp_cases_internal.h"
#include "milieu/dcp/dcp_finish_internal.h"
#include "milieu/dcp/solve/dcp_objective_internal.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

namespace dcp_cases = internal::dcp_cases;
using dcp_cases::Case;
using dcp_cases::golden_options;

constexpr double kDigits = 1.5e-6;

void expect_split(const Case& c, const DcpOptions& options, double objective,
                  const std::vector<int>& labels) {
  const DcpResult result = fit_dcp(c.input(), options);
  EXPECT_NEAR(result.summary.objective, objective, kDigits);
  EXPECT_LE(result.gap, 1e-6 * objective);
  if (!labels.empty()) {
    EXPECT_EQ(result.labels, labels);
  }
}

TEST(DcpGolden, LineIsCutAtTheContext) {
  const std::vector<int> halves{0, 0, 1, 1};
  expect_split(dcp_cases::line(), golden_options(DcpLoss::Hinge, 100), 5, halves);
  expect_split(dcp_cases::line(), golden_options(DcpLoss::Hinge, 0.5), 1.75, halves);
  expect_split(dcp_cases::line(), golden_options(DcpLoss::SquaredHinge, 1), 2.181818, halves);
}

TEST(DcpGolden, EllIsCutAtItsCorner) {
  const std::vector<int> bars{0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
  expect_split(dcp_cases::ell(), golden_options(DcpLoss::Hinge, 1), 2, {});  // two optima
  expect_split(dcp_cases::ell(), golden_options(DcpLoss::Hinge, 100), 2, {});
  expect_split(dcp_cases::ell(), golden_options(DcpLoss::SquaredHinge, 1), 1.647631, bars);
  expect_split(dcp_cases::ell(), golden_options(DcpLoss::Huber, 1), 3.238351, bars);
}

TEST(DcpGolden, OnePartAndEmptyPart) {
  const struct {
    DcpLoss loss;
    double joint, empty;
  } cases[] = {{DcpLoss::Hinge, 8.569767, 0.055556},
               {DcpLoss::SquaredHinge, 7.445533, 0.052632},
               {DcpLoss::Huber, 8.990022, 0.1125}};
  for (const auto& c : cases) {
    const DcpResult result = fit_dcp(dcp_cases::ell().input(), golden_options(c.loss, 1));
    EXPECT_NEAR(result.joint_objective, c.joint, kDigits);
    EXPECT_NEAR(result.empty_objective, c.empty, kDigits);
    EXPECT_NEAR(result.gain, 1 - result.summary.objective / (c.joint + c.empty), 1e-6);
  }
}

TEST(DcpGolden, RingIsCutIntoThree) {
  Case c{Matrix<float>(9, 2), Matrix<float>(5, 2)};
  const double turn = 2 * std::numbers::pi;
  for (int i = 0; i < 9; ++i) {
    c.points(i, 0) = static_cast<float>(2 * std::cos(turn * i / 9));
    c.points(i, 1) = static_cast<float>(2 * std::sin(turn * i / 9));
  }
  for (int j = 0; j < 5; ++j) {
    c.context(j, 0) = static_cast<float>(0.5 * std::cos(turn * j / 5));
    c.context(j, 1) = static_cast<float>(0.5 * std::sin(turn * j / 5));
  }
  expect_split(c, golden_options(DcpLoss::Hinge, 1, 3), 7.032663, {0, 0, 1, 1, 1, 2, 2, 2, 0});
  expect_split(c, golden_options(DcpLoss::SquaredHinge, 10, 3), 9.153107, {});  // two optima
}

TEST(DcpGolden, HistogramKernels) {
  const std::vector<int> halves{0, 0, 0, 1, 1, 1};
  const auto with_kernel = [](DcpKernel kernel, double gamma) {
    DcpOptions options = golden_options(DcpLoss::SquaredHinge, 1);
    options.kernel = kernel;
    options.gamma = gamma;
    return options;
  };
  const Case c = dcp_cases::histograms();
  expect_split(c, with_kernel(DcpKernel::Intersection, 0), 1.112816, halves);
  expect_split(c, with_kernel(DcpKernel::Polynomial, 0.125), 0.560987, halves);
  expect_split(c, with_kernel(DcpKernel::ChiSquared, 0), 1.403187, halves);
  expect_split(c, with_kernel(DcpKernel::Linear, 0), 0.419283, halves);
}

// The optimum of these leaves a part empty; with min_part 0 that is allowed.
TEST(DcpGolden, LocalKernelsCollapse) {
  DcpOptions options = golden_options(DcpLoss::SquaredHinge, 1);
  options.min_part = 0;
  options.kernel = DcpKernel::ExpChiSquared;
  options.gamma = 0.25;
  expect_split(dcp_cases::histograms(), options, 3.451154, std::vector<int>(6, 0));
  options.kernel = DcpKernel::Rbf;
  options.gamma = 0.05;
  expect_split(dcp_cases::histograms(), options, 4.047901, std::vector<int>(6, 0));
}

TEST(DcpGolden, ConstraintsOnTheEll) {
  DcpOptions options = golden_options(DcpLoss::SquaredHinge, 1);
  const Case c = dcp_cases::ell();
  DcpInput input = c.input();
  const std::vector<DcpLink> must{{0, 9}}, cannot{{1, 2}};
  input.must_links = must;
  input.cannot_links = cannot;
  DcpResult result = fit_dcp(input, options);
  EXPECT_NEAR(result.summary.objective, 2.402832, kDigits);
  EXPECT_EQ(result.labels[0], result.labels[9]);
  EXPECT_NE(result.labels[1], result.labels[2]);

  options.sizes = "4,6";
  result = fit_dcp(c.input(), options);
  EXPECT_NEAR(result.summary.objective, 1.647631, kDigits);
  EXPECT_EQ(result.labels, (std::vector<int>{1, 1, 1, 1, 1, 1, 0, 0, 0, 0}));
}

// By design: exact alternation at a large cost stops soon, and never rises.
TEST(DcpGolden, AlternationFromAStripedStart) {
  DcpOptions options = golden_options(DcpLoss::SquaredHinge, 1);
  options.search.optimizer = DcpOptimizer::Alternation;
  const Case c = dcp_cases::ell();
  DcpInput input = c.input();
  const std::vector<int> stripes{0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
  input.initial_labels = stripes;
  const std::vector<double> trace = fit_dcp(input, options).summary.trace;
  ASSERT_GE(trace.size(), 3u);
  EXPECT_NEAR(trace[0], 10.302706, kDigits);
  EXPECT_NEAR(trace[1], 7.936099, kDigits);
  EXPECT_NEAR(trace[2], 7.498165, kDigits);
  EXPECT_NEAR(trace.back(), 7.498165, kDigits);
}

struct AtPlanes {
  DcpLoss loss;
  internal::PartRule rule;
  double level, value, gradient_sum;  // 0: not printed
};

TEST(DcpGolden, ValuesAtGivenPlanes) {
  const std::vector<double> planes{-1, 0.5, 0.25, 0.5, -1, 0.75};
  using internal::PartRule;
  const AtPlanes cases[] = {{DcpLoss::Hinge, PartRule::HardMax, 0, 11.8125, 73},
                            {DcpLoss::Hinge, PartRule::SoftMax, 2, 11.592405, 0},
                            {DcpLoss::Hinge, PartRule::FreeEnergy, 1, 10.613464, 0},
                            {DcpLoss::SquaredHinge, PartRule::HardMax, 0, 13.375, 135.5},
                            {DcpLoss::SquaredHinge, PartRule::SoftMax, 2, 13.293513, 0},
                            {DcpLoss::SquaredHinge, PartRule::FreeEnergy, 1, 12.646944, 0},
                            {DcpLoss::Huber, PartRule::HardMax, 0, 12.15625, 75.5},
                            {DcpLoss::Huber, PartRule::SoftMax, 2, 12.002398, 0},
                            {DcpLoss::Huber, PartRule::FreeEnergy, 1, 10.92909, 0}};
  const Case c = dcp_cases::ell();
  for (const AtPlanes& at : cases) {
    const internal::DcpProblem problem =
        internal::make_dcp_problem(c.input(), golden_options(at.loss, 1), silent_monitor());
    internal::Lane lane;
    lane.planes = planes;
    lane.rule = at.rule;
    lane.level = at.level;
    lane.cost = 1;
    lane.loss = problem.loss;
    ASSERT_TRUE(internal::evaluate(problem, {&lane, 1}, silent_monitor()));
    EXPECT_NEAR(lane.value, at.value, 3e-6);  // float products
    double sum = 0;
    for (const double g : lane.gradient) sum += std::abs(g);
    if (at.gradient_sum > 0) {
      EXPECT_NEAR(sum, at.gradient_sum, 1e-4);
    }
  }
}

}  // namespace
}  // namespace milieu
