// SPDX-License-Identifier: Apache-2.0
// fit_cac and predict as a whole: equivalences, exhaustive optima, starts, choices, bad input.
#include "milieu/cac/cac.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/cac/cac_start_internal.h"
#include "milieu/classic/kmeans.h"
#include "milieu/data/spatial_words.h"
#include "milieu/linalg/distance.h"
#include "milieu/metrics/metrics.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CacInput input_of(const SpatialWords& data) {
  CacInput input;
  input.views = {data.features};
  input.positions = data.positions;
  return input;
}

CacOptions simulation_options() {
  CacOptions options;
  options.num_words = 5;
  options.num_phrases = 2;
  options.epsilon = kSpatialWordsEpsilon;
  return options;
}

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
  for (const CacStart start :
       {CacStart::Words, CacStart::Phrases, CacStart::Random, CacStart::Auto})
    for (const CacPhraseStart phrases : {CacPhraseStart::KMeans, CacPhraseStart::KModes}) {
      CacOptions options = simulation_options();
      options.start = start;
      options.phrase_start = phrases;
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
  for (const CacStart start : {CacStart::Words, CacStart::Phrases}) {
    CacOptions options;
    options.num_words = 2;
    options.num_phrases = 2;
    options.start = start;
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

TEST(CacPredict, TrainingGroupsGetTheirLabelsBack) {
  const SpatialWords data = make_spatial_words(1);
  const CacResult result = fit_cac(input_of(data), simulation_options());
  const CacPrediction prediction = predict_groups(result.model, input_of(data));
  EXPECT_EQ(prediction.words.size(), result.words.size());
  EXPECT_LT(compute_metrics(prediction.phrases, result.phrases).error, 0.05);
  EXPECT_LT(compute_metrics(prediction.words, result.words).error, 0.05);
  EXPECT_EQ(predict(result.model, data.features).size(), data.words.size());
}

TEST(CacPredict, NewSetsAreLabelledTogether) {
  const SpatialWords train = make_spatial_words(1), test = make_spatial_words(2);
  const CacResult result = fit_cac(input_of(train), simulation_options());
  const CacPrediction together = predict_groups(result.model, input_of(test));
  const std::vector<int> alone = predict(result.model, test.features);
  EXPECT_LT(compute_metrics(together.words, test.words).error,
            compute_metrics(alone, test.words).error);
  EXPECT_EQ(together.labels, together.phrases);
}

TEST(CacPredict, WrongInputIsNamed) {
  const SpatialWords data = make_spatial_words(1);
  CacOptions options = simulation_options();
  options.num_restarts = 1;
  CacModel model = fit_cac(input_of(data), options).model;
  CacInput input;
  input.views = {data.features};
  EXPECT_THAT(message_of([&] { predict_groups(model, input); }), HasSubstr("new groups need"));
  input.views = {data.features, data.features};
  EXPECT_THAT(message_of([&] { predict_groups(model, input); }),
              HasSubstr("there are 2 views, the model has 1"));
  const Matrix<float> wide(data.features.rows(), 3);
  input = input_of(data);
  input.views = {wide};
  EXPECT_THAT(message_of([&] { predict_groups(model, input); }),
              HasSubstr("view 0 has 3 columns, the model has 2"));
  EXPECT_THROW(predict(model, wide), InvalidArgument);
  model.view_words = {4};
  EXPECT_THROW(predict(model, data.features), DataError);
  model.view_words = {5};
  model.compositions = Matrix<float>(2, 3);
  EXPECT_THROW(predict_groups(model, input_of(data)), DataError);
  model.compositions = Matrix<float>();
  EXPECT_THAT(message_of([&] { predict_groups(model, input_of(data)); }),
              HasSubstr("without context"));
  model.view_dims = {3};
  EXPECT_THROW(predict(model, data.features), DataError);
  model.view_dims = {};
  EXPECT_THROW(predict(model, data.features), DataError);
}

class CacBadInput : public ::testing::Test {
 protected:
  SpatialWords data_ = make_spatial_words(1);
  CacInput input_ = input_of(data_);
  CacOptions options_ = simulation_options();
  ContextGroups groups_;

  void use_groups() {
    groups_.num_samples = data_.features.rows();
    groups_.members = {0, 1};
    groups_.offsets = {0, 2};
    input_.groups = &groups_;
    input_.positions = {};
    options_.num_phrases = 1;
  }
  std::string message() {
    return message_of([&] { fit_cac(input_, options_); });
  }
};

TEST_F(CacBadInput, LengthsThatDoNotMatch) {
  const Matrix<float> few(10, 2);
  input_.positions = few;
  EXPECT_THAT(message(), HasSubstr("positions has 10 rows, the samples have 554"));
  input_ = input_of(data_);
  input_.views.push_back(few);
  EXPECT_THAT(message(), HasSubstr("view 1 has 10 rows, view 0 has 554"));
  use_groups();
  input_.views.pop_back();
  groups_.num_samples = 7;
  EXPECT_THAT(message(), HasSubstr("the groups are over 7 samples, there are 554"));
}

TEST_F(CacBadInput, GroupsThatNameWhatDoesNotExist) {
  use_groups();
  groups_.members[1] = 554;
  EXPECT_THAT(message(), HasSubstr("group 0 names sample 554, there are only samples 0 to 553"));
  groups_ = {};
  groups_.num_samples = 554;
  EXPECT_THAT(message(), HasSubstr("there are no groups"));
  use_groups();
  input_.positions = data_.positions;
  EXPECT_THAT(message(), HasSubstr("both groups and positions"));
}

TEST_F(CacBadInput, TooManyWordsOrPhrases) {
  options_.num_words = 555;
  EXPECT_THAT(message(), HasSubstr("num_words is 555, must be at most the number of samples, 554"));
  options_.num_words = 5;
  options_.num_phrases = 555;
  EXPECT_THAT(message(), HasSubstr("num_phrases is 555, must be at most the number of groups"));
}

TEST_F(CacBadInput, StartsThatDoNotFit) {
  std::vector<int> words(553), phrases(554);
  input_.initial_words = words;
  EXPECT_THAT(message(), HasSubstr("initial_words has 553 entries, there are 554"));
  words.resize(554);
  words[3] = 5;
  input_.initial_words = words;
  EXPECT_THAT(message(), HasSubstr("initial_words[3] is 5, must be at least 0 and below 5"));
  input_.initial_words = {};
  input_.initial_phrases = phrases;
  EXPECT_THAT(message(), HasSubstr("without initial_words"));
  words[3] = 0;
  input_.initial_words = words;
  options_.num_words = -1;
  EXPECT_THROW(fit_cac(input_, options_), InvalidArgument);
}

TEST_F(CacBadInput, ImagesWithoutPositionsAndNoSamples) {
  std::vector<int> images(554);
  input_.images = images;
  input_.positions = {};
  EXPECT_THAT(message(), HasSubstr("images are given without positions"));
  input_.views.clear();
  EXPECT_THAT(message(), HasSubstr("no samples"));
}

TEST_F(CacBadInput, NonFiniteEntriesAreNamed) {
  Matrix<float> bad = data_.features;
  bad(7, 1) = std::nanf("");
  input_.views = {bad};
  EXPECT_THAT(message(), HasSubstr("row 7, column 1"));
  input_ = input_of(data_);
  Matrix<float> places = data_.positions;
  places(3, 0) = std::numeric_limits<float>::infinity();
  input_.positions = places;
  EXPECT_THAT(message(), HasSubstr("positions has an infinite value at row 3, column 0"));
}

TEST(CacEdges, IdenticalGroupsAndConstantFeaturesAreNoTrouble) {
  const Matrix<float> constant(12, 2);
  Matrix<float> positions(12, 2);
  for (int i = 0; i < 12; ++i) positions(i, 0) = static_cast<float>(i);
  CacInput input;
  input.views = {constant};
  input.positions = positions;
  CacOptions options;
  options.num_words = 3;
  options.num_phrases = 2;
  options.num_neighbors = 50;
  const CacResult result = fit_cac(input, options);
  EXPECT_TRUE(std::isfinite(result.summary.objective));
  EXPECT_FALSE(result.summary.warnings.empty());
  EXPECT_THAT(result.phrases, HasLabelsBelow(2, false));
}

// One word in every group: J2 is not positive at the start, and lambda is still defined.
TEST(CacEdges, NegativeContextAtTheStartIsAWarning) {
  const LabelledPoints data = make_blobs({.n = 40, .d = 2, .num_clusters = 1, .seed = 2});
  CacInput input;
  input.views = {data.points};
  input.positions = data.points;
  CacOptions options;
  options.num_words = 1;
  options.num_phrases = 1;
  const CacResult result = fit_cac(input, options);
  EXPECT_THAT(result.summary.warnings, ::testing::Contains(HasSubstr("lambda was taken")));
  EXPECT_TRUE(std::isfinite(result.summary.objective));
}

TEST(CacEdges, SplitsAreAllWaysToShareWords) {
  EXPECT_THAT(internal::splits_of(4, 2, 16),
              ElementsAre(ElementsAre(1, 3), ElementsAre(2, 2), ElementsAre(3, 1)));
  EXPECT_TRUE(internal::splits_of(1, 2, 16).empty());
  EXPECT_TRUE(internal::splits_of(50, 5, 16).empty());
}

}  // namespace
}  // namespace milieu
