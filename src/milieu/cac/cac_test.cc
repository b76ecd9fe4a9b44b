// SPDX-License-Identifier: Apache-2.0
// fit_cac as a whole: equivalences, exhaustive optima, starts, choices.
#include "milieu/cac/cac.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "milieu/base/random.h"
#include "milieu/cac/test_words.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/metrics/metrics.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Cac, LambdaZeroIsKMeansBitForBit) {
  const SpatialWords data = make_spatial_words(2);
  for (const CacScaling scaling : {CacScaling::Raw, CacScaling::UnitVariance}) {
    CacOptions options = simulation_options();
    options.lambda = 0;
    options.seed = 9;
    options.scaling = scaling;
    const CacResult result = fit_cac(input_of(data), options);
    KMeansOptions kmeans;
    kmeans.num_clusters = 5;
    kmeans.seed = 9;
    KMeansInput input;
    input.points = data.features;
    const KMeansResult expected = fit_kmeans(input, kmeans);
    EXPECT_EQ(result.words, expected.labels);
    EXPECT_TRUE(result.model.prototypes == expected.model.centers);
    EXPECT_EQ(result.phrases.size(), data.words.size());
    if (scaling == CacScaling::Raw) {
      EXPECT_NEAR(result.summary.objective / expected.summary.objective, 1, 1e-14);
    }
  }
}

TEST(Cac, OneViewWithoutGroupsIsKMeans) {
  const LabelledPoints data = make_blobs({.n = 200, .d = 3, .num_clusters = 4, .seed = 3});
  CacInput input;
  input.views = {data.points};
  CacOptions options;
  options.num_words = 4;
  options.scaling = CacScaling::Raw;
  const CacResult result = fit_cac(input, options);
  KMeansOptions kmeans;
  kmeans.num_clusters = 4;
  KMeansInput plain;
  plain.points = data.points;
  const KMeansResult expected = fit_kmeans(plain, kmeans);
  EXPECT_EQ(result.labels, expected.labels);
  EXPECT_EQ(result.words, expected.labels);
  EXPECT_EQ(result.summary.objective, expected.summary.objective);
  EXPECT_TRUE(result.phrases.empty());
  EXPECT_THAT(result.summary.warnings, ::testing::Contains(HasSubstr("no context")));
}

// J of labels alone: prototypes are means, compositions are votes.
double objective_of_labels(FloatView points, const ContextGroups& groups,
                           const std::vector<int>& words, const std::vector<int>& phrases,
                           int num_words, int num_phrases, double lambda) {
  double j1 = 0;
  for (int m = 0; m < num_words; ++m) {
    double count = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] == m) {
        const double x = points(static_cast<int64_t>(i), 0);
        ++count, sum += x, squares += x * x;
      }
    if (count > 0) j1 += squares - sum * sum / count;
  }
  double j2 = 0;
  for (int k = 0; k < num_phrases; ++k) {
    double n = 0;
    std::vector<double> votes(static_cast<size_t>(num_words));
    for (int64_t g = 0; g < groups.num_groups(); ++g)
      if (phrases[g] == k) {
        ++n;
        for (const int i : groups.members_of(g)) ++votes[words[i]];
      }
    for (const double s : votes) j2 += std::min(s, s + n - 2 * s);
  }
  return j1 + lambda * j2;
}

// Every labelling of few samples and groups.
double exhaustive_optimum(FloatView points, const ContextGroups& groups, int num_words,
                          int num_phrases, double lambda) {
  const auto count = [](int base, int64_t digits) {
    int64_t total = 1;
    for (int64_t i = 0; i < digits; ++i) total *= base;
    return total;
  };
  const auto digits_of = [](int64_t code, int base, int64_t length) {
    std::vector<int> digits;
    for (int64_t i = 0; i < length; ++i, code /= base)
      digits.push_back(static_cast<int>(code % base));
    return digits;
  };
  double lowest = std::numeric_limits<double>::infinity();
  for (int64_t w = 0; w < count(num_words, points.rows()); ++w)
    for (int64_t p = 0; p < count(num_phrases, groups.num_groups()); ++p)
      lowest = std::min(
          lowest, objective_of_labels(points, groups, digits_of(w, num_words, points.rows()),
                                      digits_of(p, num_phrases, groups.num_groups()), num_words,
                                      num_phrases, lambda));
  return lowest;
}

TEST(Cac, TinyOptimaAreNotBeatenAndWithRestartsReached) {
  constexpr int kCases = 25;
  for (uint64_t seed = 1; seed <= kCases; ++seed) {
    Random random(seed);
    Matrix<float> points(6, 1);
    for (int i = 0; i < 6; ++i) points(i, 0) = static_cast<float>(random.uniform(0, 4));
    ContextGroups groups;
    groups.num_samples = 6;
    for (int g = 0; g < 4; ++g) {
      for (const int64_t i : random.sample_without_replacement(6, 1 + random.uniform_index(3)))
        groups.members.push_back(static_cast<int>(i));
      groups.offsets.push_back(static_cast<int64_t>(groups.members.size()));
    }
    CacInput input;
    input.views = {points};
    input.groups = &groups;
    CacOptions options;
    options.num_words = 3;
    options.num_phrases = 2;
    options.lambda = random.uniform(0.1, 1.5);
    options.scaling = CacScaling::Raw;
    options.num_restarts = 400;
    options.continuation = false;
    options.seed = seed;
    const double optimum = exhaustive_optimum(points, groups, 3, 2, options.lambda);
    const double found = fit_cac(input, options).summary.objective;
    EXPECT_GE(found, optimum - 1e-5) << seed;
    EXPECT_LE(found, optimum + 1e-5) << seed;
  }
}

TEST(Cac, ContextCorrectsWordsThatFeaturesConfuse) {
  double plain = 0, context = 0, phrases = 0;
  for (int set = 1; set <= 4; ++set) {
    const SpatialWords data = make_spatial_words(set);
    CacOptions options = simulation_options();
    const CacResult result = fit_cac(input_of(data), options);
    options.lambda = 0;
    plain += compute_metrics(fit_cac(input_of(data), options).words, data.words).error / 4;
    context += compute_metrics(result.words, data.words).error / 4;
    phrases += compute_metrics(result.phrases, data.phrases).error / 4;
  }
  EXPECT_LT(context, plain - 0.05);
  EXPECT_LT(phrases, 0.15);
}

TEST(Cac, StepsFallUnderEveryLambdaOfTheContinuation) {
  const SpatialWords data = make_spatial_words(3);
  CacOptions options = simulation_options();
  options.num_restarts = 2;
  for (const CacTransactions kind : {CacTransactions::Counts, CacTransactions::Binary}) {
    options.transactions = kind;
    const CacResult result = fit_cac(input_of(data), options);
    ASSERT_GT(result.steps.size(), 6u);
    for (size_t s = 1; s < result.steps.size(); ++s)
      if (result.steps[s].kind != CacStepKind::Start) {
        EXPECT_LE(result.steps[s].objective(),
                  result.steps[s - 1].objective() + 1e-9 * result.steps[0].words_objective);
      }
    EXPECT_THAT(result.summary.trace, NeverRises(1e-9));
    EXPECT_NEAR(result.summary.objective, result.steps.back().objective(), 1e-9);
  }
}

TEST(Cac, EveryStartGivesACompleteResult) {
  const SpatialWords data = make_spatial_words(4);
  for (const CacInit init : {CacInit::Words, CacInit::Phrases, CacInit::Random, CacInit::Auto})
    for (const CacPhraseInit phrases : {CacPhraseInit::KMeans, CacPhraseInit::KModes}) {
      CacOptions options = simulation_options();
      options.init = init;
      options.phrase_init = phrases;
      options.num_restarts = 4;
      const CacResult result = fit_cac(input_of(data), options);
      EXPECT_EQ(result.summary.termination, Termination::Converged);
      EXPECT_THAT(result.words, HasLabelsBelow(5, false));
      EXPECT_THAT(result.phrases, HasLabelsBelow(2, false));
      EXPECT_EQ(result.margins.size(), result.words.size());
      EXPECT_THAT(result.margins, ::testing::Each(::testing::Ge(0)));
      ASSERT_EQ(result.snapshots.size(), 3u);
      EXPECT_EQ(result.snapshots[2].words, result.words);
    }
}

TEST(Cac, GivenLabelsAreTheStart) {
  const SpatialWords data = make_spatial_words(1);
  CacInput input = input_of(data);
  input.initial_words = data.words;
  input.initial_phrases = data.phrases;
  CacOptions options = simulation_options();
  options.continuation = false;
  const CacResult result = fit_cac(input, options);
  EXPECT_EQ(result.summary.num_restarts, 1);
  EXPECT_EQ(result.snapshots[0].words, data.words);
  EXPECT_EQ(result.snapshots[0].phrases, data.phrases);
  EXPECT_LT(compute_metrics(result.phrases, data.phrases).error, 0.1);
  input.initial_phrases = {};
  EXPECT_EQ(fit_cac(input, options).snapshots[0].words, data.words);
}

TEST(Cac, SamplesInNoGroupFollowTheirFeatures) {
  const LabelledPoints data = make_blobs({.n = 60, .d = 2, .num_clusters = 2, .seed = 4});
  ContextGroups groups;
  groups.num_samples = 60;
  groups.members = {0, 1, 2};
  groups.offsets = {0, 3, 3, 3};  // the last two are empty
  CacInput input;
  input.views = {data.points};
  input.groups = &groups;
  for (const CacInit init : {CacInit::Words, CacInit::Phrases}) {
    CacOptions options;
    options.num_words = 2;
    options.num_phrases = 2;
    options.init = init;
    options.lambda = 0.1;
    const CacResult result = fit_cac(input, options);
    const std::vector<int> nearest = predict(result.model, data.points);
    for (size_t i = 3; i < 60; ++i) EXPECT_EQ(result.words[i], nearest[i]);
  }
}

TEST(Cac, ViewsMayHaveExtraGroups) {
  const LabelledPoints a = make_blobs({.n = 80, .d = 2, .num_clusters = 4, .seed = 5});
  Matrix<float> b(80, 3);
  Random random(6);
  for (int i = 0; i < 80; ++i)
    for (int t = 0; t < 3; ++t)
      b(i, t) = static_cast<float>(8 * (a.labels[i] == t) + random.normal());
  ContextGroups extra;
  extra.num_samples = 80;
  for (int c = 0; c < 4; ++c) {
    for (int i = 0; i < 80; ++i)
      if (a.labels[i] == c && i % 5 == 0) extra.members.push_back(i);
    extra.offsets.push_back(static_cast<int64_t>(extra.members.size()));
  }
  CacInput input;
  input.views = {a.points, b};
  input.groups = &extra;
  CacOptions options;
  options.num_words = 4;
  options.num_phrases = 4;
  const CacResult result = fit_cac(input, options);
  EXPECT_EQ(result.labels.size(), 80u);
  EXPECT_EQ(result.phrases.size(), 84u);
  EXPECT_EQ(result.words.size(), 160u);
  EXPECT_THAT(result.labels, IsSamePartitionAs(a.labels));
  EXPECT_EQ(result.summary.d, 5);
}

// A small dense cluster beside a large wide one, in both views: k-means gives the small one some of
// the other's samples, whose neighbours know better.
struct UnequalPair {
  Matrix<float> a{300, 2}, b{300, 2};
  std::vector<int> truth;
  explicit UnequalPair(uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < 300; ++i) {
      const bool is_small = i % 6 == 0;
      const double spread = is_small ? 0.5 : 2.2;
      truth.push_back(is_small);
      a(i, 0) = static_cast<float>(6 * is_small + spread * random.normal());
      a(i, 1) = static_cast<float>(spread * random.normal());
      b(i, 0) = static_cast<float>(spread * random.normal());
      b(i, 1) = static_cast<float>(6 * is_small + spread * random.normal());
    }
  }
  CacInput input() const {
    CacInput input;
    input.views = {a, b};
    return input;
  }
};

TEST(Cac, NeighborsInTheViewsAreContext) {
  CacOptions options;
  options.num_words = 2;
  options.num_phrases = 2;
  double error_without = 0, error_with = 0;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const UnequalPair pair(seed);
    options.view_neighbors = 0;
    const CacResult without = fit_cac(pair.input(), options);
    EXPECT_EQ(without.phrases.size(), 300u);
    EXPECT_EQ(without.model.num_neighbors, options.num_neighbors);
    options.view_neighbors = -1;
    const CacResult with = fit_cac(pair.input(), options);
    EXPECT_EQ(with.phrases.size(), 600u);  // one group alone and one with its neighbours
    EXPECT_EQ(with.labels.size(), 300u);
    EXPECT_EQ(with.model.num_neighbors, -10);
    error_without += compute_metrics(without.labels, pair.truth).error / 4;
    error_with += compute_metrics(with.labels, pair.truth).error / 4;
    const CacPrediction again = predict_groups(with.model, pair.input());
    EXPECT_LT(compute_metrics(again.labels, with.labels).error, 0.02);
  }
  EXPECT_LT(error_with, error_without / 2);
}

TEST(Cac, OneInitialPhraseASampleIsEnough) {
  const UnequalPair pair(1);
  CacInput started = pair.input();
  std::vector<int> words;
  for (int p = 0; p < 600; ++p) words.push_back(pair.truth[p % 300]);
  started.initial_words = words;
  started.initial_phrases = pair.truth;
  CacOptions options;
  options.num_words = 2;
  options.num_phrases = 2;
  EXPECT_EQ(fit_cac(started, options).phrases.size(), 600u);
  started.initial_phrases = started.initial_phrases.first(299);
  EXPECT_THAT(message_of([&] { fit_cac(started, options); }),
              ::testing::HasSubstr("initial_phrases has 299 entries"));
}

TEST(Cac, ScalingMakesTheUnitOfAViewIrrelevant) {
  const LabelledPoints a =
      make_blobs({.n = 150, .d = 2, .num_clusters = 3, .separation = 3, .seed = 5});
  const LabelledPoints b =
      make_blobs({.n = 150, .d = 3, .num_clusters = 3, .separation = 3, .seed = 6});
  Matrix<float> large = b.points;
  for (int64_t i = 0; i < large.size(); ++i) large.data()[i] *= 1024;
  CacOptions options;
  options.num_words = 3;
  options.num_phrases = 3;
  CacInput input;
  input.views = {a.points, b.points};
  const CacResult one = fit_cac(input, options);
  input.views = {a.points, large};
  const CacResult two = fit_cac(input, options);
  EXPECT_EQ(one.labels, two.labels);
  EXPECT_EQ(one.words, two.words);
}

TEST(Cac, TauAutoTakesTheMostStable) {
  const SpatialWords data = make_spatial_words(5);
  CacOptions options = simulation_options();
  options.tau = -1;
  options.num_restarts = 4;
  const CacResult result = fit_cac(input_of(data), options);
  std::vector<double> tried, stability;
  double tau = 0;
  for (const auto& [name, value] : result.summary.extra) {
    if (name == "tau_tried") tried = std::get<std::vector<double>>(value);
    if (name == "tau_stability") stability = std::get<std::vector<double>>(value);
    if (name == "tau") tau = std::get<double>(value);
  }
  ASSERT_EQ(tried.size(), 5u);
  const auto best = std::max_element(stability.begin(), stability.end()) - stability.begin();
  EXPECT_EQ(tau, tried[best]);
  options.tau = tau;
  EXPECT_EQ(fit_cac(input_of(data), options).phrases, result.phrases);
}

TEST(Cac, WordsAndPhrasesAutoReportTheirCurves) {
  const SpatialWords data = make_spatial_words(1);
  CacOptions options = simulation_options();
  options.num_words = -1;
  options.num_phrases = -1;
  options.num_restarts = 3;
  const CacResult result = fit_cac(input_of(data), options);
  std::vector<std::string> names;
  for (const auto& [name, value] : result.summary.extra) names.push_back(name);
  for (const char* name : {"words_tried", "words_stability", "phrases_tried", "phrases_stability"})
    EXPECT_THAT(names, ::testing::Contains(name));
  EXPECT_GE(result.summary.sizes.size(), 2u);
}

TEST(Cac, PhrasesReadAsSetsOfWords) {
  CacModel model;
  model.view_words = {3};
  model.view_dims = {1};
  model.compositions = Matrix<float>(2, 3);
  model.compositions(0, 1) = model.compositions(0, 2) = 1;
  EXPECT_THAT(describe_phrases(model), ElementsAre("phrase 0 = words 1, 2", "phrase 1 = no words"));
  model.view_words = {1, 2};
  model.view_dims = {1, 1};
  EXPECT_THAT(describe_phrases(model)[0], "phrase 0 = words 1:0, 1:1");
}

}  // namespace
}  // namespace milieu
