// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/learn/learn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/exemplar/learn/learn_steps.h"
#include "milieu/exemplar/search/exemplar.h"

namespace milieu {
namespace {

using internal::minimise_cluster_slave;
using internal::minimise_sample_slave;
using internal::SlaveMinimum;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Golden case G1.
TEST(LearnSteps, SampleSlaveGivesTheGoldenChoices) {
  const std::vector<double> ubar = {0, 0.4, 0.05};
  const double beta = 1;
  std::vector<char> open(3);
  SlaveMinimum found = minimise_sample_slave(0, ubar, std::vector{0.5, -0.2, 0.3}, beta, open);
  EXPECT_EQ(found.chosen, 2);
  EXPECT_THAT(open, ElementsAre(0, 1, 1));
  EXPECT_NEAR(found.value, 0.15 - beta, 1e-12);
  found = minimise_sample_slave(0, ubar, std::vector{-0.5, -0.2, 0.3}, beta, open);
  EXPECT_EQ(found.chosen, 0);
  EXPECT_THAT(open, ElementsAre(1, 1, 0));
  EXPECT_NEAR(found.value, -0.7 - beta, 1e-12);
}

// Golden case G2.
TEST(LearnSteps, ClusterSlaveOfEqualThetasHasTheGoldenValue) {
  for (const double alpha : {0.5, 1.0})
    for (const int m : {1, 3, 6})
      for (const double t : {-0.7, 0.2, 0.9, 1.5}) {
        std::vector<char> open(m);
        EXPECT_NEAR(minimise_cluster_slave(std::vector<double>(m, t), alpha, open),
                    -alpha + std::min(0.0, 2 * alpha + m * std::min(t - alpha, 0.0)), 1e-12);
      }
}

// The cost of one choice in the slave of p, from its definition.
double sample_slave_cost(int p, int chosen, int set, const std::vector<double>& ubar,
                         const std::vector<double>& theta, double beta) {
  double cost = chosen == p ? 0.0 : ubar[chosen];
  for (size_t q = 0; q < theta.size(); ++q)
    if (set >> q & 1) cost += theta[q];
  return cost - beta;
}

TEST(LearnSteps, SlavesEqualEnumeration) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const int n = 2 + static_cast<int>(random.uniform_index(5));
    const int p = static_cast<int>(random.uniform_index(n));
    std::vector<double> ubar(n), theta(n);
    for (int q = 0; q < n; ++q) {
      ubar[q] = random.uniform(-0.2, 1);
      theta[q] = random.uniform(-0.6, 1);
    }
    double best = INFINITY, best_cluster = INFINITY;
    for (int set = 0; set < (1 << n); ++set) {
      for (int chosen = 0; chosen < n; ++chosen)
        if ((set >> chosen & 1) && (set >> p & 1) == (chosen == p))
          best = std::min(best, sample_slave_cost(p, chosen, set, ubar, theta, 0.8));
      const int count = __builtin_popcount(set);
      double cost = 0.7 * (2 * (count > 0) - 1 - count);
      for (int q = 0; q < n; ++q)
        if (set >> q & 1) cost += theta[q];
      best_cluster = std::min(best_cluster, cost);
    }
    std::vector<char> open(n);
    const SlaveMinimum found = minimise_sample_slave(p, ubar, theta, 0.8, open);
    EXPECT_NEAR(found.value, best, 1e-9);
    int set = 0;
    for (int q = 0; q < n; ++q) set |= open[q] << q;
    EXPECT_NEAR(sample_slave_cost(p, found.chosen, set, ubar, theta, 0.8), best, 1e-9);
    EXPECT_NEAR(minimise_cluster_slave(theta, 0.7, open), best_cluster, 1e-9);
  }
}

TEST(LearnSteps, DualsOfAVariableKeepTheirSum) {
  std::vector<double> first = {0.1, -0.2}, second = {-0.1, 0.2};
  const std::vector<char> a = {1, 0}, b = {0, 0};
  const std::vector<double> share = {0.5, 0.0};
  internal::update_duals(a, share, 0.3, first);
  internal::update_duals(b, share, 0.3, second);
  EXPECT_THAT(first, ElementsAre(0.25, -0.2));
  EXPECT_NEAR(first[0] + second[0], 0, 1e-15);
}

// The energy less the margin of a choice of exemplars S: what the slaves' sum bounds from below.
double least_margin_energy(const Matrix<float>& d, double penalty, const std::vector<int>& labels,
                           int clusters, double alpha, double beta) {
  const int n = static_cast<int>(labels.size());
  double best = INFINITY;
  for (int set = 1; set < (1 << n); ++set) {
    double energy = -beta * n;
    std::vector<int> count(clusters, 0);
    for (int p = 0; p < n; ++p) {
      if (set >> p & 1) {
        energy += penalty + beta;
        ++count[labels[p]];
        continue;
      }
      double cheapest = INFINITY;
      for (int q = 0; q < n; ++q)
        if (set >> q & 1)
          cheapest = std::min(cheapest, d(p, q) + (labels[p] == labels[q] ? beta : 0.0));
      energy += cheapest;
    }
    for (int c = 0; c < clusters; ++c) energy += alpha * (2 * (count[c] > 0) - 1 - count[c]);
    best = std::min(best, energy);
  }
  return best;
}

struct Example {
  Matrix<float> points;
  std::vector<int> labels;
  LearnSet set() const { return {points, labels, {}}; }
};

// Two groups of m on a line, 0 and 1: the feature is 0 inside and 1 across.
Example two_groups(int m) {
  Example example{Matrix<float>(2 * m, 1), {}};
  for (int p = 0; p < 2 * m; ++p) {
    example.labels.push_back(p / m);
    example.points(p, 0) = static_cast<float>(p / m);
  }
  return example;
}

// Golden case G5: without duals every sample chooses itself, and the bound has a closed form. The
// loss is never below the true one.
TEST(Learn, FirstRoundHasTheGoldenBound) {
  Random random(5);
  Example example{Matrix<float>(9, 2), {0, 0, 0, 1, 1, 2, 2, 2, 2}};
  for (int64_t i = 0; i < example.points.size(); ++i)
    example.points.data()[i] = static_cast<float>(random.uniform());
  ExemplarLearnOptions options;
  options.train.max_iterations = 1;
  options.normalize = false;
  options.train.regularization = 0;
  options.penalty = 2.5;
  options.alpha = 0.6;
  const auto result = learn_exemplar_distance({{example.set()}}, options);
  const int n = 9;
  Matrix<float> d(n, n);  // one weight for both coordinates, so that the mean distance is 3
  double mean = 0;
  for (int p = 0; p < n; ++p)
    for (int q = 0; q < n; ++q) {
      for (int t = 0; t < 2; ++t)
        d(p, q) += std::pow(example.points(p, t) - example.points(q, t), 2.0f);
      mean += d(p, q) / (n * n);
    }
  for (int64_t i = 0; i < d.size(); ++i) d.data()[i] *= static_cast<float>(3 / mean);
  double truth = 0;
  for (int c = 0; c < 3; ++c) {
    double cheapest = INFINITY;
    for (int q = 0; q < n; ++q) {
      if (example.labels[q] != c) continue;
      double sum = 2.5;
      for (int p = 0; p < n; ++p)
        if (example.labels[p] == c && p != q) sum += d(p, q);
      cheapest = std::min(cheapest, sum);
    }
    truth += cheapest;
  }
  const double th = (2.5 + 1) / (n + 1);
  double bound = n * th - n;
  for (const int m : {3, 2, 4}) bound += -0.6 + std::min(0.0, 1.2 + m * std::min(th - 0.6, 0.0));
  EXPECT_NEAR(result.summary.trace[0], (truth - bound) / n, 1e-5);
  const double least = least_margin_energy(d, 2.5, example.labels, 3, 0.6, 1);
  EXPECT_GE(result.summary.trace[0], (truth - least) / n - 1e-5);
}

// Golden case G6: the weight at which two groups just stay apart.
TEST(Learn, TwoGroupsGetTheGoldenWeight) {
  const int m = 6;
  const double d = 3, alpha = 1, beta = 1;
  ExemplarLearnOptions options;
  options.penalty = d;
  options.normalize = false;
  const Example example = two_groups(m);
  const auto result = learn_exemplar_distance({{example.set()}}, options);
  const double g = 2 * alpha * (1 - 1.0 / m);
  const double expected = beta + (d + alpha - g) / m;
  EXPECT_NEAR(result.model.weights[0], expected, 0.05 * expected);
  const double value = options.train.regularization * expected + 2 * g / (2 * m);
  const std::vector<double>& trace = result.summary.trace;
  const double least = *std::min_element(trace.begin(), trace.end());
  EXPECT_GE(least, value - 1e-6);  // every round's loss is an upper bound
  EXPECT_LE(least, 1.05 * value);
}

// Groups in the first three of ten coordinates; the others are noise of the same spread.
Example noisy_groups(int n, uint64_t seed) {
  Random random(seed);
  Example example{Matrix<float>(n, 10), {}};
  for (int p = 0; p < n; ++p) {
    const int c = p % 4;
    example.labels.push_back(c);
    for (int t = 0; t < 10; ++t)
      example.points(p, t) = static_cast<float>(
          t < 3 ? 4 * ((c >> (t % 2)) & 1) + 0.5 * random.normal() : 2 * random.normal());
  }
  return example;
}

TEST(Learn, NoiseIsSwitchedOffAndNewDataFallIntoTheirGroups) {
  const Example a = noisy_groups(60, 1), b = noisy_groups(80, 2), c = noisy_groups(72, 8);
  const Example fresh = noisy_groups(100, 3);
  const auto result = learn_exemplar_distance({{a.set(), b.set(), c.set()}}, {});
  EXPECT_LT(result.summary.trace.back(), 0.5 * result.summary.trace.front());
  double signal = 0, noise = 0;
  for (int t = 0; t < 10; ++t) (t < 3 ? signal : noise) += result.model.weights[t];
  EXPECT_LT(5 * noise / 7, signal / 3);
  const Matrix<float> weighted = apply_weights(result.model, fresh.points);
  ExemplarInput input;
  input.points = weighted;
  ExemplarOptions options;
  options.distance = Distance::SquaredEuclidean;
  options.penalty = to_text(FieldValue(result.model.penalty));
  const ExemplarResult clusters = fit_exemplar(input, options);
  ASSERT_EQ(clusters.model.rows.size(), 4u);
  for (int p = 0; p < 100; ++p) EXPECT_EQ(clusters.labels[p], clusters.labels[p % 4]);
}

double mean_between(const std::vector<double>& trace, size_t begin, size_t end) {
  return std::accumulate(trace.begin() + static_cast<long>(begin),
                         trace.begin() + static_cast<long>(end), 0.0) /
         static_cast<double>(end - begin);
}

// It stops where the rule holds, which it did not at half of the rounds; a smaller tolerance takes
// more rounds and ends lower. The reason is in the summary.
TEST(Learn, StopsAtTheToleranceAndSaysSo_issue30) {
  const Example a = noisy_groups(120, 1), b = noisy_groups(120, 2);
  ExemplarLearnOptions options;
  options.validations = 0;
  options.train.max_iterations = 1800;
  const auto learn = [&](double tolerance) {
    options.train.rel_tolerance = tolerance;
    return learn_exemplar_distance({{a.set(), b.set()}}, options).summary;
  };
  const auto fall = [](const std::vector<double>& trace, size_t n) {
    return (mean_between(trace, n / 4, n / 2) - mean_between(trace, n / 2, n)) / trace.front();
  };
  EXPECT_EQ(learn(0).termination, Termination::IterationLimit);
  const RunSummary coarse = learn(0.1), fine = learn(0.02);
  EXPECT_EQ(fine.termination, Termination::Converged);
  EXPECT_THAT(fine.message, HasSubstr("fell by less than rel_tolerance 0.02 by round"));
  const size_t n = fine.trace.size();
  EXPECT_LE(fall(fine.trace, n), 0.02);
  EXPECT_GT(fall(fine.trace, n / 2), 0.02);
  EXPECT_LT(coarse.iterations, fine.iterations);
  EXPECT_LT(mean_between(fine.trace, n / 2, n),
            mean_between(coarse.trace, coarse.trace.size() / 2, coarse.trace.size()));
}

// Pure noise is dropped where there are enough samples to detect it, and only there.
TEST(Learn, ScreeningDropsUninformativeCandidates) {
  ExemplarLearnOptions options;
  options.train.max_iterations = 1;
  options.calibrate = false;
  const auto left_out = [&](int n, double screening) {
    options.screening = screening;
    const Example example = noisy_groups(n, 6);
    std::vector<std::string> names;
    for (const auto& [name, value] :
         learn_exemplar_distance({{example.set()}}, options).summary.extra)
      if (name == "screened_off") names = std::get<std::vector<std::string>>(value);
    return names;
  };
  EXPECT_THAT(left_out(200, 4), ElementsAre("column 3", "column 4", "column 5", "column 6",
                                            "column 7", "column 8", "column 9"));
  EXPECT_THAT(left_out(200, 0), IsEmpty());
  EXPECT_THAT(left_out(60, 4), IsEmpty());
  EXPECT_THAT(left_out(200, 1e6), IsEmpty());  // nothing would be left
}

// Small sets get more rounds by default; the trace keeps some of them.
TEST(Learn, SmallSetsAreTrainedLonger) {
  const Example few = two_groups(4), many = two_groups(100);
  const auto tiny = learn_exemplar_distance({{few.set()}}, {});
  EXPECT_EQ(tiny.summary.iterations, 20000);
  EXPECT_EQ(tiny.summary.trace.size(), 2000u);
  EXPECT_EQ(tiny.rounds.size(), 2000u);
  const auto larger = learn_exemplar_distance({{many.set()}}, {});
  EXPECT_EQ(larger.summary.iterations, 1250);
  EXPECT_EQ(larger.summary.trace.size(), 1250u);
}

TEST(Learn, ThreadsDoNotChangeTheBits) {
  const Example a = noisy_groups(70, 4);
  ExemplarLearnOptions options;
  options.train.max_iterations = 20;
  options.train.num_threads = 1;
  const auto one = learn_exemplar_distance({{a.set()}}, options);
  options.train.num_threads = 3;
  const auto three = learn_exemplar_distance({{a.set()}}, options);
  EXPECT_EQ(one.model.weights, three.model.weights);
  EXPECT_EQ(one.summary.trace, three.summary.trace);
}

TEST(Learn, StoppedTrainingKeepsValidWeights) {
  std::stop_source stop;
  stop.request_stop();
  Monitor monitor(stop.get_token());
  const Example example = noisy_groups(20, 5);
  const auto result = learn_exemplar_distance({{example.set()}}, {}, monitor);
  EXPECT_EQ(result.summary.termination, Termination::Cancelled);
  EXPECT_TRUE(result.summary.trace.empty());
}

void expect_refused(const std::vector<LearnSet>& sets, const ExemplarLearnOptions& options,
                    const char* part) {
  try {
    learn_exemplar_distance({sets}, options);
    FAIL() << "accepted; expected a message with: " << part;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(Learn, BadInputIsNamed) {
  const Example good = noisy_groups(12, 6);
  expect_refused({}, {}, "at least one example set");
  Example whole = good;
  whole.labels.assign(12, 0);
  expect_refused({whole.set()}, {}, "set 0 has 1 cluster for 12 samples");
  Example alone = good;
  for (int p = 0; p < 12; ++p) alone.labels[p] = p;
  expect_refused({good.set(), alone.set()}, {}, "set 1 has 12 clusters for 12 samples");
  Example gap = good;
  for (int& label : gap.labels) label = label == 3 ? 5 : label;
  expect_refused({gap.set()}, {}, "empty cluster");
  Example shorter = good;
  shorter.labels.pop_back();
  expect_refused({shorter.set()}, {}, "11 labels for 12 samples");
  expect_refused({good.set(), two_groups(3).set()}, {}, "set 1 has 1 column, set 0 has 10");
  Example broken = good;
  broken.points(3, 2) = NAN;
  expect_refused({broken.set()}, {}, "row 3, column 2");
  ExemplarLearnOptions options;
  options.penalty = 0.5;
  expect_refused({good.set()}, options, "clusters of one sample would always be best");
  options = {};
  options.max_memory_gb = 1e-9;
  expect_refused({good.set()}, options, "max_memory_gb");
}

TEST(Learn, ConstantFeatureGetsNoWeight) {
  Example example = noisy_groups(30, 7);
  for (int p = 0; p < 30; ++p) example.points(p, 5) = 3;
  ExemplarLearnOptions options;
  options.train.max_iterations = 10;
  EXPECT_EQ(learn_exemplar_distance({{example.set()}}, options).model.weights[5], 0);
}

}  // namespace
}  // namespace milieu
