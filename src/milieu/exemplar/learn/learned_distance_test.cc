// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/learn/learned_distance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/metrics/metrics.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Histograms of two features: the first four columns separate the three clusters, the others are
// noise.
struct Bags {
  Matrix<float> points;
  std::vector<int> labels;
};

Bags made_bags(int n, uint64_t seed) {
  Random random(seed);
  Bags bags{Matrix<float>(n, 10), {}};
  for (int p = 0; p < n; ++p) {
    bags.labels.push_back(p % 3);
    for (int t = 0; t < 10; ++t)
      bags.points(p, t) =
          static_cast<float>(random.uniform() + (t < 4 && t % 3 == bags.labels[p] ? 1.5 : 0.0));
  }
  return bags;
}

std::vector<CandidateDistance> made_candidates() {
  return {{"good chi-squared", Distance::ChiSquared, 0, 0, 4},
          {"good rbf", Distance::Rbf, 0, 0, 4},
          {"noise l1", Distance::L1, 0, 4, 6},
          {"noise squared-euclidean", Distance::SquaredEuclidean, 0, 4, 0}};
}

LearnInput input_of(const std::vector<Bags>& all) {
  LearnInput input;
  for (const Bags& bags : all) input.sets.push_back({bags.points, bags.labels, {}});
  input.candidates = made_candidates();
  return input;
}

TEST(LearnedDistance, DistancesOfFeaturesAreLearnedAndUsed) {
  const std::vector<Bags> train = {made_bags(45, 1), made_bags(60, 2)};
  const ExemplarLearnResult result = learn_exemplar_distance(input_of(train), {});
  ASSERT_EQ(result.model.form, "distances");
  check_learned_distance(result.model, "here");
  EXPECT_GT(result.model.gammas[1], 0);
  EXPECT_GT(result.shares[0] + result.shares[1], 4 * (result.shares[2] + result.shares[3]));
  const Bags fresh = made_bags(48, 3);
  const ExemplarResult clusters = fit_learned_exemplar(result.model, fresh.points, {});
  EXPECT_EQ(clusters.model.rows.size(), 3u);
  EXPECT_GT(compute_metrics(clusters.labels, fresh.labels).accuracy, 0.97);

  LearnedDistance with_samples = result.model;
  with_samples.samples = train[0].points;
  with_samples.sample_labels = train[0].labels;
  with_samples.class_names = "a\nb\nc";
  check_learned_distance(with_samples, "here");
  const std::vector<int> classes = classify_learned(with_samples, fresh.points);
  int right = 0;
  for (int p = 0; p < 48; ++p) right += classes[p] == fresh.labels[p];
  EXPECT_GE(right, 46);
}

// Both distances of the noise are dropped together, those of the good feature kept together.
TEST(LearnedDistance, GroupLassoDropsWholeFeatures_issue30) {
  const std::vector<Bags> train = {made_bags(45, 1), made_bags(60, 2)};
  ExemplarLearnOptions options;
  options.screening = 0;
  options.metric = false;
  options.validations = 0;
  options.calibrate = false;
  options.train.regularizer = CrfRegularizer::GroupLasso;
  options.train.regularization = 0.3;
  const std::vector<double> weights =
      learn_exemplar_distance(input_of(train), options).model.weights;
  EXPECT_GT(weights[0], 0);
  EXPECT_GT(weights[1], 0);
  EXPECT_EQ(weights[2], 0);
  EXPECT_EQ(weights[3], 0);
}

// Kept matrices, tiles that are computed again in every round and matrices computed elsewhere
// agree.
TEST(LearnedDistance, BudgetsAndMatricesGiveTheSameWeights) {
  const std::vector<Bags> all = {made_bags(45, 4)};
  const Bags& bags = all[0];
  const LearnInput input = input_of(all);
  ExemplarLearnOptions options;
  options.train.max_iterations = 12;
  const ExemplarLearnResult kept = learn_exemplar_distance(input, options);
  options.max_memory_gb = learn_memory_bytes(input.sets, options.precision) / 1e9;
  const ExemplarLearnResult streamed = learn_exemplar_distance(input, options);
  EXPECT_EQ(kept.model.weights, streamed.model.weights);

  std::vector<Matrix<float>> matrices;
  for (const CandidateDistance& c : candidates_of(kept.model)) {
    matrices.emplace_back(45, 45);
    const FloatView columns(bags.points.data() + c.first_column, 45, c.num_columns, 10);
    pair_distances(c.distance, columns, columns, matrices.back(), c.gamma);
  }
  LearnInput given;
  given.sets = {{{}, bags.labels, {}}};
  for (const Matrix<float>& matrix : matrices) given.sets[0].matrices.push_back(matrix);
  const ExemplarLearnResult precomputed = learn_exemplar_distance(given, options);
  EXPECT_EQ(kept.model.weights, precomputed.model.weights);
  EXPECT_EQ(precomputed.model.form, "precomputed");
  EXPECT_EQ(learned_costs(kept.model, bags.points, bags.points),
            learned_costs(precomputed.model, given.sets[0].matrices));
}

TEST(LearnedDistance, CoordinateCostsAreWeightedSquares) {
  LearnedDistance model;
  model.weights = {2, 0, 0.5};
  model.names = "a\nb\nc";
  model.form = "coordinates";
  model.penalty = 1;
  model.num_point_columns = 3;
  check_learned_distance(model, "here");
  Matrix<float> points(2, 3);
  points(0, 0) = 1, points(0, 1) = 9, points(1, 2) = 4;
  const Matrix<float> costs = learned_costs(model, points, points);
  EXPECT_FLOAT_EQ(costs(0, 1), 2 + 8);
  const Matrix<float> weighted = apply_weights(model, points);
  EXPECT_NEAR(weighted(0, 0), std::sqrt(2.0), 1e-6);
  EXPECT_EQ(weighted(0, 1), 0);
}

TEST(LearnedDistance, CalibrationNeverLosesOnTheTrainingSets) {
  const std::vector<Bags> all = {made_bags(60, 5)};
  ExemplarLearnOptions options;
  options.train.max_iterations = 30;
  options.calibrate = true;
  const ExemplarLearnResult result = learn_exemplar_distance(input_of(all), options);
  double after = -1, before = -1;
  for (const auto& [name, value] : result.summary.extra) {
    if (name == "training_accuracy") after = std::get<double>(value);
    if (name == "training_accuracy_before") before = std::get<double>(value);
  }
  EXPECT_GE(after, before);
  EXPECT_GE(before, 0);
}

bool is_calibrated(const ExemplarLearnResult& result) {
  return std::any_of(result.summary.extra.begin(), result.summary.extra.end(),
                     [](const auto& entry) { return entry.first == "calibration_factor"; });
}

TEST(LearnedDistance, OnlyAPenaltyThatIsGivenIsNotCalibrated) {
  const std::vector<Bags> all = {made_bags(45, 8)};
  ExemplarLearnOptions options;
  options.train.max_iterations = 10;
  EXPECT_TRUE(is_calibrated(learn_exemplar_distance(input_of(all), options)));
  options.penalty = 4;
  const ExemplarLearnResult given = learn_exemplar_distance(input_of(all), options);
  EXPECT_FALSE(is_calibrated(given));
  EXPECT_EQ(given.model.penalty, 4);
  options.learn_penalty = true;  // then it is only where training starts
  EXPECT_TRUE(is_calibrated(learn_exemplar_distance(input_of(all), options)));
  apply_paper_preset(options);
  options.train.max_iterations = 10;
  EXPECT_FALSE(is_calibrated(learn_exemplar_distance(input_of(all), options)));
}

TEST(LearnedDistance, LearnedPenaltyStaysAboveAlpha) {
  const std::vector<Bags> all = {made_bags(45, 6)};
  const Bags& bags = all[0];
  ExemplarLearnOptions options;
  options.learn_penalty = true;
  options.calibrate = false;
  const ExemplarLearnResult result = learn_exemplar_distance(input_of(all), options);
  EXPECT_GE(result.model.penalty, 1.5);
  EXPECT_NE(result.model.penalty, 7.5);  // where it starts: half of a mean cluster of 15
  const ExemplarResult clusters = fit_learned_exemplar(result.model, bags.points, {});
  EXPECT_GT(compute_metrics(clusters.labels, bags.labels).accuracy, 0.9);
}

TEST(LearnedDistance, BadInputIsNamed) {
  const std::vector<Bags> all = {made_bags(12, 7)};
  const Bags& bags = all[0];
  LearnInput input = input_of(all);
  input.candidates[0].num_columns = 11;
  EXPECT_THAT(
      [&] { learn_exemplar_distance(input, {}); },
      ThrowsMessage<InvalidArgument>(HasSubstr("'good chi-squared' is of columns 0 to 10")));
  Matrix<float> matrix(12, 12);
  matrix(2, 3) = -1;
  LearnInput given;
  given.sets = {{{}, bags.labels, {matrix}}};
  EXPECT_THAT([&] { learn_exemplar_distance(given, {}); },
              ThrowsMessage<DataError>(HasSubstr("has -1 at row 2, column 3")));
  matrix(2, 3) = NAN;
  EXPECT_THAT([&] { learn_exemplar_distance(given, {}); },
              ThrowsMessage<DataError>(HasSubstr("has nan at row 2, column 3")));
  matrix(2, 3) = 0;
  EXPECT_THAT([&] { learn_exemplar_distance(given, {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("the same for all pairs")));
  const LearnedDistance model = learn_exemplar_distance(input_of(all), {}).model;
  EXPECT_THAT([&] { classify_learned(model, bags.points); },
              ThrowsMessage<InvalidArgument>(HasSubstr("no training samples")));
  const Matrix<float> narrow(3, 4);
  EXPECT_THAT(
      [&] { learned_costs(model, narrow, narrow); },
      ThrowsMessage<InvalidArgument>(HasSubstr("4 columns, the distance was learned on 10")));
  EXPECT_THAT([&] { learned_costs(model, {matrix}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("learned from points")));
  LearnedDistance broken = model;
  broken.gammas.pop_back();
  EXPECT_THAT([&] { check_learned_distance(broken, "m"); },
              ThrowsMessage<DataError>(HasSubstr("candidates and weights do not match")));
  broken = model;
  broken.weights[0] = NAN;
  EXPECT_THAT([&] { check_learned_distance(broken, "m"); },
              ThrowsMessage<DataError>(HasSubstr("not all finite")));
}

}  // namespace
}  // namespace milieu
