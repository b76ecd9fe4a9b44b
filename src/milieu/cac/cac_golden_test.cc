// SPDX-License-Identifier: Apache-2.0
// Golden cases of an independent reference implementation (numpy, double), to the digits it
// printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "milieu/cac/cac.h"
#include "milieu/cac/cac_steps.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/data/spatial_words.h"
#include "milieu/metrics/metrics.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using internal::CacProblem;
using internal::CacState;
using internal::NestedEm;
using ::testing::ElementsAre;

Matrix<float> column(const std::vector<double>& values) {
  Matrix<float> points(static_cast<int64_t>(values.size()), 1);
  for (size_t i = 0; i < values.size(); ++i) points.data()[i] = static_cast<float>(values[i]);
  return points;
}

ContextGroups groups_of(int64_t num_samples, const std::vector<std::vector<int>>& lists) {
  ContextGroups groups;
  groups.num_samples = num_samples;
  for (const auto& list : lists) {
    groups.members.insert(groups.members.end(), list.begin(), list.end());
    groups.offsets.push_back(static_cast<int64_t>(groups.members.size()));
  }
  return groups;
}

CacOptions raw_options(int num_words, int num_phrases) {
  CacOptions options;
  options.num_words = num_words;
  options.num_phrases = num_phrases;
  options.scaling = CacScaling::Raw;
  options.continuation = false;
  options.reseed = false;
  return options;
}

// Runs rounds until J falls no more; returns rounds and inner rounds.
std::pair<int, int> run(NestedEm& em) {
  Monitor& monitor = silent_monitor();
  int outer = 0, inner = 0;
  const auto fell = [](double before, double after) {
    return before - after > 1e-9 * std::abs(before);
  };
  for (double start = INFINITY; fell(start == INFINITY ? 1e300 : start, em.objective());) {
    start = em.objective();
    double before = 0;
    do {
      before = em.objective();
      em.update_phrases(monitor);
      em.update_words(monitor);
      ++inner;
    } while (fell(before, em.objective()));
    em.update_prototypes(monitor);
    em.update_compositions();
    ++outer;
  }
  return {outer, inner};
}

TEST(CacGolden, SixSamplesInFourGroups) {
  const Matrix<float> points = column({0, 1, 2, 6, 7, 3.4});
  const ContextGroups groups = groups_of(6, {{0, 1}, {3, 4}, {2, 5}, {3, 4, 5}});
  CacInput input;
  input.views = {points};
  input.groups = &groups;
  const CacProblem problem = internal::make_cac_problem(input, raw_options(2, 2), silent_monitor());
  CacState state;
  state.prototypes.push_back(column({1, 6}));
  state.words = {0, 0, 0, 1, 1, 0};
  state.compositions = {1, 0, 0, 1};
  state.phrases = {0, 1, 0, 1};
  NestedEm em(problem, 2, state);
  EXPECT_NEAR(em.words_objective(), 8.76, 1e-6);
  EXPECT_NEAR(em.context_objective(), -6, 1e-12);
  run(em);
  EXPECT_NEAR(em.objective(), 0.82, 1e-6);
  EXPECT_NEAR(em.state().prototypes[0](0, 0), 1.6, 1e-6);
  EXPECT_NEAR(em.state().prototypes[0](1, 0), 6.5, 1e-6);
  EXPECT_THAT(em.state().compositions, ElementsAre(1, 0, 1, 1));  // a tie puts the word in
}

// On sets of words the step that is exact on counts raises J.
TEST(CacGolden, CountsFallWhereSetsWouldRise) {
  const Matrix<float> points = column({0, 0.4});
  const ContextGroups groups = groups_of(2, {{0, 1}});
  CacInput input;
  input.views = {points};
  input.groups = &groups;
  CacState state;
  state.prototypes.push_back(column({0, 1}));
  state.words = {0, 1};
  state.compositions = {1, 1};
  state.phrases = {0};
  CacOptions options = raw_options(2, 1);
  const CacProblem counts = internal::make_cac_problem(input, options, silent_monitor());
  NestedEm em(counts, 1, state);
  EXPECT_NEAR(em.objective(), 0.36, 1e-6);
  em.update_words(silent_monitor());
  EXPECT_THAT(em.state().words, ElementsAre(0, 0));
  EXPECT_NEAR(em.objective(), 0.16, 1e-6);
  EXPECT_NEAR(em.hamming_sum() + em.words_objective(), 1.16, 1e-6);

  options.transactions = CacTransactions::Binary;
  const CacProblem binary = internal::make_cac_problem(input, options, silent_monitor());
  NestedEm one_by_one(binary, 1, state);
  EXPECT_NEAR(one_by_one.objective(), 0.36, 1e-6);
  one_by_one.update_words(silent_monitor());
  EXPECT_NEAR(one_by_one.objective(), 0.36, 1e-6);
}

// Two views of 90 samples.
struct TwoViews {
  Matrix<float> a{90, 2}, b{90, 3};
  TwoViews() {
    Lcg lcg;
    for (int i = 0; i < 90; ++i) {
      const double angle = 2 * std::numbers::pi * (i % 3) / 3;
      a(i, 0) = static_cast<float>(3 * std::cos(angle) + 1.5 * lcg.normal());
      a(i, 1) = static_cast<float>(3 * std::sin(angle) + 1.5 * lcg.normal());
    }
    for (int i = 0; i < 90; ++i) {
      b(i, 0) = static_cast<float>(2 * (i % 3) + lcg.normal());
      b(i, 1) = static_cast<float>((i % 3 == 1) + lcg.normal());
      b(i, 2) = static_cast<float>(lcg.normal());
    }
  }
};

// Lloyd from given rows until no label changes.
KMeansResult lloyd(FloatView points, FloatView start) {
  KMeansOptions options;
  options.num_clusters = static_cast<int>(start.rows());
  options.rel_tolerance = 0;
  KMeansInput input;
  input.points = points;
  input.initial_centers = start;
  return fit_kmeans(input, options);
}

// Phrases from the first three columns of T, one assignment, one vote.
struct ViewStart {
  std::vector<int> words, phrases;
};
ViewStart start_of(const TwoViews& data) {
  const KMeansResult a = lloyd(data.a, data.a.view().rows_between(0, 3));
  const KMeansResult b = lloyd(data.b, data.b.view().rows_between(0, 3));
  EXPECT_NEAR(a.summary.objective, 339.450832, 1e-4);
  EXPECT_NEAR(b.summary.objective, 234.952741, 1e-4);
  ViewStart start;
  for (int i = 0; i < 90; ++i) {
    int best = 0, lowest = 100;
    for (int k = 0; k < 3; ++k) {
      const int distance = 2 * (a.labels[i] != a.labels[k]) + 2 * (b.labels[i] != b.labels[k]);
      if (distance < lowest) best = k, lowest = distance;
    }
    start.phrases.push_back(best);
  }
  start.words = a.labels;
  start.words.insert(start.words.end(), b.labels.begin(), b.labels.end());
  return start;
}

TEST(CacGolden, TwoViewsOfNinetySamples) {
  const TwoViews data;
  const ViewStart start = start_of(data);
  CacInput input;
  input.views = {data.a, data.b};
  input.initial_words = start.words;
  input.initial_phrases = start.phrases;
  CacOptions options = raw_options(3, 3);
  options.tau = 1;
  options.view_neighbors = 0;  // as in the paper
  const CacResult result = fit_cac(input, options);
  ASSERT_GE(result.steps.size(), 6u);
  const CacStep& first = result.steps[0];
  EXPECT_NEAR(first.words_objective, 574.403573, 1e-4);
  EXPECT_NEAR(first.lambda, 11.966741, 1e-5);
  EXPECT_NEAR(first.context_objective / first.lambda, 48, 1e-9);
  std::vector<double> after;  // distinct values of J in their order
  for (const CacStep& step : result.steps)
    if (after.empty() || std::abs(after.back() - step.objective()) > 1e-6)
      after.push_back(step.objective());
  EXPECT_NEAR(after[0], 1148.807145, 1e-3);
  EXPECT_THAT(after, ::testing::Contains(::testing::DoubleNear(947.958790, 1e-3)));
  EXPECT_THAT(after, ::testing::Contains(::testing::DoubleNear(929.250851, 1e-3)));
  EXPECT_THAT(after, ::testing::Contains(::testing::DoubleNear(923.293210, 1e-3)));
  EXPECT_NEAR(result.summary.objective, 919.428132, 1e-3);
  EXPECT_EQ(result.summary.iterations, 3);

  options.tau = 0.1;
  const CacResult weak = fit_cac(input, options);
  EXPECT_NEAR(weak.summary.objective, 627.897520, 1e-3);
  EXPECT_NEAR(weak.steps.back().words_objective, 577.637208, 1e-3);
  EXPECT_NEAR(weak.steps.back().context_objective, 50.260313, 1e-4);
}

TEST(CacGolden, SimulationOfSectionThree) {
  const SpatialWords data = make_spatial_words(1);
  Matrix<float> means(5, 2);
  std::vector<double> sums(10), counts(5);
  for (int i = 0; i < 554; ++i) {
    ++counts[data.words[i]];
    for (int t = 0; t < 2; ++t) sums[2 * data.words[i] + t] += data.features(i, t);
  }
  for (int c = 0; c < 10; ++c) means.data()[c] = static_cast<float>(sums[c] / counts[c / 2]);
  const KMeansResult words = lloyd(data.features, means);
  EXPECT_NEAR(words.summary.objective, 1732781.389446, 1);
  EXPECT_NEAR(compute_metrics(words.labels, data.words).error, 0.214801, 1e-6);

  CacOptions options = raw_options(5, 2);
  options.epsilon = kSpatialWordsEpsilon;
  CacInput input;
  input.views = {data.features};
  input.positions = data.positions;
  const CacProblem problem = internal::make_cac_problem(input, options, silent_monitor());
  EXPECT_EQ(problem.groups.members.size(), 1498u);
  CacState state;
  state.prototypes.push_back(words.model.centers);
  state.words = words.labels;
  state.compositions = {1, 1, 0, 0, 0, 0, 0, 1, 1, 1};
  state.phrases.assign(554, 0);
  NestedEm strong(problem, 2000, state);
  strong.update_phrases(silent_monitor());
  EXPECT_NEAR(strong.objective() / 2550781.389446, 1, 1e-6);
  EXPECT_EQ(run(strong), std::pair(3, 6));
  EXPECT_NEAR(strong.objective() / 2153182.482985, 1, 1e-6);
  EXPECT_NEAR(strong.words_objective() / 1951182.482985, 1, 1e-6);
  EXPECT_NEAR(strong.context_objective(), 202000, 1e-6);
  EXPECT_NEAR(compute_metrics(strong.state().words, data.words).error, 0.128159, 1e-6);
  EXPECT_NEAR(compute_metrics(strong.state().phrases, data.phrases).error, 0.097473, 1e-6);

  NestedEm weak(problem, 400, state);
  run(weak);
  EXPECT_NEAR(weak.objective() / 1877090.926831, 1, 1e-6);
  EXPECT_NEAR(compute_metrics(weak.state().words, data.words).error, 0.184116, 1e-6);
}

// S = (1, 2, 0, 3), n = 2 gives 1, 1, 0, 1; equal distances keep the current phrase.
TEST(CacGolden, VoteAndTies) {
  const Matrix<float> points = column({0, 1, 3, 1, 3, 3});
  ContextGroups groups = groups_of(6, {{0, 1, 2}, {3, 4, 5}});
  CacInput input;
  input.views = {points};
  input.groups = &groups;
  const CacProblem four = internal::make_cac_problem(input, raw_options(4, 1), silent_monitor());
  CacState state;
  state.prototypes.push_back(column({0, 1, 2, 3}));
  state.words = {0, 1, 3, 1, 3, 3};
  state.compositions = {0, 0, 0, 0};
  state.phrases = {0, 0};
  NestedEm em(four, 1, state);
  em.update_compositions();
  EXPECT_THAT(em.state().compositions, ElementsAre(1, 1, 0, 1));

  // T columns (1, 1) and (2, 0) against phrases {0} and {1}.
  groups = groups_of(4, {{0, 1}, {2, 3}});
  const Matrix<float> pairs = column({0, 1, 0, 0});
  input.views = {pairs};
  const CacProblem two = internal::make_cac_problem(input, raw_options(2, 2), silent_monitor());
  state.prototypes[0] = column({0, 1});
  state.words = {0, 1, 0, 0};
  state.compositions = {1, 0, 0, 1};
  state.phrases = {0, 0};
  NestedEm lowest(two, 1, state);
  EXPECT_EQ(lowest.context_sum(), 1 - 1);
  lowest.update_phrases(silent_monitor());
  EXPECT_THAT(lowest.state().phrases, ElementsAre(0, 0));
  state.phrases = {1, 1};
  NestedEm kept(two, 1, state);
  EXPECT_EQ(kept.context_sum(), 1 + 3);
  kept.update_phrases(silent_monitor());
  EXPECT_THAT(kept.state().phrases, ElementsAre(1, 0));
}

}  // namespace
}  // namespace milieu
