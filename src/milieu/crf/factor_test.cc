// SPDX-License-Identifier: Apache-2.0
#include "milieu/crf/factor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/crf/crf_cases_internal.h"

namespace milieu {
namespace {

using internal::least_cost;
using internal::random_unaries;
using internal::total_cost;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// The factor's own minimiser against enumeration, for its value and for its labels.
void expect_exact(const CrfFactor& factor, const std::vector<double>& w, Random& random) {
  for (int round = 0; round < 100; ++round) {
    const CrfUnaries unaries = random_unaries(factor.num_labels(), random);
    std::vector<int> labels(factor.variables().size());
    const double found = factor.minimise(unaries, w, labels);
    EXPECT_NEAR(found, least_cost(factor, unaries, w), 1e-9);
    EXPECT_NEAR(total_cost(factor, unaries, labels, w), found, 1e-9);
  }
}

// d value / dw by differences of value, which is linear in w.
void expect_gradient(const CrfFactor& factor, const std::vector<double>& w) {
  internal::for_each_labelling(factor.num_labels(), [&](const std::vector<int>& labels) {
    std::vector<double> gradient(w.size(), 0.0);
    factor.add_gradient(labels, 2, gradient);
    for (size_t t = 0; t < w.size(); ++t) {
      std::vector<double> moved = w;
      moved[t] += 1;
      EXPECT_NEAR(gradient[t], 2 * (factor.value(labels, moved) - factor.value(labels, w)), 1e-9);
    }
  });
}

TEST(Factor, MinimisersEqualEnumeration) {
  Random random(1);
  const std::vector<double> w = {0.3, 0.7, -0.4};
  std::vector<LinearCost> costs;
  for (int i = 0; i < 12; ++i)
    costs.push_back({random.uniform(-1, 1), {{i % 3, random.uniform(-1, 1)}}});
  const TableFactor table({0, 1, 2}, {2, 3, 2}, costs);
  const PottsFactor potts(0, 1, 4, weighted_cost(0));
  const PottsFactor repelling(0, 1, 3, weighted_cost(2));
  const PnFactor pn({0, 1, 2, 3}, {constant_cost(0.1), weighted_cost(0), constant_cost(0)},
                    weighted_cost(1));
  const PnFactor odd({0, 1, 2}, {constant_cost(0.5), constant_cost(0.8)}, weighted_cost(2));
  const LatentPnFactor latent(7, {0, 1, 2, 3}, 2, weighted_cost(0), weighted_cost(1));
  const CountFactor count({3, 1, 4, 0}, {weighted_cost(0), weighted_cost(1, 2), weighted_cost(2),
                                         constant_cost(0), weighted_cost(1)});
  const std::vector<const CrfFactor*> all = {&table, &potts,  &repelling, &pn,
                                             &odd,   &latent, &count};
  for (const CrfFactor* factor : all) {
    expect_exact(*factor, w, random);
    expect_gradient(*factor, w);
  }
}

// Minimised over its choice, the latent P^n potential is the truncated one of [Kohli08].
TEST(Factor, LatentPnIsTheTruncatedPotential) {
  const LatentPnFactor latent(3, {0, 1, 2}, 2, constant_cost(0.4), constant_cost(0.5));
  const std::vector<double> w;
  internal::for_each_labelling({2, 2, 2}, [&](const std::vector<int>& x) {
    double least = 1e9;
    for (int choice = 0; choice < 3; ++choice)
      least = std::min(least, latent.value(std::vector<int>{choice, x[0], x[1], x[2]}, w));
    const int ones = x[0] + x[1] + x[2];
    EXPECT_NEAR(least, std::min(0.5, 0.4 * std::min(ones, 3 - ones)), 1e-12);
  });
}

TEST(Factor, BadFactorsAreNamed) {
  EXPECT_THAT(([] {
                CountFactor({0, 1}, {LinearCost(), LinearCost()});
              }),
              ThrowsMessage<InvalidArgument>(HasSubstr("2 costs for 2 variables")));
  EXPECT_THAT(
      [] {
        TableFactor({0, 1}, {2, 2}, {LinearCost()});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("a table of 1 cost for 4 labellings")));
  EXPECT_THAT([] { PottsFactor(3, 3, 2, {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("names a variable twice")));
  std::vector<int> many(30);
  for (int i = 0; i < 30; ++i) many[i] = i;
  class Heavy : public CrfFactor {
   public:
    using CrfFactor::CrfFactor;
    double value(std::span<const int>, std::span<const double>) const override { return 0; }
    void add_gradient(std::span<const int>, double, std::span<double>) const override {}
  };
  const Heavy heavy(many, std::vector<int>(30, 2));
  std::vector<int> labels(30);
  EXPECT_THAT([&] { heavy.minimise({}, {}, labels); },
              ThrowsMessage<InvalidArgument>(HasSubstr("too many to enumerate")));
}

}  // namespace
}  // namespace milieu
