// SPDX-License-Identifier: Apache-2.0
// From a learned distance to clusters: which grouping, how many clusters, at any size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/exemplar/learn/learned_clusters_internal.h"
#include "milieu/metrics/metrics.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Made {
  Matrix<float> points;
  std::vector<int> labels;
  LearnSet set() const { return {points, labels, {}}; }
};

Matrix<float> made_centres() {
  Random centers(99);
  Matrix<float> center(10, 4);
  for (int64_t i = 0; i < center.size(); ++i)
    center.data()[i] = static_cast<float>(3 * centers.normal());
  return center;
}

// Ten clusters in the first four columns, elongated along the fifth; five columns of noise. The
// first `clusters` of them, `size` samples each.
Made made(int clusters, int size, uint64_t seed) {
  Random random(seed);
  const Matrix<float> center = made_centres();
  Made out{Matrix<float>(clusters * size, 10), {}};
  for (int p = 0; p < clusters * size; ++p) {
    const int c = p % clusters;
    out.labels.push_back(c);
    for (int t = 0; t < 10; ++t)
      out.points(p, t) = static_cast<float>((t < 4 ? center(c, t) : 0) + (t < 4    ? 0.8
                                                                          : t == 4 ? 6
                                                                                   : 2) *
                                                                             random.normal());
  }
  return out;
}

// What the best classifier has, which knows the centres.
double nearest_centre_accuracy(const Made& data) {
  const Matrix<float> centres = made_centres();
  const int clusters = 1 + *std::max_element(data.labels.begin(), data.labels.end());
  const FloatView four(data.points.data(), data.points.rows(), 4, data.points.cols());
  Matrix<float> distances(four.rows(), clusters);
  pair_distances(Distance::SquaredEuclidean, four, centres.view().rows_between(0, clusters),
                 distances);
  double right = 0;
  for (int64_t p = 0; p < four.rows(); ++p) {
    const auto row = distances.row_span(p);
    right += std::min_element(row.begin(), row.end()) - row.begin() == data.labels[p];
  }
  return right / static_cast<double>(four.rows());
}

ExemplarLearnOptions quick() {
  ExemplarLearnOptions options;
  options.train.max_iterations = 100;
  return options;
}

double figure(const RunSummary& summary, const std::string& name) {
  for (const auto& [key, value] : summary.extra)
    if (key == name) return std::get<double>(value);
  return NAN;
}

ExemplarResult fit(const LearnedDistance& model, const Made& data, ExemplarGrouping grouping,
                   int num_clusters = 0) {
  ExemplarOptions options;
  options.grouping = grouping;
  options.num_clusters = num_clusters;
  return fit_learned_exemplar(model, data.points, options);
}

// Trained at 40 samples per cluster, at 10 it found 2 of 10 clusters, silently.
TEST(LearnedClusters, PenaltyAndCutHoldAtOtherSizes_issue28) {
  const Made train = made(10, 40, 1);
  const LearnedDistance model = learn_exemplar_distance({{train.set()}}, quick()).model;
  ASSERT_EQ(model.penalty_rule.size(), 2u);
  EXPECT_EQ(model.penalty_rule[0], 400);
  EXPECT_GT(model.penalty_rule[1], 0);
  EXPECT_EQ(penalty_for(model, 400), model.penalty);
  EXPECT_LT(penalty_for(model, 100), model.penalty);
  for (const int size : {10, 20, 80}) {
    const Made fresh = made(10, size, 2);
    const ExemplarResult exemplars = fit(model, fresh, ExemplarGrouping::Exemplars);
    EXPECT_GE(exemplars.model.rows.size(), 8u) << size;
    EXPECT_LE(exemplars.model.rows.size(), 13u) << size;
    const ExemplarResult cut = fit(model, fresh, ExemplarGrouping::Cut);
    EXPECT_EQ(cut.model.rows.size(), 10u) << size;
    EXPECT_GT(compute_metrics(cut.labels, fresh.labels).accuracy, 0.9) << size;
  }
  // Other numbers of clusters, too.
  const ExemplarResult four = fit(model, made(4, 30, 3), ExemplarGrouping::Cut);
  EXPECT_EQ(four.model.rows.size(), 4u);
}

TEST(LearnedClusters, CutHasExemplarsAndABound) {
  const Made train = made(6, 20, 1), fresh = made(6, 15, 2);
  const LearnedDistance model = learn_exemplar_distance({{train.set()}}, quick()).model;
  const ExemplarResult cut = fit(model, fresh, ExemplarGrouping::Cut, 6);
  const ExemplarResult told = fit(model, fresh, ExemplarGrouping::Exemplars, 6);
  ASSERT_EQ(cut.model.rows.size(), 6u);
  EXPECT_TRUE(std::is_sorted(cut.model.rows.begin(), cut.model.rows.end()));
  const Matrix<float> costs = learned_costs(model, fresh.points, fresh.points);
  double energy = 0;
  for (size_t p = 0; p < cut.labels.size(); ++p) {
    const int64_t q = cut.model.rows[cut.labels[p]];
    EXPECT_EQ(cut.labels[q], cut.labels[p]);
    energy += static_cast<int64_t>(p) == q ? 0 : costs(static_cast<int64_t>(p), q);
  }
  EXPECT_NEAR(cut.energy, energy, 1e-6 * energy);
  EXPECT_LE(cut.lower_bound, told.energy * (1 + 1e-6));
  EXPECT_GE(cut.energy, cut.lower_bound);
}

// Of numbers that score about as well, the gap decides; it does not overrule a bad score.
TEST(LearnedClusters, GapDecidesAmongNumbersOfAboutTheSameScore) {
  internal::ScoredCuts cuts;
  cuts.path.first = 1;
  cuts.path.labels.resize(3);  // what they are does not matter here
  cuts.path.gaps = {0.9, 0.1, 0.2};
  cuts.mean = 1;
  cuts.pairs = {64, 32, 24};
  cuts.inside = {400, 42, 30};
  EXPECT_EQ(internal::choose_cut(cuts, {2}), 1u);  // 22 against 18, more than a tenth less
  cuts.inside[2] = 28;
  EXPECT_EQ(internal::choose_cut(cuts, {2}), 2u);  // 22 against 20
  EXPECT_EQ(internal::choose_cut(cuts, {}), 0u);
}

TEST(LearnedClusters, PairsWithinPartsAreScored) {
  Matrix<float> costs(8, 8);
  for (int p = 0; p < 8; ++p)
    for (int q = 0; q < 8; ++q) costs(p, q) = p == q ? 7.0f : p / 4 == q / 4 ? 1.0f : 900.0f;
  const internal::ScoredCuts cuts = internal::score_cuts(costs, 2, 1, 1, silent_monitor());
  ASSERT_EQ(cuts.path.labels.size(), 1u);
  EXPECT_EQ(cuts.path.labels[0], (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(cuts.pairs[0], 32);
  EXPECT_EQ(cuts.inside[0], 24);  // not the diagonal
}

// What is found from samples with known clusters chooses their number on others.
TEST(LearnedClusters, SameClusterDistanceIsFoundOnKnownClusters) {
  const auto costs_of = [](const Made& data) {
    Matrix<float> costs(data.points.rows(), data.points.rows());
    const FloatView four(data.points.data(), data.points.rows(), 4, data.points.cols());
    pair_distances(Distance::SquaredEuclidean, four, four, costs);
    return costs;
  };
  const Made known = made(9, 12, 5), fresh = made(7, 20, 6);
  std::vector<internal::HeldOutCuts> all;
  internal::add_held_out_cuts(costs_of(known), known.labels, 1, 1, silent_monitor(), all);
  ASSERT_EQ(all.size(), 3u);
  const std::vector<double> rule = internal::best_same_cluster(all);
  // The baselines: the eigengap alone, a distance that is far too large, the best of all
  // distances, and, for the cut that is told the number, the nearest true centre.
  const auto mean_accuracy = [&](const std::vector<double>& any_rule) {
    double sum = 0;
    for (const internal::HeldOutCuts& each : all) sum += each.accuracy(any_rule) / 3;
    return sum;
  };
  double best = 0;
  for (int i = 0; i < 300; ++i) best = std::max(best, mean_accuracy({0.01 * (i + 1)}));
  EXPECT_GE(mean_accuracy(rule), mean_accuracy({}));
  EXPECT_GT(mean_accuracy(rule), mean_accuracy({2}));
  EXPECT_GT(mean_accuracy(rule), best - 1.0 / 18);  // half of one of nine clusters
  EXPECT_GT(all[0].accuracy_of(9), 0.95 * nearest_centre_accuracy(known));
  const internal::ScoredCuts cuts =
      internal::score_cuts(costs_of(fresh), 0, 1, 1, silent_monitor());
  EXPECT_EQ(cuts.path.first + static_cast<int>(internal::choose_cut(cuts, rule)), 7);
}

// Weights that a single wild step left behind are not used: the average is better on held-out
// samples, and the warning says so.
TEST(LearnedClusters, NeverBehindTheUnlearnedAverage_issue28) {
  Random random(5);
  const auto data = [&](int n) {
    Made out{Matrix<float>(n, 12), {}};
    for (int p = 0; p < n; ++p) {
      out.labels.push_back(p % 3);
      for (int t = 0; t < 12; ++t)
        out.points(p, t) = static_cast<float>((t % 3 == p % 3 ? 2.5 : 0) + random.normal());
    }
    return out;
  };
  const Made train = data(90), fresh = data(90);  // below a hundred: no full metrics
  ExemplarLearnOptions options;
  options.train.max_iterations = 2;
  options.train.regularization = 0.9;  // the price alone drives the weights
  options.train.step = 50;
  const ExemplarLearnResult result = learn_exemplar_distance({{train.set()}}, options);
  const double learned = std::max(figure(result.summary, "held_out_exemplars"),
                                  figure(result.summary, "held_out_cut"));
  const double average = std::max(figure(result.summary, "held_out_average_exemplars"),
                                  figure(result.summary, "held_out_average_cut"));
  ASSERT_GT(average, learned + 0.1);
  EXPECT_THAT(result.summary.warnings,
              ::testing::Contains(HasSubstr("unlearned, clusters held-out")));
  for (size_t t = 1; t < 12; ++t) EXPECT_GT(result.model.weights[t], 0);
  const ExemplarResult found = fit_learned_exemplar(result.model, fresh.points, {});
  EXPECT_GT(compute_metrics(found.labels, fresh.labels).accuracy, 0.9);
}

TEST(LearnedClusters, GroupingIsChosenOnHeldOutHalvesAndCanBeOverruled) {
  const Made train = made(8, 20, 1), fresh = made(8, 20, 2);
  const ExemplarLearnResult result = learn_exemplar_distance({{train.set()}}, quick());
  const bool cut_is_ahead =
      figure(result.summary, "held_out_cut") > figure(result.summary, "held_out_exemplars");
  EXPECT_EQ(result.model.grouping, cut_is_ahead ? "cut" : "exemplars");
  ExemplarLearnOptions none = quick();
  none.validations = 0;
  EXPECT_EQ(learn_exemplar_distance({{train.set()}}, none).model.grouping, "");
  LearnedDistance model = result.model;
  model.grouping = "cut";
  EXPECT_EQ(fit(model, fresh, ExemplarGrouping::Auto).labels,
            fit(model, fresh, ExemplarGrouping::Cut).labels);
  ExemplarOptions options;
  options.penalty = to_text(FieldValue(model.penalty));
  EXPECT_EQ(fit_learned_exemplar(model, fresh.points, options).labels,
            fit(model, fresh, ExemplarGrouping::Exemplars).labels);
  options.grouping = ExemplarGrouping::Cut;
  EXPECT_THAT([&] { fit_learned_exemplar(model, fresh.points, options); },
              ThrowsMessage<InvalidArgument>(HasSubstr("grouping is cut, which has no penalty")));
  options = {};
  options.max_memory_gb = 8e-5;  // 160 x 160 distances take a little more
  options.num_neighbors = 20;
  const ExemplarResult small = fit_learned_exemplar(model, fresh.points, options);
  EXPECT_THAT(small.summary.warnings, ::testing::Contains(HasSubstr("grouped by exemplars")));
}

TEST(LearnedClusters, ThreadsDoNotChangeTheBits) {
  const Made train = made(6, 20, 4);
  ExemplarLearnOptions options = quick();
  options.train.num_threads = 1;
  const LearnedDistance one = learn_exemplar_distance({{train.set()}}, options).model;
  options.train.num_threads = 3;
  const LearnedDistance three = learn_exemplar_distance({{train.set()}}, options).model;
  EXPECT_EQ(one.weights, three.weights);
  EXPECT_EQ(one.metric, three.metric);
  EXPECT_EQ(one.penalty, three.penalty);
  EXPECT_EQ(one.penalty_rule, three.penalty_rule);
  EXPECT_EQ(one.same_cluster, three.same_cluster);
  EXPECT_EQ(one.grouping, three.grouping);
}

TEST(LearnedClusters, BrokenUsesAreNamed) {
  const Made train = made(5, 24, 1);
  const LearnedDistance good = learn_exemplar_distance({{train.set()}}, quick()).model;
  check_learned_distance(good, "here");
  const auto expect_refused = [&](auto change, const char* part) {
    LearnedDistance broken = good;
    change(broken);
    EXPECT_THAT([&] { check_learned_distance(broken, "m"); },
                ThrowsMessage<DataError>(HasSubstr(part)));
  };
  ASSERT_FALSE(good.metric.empty());
  expect_refused([](LearnedDistance& m) { m.metric_roots.pop_back(); }, "metric and columns");
  expect_refused([](LearnedDistance& m) { m.metric(0, 0) = NAN; }, "metric and columns");
  expect_refused([](LearnedDistance& m) { m.penalty_rule = {0, 1}; }, "rule of the penalty");
  expect_refused([](LearnedDistance& m) { m.same_cluster = {NAN}; }, "distance within clusters");
  expect_refused([](LearnedDistance& m) { m.grouping = "both"; }, "grouping is unknown");
}

// Both ways to the same distances, metric included.
TEST(LearnedClusters, WeightedPointsHaveTheLearnedDistances) {
  const Made train = made(5, 24, 1);
  const LearnedDistance model = learn_exemplar_distance({{train.set()}}, quick()).model;
  ASSERT_FALSE(model.metric.empty());
  const Matrix<float> rows = apply_weights(model, train.points);
  Matrix<float> squared(rows.rows(), rows.rows());
  pair_distances(Distance::SquaredEuclidean, rows, rows, squared);
  const Matrix<float> costs = learned_costs(model, train.points, train.points);
  for (int64_t i = 0; i < costs.size(); ++i)
    EXPECT_NEAR(squared.data()[i], costs.data()[i], 1e-3 * (1 + costs.data()[i]));
}

}  // namespace
}  // namespace milieu
