// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/counts/topics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/counts/topics_steps.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using namespace internal;

using ::testing::HasSubstr;

// Rows of three topics, each with its own words, a few words mixed in.
struct Bags {
  Matrix<float> counts{60, 12};
  std::vector<int> labels;
};

Bags make_bags(uint64_t seed) {
  Bags bags;
  Random random(seed);
  for (int d = 0; d < 60; ++d) {
    bags.labels.push_back(d % 3);
    for (int i = 0; i < 40; ++i) {
      const int64_t v =
          random.bernoulli(0.9) ? 4 * (d % 3) + random.uniform_index(4) : random.uniform_index(12);
      bags.counts(d, v) += 1;
    }
  }
  return bags;
}

TEST(Topics, DigammaIsTheSlopeOfLogGamma) {
  for (const double x : {0.01, 0.3, 1.0, 2.5, 9.9, 50.0, 1e4}) {
    const double step = 1e-5 * x;
    const double slope = (std::lgamma(x + step) - std::lgamma(x - step)) / (2 * step);
    EXPECT_NEAR(digamma(x), slope, 1e-5 * (1 + std::abs(slope))) << x;
  }
  EXPECT_NEAR(digamma(1), -0.57721566490153286, 1e-12);
  EXPECT_NEAR(digamma(0.5), -1.9635100260214235, 1e-12);
}

TEST(Topics, DisjointTopicsAreFound) {
  const Bags bags = make_bags(1);
  for (const TopicsInference inference : {TopicsInference::Variational, TopicsInference::Gibbs}) {
    TopicsOptions options;
    options.num_clusters = 3, options.inference = inference;
    options.num_restarts = 5, options.max_iterations = 60;
    const TopicsResult result = fit_topics({bags.counts.view()}, options);
    EXPECT_THAT(result.labels, IsSamePartitionAs(bags.labels));
    EXPECT_EQ(predict(result.model, bags.counts), result.labels);
    for (int64_t d = 0; d < 60; ++d) {
      double sum = 0;
      for (const double share : result.proportions.row_span(d)) sum += share;
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  }
}

TEST(Topics, RowUpdateIsAMaximumOfTheBound) {
  const Bags bags = make_bags(2);
  Matrix<double> lambda(3, 12);
  Random random(3);
  for (double& x : std::span(lambda.data(), lambda.size())) x = random.uniform(0.2, 5);
  const Matrix<double> logs = expected_log_words(lambda);
  const auto bound_at = [&](std::vector<double> gamma) {  // phi at its optimum given gamma
    double sum = 0, total = 0;
    for (const double g : gamma) total += g;
    std::vector<double> elog;
    for (const double g : gamma) elog.push_back(digamma(g) - digamma(total));
    for (int v = 0; v < 12; ++v) {
      double inner = 0;
      for (int k = 0; k < 3; ++k) inner += std::exp(elog[k] + logs(v, k));
      sum += bags.counts(0, v) * std::log(inner);
    }
    for (int k = 0; k < 3; ++k)
      sum += (0.05 - gamma[k]) * elog[k] + std::lgamma(gamma[k]) - std::lgamma(0.05);
    return sum + std::lgamma(0.15) - std::lgamma(total);
  };
  std::vector<double> gamma(3);
  RowScratch scratch;
  TopicStats stats(3, 12);
  infer_row(bags.counts.row_span(0), make_topic_words(lambda), 0.05, RowRounds{}, gamma, scratch,
            &stats);
  const double best = bound_at(gamma);
  EXPECT_NEAR(stats.bound, best, 1e-9);
  for (int k = 0; k < 3; ++k)
    for (const double factor : {0.97, 1.03}) {
      std::vector<double> moved = gamma;
      moved[k] *= factor;
      EXPECT_LE(bound_at(moved), best + 1e-9);
    }
}

// Priors and counts so small that products of shares underflow for a word whose topic is rare here.
TEST(Topics, TinyPriorsLoseNoShares) {
  constexpr double kAlpha = 1e-4;
  Matrix<double> lambda(2, 3);
  for (double& x : std::span(lambda.data(), lambda.size())) x = 1e-4;
  lambda(0, 0) = 50, lambda(1, 1) = 50;  // and no topic likes word 2
  Matrix<float> counts(1, 3);
  counts(0, 0) = 8, counts(0, 1) = 1e-4f, counts(0, 2) = 1;
  std::vector<double> gamma(2);
  RowScratch scratch;
  TopicStats stats(2, 3);
  infer_row(counts.row_span(0), make_topic_words(lambda), kAlpha, RowRounds{}, gamma, scratch,
            &stats);
  EXPECT_NEAR(gamma[0] + gamma[1], 9.0001 + 2 * kAlpha, 1e-7);
  EXPECT_NEAR(stats.words(0, 2) + stats.words(1, 2), 1, 1e-9);
  const Matrix<double> logs = expected_log_words(lambda);
  const double total = digamma(gamma[0] + gamma[1]);
  const double elog[2] = {digamma(gamma[0]) - total, digamma(gamma[1]) - total};
  for (const int v : {0, 1, 2}) {
    const double a = elog[0] + logs(v, 0), b = elog[1] + logs(v, 1);
    EXPECT_NEAR(stats.words(0, v), counts(0, v) / (1 + std::exp(b - a)), 1e-9) << v;
  }
}

// Words 0 0 1 in one row, two topics: all eight assignments have an exact probability.
TEST(Topics, GibbsDrawsFromTheExactPosterior) {
  Matrix<float> counts(1, 2);
  counts(0, 0) = 2, counts(0, 1) = 1;
  Random random(4);
  GibbsState state = start_gibbs(counts, 2, random);
  std::map<std::vector<int>, double> exact, drawn;
  double total = 0;
  for (int code = 0; code < 8; ++code) {
    GibbsState s;
    s.row_topics = Matrix<double>(1, 2);
    s.topic_words = Matrix<double>(2, 2);
    for (int i = 0; i < 3; ++i) {
      const int k = code >> i & 1;
      s.topic.push_back(k);
      s.row_topics(0, k) += 1, s.topic_words(k, i == 2 ? 1 : 0) += 1;
    }
    total += exact[s.topic] = std::exp(gibbs_log_joint(s, 0.5, 0.5));
  }
  constexpr int kSweeps = 40000;
  for (int i = 0; i < kSweeps; ++i) {
    ASSERT_TRUE(sweep_gibbs(state, 0.5, 0.5, random, silent_monitor()));
    drawn[state.topic] += 1.0 / kSweeps;
  }
  for (const auto& [topics, weight] : exact) EXPECT_NEAR(drawn[topics], weight / total, 0.015);
}

TEST(Topics, ThreadsChangeNoBit) {
  const Bags bags = make_bags(5);
  TopicsOptions options;
  options.num_clusters = 3, options.num_restarts = 1, options.num_threads = 1;
  const TopicsResult one = fit_topics({bags.counts.view()}, options);
  options.num_threads = 2;
  const TopicsResult two = fit_topics({bags.counts.view()}, options);
  EXPECT_TRUE(one.model.words == two.model.words);
  EXPECT_THAT(one.summary.trace, HasBitsOf(two.summary.trace));
}

TEST(Topics, WrongCountsAreRefusedByName) {
  Bags bags = make_bags(6);
  TopicsOptions options;
  options.inference = TopicsInference::Gibbs;
  bags.counts(4, 2) = 1.5f;
  EXPECT_THAT(message_of([&] { fit_topics({bags.counts.view()}, options); }),
              HasSubstr("row 4, column 2: Gibbs sampling needs whole counts"));
  bags.counts(4, 2) = -1;
  EXPECT_THAT(message_of([&] { fit_topics({bags.counts.view()}, options); }),
              HasSubstr("counts has -1 at row 4, column 2"));
  options.num_clusters = 61;
  bags.counts(4, 2) = 1;
  EXPECT_THAT(message_of([&] { fit_topics({bags.counts.view()}, options); }),
              HasSubstr("num_clusters is 61, there are only 60 samples"));
  const TopicsModel model{.topic_prior = 0.05, .words = Matrix<double>(2, 3)};
  EXPECT_THAT(message_of([&] { predict(model, bags.counts); }), HasSubstr("fitted on 3"));
}

TEST(Topics, StoppedRunsAreValid) {
  const Bags bags = make_bags(7);
  for (const TopicsInference inference : {TopicsInference::Variational, TopicsInference::Gibbs}) {
    TopicsOptions options;
    options.num_clusters = 3, options.inference = inference;
    Monitor monitor;
    monitor.set_time_limit(0);
    const TopicsResult result = fit_topics({bags.counts.view()}, options, monitor);
    EXPECT_EQ(result.summary.termination, Termination::TimeLimit);
    EXPECT_EQ(result.labels.size(), 60u);
    EXPECT_FALSE(std::isnan(result.summary.objective));
  }
}

}  // namespace
}  // namespace milieu
