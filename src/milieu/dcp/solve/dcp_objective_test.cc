// SPDX-License-Identifier: Apache-2.0
// The batched objective against a plain one in double, and its gradient against differences.
#include "milieu/dcp/solve/dcp_objective_internal.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/random.h"
#include "milieu/testing/gradient_check.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using internal::Lane;
using internal::LossShape;
using internal::PartRule;

struct Setting {
  Matrix<float> points, context, shares;
  std::vector<double> weights;
  std::vector<int> labels;
  DcpOptions options = margin_dcp_options();
  internal::DcpProblem problem;
};

Setting make_setting(DcpLoss loss, int64_t n, int64_t m, int64_t d, int num_parts) {
  Random random(5);
  Setting s;
  s.points = Matrix<float>(n, d);
  s.context = Matrix<float>(m, d);
  s.shares = Matrix<float>(num_parts, n);
  for (int64_t i = 0; i < s.points.size(); ++i)
    s.points.data()[i] = static_cast<float>(random.normal());
  for (int64_t i = 0; i < s.context.size(); ++i)
    s.context.data()[i] = static_cast<float>(random.normal());
  for (int64_t i = 0; i < n; ++i) {
    s.labels.push_back(static_cast<int>(random.uniform_index(num_parts)));
    s.weights.push_back(random.uniform(0.5, 2));
    for (int k = 0; k < num_parts; ++k)
      s.shares(k, i) = static_cast<float>(random.uniform() / num_parts);
  }
  s.options.loss = loss;
  s.options.num_clusters = num_parts;
  s.options.cost = 0.7;
  DcpInput input;
  input.points = s.points;
  input.context = s.context;
  input.weights = s.weights;
  s.problem = internal::make_dcp_problem(input, s.options, silent_monitor());
  return s;
}

Lane make_lane(const Setting& s, PartRule rule, std::span<const double> planes) {
  Lane lane;
  lane.planes = planes;
  lane.rule = rule;
  lane.level = 1.5;
  lane.cost = 0.7;
  lane.loss = s.problem.loss;
  lane.labels = s.labels.data();
  lane.shares = &s.shares;
  return lane;
}

double sample_cost(const Setting& s, const Lane& lane, const std::vector<double>& f, int64_t i) {
  const double weight = s.problem.weight(i);
  double sum = 0;
  switch (lane.rule) {
    case PartRule::HardMax:
      return weight * 0.7 * lane.loss.value(1 - *std::max_element(f.begin(), f.end()));
    case PartRule::Given:
      return weight * 0.7 * lane.loss.value(1 - f[s.labels[i]]);
    case PartRule::SoftMax:
      for (const double value : f) sum += std::exp(lane.level * value);
      return weight * 0.7 * lane.loss.value(1 - std::log(sum) / lane.level);
    case PartRule::FreeEnergy:
      for (const double value : f) sum += std::exp(-0.7 * lane.loss.value(1 - value) / lane.level);
      return -weight * lane.level * std::log(sum);
    default:
      for (size_t k = 0; k < f.size(); ++k)
        sum += s.shares(static_cast<int64_t>(k), i) * lane.loss.value(1 - f[k]);
      return weight * 0.7 * sum;
  }
}

// The definition, in double, one sample after the other.
double plain_value(const Setting& s, const Lane& lane, std::span<const double> planes) {
  const internal::DcpProblem& p = s.problem;
  double sum = 0;
  for (const double w : planes) sum += 0.5 * w * w;
  for (int64_t i = 0; i < p.num_rows(); ++i) {
    std::vector<double> f(p.num_parts);
    for (int k = 0; k < p.num_parts; ++k)
      for (int64_t j = 0; j < p.d; ++j) f[k] += planes[k * p.d + j] * p.rows(i, j);
    if (i < p.n)
      sum += sample_cost(s, lane, f, i);
    else
      for (const double value : f) sum += p.weight(i) * 0.7 * lane.loss.value(1 + value);
  }
  return sum;
}

constexpr PartRule kRules[] = {PartRule::HardMax, PartRule::SoftMax, PartRule::FreeEnergy,
                               PartRule::Given, PartRule::Shared};

// Lanes of different rules in one pass; more rows than a block has.
TEST(DcpObjective, EqualsTheDefinition) {
  for (const DcpLoss loss :
       {DcpLoss::Hinge, DcpLoss::SquaredHinge, DcpLoss::Huber, DcpLoss::Logistic}) {
    const Setting s = make_setting(loss, 5000, 4321, 6, 3);
    Random random(2);
    std::vector<std::vector<double>> planes;
    std::vector<Lane> lanes;
    for (const PartRule rule : kRules) {
      planes.emplace_back(3 * s.problem.d);
      for (double& w : planes.back()) w = random.normal();
      lanes.push_back(make_lane(s, rule, planes.back()));
    }
    for (size_t i = 0; i < lanes.size(); ++i) lanes[i].planes = planes[i];
    ASSERT_TRUE(internal::evaluate(s.problem, lanes, silent_monitor()));
    for (size_t i = 0; i < lanes.size(); ++i) {
      const double wanted = plain_value(s, lanes[i], planes[i]);
      EXPECT_NEAR(lanes[i].value, wanted, 1e-5 * wanted) << i;
    }
  }
}

TEST(DcpObjective, GradientEqualsDifferences) {
  for (const DcpLoss loss :
       {DcpLoss::SquaredHinge, DcpLoss::Huber, DcpLoss::Hinge, DcpLoss::Logistic})
    for (const PartRule rule : kRules) {
      const Setting s = make_setting(loss, 30, 20, 4, 3);
      Random random(3);
      std::vector<double> planes(3 * s.problem.d);
      for (double& w : planes) w = 0.5 * random.normal();
      Lane lane = make_lane(s, rule, planes);
      ASSERT_TRUE(internal::evaluate(s.problem, {&lane, 1}, silent_monitor()));
      const GradientCheck check =
          check_gradient([&](std::span<const double> at) { return plain_value(s, lane, at); },
                         planes, lane.gradient);
      EXPECT_LT(check.max_error, 1e-4) << check.text();
    }
}

TEST(DcpObjective, NumberOfThreadsChangesNoBit) {
  Setting s = make_setting(DcpLoss::SquaredHinge, 9000, 5000, 7, 2);
  std::vector<double> planes(2 * s.problem.d, 0.1);
  planes[3] = -0.4;
  Lane one = make_lane(s, PartRule::HardMax, planes), two = one;
  s.problem.num_threads = 1;
  internal::evaluate(s.problem, {&one, 1}, silent_monitor());
  s.problem.num_threads = 2;
  internal::evaluate(s.problem, {&two, 1}, silent_monitor());
  EXPECT_THAT(two.gradient, HasBitsOf(one.gradient));
  EXPECT_EQ(one.value, two.value);
}

TEST(DcpLoss, ConjugateIsTheLegendreTransform) {
  for (const LossShape& loss : {LossShape{DcpLoss::Hinge, 0}, LossShape{DcpLoss::SquaredHinge, 0},
                                LossShape{DcpLoss::Huber, 0.3}, LossShape{DcpLoss::Logistic, 0}})
    for (double s = 0; s <= 1; s += 0.05) {
      double best = -1e30;
      for (double v = -12; v < 12; v += 1e-4) best = std::max(best, s * v - loss.value(v));
      EXPECT_NEAR(loss.conjugate(s), best, 1e-4);
    }
}

}  // namespace
}  // namespace milieu
