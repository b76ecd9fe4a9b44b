// SPDX-License-Identifier: Apache-2.0
// k-means at its edges: empty clusters, duplicates, wrong input, interruption.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/test_points.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

KMeansOptions options_for(int k) {
  KMeansOptions options;
  options.num_clusters = k;
  options.rel_tolerance = 0;
  return options;
}

TEST(KMeansEdge, AnEmptyClusterTakesTheFarthestPoint) {
  const KMeansResult result = fit_kmeans({line({0, 1, 2, 10}), {}, line({0, 100})}, options_for(2));
  EXPECT_THAT(result.labels, ElementsAre(0, 0, 0, 1));
  EXPECT_NEAR(result.summary.objective, 2, 1e-12);
}

TEST(KMeansEdge, SeveralEmptyClustersTakeDifferentPoints) {
  // All points go to the first centre, whose mean is 20/3: 20 is farthest, then 0 (three times).
  const KMeansResult result =
      fit_kmeans({line({0, 0, 0, 10, 10, 20}), {}, line({5, 1000, 2000})}, options_for(3));
  EXPECT_THAT(result.labels, ElementsAre(2, 2, 2, 0, 0, 1));
  EXPECT_EQ(result.summary.objective, 0);
  EXPECT_TRUE(result.summary.warnings.empty());
}

TEST(KMeansEdge, FarthestPointsAtEqualDistanceAreTakenByIndex) {
  // Mean 0; -4 and 4 are equally far: the first of them is taken by the only empty cluster.
  const KMeansResult result = fit_kmeans({line({4, 1, -1, -4}), {}, line({0, 50})}, options_for(2));
  EXPECT_THAT(result.labels, ElementsAre(1, 0, 0, 0));
}

TEST(KMeansEdge, APointOfWeightZeroIsNeverASeed) {
  const std::vector<double> weights{1, 1, 1, 0};
  const KMeansResult result =
      fit_kmeans({line({0, 1, 5, 100}), weights, line({0, -1000})}, options_for(2));
  EXPECT_THAT(result.labels, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(result.model.centers(1, 0), 5.0f);
}

TEST(KMeansEdge, MoreClustersThanDistinctPointsIsAWarningAndDefined) {
  const Matrix<float> points = line({1, 1, 2, 2, 2, 3});
  for (const KMeansInit init : {KMeansInit::PlusPlus, KMeansInit::Random}) {
    KMeansOptions options = options_for(5);
    options.init = init;
    const KMeansResult result = fit_kmeans({points, {}, {}}, options);
    EXPECT_EQ(result.summary.objective, 0);
    EXPECT_EQ(result.summary.clusters, 3);
    EXPECT_EQ(result.summary.sizes.size(), 5u);
    ASSERT_EQ(result.summary.warnings.size(), 1u);
    EXPECT_THAT(result.summary.warnings[0],
                HasSubstr("num_clusters is 5, but there are only 3 distinct points"));
    EXPECT_EQ(result.labels, predict(result.model, points));
  }
}

TEST(KMeansEdge, EqualPointsAreOneCluster) {
  Matrix<float> points(50, 3);
  for (int64_t i = 0; i < points.size(); ++i) points.data()[i] = -1.25f;
  const KMeansResult result = fit_kmeans({points, {}, {}}, options_for(4));
  EXPECT_EQ(result.summary.clusters, 1);
  EXPECT_EQ(result.summary.objective, 0);
  EXPECT_EQ(*std::max_element(result.labels.begin(), result.labels.end()), 0);
  EXPECT_EQ(result.summary.warnings.size(), 1u);
}

TEST(KMeansEdge, HugeValuesStayFinite) {
  Matrix<float> points = line({-3e38f, -3e38f, 3e38f, 3e38f, 1});
  const KMeansResult result = fit_kmeans({points, {}, {}}, options_for(3));
  EXPECT_TRUE(std::isfinite(result.summary.objective));
  EXPECT_EQ(result.labels[0], result.labels[1]);
  EXPECT_EQ(result.labels[2], result.labels[3]);
  EXPECT_NE(result.labels[0], result.labels[2]);
}

TEST(KMeansEdge, WrongNumbersOfClustersAreRefused) {
  const Matrix<float> points = line({1, 2, 3});
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                fit_kmeans({points, {}, {}}, options_for(4));
              }),
              HasSubstr("num_clusters is 4, must be at most the number of samples, 3"));
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                fit_kmeans({points, {}, {}}, options_for(0));
              }),
              HasSubstr("num_clusters is 0, must be at least 1"));
}

TEST(KMeansEdge, EmptyInputIsRefused) {
  EXPECT_THROW(fit_kmeans({Matrix<float>(), {}, {}}, options_for(1)), InvalidArgument);
  EXPECT_THROW(fit_kmeans({FloatView(nullptr, 3, 0), {}, {}}, options_for(1)), InvalidArgument);
}

TEST(KMeansEdge, NaNAndInfinityAreNamedByRowAndColumn) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Matrix<float> points(5000, 7);
    points(4321, 5) = bad;
    const std::string complaint = message_of<DataError>([&] {
      fit_kmeans({points, {}, {}}, options_for(2));
    });
    EXPECT_THAT(complaint, HasSubstr("row 4321, column 5"));
  }
}

TEST(KMeansEdge, WrongWeightsAreRefused) {
  const Matrix<float> points = line({100, 200, 300});
  const auto fit = [&](std::vector<double> weights) {
    fit_kmeans({points, weights, {}}, options_for(2));
  };
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                fit({1, 1});
              }),
              HasSubstr("weights has 2 entries, points has 3 rows"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { fit({1, -2, 1}); }), HasSubstr("weights[1] is -2"));
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                fit({1, std::nan(""), 1});
              }),
              HasSubstr("weights[1] is nan"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { fit({0, 0, 0}); }), HasSubstr("sum to 0"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { fit({1e308, 1e307, 1}); }), HasSubstr("too large"));
}

TEST(KMeansEdge, WrongStartingCentersAreRefused) {
  const Matrix<float> points = line({1, 2, 3});
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                fit_kmeans({points, {}, line({1, 2, 3})}, options_for(2));
              }),
              HasSubstr("initial_centers is 3 x 1, must be 2 x 1"));
  EXPECT_THROW(fit_kmeans({points, {}, line({1, std::nanf("")})}, options_for(2)), DataError);
}

// Asks to stop after a number of iterations.
class StoppingMonitor : public Monitor {
 public:
  StoppingMonitor(int stop_at, std::stop_source source)
      : Monitor(source.get_token()), stop_at_(stop_at), source_(std::move(source)) {}
  void on_iteration(const IterationReport& report) override {
    last_ = report;
    if (++count_ == stop_at_) source_.request_stop();
  }
  const IterationReport& last() const { return last_; }

 private:
  int stop_at_;
  int count_ = 0;
  std::stop_source source_;
  IterationReport last_;
};

Matrix<float> shapeless(int64_t n) {
  BlobOptions options;
  options.n = n;
  options.d = 6;
  options.num_clusters = 1;
  return make_blobs(options).points;
}

TEST(KMeansEdge, AStoppedRunReturnsItsLastCompletePair) {
  const Matrix<float> points = shapeless(3000);
  for (const int stop_at : {1, 4}) {
    StoppingMonitor monitor(stop_at, std::stop_source());
    KMeansOptions options = options_for(25);
    options.num_restarts = 3;
    const KMeansResult result = fit_kmeans({points, {}, {}}, options, monitor);
    EXPECT_EQ(result.summary.termination, Termination::Cancelled);
    EXPECT_EQ(result.summary.iterations, stop_at);
    EXPECT_EQ(result.summary.num_restarts, 1);
    EXPECT_EQ(result.labels, predict(result.model, points));
  }
}

TEST(KMeansEdge, AStopInALaterRestartKeepsTheBestSoFar) {
  const Matrix<float> points = shapeless(500);
  KMeansOptions options = options_for(10);
  options.num_restarts = 1;
  const KMeansResult first = fit_kmeans({points, {}, {}}, options);
  StoppingMonitor monitor(first.summary.iterations + 1, std::stop_source());
  options.num_restarts = 5;
  const KMeansResult stopped = fit_kmeans({points, {}, {}}, options, monitor);
  EXPECT_EQ(stopped.summary.termination, Termination::Cancelled);
  EXPECT_LE(stopped.summary.objective, first.summary.objective);
  EXPECT_EQ(stopped.labels, predict(stopped.model, points));
}

TEST(KMeansEdge, ARunStoppedAtOnceIsValid) {
  const Matrix<float> points = shapeless(3000);
  Monitor monitor;
  monitor.set_time_limit(-1);
  const KMeansResult result = fit_kmeans({points, {}, {}}, options_for(25), monitor);
  EXPECT_EQ(result.summary.termination, Termination::TimeLimit);
  ASSERT_EQ(result.labels.size(), 3000u);
  for (const int label : result.labels) EXPECT_TRUE(label >= -1 && label < 25);
  EXPECT_TRUE(std::isfinite(result.summary.objective));
}

TEST(KMeansEdge, TheMonitorGetsEveryIteration) {
  const Matrix<float> points = shapeless(800);
  StoppingMonitor monitor(-1, std::stop_source());
  KMeansOptions options = options_for(6);
  options.num_restarts = 1;
  const KMeansResult result = fit_kmeans({points, {}, {}}, options, monitor);
  EXPECT_EQ(monitor.last().iteration, result.summary.iterations);
  EXPECT_EQ(monitor.last().objective, result.summary.trace.back());
  EXPECT_EQ(monitor.last().max_iterations, 300);
}

}  // namespace
}  // namespace milieu
