// SPDX-License-Identifier: Apache-2.0
// Phrases by shares: evidence against a direct computation, views that do not collapse, warnings.
#include "milieu/cac/cac_evidence_internal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "milieu/base/random.h"
#include "milieu/cac/cac_problem_internal.h"
#include "milieu/cac/test_words.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/metrics/metrics.h"

namespace milieu {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

struct MadeViews {
  std::vector<Matrix<float>> points;
  std::vector<int> classes;

  CacInput input() const {
    CacInput in;
    for (const Matrix<float>& view : points) in.views.push_back(view);
    return in;
  }
};

// Classes as clouds around random places, drawn again in each view.
MadeViews make_views(uint64_t seed, int num_classes, int per_class, int num_views, int d,
                     double spread) {
  Random random(seed);
  MadeViews made;
  for (int i = 0; i < num_classes * per_class; ++i) made.classes.push_back(i % num_classes);
  for (int v = 0; v < num_views; ++v) {
    Matrix<float> centers(num_classes, d), points(std::ssize(made.classes), d);
    for (int64_t x = 0; x < centers.size(); ++x)
      centers.data()[x] = static_cast<float>(random.normal());
    for (int64_t i = 0; i < points.rows(); ++i)
      for (int64_t t = 0; t < d; ++t)
        points(i, t) =
            static_cast<float>((v + 1) * (centers(made.classes[i], t) + spread * random.normal()));
    made.points.push_back(std::move(points));
  }
  return made;
}

// Classes along random lines through random places.
MadeViews make_lines(uint64_t seed, int num_classes, int per_class, int num_views, int d) {
  Random random(seed);
  MadeViews made;
  std::vector<double> along;
  for (int i = 0; i < num_classes * per_class; ++i) {
    made.classes.push_back(i % num_classes);
    along.push_back(random.uniform() - 0.5);
  }
  for (int v = 0; v < num_views; ++v) {
    Matrix<float> centers(num_classes, d), directions(num_classes, d);
    Matrix<float> points(std::ssize(made.classes), d);
    for (int64_t x = 0; x < centers.size(); ++x) {
      centers.data()[x] = static_cast<float>(random.normal());
      directions.data()[x] = static_cast<float>(2 * random.normal());
    }
    for (int64_t i = 0; i < points.rows(); ++i)
      for (int64_t t = 0; t < d; ++t)
        points(i, t) =
            static_cast<float>(centers(made.classes[i], t) +
                               along[i] * directions(made.classes[i], t) + 0.15 * random.normal());
    made.points.push_back(std::move(points));
  }
  return made;
}

// The views side by side, each with unit total variance.
Matrix<float> scaled_views(const MadeViews& made) {
  int64_t d = 0;
  for (const Matrix<float>& view : made.points) d += view.cols();
  Matrix<float> joined(std::ssize(made.classes), d);
  int64_t column = 0;
  for (const Matrix<float>& view : made.points) {
    std::vector<double> mean(static_cast<size_t>(view.cols()));
    double scatter = 0;
    const auto n = static_cast<double>(view.rows());
    for (int64_t i = 0; i < view.rows(); ++i)
      for (int64_t t = 0; t < view.cols(); ++t) mean[t] += view(i, t) / n;
    for (int64_t i = 0; i < view.rows(); ++i)
      for (int64_t t = 0; t < view.cols(); ++t)
        scatter += (view(i, t) - mean[t]) * (view(i, t) - mean[t]) / n;
    for (int64_t i = 0; i < view.rows(); ++i)
      for (int64_t t = 0; t < view.cols(); ++t)
        joined(i, column + t) = static_cast<float>((view(i, t) - mean[t]) / std::sqrt(scatter));
    column += view.cols();
  }
  return joined;
}

double kmeans_error(const MadeViews& made, int k) {
  KMeansOptions options;
  options.num_clusters = k;
  const Matrix<float> joined = scaled_views(made);
  KMeansInput input;
  input.points = joined;
  return compute_metrics(fit_kmeans(input, options).labels, made.classes).error;
}

int num_distinct(const std::vector<int>& labels) {
  return static_cast<int>(std::set<int>(labels.begin(), labels.end()).size());
}

// A sample was labelled by its own group of one, and fell into a phrase that the groups of eleven
// had left without words.
TEST(CacEvidence, ViewsDoNotCollapse_issue25) {
  constexpr int kClasses = 10;
  for (const uint64_t seed : {1, 2, 3}) {
    const MadeViews made = make_views(seed, kClasses, 40, 3, 20, 2.2);
    CacOptions options;
    options.num_phrases = kClasses;
    const CacResult result = fit_cac(made.input(), options);
    EXPECT_EQ(num_distinct(result.labels), kClasses);
    EXPECT_LE(compute_metrics(result.labels, made.classes).error,
              kmeans_error(made, kClasses) + 0.01);
    EXPECT_THAT(result.summary.warnings, Not(Contains(HasSubstr("the labels use"))));
    // These clouds fill 60 dimensions: neighbours are of any class.
    EXPECT_THAT(result.summary.warnings, Contains(HasSubstr("neighbours in the views do not")));
  }
}

// With ten neighbours for classes of ten or fourteen samples most neighbours were of other classes,
// so that features alone decided.
TEST(CacEvidence, GroupsAreSmallerThanPhrases_issue25) {
  const auto neighbors = [](int64_t n, int num_phrases, int given) {
    const Matrix<float> points(n, 1);
    CacInput input;
    input.views = {points, points};
    CacOptions options;
    options.num_phrases = num_phrases;
    options.view_neighbors = given;
    return internal::count_view_neighbors(input, options);
  };
  EXPECT_EQ(neighbors(2000, 10, -1), 10);
  EXPECT_EQ(neighbors(300, 10, -1), 10);
  EXPECT_EQ(neighbors(350, 25, -1), 4);
  EXPECT_EQ(neighbors(100, 10, -1), 3);
  EXPECT_EQ(neighbors(20, 10, -1), 2);
  EXPECT_EQ(neighbors(100, -1, -1), 10);  // their number is not known yet
  EXPECT_EQ(neighbors(100, 10, 7), 7);
}

// Eight classes of ten samples, each along a line of its own: what neighbours tell is kept by small
// groups and blurred by groups as large as the classes.
TEST(CacEvidence, SmallClassesAreFoundByTheirNeighbours_issue25) {
  double small = 0, large = 0, without = 0;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const MadeViews made = make_lines(seed, 8, 10, 2, 6);
    CacOptions options;
    options.num_phrases = 8;
    small += compute_metrics(fit_cac(made.input(), options).labels, made.classes).error / 4;
    options.view_neighbors = 10;
    large += compute_metrics(fit_cac(made.input(), options).labels, made.classes).error / 4;
    without += kmeans_error(made, 8) / 4;
  }
  EXPECT_LT(small, large);
  EXPECT_LT(small, without);
}

TEST(CacEvidence, FewerClustersThanAskedForIsAWarningAndTheSummaryAgrees_issue25) {
  const MadeViews made = make_views(1, 10, 40, 3, 20, 2.2);
  CacOptions options;
  options.num_phrases = 10;
  options.phrase_model = CacPhraseModel::Counts;
  const CacResult result = fit_cac(made.input(), options);
  const int found = num_distinct(result.labels);
  ASSERT_LT(found, 10) << "the counts of the paper no longer collapse: take another case";
  EXPECT_THAT(result.summary.warnings,
              Contains(HasSubstr("the labels use " + std::to_string(found) + " of 10 phrases")));
  for (const auto& [name, value] : result.summary.extra)
    if (name == "phrases_used") {
      EXPECT_EQ(std::get<int64_t>(value), found);
    }
}

TEST(CacEvidence, APhraseWithoutWordsIsAWarning_issue25) {
  // Groups of one sample each, all of different words: no word is in half of the groups.
  Matrix<float> points(40, 1);
  for (int i = 0; i < 40; ++i) points(i, 0) = static_cast<float>(i);
  ContextGroups groups;
  groups.num_samples = 40;
  for (int i = 0; i < 40; ++i) {
    groups.members.push_back(i);
    groups.offsets.push_back(i + 1);
  }
  CacInput input;
  input.views = {points};
  input.groups = &groups;
  CacOptions options;
  options.num_words = 20;
  options.num_phrases = 1;
  const CacResult result = fit_cac(input, options);
  EXPECT_THAT(result.summary.warnings, Contains(HasSubstr("phrase 0 has no words")));
}

TEST(CacEvidence, WithoutNeighboursItIsKMeansOnTheScaledViews_issue25) {
  const MadeViews made = make_views(4, 6, 30, 3, 8, 1.5);
  CacOptions options;
  options.num_phrases = 6;
  options.view_neighbors = 0;
  options.seed = 5;
  const CacResult result = fit_cac(made.input(), options);
  KMeansOptions kmeans;
  kmeans.num_clusters = 6;
  kmeans.seed = 5;
  const Matrix<float> joined = scaled_views(made);
  KMeansInput input;
  input.points = joined;
  EXPECT_EQ(compute_metrics(result.labels, fit_kmeans(input, kmeans).labels).error, 0);
}

// Rounds, shares, square roots and factors, written out for one group after another.
TEST(CacEvidence, IsWhatTheDefinitionSays) {
  Random random(7);
  Matrix<float> points(12, 2);
  for (int64_t x = 0; x < points.size(); ++x)
    points.data()[x] = static_cast<float>(random.uniform(0, 1));
  CacEvidence evidence;
  evidence.lexicon = Matrix<float>(3, 2);
  for (int m = 0; m < 3; ++m) std::copy_n(points.row(m), 2, evidence.lexicon.row(m));
  evidence.lexicon_words = {3};
  evidence.means = {0.25, 0.5};
  evidence.weights = {2, 3, 2};
  ContextGroups groups;
  groups.num_samples = 12;
  for (int g = 0; g < 12; ++g) {
    for (const int step : {0, 1, 5}) {
      groups.members.push_back((g + step) % 12);
      groups.weights.push_back(static_cast<float>(1 + step));
    }
    groups.offsets.push_back(std::ssize(groups.members));
  }
  const std::vector<FloatView> views = {points};
  const std::vector<double> scales = {4};
  const Matrix<float> rows =
      internal::gather_evidence(evidence, views, scales, groups, 1, silent_monitor());
  const std::vector<int> words = predict(KMeansModel{evidence.lexicon}, points);
  const auto own = [&](int i) {
    std::vector<double> e(5);
    e[words[i]] = 1;
    for (int t = 0; t < 2; ++t) e[3 + t] = 2 * (points(i, t) - evidence.means[t]);
    return e;
  };
  const auto mean_of_group = [&](int g, const auto& of) {
    std::vector<double> e(5);
    for (const int step : {0, 1, 5})
      for (int t = 0; t < 5; ++t) e[t] += (1 + step) * of((g + step) % 12)[t] / 9.0;
    return e;
  };
  const auto first = [&](int g) { return mean_of_group(g, own); };
  const auto sample = [&](int i) {
    std::vector<double> e(5);
    for (const int step : {0, 1, 5})
      for (int t = 0; t < 5; ++t) e[t] += (1 + step) * first((i + 12 - step) % 12)[t] / 9.0;
    return e;
  };
  for (int g = 0; g < 12; ++g) {
    const std::vector<double> e = mean_of_group(g, sample);
    for (int t = 0; t < 5; ++t)
      EXPECT_NEAR(rows(g, t), t < 3 ? 2 * std::sqrt(e[t]) : 3 * e[t], 1e-5) << g << " " << t;
  }
}

TEST(CacEvidence, SizeOfAGroupDoesNotCount) {
  const SpatialWords data = make_spatial_words(3);
  CacEvidence evidence;
  evidence.lexicon = Matrix<float>(2, data.features.cols());
  for (int m = 0; m < 2; ++m)
    std::copy_n(data.features.row(m), data.features.cols(), evidence.lexicon.row(m));
  evidence.lexicon_words = {2};
  evidence.means.assign(static_cast<size_t>(data.features.cols()), 0.0);
  evidence.weights = {1, 1, 1};
  ContextGroups groups;
  groups.num_samples = data.features.rows();
  groups.members = {0, 1, 2, 0, 1, 2};
  groups.weights = {1, 2, 3, 11, 22, 33};
  groups.offsets = {0, 3, 6};
  const std::vector<FloatView> views = {data.features};
  const Matrix<float> rows = internal::gather_evidence(evidence, views, std::vector<double>{1.0},
                                                       groups, 1, silent_monitor());
  for (int64_t t = 0; t < rows.cols(); ++t) EXPECT_FLOAT_EQ(rows(0, t), rows(1, t));
}

TEST(CacEvidence, SamplesOfTheFitAreLabelledAgainAsTheyWere) {
  const MadeViews made = make_views(6, 5, 30, 2, 6, 1.0);
  CacOptions options;
  options.num_words = 5;
  options.num_phrases = 5;
  const CacResult views = fit_cac(made.input(), options);
  EXPECT_EQ(predict_groups(views.model, made.input()).labels, views.labels);
  const SpatialWords data = make_spatial_words(5);
  options = simulation_options();
  options.phrase_model = CacPhraseModel::Shares;
  const CacResult spatial = fit_cac(input_of(data), options);
  EXPECT_EQ(predict_groups(spatial.model, input_of(data)).labels, spatial.labels);
}

TEST(CacEvidence, ThreadsDoNotMatter) {
  const SpatialWords data = make_spatial_words(6);
  CacOptions options = simulation_options();
  options.phrase_model = CacPhraseModel::Shares;
  options.num_threads = 1;
  const CacResult one = fit_cac(input_of(data), options);
  options.num_threads = 3;
  const CacResult three = fit_cac(input_of(data), options);
  EXPECT_EQ(one.labels, three.labels);
  EXPECT_EQ(one.words, three.words);
  EXPECT_TRUE(one.model.evidence.phrases == three.model.evidence.phrases);
}

// Views with groups that are given: every sample is also a group of its own.
TEST(CacEvidence, GivenGroupsHelpViews) {
  const MadeViews made = make_views(8, 4, 30, 2, 4, 1.5);
  ContextGroups groups;
  groups.num_samples = std::ssize(made.classes);
  for (int g = 0; g < 24; ++g) {  // five samples of one class each
    for (int i = 0; i < 5; ++i) groups.members.push_back(g % 4 + 4 * (g / 4 * 5 + i));
    groups.offsets.push_back(std::ssize(groups.members));
  }
  CacInput input = made.input();
  input.groups = &groups;
  CacOptions options;
  options.num_phrases = 4;
  options.num_words = 4;
  const CacResult result = fit_cac(input, options);
  ASSERT_EQ(result.labels.size(), made.classes.size());
  EXPECT_LT(compute_metrics(result.labels, made.classes).error, kmeans_error(made, 4));
  EXPECT_EQ(predict_groups(result.model, input).labels, result.labels);
}

TEST(CacEvidence, TheMostStableNumberOfPhrasesIsUsed) {
  const MadeViews made = make_views(9, 4, 40, 2, 6, 0.5);
  CacOptions options;
  options.num_words = 4;
  options.num_phrases = -1;
  const CacResult result = fit_cac(made.input(), options);
  const auto list = [&](const std::string& name) {
    for (const auto& [key, value] : result.summary.extra)
      if (key == name) return std::get<std::vector<double>>(value);
    return std::vector<double>();
  };
  const std::vector<double> tried = list("phrases_tried"), stability = list("phrases_stability");
  ASSERT_EQ(tried.size(), 11u);
  const auto best = std::max_element(stability.begin(), stability.end()) - stability.begin();
  EXPECT_EQ(num_distinct(result.labels), static_cast<int>(tried[best]));
}

}  // namespace
}  // namespace milieu
