// SPDX-License-Identifier: Apache-2.0
// What a fit gives back, what it refuses, what it warns of.
#include "milieu/dcp/dcp.h"

#include <algorithm>
#include <cmath>
#include <stop_token>

#include "milieu/base/random.h"
#include "milieu/dcp/dcp_cases_internal.h"
#include "milieu/metrics/metrics.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

namespace dcp_cases = internal::dcp_cases;
using dcp_cases::Case;
using dcp_cases::golden_options;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

// The L of [Lampert08, Figure 2]: two bars that meet at the origin, the context in between.
struct Toy {
  Case data;
  std::vector<int> truth;
};

Toy make_toy(int64_t n, uint64_t seed) {
  Random random(seed);
  Toy toy{{Matrix<float>(2 * n, 2), Matrix<float>(n, 2)}, {}};
  for (int64_t i = 0; i < 2 * n; ++i) {
    const int part = i < n ? 0 : 1;
    toy.data.points(i, part) = static_cast<float>(random.uniform(0, 1));
    toy.data.points(i, 1 - part) = static_cast<float>(random.uniform(0, 6));
    toy.truth.push_back(part);
  }
  for (int64_t i = 0; i < n; ++i) {
    toy.data.context(i, 0) = static_cast<float>(random.uniform(2, 6));
    toy.data.context(i, 1) = static_cast<float>(random.uniform(2, 6));
  }
  return toy;
}

double error_of(const std::vector<int>& labels, const std::vector<int>& truth) {
  double wrong = 0;
  for (size_t i = 0; i < labels.size(); ++i) wrong += labels[i] != truth[i] ? 1 : 0;
  wrong /= static_cast<double>(labels.size());
  return std::min(wrong, 1 - wrong);
}

// With two restarts there is one other: the run with a single restart, when it is not the best.
TEST(Dcp, AgreementIsTheRandIndexOfTheOtherRestarts) {
  // Three clusters and the context between them: two seeds in one cluster end in a worse split.
  const std::vector<std::vector<double>> centers = {{0, 0}, {8, 0}, {0, 8}};
  Case data{Matrix<float>(90, 2), Matrix<float>(3, 2)};
  Random random(1);
  for (int i = 0; i < 90; ++i)
    for (int t = 0; t < 2; ++t)
      data.points(i, t) = static_cast<float>(centers[i / 30][t] + random.normal());
  data.context = dcp_cases::rows(2, {4, 0, 0, 4, 4, 4});
  int num_compared = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    DcpOptions options = margin_dcp_options();
    options.num_clusters = 3;
    options.init = DcpInit::Seeds;
    options.search.num_crossings = 0;
    options.seed = seed;
    options.num_restarts = 1;
    const DcpResult first = fit_dcp(data.input(), options);
    EXPECT_EQ(first.agreement, 1);  // no other restart to disagree with
    options.num_restarts = 2;
    const DcpResult both = fit_dcp(data.input(), options);
    if (both.summary.restart != 1) continue;
    const double expected = compute_metrics(first.labels, both.labels).ari;
    EXPECT_DOUBLE_EQ(both.agreement, expected) << seed;
    if (expected < 1) ++num_compared;
  }
  EXPECT_GE(num_compared, 1);
}

TEST(Dcp, EveryOptimizerAndInitSplitsTheToyAtItsCorner) {
  const Toy toy = make_toy(150, 3);
  for (const DcpOptimizer optimizer :
       {DcpOptimizer::Lbfgs, DcpOptimizer::SoftMax, DcpOptimizer::Annealing, DcpOptimizer::Entropy,
        DcpOptimizer::Subgradient})
    for (const DcpInit init :
         {DcpInit::Mixed, DcpInit::KMeans, DcpInit::Planes, DcpInit::Seeds, DcpInit::Random}) {
      DcpOptions options = margin_dcp_options();
      options.search.optimizer = optimizer;
      options.init = init;
      options.num_restarts = 6;
      const DcpResult result = fit_dcp(toy.data.input(), options);
      EXPECT_LT(error_of(result.labels, toy.truth), 0.15)
          << static_cast<int>(optimizer) << " " << static_cast<int>(init);
      EXPECT_GT(result.gain, 0.5);
      EXPECT_LE(result.gap, 1e-6 * result.summary.objective);
      EXPECT_EQ(result.summary.termination, Termination::Converged);
    }
}

TEST(Dcp, AlternationNeverRisesFromAnyStart) {
  const Toy toy = make_toy(100, 4);
  for (const DcpLoss loss :
       {DcpLoss::Hinge, DcpLoss::SquaredHinge, DcpLoss::Huber, DcpLoss::Logistic})
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      DcpOptions options = margin_dcp_options();
      options.loss = loss;
      options.cost = 1;
      options.search.optimizer = DcpOptimizer::Alternation;
      options.num_restarts = 4;
      options.seed = seed;
      const DcpResult result = fit_dcp(toy.data.input(), options);
      EXPECT_THAT(result.summary.trace, NeverRises(0));
      EXPECT_LE(result.gap, 1e-6 * result.summary.objective);
    }
}

TEST(Dcp, LinearKernelEqualsTheLinearForm) {
  const Toy toy = make_toy(60, 5);
  std::vector<double> weights(120, 1), context_weights(60, 1);
  weights[7] = 3;
  context_weights[5] = 0.25;
  for (const bool is_centered : {false, true}) {
    DcpOptions options = margin_dcp_options();
    options.center = is_centered;
    options.cost = 3;
    DcpInput input = toy.data.input();
    input.weights = weights;
    input.context_weights = context_weights;
    const DcpResult linear = fit_dcp(input, options);
    Matrix<float> all(180, 2);
    std::copy_n(toy.data.points.data(), 240, all.data());
    std::copy_n(toy.data.context.data(), 120, all.row(120));
    Matrix<float> gram(180, 180);
    for (int64_t i = 0; i < 180; ++i)
      for (int64_t j = 0; j < 180; ++j) gram(i, j) = all(i, 0) * all(j, 0) + all(i, 1) * all(j, 1);
    options.kernel = DcpKernel::Polynomial;  // (x.y)^1
    options.degree = 1;
    options.gamma = 1;
    options.coef0 = 0;
    const DcpResult kernel = fit_dcp(input, options);
    EXPECT_NEAR(kernel.summary.objective, linear.summary.objective,
                1e-8 * linear.summary.objective);
    EXPECT_EQ(kernel.labels, linear.labels);
    for (int64_t i = 0; i < linear.decisions.size(); ++i)
      EXPECT_NEAR(kernel.decisions.data()[i], linear.decisions.data()[i], 1e-5);
    options.kernel = DcpKernel::Precomputed;  // rounded to float on its way
    input.points = gram.view().rows_between(0, 120);
    input.context = gram.view().rows_between(120, 180);
    const DcpResult precomputed = fit_dcp(input, options);
    EXPECT_NEAR(precomputed.summary.objective, linear.summary.objective,
                1e-3 * linear.summary.objective);
    EXPECT_EQ(predict(precomputed.model, input.points), precomputed.labels);
  }
}

TEST(Dcp, KernelModelsPredictTheirTrainingLabels) {
  Case c = dcp_cases::histograms();
  for (const DcpKernel kernel : {DcpKernel::Polynomial, DcpKernel::Intersection,
                                 DcpKernel::ChiSquared, DcpKernel::ExpChiSquared, DcpKernel::Rbf})
    for (const bool is_scaled : {false, true}) {
      DcpOptions options = margin_dcp_options();
      options.kernel = kernel;
      options.scale = is_scaled;
      const DcpResult result = fit_dcp(c.input(), options);
      EXPECT_EQ(predict(result.model, c.points), result.labels);
      for (int64_t i = 0; i < c.points.rows(); ++i)  // margins as the planes over features say
        EXPECT_NEAR(result.margins[i], std::abs(result.decisions(i, 0) - result.decisions(i, 1)),
                    1e-5);
    }
}

TEST(Dcp, WeightTwoIsASampleTwice) {
  const Case c = dcp_cases::ell();
  Case twice{Matrix<float>(11, 2), c.context};
  std::copy_n(c.points.data(), 20, twice.points.data());
  std::copy_n(c.points.row(4), 2, twice.points.row(10));
  std::vector<double> weights(10, 1);
  weights[4] = 2;
  DcpInput input = c.input();
  input.weights = weights;
  const DcpOptions options = golden_options(DcpLoss::SquaredHinge, 1);
  EXPECT_NEAR(fit_dcp(input, options).summary.objective,
              fit_dcp(twice.input(), options).summary.objective, 1e-6);
}

TEST(Dcp, SplitCostTrainsForTheGivenLabels) {
  const Case c = dcp_cases::ell();
  const DcpOptions options = golden_options(DcpLoss::SquaredHinge, 1);
  const DcpResult best = fit_dcp(c.input(), options);
  const DcpSplitCost same = split_cost(c.input(), best.labels, options);
  EXPECT_NEAR(same.objective, best.summary.objective, 1e-7);
  EXPECT_NEAR(same.joint_objective, best.joint_objective, 1e-7);
  const std::vector<int> stripes{0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
  EXPECT_NEAR(split_cost(c.input(), stripes, options).objective, 10.302706, 1.5e-6);
}

TEST(Dcp, FarContextSupportsNoSplit) {
  Toy toy = make_toy(40, 6);
  for (int64_t i = 0; i < toy.data.context.size(); ++i) toy.data.context.data()[i] += 100;
  const DcpResult result = fit_dcp(toy.data.input(), margin_dcp_options());
  EXPECT_LE(result.gain, 0);
  EXPECT_THAT(result.summary.warnings, Contains(HasSubstr("does not support a split")));
}

TEST(Dcp, OverlapWithTheContextIsCounted) {
  Toy toy = make_toy(40, 7);
  for (int64_t i = 0; i < 5; ++i)
    std::copy_n(toy.data.points.row(3 * i), 2, toy.data.context.row(i));
  EXPECT_THAT(fit_dcp(toy.data.input(), margin_dcp_options()).summary.warnings,
              Contains(HasSubstr("5 of 80 samples are also in the context")));
  const Case same{toy.data.points, toy.data.points};
  EXPECT_THAT(fit_dcp(same.input(), margin_dcp_options()).summary.warnings,
              Contains(HasSubstr("80 of 80 samples are also in the context")));
}

TEST(Dcp, InseparablePartsAreNamed) {
  Toy toy = make_toy(40, 8);
  std::copy_n(toy.data.points.row(0), 2, toy.data.context.row(0));
  const DcpResult result = fit_dcp(toy.data.input(), margin_dcp_options());
  EXPECT_THAT(result.summary.warnings, Contains(HasSubstr("not separable from the context")));
}

TEST(Dcp, FewOutliersAreCalledSo) {
  Random random(1);
  Case c{Matrix<float>(200, 2), Matrix<float>(40, 2)};
  for (int64_t i = 0; i < 200; ++i) {
    c.points(i, 0) = static_cast<float>((i < 3 ? -9 : 9) + random.normal());
    c.points(i, 1) = static_cast<float>(random.normal());
  }
  for (int64_t i = 0; i < 80; ++i) c.context.data()[i] = static_cast<float>(random.normal());
  EXPECT_THAT(fit_dcp(c.input(), margin_dcp_options()).summary.warnings,
              Contains(HasSubstr("only detects outliers")));
}

TEST(Dcp, PartsAreNumberedByTheirFirstSample) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    DcpOptions options = margin_dcp_options();
    options.seed = seed;
    options.num_clusters = 3;
    const std::vector<int> labels = fit_dcp(make_toy(30, seed).data.input(), options).labels;
    EXPECT_EQ(labels, canonical_labels(labels));
  }
}

TEST(Dcp, BadInputIsRefused) {
  const Case c = dcp_cases::ell();
  const auto refusal = [&](DcpInput input, DcpOptions options = margin_dcp_options()) {
    return message_of([&] { fit_dcp(input, options); });
  };
  DcpInput input = c.input();
  input.context = FloatView();
  EXPECT_THAT(refusal(input), HasSubstr("context has no rows"));
  const Matrix<float> wide(3, 5);
  input.context = wide;
  EXPECT_THAT(refusal(input), HasSubstr("context has 5 columns, points has 2"));
  Matrix<float> broken = c.context;
  broken(2, 1) = std::nanf("");
  input.context = broken;
  EXPECT_THAT(refusal(input), AllOf(HasSubstr("context"), HasSubstr("row 2, column 1")));
  DcpOptions options = margin_dcp_options();
  options.num_clusters = 11;
  EXPECT_THAT(refusal(c.input(), options), HasSubstr("num_clusters is 11"));
  options = {};
  options.kernel = DcpKernel::Intersection;
  Case negative = c;
  negative.points(0, 0) = -1;
  EXPECT_THAT(refusal(negative.input(), options), HasSubstr("-1"));
  options.kernel = DcpKernel::Precomputed;
  EXPECT_THAT(refusal(c.input(), options), HasSubstr("needs 22 columns"));
  input = c.input();
  const std::vector<double> weights(10, -1);
  input.weights = weights;
  EXPECT_THAT(refusal(input), HasSubstr("weights[0] is -1"));
  input = c.input();
  const std::vector<int> labels(10, 2);
  input.initial_labels = labels;
  EXPECT_THAT(refusal(input), HasSubstr("initial_labels[0] is 2"));
}

TEST(Dcp, IndefiniteAndLopsidedKernelsAreRefused) {
  DcpOptions options = margin_dcp_options();
  options.kernel = DcpKernel::Precomputed;
  options.center = false;
  Matrix<float> gram(6, 6);
  for (int64_t i = 0; i < 6; ++i) gram(i, i) = 1;
  gram(0, 1) = gram(1, 0) = 2;
  DcpInput input;
  input.points = gram.view().rows_between(0, 4);
  input.context = gram.view().rows_between(4, 6);
  EXPECT_THAT(message_of([&] { fit_dcp(input, options); }),
              HasSubstr("not positive semi-definite"));
  gram(1, 0) = 0;
  EXPECT_THAT(message_of([&] { fit_dcp(input, options); }), HasSubstr("not symmetric"));
}

TEST(Dcp, StoppedKernelFitIsValid) {
  std::stop_source source;
  source.request_stop();
  Monitor monitor(source.get_token());
  DcpOptions options = margin_dcp_options();
  options.kernel = DcpKernel::Rbf;
  const Toy toy = make_toy(50, 2);
  const DcpResult result = fit_dcp(toy.data.input(), options, monitor);
  EXPECT_EQ(result.summary.termination, Termination::Cancelled);
  EXPECT_EQ(predict(result.model, toy.data.points), result.labels);
}

TEST(Dcp, PixelsOfAnySizeAreSplitTheSameWhenScaled) {
  const Toy toy = make_toy(60, 9);
  Toy large = toy;
  for (int64_t i = 0; i < large.data.points.size(); ++i) large.data.points.data()[i] *= 1024;
  for (int64_t i = 0; i < large.data.context.size(); ++i) large.data.context.data()[i] *= 1024;
  DcpOptions options = margin_dcp_options();
  options.scale = true;
  const DcpResult a = fit_dcp(toy.data.input(), options), b = fit_dcp(large.data.input(), options);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_NEAR(a.summary.objective, b.summary.objective, 1e-9 * a.summary.objective);
}

}  // namespace
}  // namespace milieu
