// SPDX-License-Identifier: Apache-2.0
// The assignment step against its brute-force twin: labels must be equal, whatever the data.
#include "milieu/classic/kmeans/kmeans_assign_internal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "milieu/base/random.h"
#include "milieu/linalg/distance.h"
#include "milieu/linalg/isa.h"
#include "milieu/testing/synthetic.h"

namespace milieu::internal {
namespace {

std::vector<int> nearest_by_brute_force(FloatView points, FloatView centers) {
  std::vector<int> labels(points.rows());
  for (int64_t i = 0; i < points.rows(); ++i) {
    double nearest = std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < centers.rows(); ++j) {
      const double squared = squared_distance(points.row_span(i), centers.row_span(j));
      if (squared < nearest) {
        nearest = squared;
        labels[i] = static_cast<int>(j);
      }
    }
  }
  return labels;
}

Matrix<float> means_of(FloatView points, std::span<const int> labels, FloatView centers) {
  Matrix<double> sums(centers.rows(), centers.cols());
  std::vector<double> counts(centers.rows());
  for (int64_t i = 0; i < points.rows(); ++i) {
    for (int64_t t = 0; t < points.cols(); ++t) sums(labels[i], t) += points(i, t);
    counts[labels[i]] += 1;
  }
  Matrix<float> means(centers);
  for (int64_t j = 0; j < centers.rows(); ++j)
    for (int64_t t = 0; t < centers.cols() && counts[j] > 0; ++t)
      means(j, t) = static_cast<float>(sums(j, t) / counts[j]);
  return means;
}

Matrix<float> first_rows(FloatView points, int64_t k) {
  return Matrix<float>(points.rows_between(0, k));
}

Scaling scaling_of(FloatView points) {
  std::vector<double> mean(points.cols());
  double squared = 0;
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t t = 0; t < points.cols(); ++t)
      mean[t] += points(i, t) / static_cast<double>(points.rows());
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t t = 0; t < points.cols(); ++t)
      squared += (points(i, t) - mean[t]) * (points(i, t) - mean[t]);
  return {std::vector<float>(mean.begin(), mean.end()),
          scaling_factor(std::sqrt(squared / static_cast<double>(points.rows())))};
}

// Runs `num_passes` rounds of Lloyd's algorithm from the first k points; every pass must agree with
// the twin.
void expect_equal_passes(FloatView points, int64_t k, int num_passes, const Scaling& scaling,
                         int num_threads = 1) {
  NearestCenters nearest(points, scaling, num_threads);
  Matrix<float> centers = first_rows(points, k);
  std::vector<int> labels(points.rows(), -1);
  for (int pass = 0; pass < num_passes; ++pass) {
    ASSERT_TRUE(nearest.assign(centers, silent_monitor(), labels));
    ASSERT_EQ(labels, nearest_by_brute_force(points, centers)) << "pass " << pass;
    centers = means_of(points, labels, centers);
  }
}
void expect_equal_passes(FloatView points, int64_t k, int num_passes) {
  expect_equal_passes(points, k, num_passes, scaling_of(points));
}

Matrix<float> blobs(int64_t n, int64_t d, int num_clusters, double separation, uint64_t seed,
                    double offset = 0) {
  BlobOptions options;
  options.n = n;
  options.d = d;
  options.num_clusters = num_clusters;
  options.separation = separation;
  options.offset = offset;
  options.seed = seed;
  return make_blobs(options).points;
}

TEST(KMeansAssign, EqualsBruteForceForManyShapes) {
  for (const int64_t d : {1, 2, 7, 16, 33, 128})
    for (const int64_t k : {1, 2, 5, 16, 17, 40, 130})
      expect_equal_passes(blobs(700, d, 10, 4, static_cast<uint64_t>(d * 1000 + k)), k, 6);
}

TEST(KMeansAssign, EqualsBruteForceOnEveryInstructionSet) {
  const Matrix<float> points = blobs(900, 50, 20, 5, 3);
  for (const Isa isa : {Isa::Baseline, Isa::V3, Isa::V4}) {
    if (isa > best_isa()) continue;
    const ScopedIsa scoped(isa);
    expect_equal_passes(points, 70, 8);
  }
}

TEST(KMeansAssign, EqualsBruteForceWithMoreCentersThanGroupsHold) {
  expect_equal_passes(blobs(3000, 6, 30, 3, 8), 1300, 5);
}

TEST(KMeansAssign, EqualsBruteForceOnWellSeparatedAndOnShapelessData) {
  expect_equal_passes(blobs(4000, 24, 60, 40, 5), 60, 12);
  expect_equal_passes(blobs(4000, 24, 1, 1, 6), 60, 12);
}

TEST(KMeansAssign, EqualsBruteForceOnSiftLikeData) {
  SiftLikeOptions options;
  options.n = 6000;
  options.num_clusters = 100;
  expect_equal_passes(make_sift_like(options).points, 256, 12);
}

TEST(KMeansAssign, TiesGoToTheLowestIndex) {
  // Whole numbers on a grid, centres on the grid too: very many exact ties.
  Matrix<float> points(2000, 3);
  Random random(4);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(random.uniform_index(4));
  NearestCenters nearest(points, scaling_of(points), 1);
  std::vector<int> labels(points.rows(), -1);
  for (int pass = 0; pass < 6; ++pass) {
    Matrix<float> centers(50, 3);
    for (int64_t i = 0; i < centers.size(); ++i)
      centers.data()[i] = static_cast<float>(random.uniform_index(4));
    ASSERT_TRUE(nearest.assign(centers, silent_monitor(), labels));
    ASSERT_EQ(labels, nearest_by_brute_force(points, centers)) << "pass " << pass;
  }
}

TEST(KMeansAssign, ClosePointsFarFromTheOriginAreDistinguished) {
  expect_equal_passes(blobs(1500, 8, 6, 3, 2, 1e6), 20, 6);
  // Two heaps a million apart with a fine structure of size one: beyond what 32-bit floats can
  // resolve in |x|^2.
  Matrix<float> points = blobs(1500, 8, 6, 3, 2);
  for (int64_t i = 0; i < points.rows(); i += 2)
    for (int64_t t = 0; t < points.cols(); ++t) points(i, t) += 1e6f;
  expect_equal_passes(points, 20, 6);
}

TEST(KMeansAssign, HugeAndTinyNumbersAreExact) {
  for (const float size : {1e-30f, 1e-15f, 1e15f, 1e30f}) {
    Matrix<float> points = blobs(400, 5, 4, 5, 9);
    for (int64_t i = 0; i < points.size(); ++i) points.data()[i] *= size;
    expect_equal_passes(points, 12, 4);
  }
}

TEST(KMeansAssign, OutliersOfAnySizeAreExact) {
  Matrix<float> points = blobs(800, 6, 5, 5, 10);
  points(3, 2) = 3e38f;
  points(5, 1) = -3e38f;
  points(100, 0) = 1e20f;
  expect_equal_passes(points, 20, 5);
}

TEST(KMeansAssign, ABadScalingCostsTimeButChangesNoLabel) {
  const Matrix<float> points = blobs(600, 10, 5, 4, 12);
  expect_equal_passes(points, 25, 5, Scaling{std::vector<float>(10, 1e4f), 1.0f});
  expect_equal_passes(points, 25, 5, Scaling{std::vector<float>(10, 0.0f), 1e-12f});
  expect_equal_passes(points, 25, 5, Scaling{std::vector<float>(10, 0.0f), 1e12f});
}

TEST(KMeansAssign, EqualPointsAndEqualCentersAreDefined) {
  Matrix<float> points(300, 4);
  for (int64_t i = 0; i < points.size(); ++i) points.data()[i] = 2.5f;
  expect_equal_passes(points, 40, 4);
}

TEST(KMeansAssign, CentersMayJumpAnywhereBetweenCalls) {
  const Matrix<float> points = blobs(1500, 12, 15, 6, 13);
  NearestCenters nearest(points, scaling_of(points), 1);
  std::vector<int> labels(points.rows(), -1);
  Random random(3);
  Matrix<float> centers = first_rows(points, 64);
  for (int pass = 0; pass < 12; ++pass) {
    ASSERT_TRUE(nearest.assign(centers, silent_monitor(), labels));
    ASSERT_EQ(labels, nearest_by_brute_force(points, centers)) << "pass " << pass;
    // Small steps mostly, now and then a jump onto a point or far away.
    for (int64_t j = 0; j < 64; ++j) {
      const double kind = random.uniform();
      const double step = kind < 0.9 ? 0.05 : kind < 0.95 ? 2.0 : 1e5;
      for (int64_t t = 0; t < 12; ++t) centers(j, t) += static_cast<float>(step * random.normal());
      if (kind > 0.97) std::copy_n(points.row(random.uniform_index(1500)), 12, centers.row(j));
    }
  }
}

TEST(KMeansAssign, LongRunsFoldTheirDriftsCorrectly) {
  const Matrix<float> points = blobs(1200, 8, 10, 4, 14);
  NearestCenters nearest(points, scaling_of(points), 1);
  std::vector<int> labels(points.rows(), -1);
  Matrix<float> centers = first_rows(points, 48);
  for (int pass = 0; pass < 150; ++pass) {
    ASSERT_TRUE(nearest.assign(centers, silent_monitor(), labels));
    ASSERT_EQ(labels, nearest_by_brute_force(points, centers)) << "pass " << pass;
    for (int64_t j = 0; j < 48; ++j)
      for (int64_t t = 0; t < 8; ++t)
        centers(j, t) += 0.01f * static_cast<float>(1 + j % 7) * (pass % 50 < 25 ? 1.0f : -1.0f);
  }
}

TEST(KMeansAssign, BoundsSkipMostWorkOnClusteredData) {
  const Matrix<float> points = blobs(6000, 32, 64, 30, 15);
  NearestCenters nearest(points, scaling_of(points), 1);
  std::vector<int> labels(points.rows(), -1);
  Matrix<float> centers = first_rows(points, 256);
  int64_t last = 0;
  for (int pass = 0; pass < 8; ++pass) {
    ASSERT_TRUE(nearest.assign(centers, silent_monitor(), labels));
    centers = means_of(points, labels, centers);
    last = nearest.cost().num_scored;
  }
  EXPECT_LT(last, points.rows() * 256 / 4);
}

TEST(KMeansAssign, ThreadsDoNotChangeLabels) {
  const Matrix<float> points = blobs(5000, 20, 30, 4, 16);
  for (const int threads : {2, 8}) expect_equal_passes(points, 90, 6, scaling_of(points), threads);
}

TEST(KMeansAssign, AStoppedMonitorStopsIt) {
  const Matrix<float> points = blobs(5000, 20, 30, 4, 16);
  std::stop_source source;
  source.request_stop();
  const Monitor monitor(source.get_token());
  NearestCenters nearest(points, scaling_of(points), 1);
  std::vector<int> labels(points.rows(), -1);
  EXPECT_FALSE(nearest.assign(first_rows(points, 30), monitor, labels));
}

}  // namespace
}  // namespace milieu::internal
