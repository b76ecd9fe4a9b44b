// SPDX-License-Identifier: Apache-2.0
// fit_cac and predict on wrong input and at the edges of their definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/cac/cac.h"
#include "milieu/cac/cac_start_internal.h"
#include "milieu/cac/test_words.h"
#include "milieu/metrics/metrics.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  EXPECT_THAT(message(), HasSubstr("give either groups or positions"));
}

TEST_F(CacBadInput, TooManyWordsOrPhrases) {
  options_.num_words = 555;
  EXPECT_THAT(message(), HasSubstr("num_words is 555 for 554 samples: must be at most"));
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
  options.phrase_model = CacPhraseModel::Counts;
  options.num_words = 1;
  options.num_phrases = 1;
  const CacResult result = fit_cac(input, options);
  EXPECT_THAT(result.summary.warnings, ::testing::Contains(HasSubstr("lambda was derived")));
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
