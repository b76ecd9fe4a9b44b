// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/counts/jsom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/counts/jsom_start_internal.h"
#include "milieu/classic/counts/jsom_steps.h"
#include "milieu/classic/counts/topics_steps.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using namespace internal;

using ::testing::HasSubstr;

// Three clusters, each of rows that mix two of four topics of three words.
Matrix<float> make_rows(int num_rows, uint64_t seed, std::vector<int>& labels) {
  constexpr int kTopics[3][2] = {{0, 1}, {2, 3}, {0, 3}};
  Matrix<float> counts(num_rows, 12);
  Random random(seed);
  for (int d = 0; d < num_rows; ++d) {
    labels.push_back(d % 3);
    const double share = random.uniform(0.3, 0.7);
    for (int i = 0; i < 80; ++i) {
      const int topic = kTopics[d % 3][random.bernoulli(share) ? 0 : 1];
      counts(d, 3 * topic + random.uniform_index(3)) += 1;
    }
  }
  return counts;
}

TEST(Jsom, TrigammaIsTheSlopeOfDigamma) {
  for (const double x : {0.01, 0.3, 1.0, 2.5, 11.9, 50.0}) {
    const double step = 1e-5 * x;
    const double slope = (digamma(x + step) - digamma(x - step)) / (2 * step);
    EXPECT_NEAR(trigamma(x), slope, 1e-5 * slope) << x;
  }
  EXPECT_NEAR(trigamma(1), 1.6449340668482264, 1e-10);
}

// Draws from a Dirichlet reveal its parameters, and no neighbour does better.
TEST(Jsom, DirichletIsFitted) {
  const double truth[] = {0.5, 2.0, 5.0};
  double logs[3] = {};
  for (size_t k = 0; k < 3; ++k) logs[k] = 1000 * (digamma(truth[k]) - digamma(7.5));
  double alpha[3] = {1, 1, 1};
  fit_dirichlet(1000, logs, alpha);
  for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(alpha[k], truth[k], 1e-3 * truth[k]) << k;
}

TEST(Jsom, ClustersOfMixedTopicsAreFound) {
  std::vector<int> truth;
  const Matrix<float> counts = make_rows(90, 1, truth);
  JsomOptions options;
  options.num_clusters = 3, options.num_topics = 4, options.num_restarts = 3;
  const JsomResult result = fit_jsom({counts.view()}, options);
  EXPECT_THAT(result.labels, IsSamePartitionAs(truth));
  EXPECT_EQ(predict(result.model, counts), result.labels);
}

// Rows of three clusters that differ in all their words, each row with its own noise.
Matrix<float> make_noisy_rows(int num_rows, uint64_t seed, std::vector<int>& labels) {
  constexpr int kWords = 24;
  Matrix<float> counts(num_rows, kWords);
  Random random(seed);
  Matrix<double> logs(3, kWords);
  for (int64_t i = 0; i < logs.size(); ++i) logs.data()[i] = 0.6 * random.normal();
  for (int d = 0; d < num_rows; ++d) {
    labels.push_back(d % 3);
    for (int v = 0; v < kWords; ++v)
      counts(d, v) =
          static_cast<float>(std::floor(10 * std::exp(logs(d % 3, v) + 0.4 * random.normal())));
  }
  return counts;
}

// With as many topics as words, and with fewer or more, rows of one cluster are known by what they
// have in common.
TEST(Jsom, ManyTopicsKeepTheClusters) {
  for (const int num_topics : {12, 24, 40})
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      std::vector<int> truth;
      const Matrix<float> counts = make_noisy_rows(150, seed, truth);
      JsomOptions options;
      options.num_clusters = 3, options.num_topics = num_topics, options.seed = seed;
      const JsomResult result = fit_jsom({counts.view()}, options);
      EXPECT_THAT(result.labels, IsSamePartitionAs(truth)) << num_topics << ", seed " << seed;
    }
}

TEST(Jsom, WordsOfTheSameRowsAreOneGroup) {
  Matrix<float> counts(6, 4);  // words 0 and 2 in the first rows, 1 and 3 in the last
  for (int64_t d = 0; d < 6; ++d)
    for (int64_t v = 0; v < 4; ++v) counts(d, v) = v % 2 == d / 3 ? 5 : 0;
  JsomOptions options;
  options.num_topics = 2;
  const std::vector<int> groups = group_words(counts, options, 1, silent_monitor());
  EXPECT_EQ(groups[0], groups[2]);
  EXPECT_EQ(groups[1], groups[3]);
  EXPECT_NE(groups[0], groups[1]);
  options.num_topics = 4;
  EXPECT_EQ(group_words(counts, options, 1, silent_monitor()), (std::vector<int>{0, 1, 2, 3}));
}

TEST(Jsom, BoundNeverFalls) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Matrix<float> counts(25, 7);
    Random random(seed);
    for (int64_t i = 0; i < counts.size(); ++i)
      counts.data()[i] = static_cast<float>(random.bernoulli(0.6) ? random.uniform_index(9) : 0);
    JsomOptions options;
    options.num_clusters = 3, options.num_topics = 5, options.seed = seed;
    options.max_iterations = 30, options.rel_tolerance = 0;
    EXPECT_THAT(fit_jsom({counts.view()}, options).summary.trace, NeverFalls(1e-9)) << seed;
  }
}

// The bound of one row in one cluster with one topic is its exact evidence under that topic.
TEST(Jsom, BoundIsExactWithOneTopicAndOneCluster) {
  JsomModel model;
  model.weights = {1};
  model.priors = Matrix<double>(1, 1);
  model.priors(0, 0) = 0.7;
  model.words = Matrix<double>(1, 2);
  model.words(0, 0) = 3, model.words(0, 1) = 5;
  Matrix<float> counts(1, 2);
  counts(0, 0) = 2, counts(0, 1) = 1;
  Matrix<double> gamma(1, 1), zeta(1, 1);
  gamma(0, 0) = 1, zeta(0, 0) = 1;
  const auto stats = update_rows(model, counts, gamma, zeta, 1, silent_monitor());
  const double expected = 2 * (digamma(3) - digamma(8)) + (digamma(5) - digamma(8));
  EXPECT_NEAR(stats->bound, expected, 1e-9);
}

// From any start the rows' part of the bound rises with every update.
TEST(Jsom, RowUpdatesRise) {
  std::vector<int> truth;
  const Matrix<float> counts = make_rows(30, 4, truth);
  JsomOptions options;
  options.num_clusters = 3, options.num_topics = 4;
  const JsomModel model = fit_jsom({counts.view()}, options).model;
  Matrix<double> gamma(30, 4), zeta(30, 3);
  std::fill_n(gamma.data(), gamma.size(), 20.0);
  std::fill_n(zeta.data(), zeta.size(), 1.0 / 3);
  double before = -INFINITY;
  for (int round = 0; round < 5; ++round) {
    const double bound = update_rows(model, counts, gamma, zeta, 1, silent_monitor())->bound;
    EXPECT_GE(bound, before - 1e-9 * std::abs(bound));
    before = bound;
  }
}

// With one cluster the bound of its own gamma is that of the row update.
TEST(Jsom, ClustersOfARowAreComparedByTheirBounds) {
  JsomModel model;
  model.weights = {0.25, 0.75};
  model.priors = Matrix<double>(2, 2);
  model.priors(0, 0) = 5, model.priors(0, 1) = 0.5, model.priors(1, 0) = 0.5;
  model.priors(1, 1) = 5;
  model.words = Matrix<double>(2, 3);
  for (int64_t i = 0; i < 6; ++i) model.words.data()[i] = static_cast<double>(1 + i * i % 5);
  Matrix<float> counts(1, 3);
  counts(0, 0) = 4, counts(0, 1) = 1, counts(0, 2) = 2;
  double bounds[2];
  for (int j = 0; j < 2; ++j) {
    JsomModel one = model;
    one.weights = {model.weights[j]};
    one.priors = Matrix<double>(model.priors.view().rows_between(j, j + 1));
    Matrix<double> gamma(1, 2), zeta(1, 1);
    gamma(0, 0) = gamma(0, 1) = 3, zeta(0, 0) = 1;
    for (int round = 0; round < 20; ++round)
      bounds[j] = update_rows(one, counts, gamma, zeta, 1, silent_monitor())->bound;
  }
  const Matrix<double> zeta = infer_clusters(model, counts, 1, silent_monitor());
  EXPECT_NEAR(std::log(zeta(0, 0) / zeta(0, 1)), bounds[0] - bounds[1], 1e-3);
}

TEST(Jsom, ThreadsChangeNoBit) {
  std::vector<int> truth;
  const Matrix<float> counts = make_rows(120, 2, truth);
  JsomOptions options;
  options.num_clusters = 3, options.num_topics = 6, options.num_threads = 1;
  options.max_iterations = 20;
  const JsomResult one = fit_jsom({counts.view()}, options);
  options.num_threads = 2;
  const JsomResult two = fit_jsom({counts.view()}, options);
  EXPECT_THAT(one.summary.trace, HasBitsOf(two.summary.trace));
  EXPECT_EQ(one.labels, two.labels);
}

TEST(Jsom, BadInputIsRefused) {
  Matrix<float> counts(3, 2);
  JsomOptions options;
  EXPECT_THAT(message_of([&] { fit_jsom({counts.view()}, options); }),
              HasSubstr("num_clusters is 8, there are only 3 samples"));
  options.num_clusters = 1;
  counts(1, 1) = -1;
  EXPECT_THAT(message_of([&] { fit_jsom({counts.view()}, options); }),
              HasSubstr("counts has -1 at row 1, column 1"));
  EXPECT_THROW(predict(JsomModel(), Matrix<float>(1, 2)), DataError);
}

}  // namespace
}  // namespace milieu
