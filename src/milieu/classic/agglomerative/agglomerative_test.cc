// SPDX-License-Identifier: Apache-2.0
// Agglomerative clustering: hand cases, invariants, cuts, edges and refusals. The twins are in
// agglomerative_twin_test.cc.
#include "milieu/classic/agglomerative/agglomerative.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/test_points.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Linkage kLinkages[] = {Linkage::Ward, Linkage::Average, Linkage::Complete,
                                 Linkage::Single};

AgglomerativeResult fit(FloatView points, Linkage linkage, int num_clusters = 1) {
  AgglomerativeOptions options;
  options.linkage = linkage;
  options.num_clusters = num_clusters;
  return fit_agglomerative({points}, options);
}

std::vector<double> column(const Matrix<double>& tree, int64_t j) {
  std::vector<double> values;
  for (int64_t i = 0; i < tree.rows(); ++i) values.push_back(tree(i, j));
  return values;
}

// Samples 0 1 3 7 on a line: by hand.
TEST(Agglomerative, HandCaseTree) {
  const Matrix<float> points = line({0, 1, 3, 7});
  const Matrix<double> single = fit(points, Linkage::Single).model.tree;
  EXPECT_THAT(column(single, 0), ElementsAre(0, 2, 3));
  EXPECT_THAT(column(single, 1), ElementsAre(1, 4, 5));
  EXPECT_THAT(column(single, 2), ElementsAre(1, 2, 4));
  EXPECT_THAT(column(single, 3), ElementsAre(2, 3, 4));
  EXPECT_THAT(column(fit(points, Linkage::Complete).model.tree, 2), ElementsAre(1, 3, 7));
  // (3 + 2) / 2 and (7 + 6 + 4) / 3, the latter kept in float.
  const Matrix<double> average = fit(points, Linkage::Average).model.tree;
  EXPECT_EQ(average(1, 2), 2.5);
  EXPECT_NEAR(average(2, 2), 17.0 / 3, 1e-6);
  // Means 0.5 and 3: sqrt(2 * 2 / 3) * 2.5; means 4/3 and 7: sqrt(2 * 3 / 4) * 17/3.
  const Matrix<double> ward = fit(points, Linkage::Ward).model.tree;
  EXPECT_NEAR(ward(1, 2), std::sqrt(4.0 / 3) * 2.5, 1e-6);
  EXPECT_NEAR(ward(2, 2), std::sqrt(1.5) * 17 / 3, 1e-6);
}

TEST(Agglomerative, HandCaseLabelsAndSummary) {
  const AgglomerativeResult result = fit(line({7, 0, 1, 3}), Linkage::Complete, 2);
  EXPECT_THAT(result.labels, ElementsAre(0, 1, 1, 1));
  EXPECT_EQ(result.model.labels, result.labels);
  EXPECT_EQ(result.summary.objective, 3);
  EXPECT_THAT(result.summary.trace, ElementsAre(1, 3));
  EXPECT_EQ(result.summary.iterations, 2);
  EXPECT_EQ(result.summary.clusters, 2);
  EXPECT_THAT(result.summary.sizes, ElementsAre(1, 3));
  EXPECT_EQ(result.summary.termination, Termination::Converged);
  ASSERT_EQ(result.summary.extra.size(), 1u);
  EXPECT_EQ(result.summary.extra[0].first, "next_height");
  EXPECT_EQ(std::get<double>(result.summary.extra[0].second), 7);
}

TEST(Agglomerative, FindsSeparatedBlobs) {
  const LabelledPoints blobs = make_blobs({.n = 90, .d = 3, .num_clusters = 3, .separation = 30});
  for (const Linkage linkage : kLinkages) {
    const std::vector<int> labels = fit(blobs.points, linkage, 3).labels;
    for (size_t i = 0; i < labels.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        ASSERT_EQ(labels[i] == labels[j], blobs.labels[i] == blobs.labels[j]);
  }
}

TEST(Agglomerative, HeightsNeverFallAndChildrenComeFirst) {
  for (const Linkage linkage : kLinkages) {
    const Matrix<double> tree = fit(normal_points(200, 3, 9), linkage).model.tree;
    for (int64_t i = 0; i < tree.rows(); ++i) {
      EXPECT_LT(tree(i, 0), tree(i, 1));
      EXPECT_LT(tree(i, 1), 200.0 + static_cast<double>(i));
      EXPECT_LE(i > 0 ? tree(i - 1, 2) : 0, tree(i, 2));
    }
    EXPECT_EQ(tree(198, 3), 200);
  }
}

// Half the squared heights of Ward's merges add up to the within-cluster sum of squares.
TEST(Agglomerative, WardHeightsAddUpToTheSumOfSquares) {
  const Matrix<float> points = normal_points(100, 4, 3);
  const Matrix<double> tree = fit(points, Linkage::Ward).model.tree;
  double from_heights = 0;
  for (const double height : column(tree, 2)) from_heights += height * height / 2;
  double sum_of_squares = 0;
  for (int64_t j = 0; j < 4; ++j) {
    double mean = 0;
    for (int64_t i = 0; i < 100; ++i) mean += points(i, j) / 100.0;
    for (int64_t i = 0; i < 100; ++i) sum_of_squares += std::pow(points(i, j) - mean, 2);
  }
  EXPECT_NEAR(from_heights, sum_of_squares, 1e-5 * sum_of_squares);
}

// Whole numbers on a grid: nearly all distances tie. Equal rows join first.
TEST(Agglomerative, WardJoinsTiesAndCopies) {
  constexpr int64_t kSide = 40;
  Matrix<float> points(2 * kSide * kSide, 2);
  for (int64_t i = 0; i < points.rows(); ++i) {
    points(i, 0) = static_cast<float>(i / 2 % kSide);
    points(i, 1) = static_cast<float>(i / 2 / kSide);
  }
  const Matrix<double> tree = fit(points, Linkage::Ward).model.tree;
  ASSERT_EQ(tree.rows(), points.rows() - 1);
  EXPECT_EQ(tree(kSide * kSide - 1, 2), 0);
  EXPECT_GT(tree(kSide * kSide, 2), 0);
  double from_heights = 0;
  for (const double height : column(tree, 2)) from_heights += height * height / 2;
  const double of_one_axis = 2.0 * kSide * kSide * (kSide * kSide - 1) / 12;  // variance of 0..39
  EXPECT_NEAR(from_heights, 2 * of_one_axis, 1e-9 * from_heights);
}

TEST(Agglomerative, ThresholdIsInclusiveAndOverridesTheCount) {
  const Matrix<float> points = line({0, 1, 3, 7});
  AgglomerativeOptions options;
  options.linkage = Linkage::Single;
  options.num_clusters = 100;  // not used, so not refused either
  options.distance_threshold = 2;
  EXPECT_THAT(fit_agglomerative({points}, options).labels, ElementsAre(0, 0, 0, 1));
  options.distance_threshold = 1.999;
  EXPECT_THAT(fit_agglomerative({points}, options).labels, ElementsAre(0, 0, 1, 2));
  options.distance_threshold = 0.5;
  EXPECT_THAT(fit_agglomerative({points}, options).labels, ElementsAre(0, 1, 2, 3));
}

TEST(Agglomerative, OtherCutsNeedNoNewFit) {
  const Matrix<float> points = normal_points(50, 2, 4);
  const AgglomerativeModel model = fit(points, Linkage::Average, 5).model;
  EXPECT_EQ(cut_into(model, 5), model.labels);
  EXPECT_EQ(cut_into(model, 7), fit(points, Linkage::Average, 7).labels);
  EXPECT_EQ(cut_at(model, model.tree(20, 2)), cut_into(model, 29));
  EXPECT_THROW(cut_into(model, 0), InvalidArgument);
  EXPECT_THROW(cut_into(model, 51), InvalidArgument);
  EXPECT_THROW(cut_at(model, -1), InvalidArgument);
}

TEST(Agglomerative, PermutedSamplesGivePermutedClusters) {
  const Matrix<float> points = normal_points(80, 3, 6);
  Random random(1);
  std::vector<int> order(80);
  for (int i = 0; i < 80; ++i) order[i] = i;
  random.shuffle(std::span<int>(order));
  Matrix<float> permuted(80, 3);
  for (int i = 0; i < 80; ++i) std::copy_n(points.row(order[i]), 3, permuted.row(i));
  for (const Linkage linkage : kLinkages) {
    const std::vector<int> labels = fit(points, linkage, 6).labels;
    const std::vector<int> other = fit(permuted, linkage, 6).labels;
    for (int i = 0; i < 80; ++i)
      for (int j = 0; j < i; ++j)
        ASSERT_EQ(other[i] == other[j], labels[order[i]] == labels[order[j]]);
  }
}

TEST(Agglomerative, ScalingScalesTheHeights) {
  const Matrix<float> points = normal_points(60, 3, 8);
  for (const float scale : {0x1p-100f, 0x1p100f})
    for (const Linkage linkage : kLinkages) {
      Matrix<float> scaled = points;
      for (int64_t i = 0; i < scaled.size(); ++i) scaled.data()[i] *= scale;
      const AgglomerativeResult a = fit(points, linkage, 4);
      const AgglomerativeResult b = fit(scaled, linkage, 4);
      EXPECT_EQ(a.labels, b.labels);
      EXPECT_EQ(b.summary.objective, a.summary.objective * scale);
    }
}

TEST(Agglomerative, AllTiesFollowTheWrittenRule) {
  // Equal gaps: the chain 0 -> 1 merges, then 2 (its nearest is 3, at the same distance as the
  // cluster of 1 or nearer), so pairs form from the left.
  const AgglomerativeResult result = fit(line({0, 1, 2, 3}), Linkage::Complete);
  EXPECT_THAT(column(result.model.tree, 0), ElementsAre(0, 2, 4));
  EXPECT_THAT(column(result.model.tree, 1), ElementsAre(1, 3, 5));
  EXPECT_THAT(column(result.model.tree, 2), ElementsAre(1, 1, 3));
}

TEST(Agglomerative, EqualSamplesMergeAtHeightZero) {
  Matrix<float> points(20, 3);
  std::fill_n(points.data(), points.size(), 4.0f);
  for (const Linkage linkage : kLinkages) {
    const AgglomerativeResult result = fit(points, linkage, 3);
    EXPECT_EQ(result.summary.objective, 0);
    EXPECT_EQ(result.summary.clusters, 3);
    EXPECT_EQ(result.model.tree(18, 2), 0);
    ASSERT_EQ(result.summary.warnings.size(), 1u);
    EXPECT_THAT(result.summary.warnings[0], HasSubstr("only 1 distinct sample"));
  }
  const AgglomerativeResult pairs = fit(line({5, 1, 5, 1, 5}), Linkage::Average, 2);
  EXPECT_THAT(pairs.labels, ElementsAre(0, 1, 0, 1, 0));
  EXPECT_EQ(pairs.summary.objective, 0);
  EXPECT_THAT(pairs.summary.warnings, IsEmpty());
}

TEST(Agglomerative, OneSampleAndAsManyClustersAsSamples) {
  const AgglomerativeResult one = fit(line({3}), Linkage::Ward, 1);
  EXPECT_THAT(one.labels, ElementsAre(0));
  EXPECT_EQ(one.model.tree.rows(), 0);
  EXPECT_EQ(one.summary.objective, 0);
  EXPECT_EQ(one.summary.termination, Termination::Converged);
  const AgglomerativeResult all = fit(line({3, 1, 2}), Linkage::Ward, 3);
  EXPECT_THAT(all.labels, ElementsAre(0, 1, 2));
  EXPECT_EQ(all.summary.iterations, 0);
}

TEST(Agglomerative, AnyNumberOfThreadsGivesTheSameBits) {
  const Matrix<float> points = normal_points(700, 10, 12);
  AgglomerativeOptions options;
  options.num_threads = 1;
  const AgglomerativeResult one = fit_agglomerative({points}, options);
  for (const int num_threads : {2, 8}) {
    options.num_threads = num_threads;
    EXPECT_TRUE(fit_agglomerative({points}, options).model.tree == one.model.tree);
  }
}

// Stops when a stage of the fit is first reported.
class StopAtStage : public Monitor {
 public:
  StopAtStage(std::stop_source source, std::string_view stage)
      : Monitor(source.get_token()), source_(source), stage_(stage) {}
  void on_progress(std::string_view stage, int64_t done, int64_t) override {
    if (stage == stage_ && done > 0) source_.request_stop();
  }

 private:
  std::stop_source source_;
  std::string_view stage_;
};

TEST(Agglomerative, StoppedRunKeepsTheMergesMade) {
  const Matrix<float> points = normal_points(1500, 2, 13);
  for (const std::string_view stage : {"distances", "merges"}) {
    StopAtStage monitor(std::stop_source(), stage);
    const AgglomerativeResult result = fit_agglomerative({points}, {}, monitor);
    EXPECT_EQ(result.summary.termination, Termination::Cancelled);
    ASSERT_EQ(result.labels.size(), 1500u);
    EXPECT_EQ(result.summary.clusters, 1500 - result.model.tree.rows());
    EXPECT_EQ(result.model.tree.rows() == 0, stage == "distances");
    EXPECT_EQ(*std::max_element(result.labels.begin(), result.labels.end()) + 1,
              result.summary.clusters);
    EXPECT_THAT(result.summary.message, HasSubstr("of 1499 merges"));
  }
}

TEST(Agglomerative, TraceIsLimited) {
  const AgglomerativeResult result = fit(normal_points(1200, 1, 14), Linkage::Single, 1);
  EXPECT_EQ(result.summary.iterations, 1199);
  EXPECT_EQ(result.summary.trace.size(), 1000u);
  EXPECT_EQ(result.summary.trace.back(), result.summary.objective);
}

void expect_refused(FloatView points, const AgglomerativeOptions& options, const char* message) {
  try {
    fit_agglomerative({points}, options);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(Agglomerative, WrongInputIsRefused) {
  Matrix<float> points = normal_points(5, 2, 15);
  expect_refused(points, {.num_clusters = 0}, "num_clusters is 0, must be at least 1");
  expect_refused(points, {.num_clusters = 6}, "num_clusters is 6, there are only 5 samples");
  expect_refused(points, {.distance_threshold = -1}, "distance_threshold is -1");
  expect_refused(FloatView(nullptr, 0, 2), {}, "points is 0 x 2");
  points(4, 1) = NAN;
  expect_refused(points, {.num_clusters = 2}, "points has NaN at row 4, column 1");
}

TEST(Agglomerative, TooMuchMemoryIsRefusedWithTheNumber) {
  const Matrix<float> points(2000, 1);
  const AgglomerativeOptions pairs{.linkage = Linkage::Average, .max_memory_gb = 0.005};
  expect_refused(points, pairs, "take 0.008 GB");
  expect_refused(points, pairs, "cluster at most 1581 samples, or take linkage ward");
  EXPECT_NO_THROW(fit_agglomerative({points}, {.max_memory_gb = 0.005}));
  expect_refused(points, {.max_memory_gb = 0.0001}, "the means of 2000 samples take 0.000216 GB");
}

}  // namespace
}  // namespace milieu
