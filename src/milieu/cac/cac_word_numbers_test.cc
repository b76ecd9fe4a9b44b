// SPDX-License-Identifier: Apache-2.0
// One number of words per view.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/cac/cac.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Views of 120 samples in 6, 3 and 2 groups; the sample's class is i mod 6.
struct ThreeViews {
  std::vector<Matrix<float>> data;
  CacInput input;
};

ThreeViews three_views() {
  Random random(3);
  ThreeViews views;
  for (const int parts : {6, 3, 2}) {
    Matrix<float> points(120, 2);
    for (int i = 0; i < 120; ++i)
      for (int t = 0; t < 2; ++t)
        points(i, t) = static_cast<float>((t == 0 ? 5 : 3) * ((i % 6) % parts) + random.normal());
    views.data.push_back(std::move(points));
  }
  for (const Matrix<float>& points : views.data) views.input.views.emplace_back(points);
  return views;
}

CacOptions options_with(const char* words) {
  CacOptions options;
  options.num_words = words;
  options.num_phrases = 6;
  options.num_restarts = 3;
  options.view_neighbors = 0;
  options.num_threads = 1;
  return options;
}

// J of the labels by its definition [Yuan08, Eq. 3]: distances in each view, Hamming distances of
// the groups' counts of words.
double objective_by_definition(const CacInput& input, const CacOptions& options,
                               const CacResult& result) {
  const CacModel& model = result.model;
  const int64_t n = input.views[0].rows();
  double objective = 0;
  int first = 0;
  std::vector<int> words;  // of all primitives, numbered through all views
  for (size_t v = 0; v < input.views.size(); ++v) {
    for (int64_t i = 0; i < n; ++i) {
      const int word = first + result.words[v * static_cast<size_t>(n) + static_cast<size_t>(i)];
      words.push_back(word);
      for (int64_t t = 0; t < input.views[v].cols(); ++t) {
        const double away = input.views[v](i, t) - model.prototypes(word, t);
        objective += model.scales[v] * away * away;
      }
    }
    first += model.view_words[v];
  }
  const ContextGroups groups = make_context(input, options);
  for (int64_t g = 0; g < groups.num_groups(); ++g) {
    std::vector<double> counts(static_cast<size_t>(first), 0.0);
    for (const int p : groups.members_of(g)) ++counts[static_cast<size_t>(words[p])];
    for (int m = 0; m < first; ++m) {
      const bool holds = model.compositions(result.phrases[static_cast<size_t>(g)], m) > 0;
      objective += model.lambda * (holds ? 1 - counts[m] : counts[m]);
    }
  }
  return objective;
}

TEST(CacWords, EveryViewHasItsNumber_issue30) {
  const ThreeViews views = three_views();
  for (const CacPhraseModel phrase_model : {CacPhraseModel::Counts, CacPhraseModel::Shares}) {
    CacOptions options = options_with("7, 12,2");
    options.phrase_model = phrase_model;
    const CacResult result = fit_cac(views.input, options);
    EXPECT_THAT(result.model.view_words, ElementsAre(7, 12, 2));
    EXPECT_EQ(result.model.prototypes.rows(), 21);
    EXPECT_EQ(result.model.compositions.cols(), 21);
    for (int v = 0; v < 3; ++v)
      for (int i = 0; i < 120; ++i) {
        ASSERT_GE(result.words[v * 120 + i], 0);
        ASSERT_LT(result.words[v * 120 + i], result.model.view_words[v]);
      }
    EXPECT_NEAR(result.summary.objective, objective_by_definition(views.input, options, result),
                1e-5 * std::abs(result.summary.objective));
    EXPECT_EQ(predict_groups(result.model, views.input).words.size(), result.words.size());
  }
}

TEST(CacWords, WithoutContextWeightAViewIsItsOwnKMeans_issue30) {
  const ThreeViews views = three_views();
  CacOptions options = options_with("7,12,2");
  options.lambda = 0;
  const CacResult result = fit_cac(views.input, options);
  const std::vector<int> counts = {7, 12, 2};
  for (size_t v = 0; v < counts.size(); ++v) {
    KMeansInput input;
    input.points = views.input.views[v];
    KMeansOptions kmeans;
    kmeans.num_clusters = counts[v];
    kmeans.num_restarts = options.num_restarts;
    kmeans.num_threads = 1;
    EXPECT_EQ(std::vector<int>(result.words.begin() + static_cast<long>(v) * 120,
                               result.words.begin() + static_cast<long>(v + 1) * 120),
              fit_kmeans(input, kmeans).labels);
  }
}

TEST(CacWords, AutoIsChosenForItsViewAlone_issue30) {
  const ThreeViews views = three_views();
  const CacResult result = fit_cac(views.input, options_with("6,auto,auto"));
  EXPECT_EQ(result.model.view_words[0], 6);
  for (int v = 1; v < 3; ++v) {
    std::vector<double> tried, stability;
    for (const auto& [name, value] : result.summary.extra) {
      if (name == "view_" + std::to_string(v) + "_words_tried")
        tried = std::get<std::vector<double>>(value);
      if (name == "view_" + std::to_string(v) + "_words_stability")
        stability = std::get<std::vector<double>>(value);
    }
    ASSERT_FALSE(tried.empty()) << "view " << v;
    const auto best = std::ranges::max_element(stability) - stability.begin();
    EXPECT_EQ(result.model.view_words[v], tried[static_cast<size_t>(best)]) << "view " << v;
  }
}

TEST(CacWords, OneNumberIsOfAllViews_issue30) {
  const ThreeViews views = three_views();
  const CacResult one = fit_cac(views.input, options_with("5"));
  const CacResult list = fit_cac(views.input, options_with("5,5,5"));
  EXPECT_EQ(one.words, list.words);
  EXPECT_EQ(one.labels, list.labels);
  EXPECT_EQ(CacWords(5), "5");
  EXPECT_EQ(CacWords(-1), "auto");
}

TEST(CacWords, WrongListsAreRefused_issue30) {
  const ThreeViews views = three_views();
  const auto message = [&](const char* words) {
    return message_of([&] { fit_cac(views.input, options_with(words)); });
  };
  for (const char* wrong : {"many", "0", "-3", "5,,3", "5,x,3", "", "5 6", "5,6,7.5"})
    EXPECT_THAT(message(wrong), HasSubstr("must be a whole number of at least 1 or auto")) << wrong;
  EXPECT_THAT(message("5,3"), HasSubstr("num_words is '5,3', but there are 3 views"));
  EXPECT_THAT(message("5,3,121"), HasSubstr("num_words is 121 for 120 samples"));
  CacInput input = views.input;
  std::vector<int> words(360, 0);
  words[130] = 3;  // sample 10 in view 1
  input.initial_words = words;
  EXPECT_THAT(message_of([&] { fit_cac(input, options_with("5,3,2")); }),
              HasSubstr("initial_words[130] is 3, must be at least 0 and below 3"));
  EXPECT_THAT(message_of([&] { fit_cac(input, options_with("5,auto,2")); }), HasSubstr("must be"));
}

}  // namespace
}  // namespace milieu
