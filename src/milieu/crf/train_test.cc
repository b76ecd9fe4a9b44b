// SPDX-License-Identifier: Apache-2.0
#include "milieu/crf/train.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/crf/crf_cases_internal.h"
#include "milieu/crf/graph_example.h"

namespace milieu {
namespace {

using internal::Chain;
using internal::made_chain;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(CrfTrain, LossIsAnUpperBoundOfTheTrueOne) {
  for (const bool has_latent : {false, true}) {
    const Chain chain = made_chain(8, has_latent, 0.6, 2);
    GraphExample example(chain.graph, chain.observed);
    Random random(1);
    for (int round = 1; round <= 30; ++round) {
      std::vector<double> w, gradient(4, 0.0);
      for (int t = 0; t < 4; ++t) w.push_back(random.uniform(0, 2));
      example.complete(w);
      const CrfParts parts = example.descend(w, 1 / std::sqrt(round), gradient);
      EXPECT_LE(parts.bound, internal::least_energy(chain.graph, w) + 1e-9);
      EXPECT_NEAR(parts.energy, chain.graph.energy(example.labels(), w), 1e-9);
      EXPECT_LE(parts.bound, parts.energy + 1e-9);
    }
  }
}

// Where the loss is smooth, its slope is what descend() adds to the gradient.
TEST(CrfTrain, GradientIsTheSlopeOfTheLoss) {
  const Chain chain = made_chain(8, true, 0.6, 3);
  const std::vector<double> w = {0.9, 0.4, 0.3, 0.5};
  const auto loss = [&](const std::vector<double>& at) {
    GraphExample example(chain.graph, chain.observed);
    std::vector<double> ignored(4);
    example.complete(w);
    const CrfParts parts = example.descend(at, 0, ignored);
    return parts.energy - parts.bound;
  };
  GraphExample example(chain.graph, chain.observed);
  std::vector<double> gradient(4, 0.0);
  example.complete(w);
  example.descend(w, 0, gradient);
  for (int t = 0; t < 4; ++t) {
    std::vector<double> up = w, down = w;
    up[t] += 1e-6, down[t] -= 1e-6;
    EXPECT_NEAR(gradient[t], (loss(up) - loss(down)) / 2e-6, 1e-6);
  }
}

TEST(CrfTrain, LatentStepsNeverRaiseTheEnergy) {
  const Chain chain = made_chain(16, true, 0.8, 4);
  GraphExample example(chain.graph, chain.observed);
  Random random(5);
  std::vector<double> w = {1, 0.5, 0.2, 0.3};
  example.complete(w);
  for (int round = 0; round < 20; ++round) {
    for (double& value : w) value = random.uniform(0, 1);
    const double before = chain.graph.energy(example.labels(), w);
    example.complete(w);
    EXPECT_LE(chain.graph.energy(example.labels(), w), before + 1e-12);
    for (int v = 0; v < 16; ++v) EXPECT_EQ(example.labels()[v], chain.observed[v]);
  }
}

CrfTrainResult train_chains(CrfTrainOptions options, Monitor& monitor = silent_monitor(),
                            int num_threads = 1) {
  std::vector<std::unique_ptr<GraphExample>> owned;
  CrfTrainInput input;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Chain chain = made_chain(24, true, 0.7, seed);
    owned.push_back(std::make_unique<GraphExample>(chain.graph, chain.observed, 24, CrfLatentStep{},
                                                   num_threads));
    input.examples.push_back(owned.back().get());
  }
  input.start = {1, 1, 1, 1};
  return train_latent_crf(input, options, monitor);
}

TEST(CrfTrain, EveryVariantLowersTheObjective) {
  CrfTrainOptions base;
  base.max_iterations = 100;
  std::vector<CrfTrainOptions> variants(6, base);
  variants[1].inner_rounds = 5;
  variants[2].regularizer = CrfRegularizer::L2;
  variants[3].regularizer = CrfRegularizer::Elastic;
  variants[4].adagrad = false;
  variants[5].stochastic = true;
  variants[5].max_iterations = 400;
  const double first = train_chains(base).rounds.front().objective;
  for (const CrfTrainOptions& options : variants) {
    const CrfTrainResult result = train_chains(options);
    double last = 0;
    const size_t n = result.rounds.size();
    for (size_t i = n - 8; i < n; ++i) last += result.rounds[i].objective / 8;
    EXPECT_LT(last, 0.8 * first);
    for (const CrfRound& round : result.rounds)
      EXPECT_NEAR(round.objective, round.energy - round.bound + round.price, 1e-12);
    for (const double w : result.weights) EXPECT_GE(w, 0);
  }
}

// The loss |w - c|^2 / 2, whose minimum with any regulariser is known.
class Parabola : public CrfExample {
 public:
  explicit Parabola(std::vector<double> minimum) : minimum_(std::move(minimum)) {}
  int64_t size() const override { return 1; }
  void complete(std::span<const double>) override {}
  CrfParts descend(std::span<const double> w, double, std::span<double> gradient) override {
    CrfParts parts;
    for (size_t t = 0; t < w.size(); ++t) {
      const double away = w[t] - minimum_[t];
      gradient[t] += away;
      parts.energy += away * away / 2;
    }
    return parts;
  }

 private:
  std::vector<double> minimum_;
};

CrfTrainResult train_parabola(const std::vector<double>& minimum, const CrfTrainOptions& options,
                              const std::vector<int>& groups = {}) {
  Parabola example(minimum);
  CrfTrainInput input;
  input.examples = {&example};
  input.start.assign(minimum.size(), 1.0);
  input.groups = groups;
  return train_latent_crf(input, options);
}

TEST(CrfTrain, ProximalStepsHaveExactZeros_issue30) {
  const std::vector<double> minimum = {2, 0.3, -0.2, -1.5, 0.5};
  CrfTrainOptions options;
  options.max_iterations = 2000;
  options.regularization = 0.4;
  options.proximal = true;
  options.constraint = CrfConstraint::Free;
  for (const bool adagrad : {true, false}) {
    options.adagrad = adagrad;
    const CrfTrainResult result = train_parabola(minimum, options);
    const std::vector<double> softened = {1.6, 0, 0, -1.1, 0.1};
    for (size_t t = 0; t < minimum.size(); ++t)
      EXPECT_NEAR(result.weights[t], softened[t], 1e-4) << t;
    EXPECT_EQ(result.weights[1], 0.0);
    EXPECT_EQ(result.weights[2], 0.0);
  }
  options.constraint = CrfConstraint::NonNegative;
  EXPECT_EQ(train_parabola(minimum, options).weights[3], 0.0);
  // Plain subgradient steps go to and fro about 0 where the sign is free.
  options.constraint = CrfConstraint::Free;
  options.proximal = false;
  EXPECT_NE(train_parabola(minimum, options).weights[2], 0.0);
}

TEST(CrfTrain, ElasticStepsShrinkAndScale_issue30) {
  CrfTrainOptions options;
  options.max_iterations = 3000;
  options.regularization = 0.5;
  options.regularizer = CrfRegularizer::Elastic;
  options.l1_share = 0.4;
  options.proximal = true;
  const CrfTrainResult result = train_parabola({2, 0.15}, options);
  EXPECT_NEAR(result.weights[0], (2 - 0.5 * 0.4) / (1 + 0.5 * 0.6), 1e-4);
  EXPECT_EQ(result.weights[1], 0.0);
}

// Groups {0, 2}, {1, 3} and {4}: w_g = c_g max(0, 1 - tau sqrt(m) / |c_g|).
TEST(CrfTrain, GroupLassoDropsWholeGroups_issue30) {
  const std::vector<double> minimum = {3, 0.2, 4, 0.5, 1};
  CrfTrainOptions options;
  options.max_iterations = 3000;
  options.regularization = 0.5;
  options.regularizer = CrfRegularizer::GroupLasso;
  for (const bool adagrad : {true, false}) {
    options.adagrad = adagrad;
    const CrfTrainResult result = train_parabola(minimum, options, {7, 3, 7, 3, 5});
    const double kept = 1 - 0.5 * std::sqrt(2) / 5;
    EXPECT_NEAR(result.weights[0], 3 * kept, 1e-4);
    EXPECT_NEAR(result.weights[2], 4 * kept, 1e-4);
    EXPECT_EQ(result.weights[1], 0.0);  // |c_g| = .54 < .71
    EXPECT_EQ(result.weights[3], 0.0);
    EXPECT_NEAR(result.weights[4], 0.5, 1e-4);
    EXPECT_NEAR(result.rounds.back().price, 0.5 * (std::sqrt(2) * 5 * kept + 0.5), 1e-4);
  }
}

TEST(CrfTrain, StopsAtTheTolerance_issue30) {
  CrfTrainOptions options;
  options.max_iterations = 20000;
  options.rel_tolerance = 1e-3;
  const CrfTrainResult early = train_chains(options);
  EXPECT_EQ(early.termination, Termination::Converged);
  EXPECT_LT(early.rounds.size(), 20000u);
  // The weights are the mean of the second half of the rounds made, as with that many asked for.
  options.rel_tolerance = 0;
  options.max_iterations = static_cast<int>(early.rounds.size());
  const CrfTrainResult same = train_chains(options);
  EXPECT_EQ(same.termination, Termination::IterationLimit);
  EXPECT_EQ(same.last_weights, early.last_weights);
  for (size_t t = 0; t < same.weights.size(); ++t)
    EXPECT_NEAR(early.weights[t], same.weights[t], 1e-12);
}

TEST(CrfTrain, ThreadsAndSeedsFixTheBits) {
  CrfTrainOptions options;
  options.max_iterations = 20;
  EXPECT_EQ(train_chains(options, silent_monitor(), 1).weights,
            train_chains(options, silent_monitor(), 3).weights);
  options.stochastic = true;
  const CrfTrainResult one = train_chains(options), two = train_chains(options);
  EXPECT_EQ(one.weights, two.weights);
  options.seed = 2;
  EXPECT_NE(one.weights, train_chains(options).weights);
}

TEST(CrfTrain, ConstraintsHoldInEveryForm) {
  CrfTrainOptions options;
  options.max_iterations = 30;
  options.constraint = CrfConstraint::Simplex;
  double sum = 0;
  for (const double w : train_chains(options).last_weights) {
    EXPECT_GE(w, 0);
    sum += w;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  options.constraint = CrfConstraint::Box;
  options.box_low = 0.2, options.box_high = 0.6;
  for (const double w : train_chains(options).last_weights) EXPECT_TRUE(w >= 0.2 && w <= 0.6);

  const Chain chain = made_chain(12, false, 0.5, 1);
  GraphExample example(chain.graph, chain.observed);
  CrfTrainInput input{{&example}, {1, 1}, {}, {}, [](std::span<double> w) { w[0] = 0.7; }};
  EXPECT_EQ(train_latent_crf(input, options).weights[0], 0.7);
}

TEST(CrfTrain, ProjectionsAreTheNearestPoints) {
  std::vector<double> w = {-1, 0.5, 2};
  project_non_negative(w);
  EXPECT_THAT(w, ElementsAre(0, 0.5, 2));
  project_box(w, 0.2, 1);
  EXPECT_THAT(w, ElementsAre(0.2, 0.5, 1));
  std::vector<double> simplex = {0.9, 0.5, -0.3};
  project_simplex(simplex);  // shift 0.2: 0.7 + 0.3 = 1
  EXPECT_NEAR(simplex[0], 0.7, 1e-12);
  EXPECT_NEAR(simplex[1], 0.3, 1e-12);
  EXPECT_EQ(simplex[2], 0);
}

TEST(CrfTrain, StopsKeepValidWeights) {
  std::stop_source stop;
  stop.request_stop();
  Monitor monitor(stop.get_token());
  const CrfTrainResult result = train_chains({}, monitor);
  EXPECT_EQ(result.termination, Termination::Cancelled);
  EXPECT_THAT(result.weights, ElementsAre(1, 1, 1, 1));
}

TEST(CrfTrain, BadInputIsNamed) {
  CrfTrainOptions options;
  EXPECT_THAT([&] { train_latent_crf({}, options); },
              ThrowsMessage<InvalidArgument>(HasSubstr("at least one example")));
  options.inner_rounds = 0;
  EXPECT_THAT([&] { train_chains(options); },
              ThrowsMessage<InvalidArgument>(HasSubstr("inner_rounds is 0")));
  options = {};
  options.box_low = 2;
  EXPECT_THAT(
      [&] { train_chains(options); },
      ThrowsMessage<InvalidArgument>(HasSubstr("box_low is 2, must be at most box_high, 1")));
  const Chain chain = made_chain(8, false, 0.5, 1);
  EXPECT_THAT(
      [&] {
        GraphExample(chain.graph, {0, 1});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("2 observed labels for 8 variables")));
  std::vector<int> wrong = chain.observed;
  wrong[3] = 2;
  EXPECT_THAT([&] { GraphExample(chain.graph, wrong); },
              ThrowsMessage<InvalidArgument>(HasSubstr("variable 3 is observed with label 2")));
}

}  // namespace
}  // namespace milieu
