// SPDX-License-Identifier: Apache-2.0
// fit_kmeans and predict: hand cases, invariants, and a plain Lloyd as twin.
#include "milieu/classic/kmeans/kmeans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/test_points.h"
#include "milieu/linalg/distance.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Matrix<float> blobs(int64_t n, int64_t d, int num_clusters, double separation, uint64_t seed) {
  BlobOptions options;
  options.n = n;
  options.d = d;
  options.num_clusters = num_clusters;
  options.separation = separation;
  options.seed = seed;
  return make_blobs(options).points;
}

KMeansOptions options_for(int k, double rel_tolerance = 0) {
  KMeansOptions options;
  options.num_clusters = k;
  options.rel_tolerance = rel_tolerance;
  return options;
}

KMeansResult fit_from(const Matrix<float>& points, const Matrix<float>& start,
                      KMeansOptions options) {
  options.num_clusters = static_cast<int>(start.rows());
  return fit_kmeans({points, {}, start}, options);
}

// Plain Lloyd in double, without empty clusters.
struct Twin {
  std::vector<int> labels;
  Matrix<float> centers;
  double objective = 0;
};
Twin run_twin(FloatView points, std::span<const double> weights, FloatView start,
              int max_iterations) {
  Twin twin{std::vector<int>(points.rows(), -1), Matrix<float>(start), 0};
  const auto assign = [&] {
    twin.objective = 0;
    bool has_changed = false;
    for (int64_t i = 0; i < points.rows(); ++i) {
      int nearest = 0;
      double squared = std::numeric_limits<double>::infinity();
      for (int64_t j = 0; j < start.rows(); ++j) {
        double sum = 0;
        for (int64_t t = 0; t < points.cols(); ++t) {
          const double difference = static_cast<double>(points(i, t)) - twin.centers(j, t);
          sum += difference * difference;
        }
        if (sum < squared) squared = sum, nearest = static_cast<int>(j);
      }
      has_changed = has_changed || twin.labels[i] != nearest;
      twin.labels[i] = nearest;
      twin.objective += squared * (weights.empty() ? 1 : weights[i]);
    }
    return has_changed;
  };
  for (int iteration = 0; iteration < max_iterations && assign(); ++iteration) {
    Matrix<double> sums(start.rows(), start.cols());
    std::vector<double> totals(start.rows());
    for (int64_t i = 0; i < points.rows(); ++i) {
      const double w = weights.empty() ? 1 : weights[i];
      for (int64_t t = 0; t < points.cols(); ++t) sums(twin.labels[i], t) += w * points(i, t);
      totals[twin.labels[i]] += w;
    }
    for (int64_t j = 0; j < start.rows(); ++j)
      for (int64_t t = 0; t < start.cols(); ++t)
        twin.centers(j, t) = static_cast<float>(sums(j, t) / totals[j]);
  }
  assign();
  return twin;
}

TEST(KMeans, HandCaseHasExactLabelsObjectiveAndIterations) {
  const KMeansResult result = fit_from(line({0, 1, 10, 11}), line({0, 10}), options_for(2));
  EXPECT_THAT(result.labels, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(result.model.centers(0, 0), 0.5f);
  EXPECT_EQ(result.model.centers(1, 0), 10.5f);
  EXPECT_NEAR(result.summary.objective, 1, 1e-12);
  EXPECT_EQ(result.summary.iterations, 2);  // the second finds nothing to change
  EXPECT_EQ(result.summary.termination, Termination::Converged);
  EXPECT_THAT(result.summary.sizes, ElementsAre(2, 2));
  EXPECT_EQ(result.summary.clusters, 2);
}

TEST(KMeans, HandCaseFromABadStartNeedsOneMoreRound) {
  const KMeansResult result = fit_from(line({0, 1, 10, 11}), line({0, 1}), options_for(2));
  EXPECT_THAT(result.labels, ElementsAre(0, 0, 1, 1));
  ASSERT_EQ(result.summary.iterations, 3);
  EXPECT_NEAR(result.summary.trace[0], 182.0 / 3, 1e-9);
  EXPECT_NEAR(result.summary.trace[1], 1, 1e-9);
}

TEST(KMeans, EqualsPlainLloyd) {
  struct Case {
    int64_t n, d;
    int true_clusters, k;
    double separation;
  };
  for (const Case& c : {Case{500, 2, 5, 5, 6}, Case{800, 30, 10, 25, 3}, Case{1500, 100, 12, 40, 8},
                        Case{1000, 1, 3, 12, 2}}) {
    const Matrix<float> points = blobs(c.n, c.d, c.true_clusters, c.separation, 17);
    const Matrix<float> start(points.view().rows_between(0, c.k));
    for (const int max_iterations : {1, 4, 200}) {
      KMeansOptions options = options_for(c.k);
      options.max_iterations = max_iterations;
      const KMeansResult result = fit_from(points, start, options);
      const Twin twin = run_twin(points, {}, start, max_iterations);
      EXPECT_EQ(result.labels, twin.labels);
      EXPECT_NEAR(result.summary.objective, twin.objective, 1e-9 * twin.objective);
    }
  }
}

TEST(KMeans, EqualsPlainLloydWithWeights) {
  const Matrix<float> points = blobs(900, 12, 8, 4, 21);
  Random random(2);
  std::vector<double> weights(900);
  for (double& w : weights) w = random.uniform(0.1, 5);
  const Matrix<float> start(points.view().rows_between(0, 20));
  const KMeansResult result = fit_kmeans({points, weights, start}, options_for(20));
  const Twin twin = run_twin(points, weights, start, 300);
  EXPECT_EQ(result.labels, twin.labels);
  EXPECT_NEAR(result.summary.objective, twin.objective, 1e-9 * twin.objective);
}

TEST(KMeans, WholeWeightsAreRepeatedPoints) {
  const Matrix<float> points = blobs(300, 4, 5, 3, 23);
  std::vector<double> weights(300);
  Matrix<float> repeated(300 + 150, 4);
  std::vector<int64_t> source;
  for (int64_t i = 0; i < 300; ++i) {
    weights[i] = i % 2 == 0 ? 2 : 1;
    for (int r = 0; r < weights[i]; ++r) {
      std::copy_n(points.row(i), 4, repeated.row(static_cast<int64_t>(source.size())));
      source.push_back(i);
    }
  }
  const Matrix<float> start(points.view().rows_between(0, 9));
  const KMeansResult weighted = fit_kmeans({points, weights, start}, options_for(9));
  const KMeansResult plain = fit_kmeans({repeated, {}, start}, options_for(9));
  for (size_t r = 0; r < source.size(); ++r) EXPECT_EQ(plain.labels[r], weighted.labels[source[r]]);
  EXPECT_NEAR(plain.summary.objective, weighted.summary.objective, 1e-9 * plain.summary.objective);
}

TEST(KMeans, PointsOfWeightZeroAreLabelledButCountNothing) {
  Matrix<float> points = blobs(200, 3, 4, 8, 24);
  std::vector<double> weights(200, 1.0);
  for (int64_t i = 150; i < 200; ++i) {
    weights[i] = 0;
    points(i, 0) += 1000;
  }
  const Matrix<float> start(points.view().rows_between(0, 4));
  const KMeansResult with = fit_kmeans({points, weights, start}, options_for(4));
  const KMeansResult without =
      fit_kmeans({points.view().rows_between(0, 150), {}, start}, options_for(4));
  EXPECT_EQ(with.model.centers, without.model.centers);
  EXPECT_NEAR(with.summary.objective, without.summary.objective, 1e-9);
  for (const int label : with.labels) EXPECT_TRUE(label >= 0 && label < 4);
}

TEST(KMeans, LabelsArePredictions) {
  const Matrix<float> points = blobs(1000, 20, 15, 3, 25);
  for (const int max_iterations : {1, 3, 300}) {
    KMeansOptions options = options_for(24, 1e-4);
    options.num_restarts = 2;
    options.max_iterations = max_iterations;
    const KMeansResult result = fit_kmeans({points, {}, {}}, options);
    EXPECT_EQ(result.labels, predict(result.model, points, 1));
    EXPECT_EQ(result.labels, predict(result.model, points, 3));
  }
}

TEST(KMeans, ObjectiveNeverIncreases) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    KMeansOptions options = options_for(40);
    options.num_restarts = 1;
    options.seed = seed;
    options.init = KMeansInit::Random;
    const KMeansResult result = fit_kmeans({blobs(2000, 10, 20, 2, seed), {}, {}}, options);
    const std::vector<double>& trace = result.summary.trace;
    ASSERT_GE(trace.size(), 3u);
    for (size_t t = 1; t < trace.size(); ++t) EXPECT_LE(trace[t], trace[t - 1]);
    EXPECT_LE(result.summary.objective, trace.back() * (1 + 1e-9));
  }
}

TEST(KMeans, ObjectiveIsTheSumOfSquaredDistances) {
  const Matrix<float> points = blobs(500, 6, 5, 4, 26);
  const KMeansResult result = fit_kmeans({points, {}, {}}, options_for(7));
  double sum = 0;
  for (int64_t i = 0; i < 500; ++i)
    sum += squared_distance(points.row_span(i), result.model.centers.row_span(result.labels[i]));
  EXPECT_NEAR(result.summary.objective, sum, 1e-12 * sum);
}

TEST(KMeans, SameBitsForAnyNumberOfThreads) {
  const Matrix<float> points = blobs(9000, 16, 30, 3, 27);
  KMeansOptions options = options_for(50, 1e-4);
  options.num_restarts = 2;
  options.num_threads = 1;
  const KMeansResult one = fit_kmeans({points, {}, {}}, options);
  for (const int threads : {2, 8}) {
    options.num_threads = threads;
    const KMeansResult many = fit_kmeans({points, {}, {}}, options);
    EXPECT_EQ(many.labels, one.labels);
    EXPECT_EQ(many.model.centers, one.model.centers);
    EXPECT_EQ(many.summary.trace, one.summary.trace);
    EXPECT_EQ(many.summary.objective, one.summary.objective);
  }
}

TEST(KMeans, FindsWellSeparatedClusters) {
  BlobOptions blob_options;
  blob_options.n = 600;
  blob_options.d = 5;
  blob_options.num_clusters = 6;
  blob_options.separation = 20;
  const LabelledPoints made = make_blobs(blob_options);
  const KMeansResult result = fit_kmeans({made.points, {}, {}}, options_for(6));
  std::vector<int> cluster_from_truth(6, -1);
  for (size_t i = 0; i < made.labels.size(); ++i) {
    int& cluster = cluster_from_truth[made.labels[i]];
    if (cluster < 0) cluster = result.labels[i];
    EXPECT_EQ(result.labels[i], cluster);
  }
}

TEST(KMeans, MoreRestartsAreNeverWorse) {
  const Matrix<float> points = blobs(400, 2, 12, 4, 28);
  KMeansOptions options = options_for(12);
  options.init = KMeansInit::Random;
  double last = std::numeric_limits<double>::infinity();
  for (const int restarts : {1, 3, 9}) {
    options.num_restarts = restarts;
    const KMeansResult result = fit_kmeans({points, {}, {}}, options);
    EXPECT_LE(result.summary.objective, last);
    EXPECT_EQ(result.summary.num_restarts, restarts);
    last = result.summary.objective;
  }
}

TEST(KMeans, PermutedSamplesGivePermutedLabels) {
  const Matrix<float> points = blobs(500, 7, 6, 3, 29);
  std::vector<int64_t> order(500);
  std::iota(order.begin(), order.end(), int64_t{0});
  Random(3).shuffle(std::span<int64_t>(order));
  Matrix<float> permuted(500, 7);
  for (int64_t i = 0; i < 500; ++i) std::copy_n(points.row(order[i]), 7, permuted.row(i));
  const Matrix<float> start(points.view().rows_between(0, 10));
  const KMeansResult a = fit_from(points, start, options_for(10));
  const KMeansResult b = fit_from(permuted, start, options_for(10));
  for (int64_t i = 0; i < 500; ++i) EXPECT_EQ(b.labels[i], a.labels[order[i]]);
}

TEST(KMeans, TranslationChangesNoLabel) {
  Matrix<float> points(600, 3);
  Random random(8);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(random.uniform_index(1000));
  Matrix<float> moved = points;
  for (int64_t i = 0; i < moved.size(); ++i) moved.data()[i] += 8192;  // exact in float
  const auto start = [](const Matrix<float>& m) {
    return Matrix<float>(m.view().rows_between(0, 8));
  };
  KMeansOptions options = options_for(8);
  options.max_iterations = 1;
  EXPECT_EQ(fit_from(points, start(points), options).labels,
            fit_from(moved, start(moved), options).labels);
}

TEST(KMeans, RelativeToleranceStopsEarlier) {
  const Matrix<float> points = blobs(3000, 8, 3, 1, 30);
  const Matrix<float> start(points.view().rows_between(0, 30));
  const KMeansResult exact = fit_from(points, start, options_for(30, 0));
  const KMeansResult loose = fit_from(points, start, options_for(30, 0.01));
  EXPECT_LT(loose.summary.iterations, exact.summary.iterations);
  EXPECT_EQ(loose.summary.termination, Termination::Converged);
  const std::vector<double>& trace = loose.summary.trace;
  EXPECT_LE(trace[trace.size() - 2] - trace.back(), 0.01 * trace[trace.size() - 2]);
}

TEST(KMeans, IterationLimitIsExactAndReported) {
  const Matrix<float> points = blobs(3000, 8, 3, 1, 31);
  KMeansOptions options = options_for(30);
  options.max_iterations = 3;
  const KMeansResult result =
      fit_from(points, Matrix<float>(points.view().rows_between(0, 30)), options);
  EXPECT_EQ(result.summary.iterations, 3);
  EXPECT_EQ(result.summary.trace.size(), 3u);
  EXPECT_EQ(result.summary.termination, Termination::IterationLimit);
  EXPECT_THAT(result.summary.message, HasSubstr("max_iterations (3)"));
}

TEST(KMeans, OneClusterIsTheMean) {
  const KMeansResult result = fit_kmeans({line({1, 2, 6}), {}, {}}, options_for(1));
  EXPECT_EQ(result.model.centers(0, 0), 3.0f);
  EXPECT_NEAR(result.summary.objective, 14, 1e-12);
}

TEST(KMeans, AsManyClustersAsPointsCostNothing) {
  const Matrix<float> points = blobs(40, 3, 4, 2, 32);
  const KMeansResult result = fit_kmeans({points, {}, {}}, options_for(40));
  EXPECT_EQ(result.summary.objective, 0);
  EXPECT_EQ(result.summary.clusters, 40);
  EXPECT_TRUE(result.summary.warnings.empty());
}

TEST(KMeans, OneSampleIsItsOwnCluster) {
  const KMeansResult result = fit_kmeans({line({7}), {}, {}}, options_for(1));
  EXPECT_THAT(result.labels, ElementsAre(0));
  EXPECT_EQ(result.model.centers(0, 0), 7.0f);
}

TEST(KMeans, ConstantFeatureChangesNoLabel) {
  const Matrix<float> points = blobs(300, 2, 4, 5, 33);
  Matrix<float> wider(300, 3);
  for (int64_t i = 0; i < 300; ++i) {
    std::copy_n(points.row(i), 2, wider.row(i));
    wider(i, 2) = 123.5f;
  }
  EXPECT_EQ(
      fit_from(points, Matrix<float>(points.view().rows_between(0, 6)), options_for(6)).labels,
      fit_from(wider, Matrix<float>(wider.view().rows_between(0, 6)), options_for(6)).labels);
}

TEST(KMeans, RowsMayHaveGaps) {
  const Matrix<float> wide = blobs(300, 8, 4, 5, 34);
  const FloatView window(wide.data(), 300, 5, 8);
  const Matrix<float> copy(window);
  const KMeansResult a = fit_kmeans({window, {}, {}}, options_for(5));
  const KMeansResult b = fit_kmeans({copy, {}, {}}, options_for(5));
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.model.centers, b.model.centers);
}

TEST(KMeans, PredictRefusesOtherDimensionsAndTakesNoRows) {
  const KMeansResult result = fit_kmeans({blobs(50, 3, 2, 5, 35), {}, {}}, options_for(2));
  EXPECT_THROW(predict(result.model, Matrix<float>(4, 2)), InvalidArgument);
  EXPECT_TRUE(predict(result.model, FloatView(nullptr, 0, 3)).empty());
}

}  // namespace
}  // namespace milieu
