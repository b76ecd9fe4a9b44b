// SPDX-License-Identifier: Apache-2.0
// The distance cosine: equal to normalising first and keeping the centres on the sphere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/kmeans/kmeans_centers.h"
#include "milieu/classic/test_points.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Directions in clusters, lengths from 1/1000 to 1000 that say nothing.
Matrix<float> directions(int64_t n, int64_t d, int num_clusters, uint64_t seed) {
  BlobOptions options;
  options.n = n;
  options.d = d;
  options.num_clusters = num_clusters;
  options.separation = 3;
  options.seed = seed;
  Matrix<float> points = make_blobs(options).points;
  Random random(seed + 100);
  for (int64_t i = 0; i < n; ++i) {
    const auto length = static_cast<float>(std::pow(10.0, 6 * random.uniform() - 3));
    for (float& value : points.row_span(i)) value *= length;
  }
  return points;
}

Matrix<float> normalised(FloatView points) {
  Matrix<float> rows(points);
  const std::vector<double> scales = inverse_norms(points, 1);
  for (int64_t i = 0; i < rows.rows(); ++i)
    scale_row(points.row_span(i), scales[i], rows.row_span(i));
  return rows;
}

KMeansOptions cosine(int k) {
  KMeansOptions options;
  options.num_clusters = k;
  options.distance = KMeansDistance::Cosine;
  options.rel_tolerance = 0;
  return options;
}

double cosine_of(std::span<const float> a, std::span<const float> b) {
  long double ab = 0, aa = 0, bb = 0;
  for (size_t t = 0; t < a.size(); ++t) {
    ab += static_cast<long double>(a[t]) * b[t];
    aa += static_cast<long double>(a[t]) * a[t];
    bb += static_cast<long double>(b[t]) * b[t];
  }
  return static_cast<double>(ab / std::sqrt(aa * bb));
}

struct Twin {
  std::vector<int> labels;
  double objective = 0;
};

// Spherical k-means as the textbook has it: largest cosine, centre = direction of the sum. Without
// empty clusters.
Twin run_twin(FloatView points, std::span<const double> weights, FloatView start) {
  Matrix<float> centers(start);
  Twin twin{std::vector<int>(points.rows(), -1), 0};
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    twin.objective = 0;
    Matrix<double> sums(start.rows(), start.cols());
    for (int64_t i = 0; i < points.rows(); ++i) {
      int best = 0;
      double highest = -std::numeric_limits<double>::infinity();
      for (int j = 0; j < start.rows(); ++j)
        if (const double c = cosine_of(points.row_span(i), centers.row_span(j)); c > highest)
          highest = c, best = j;
      has_changed = has_changed || twin.labels[i] != best;
      twin.labels[i] = best;
      const double w = weights.empty() ? 1 : weights[i];
      twin.objective += 2 * w * (1 - highest);
      double squared = 0;
      for (const float value : points.row_span(i)) squared += static_cast<double>(value) * value;
      for (int64_t t = 0; t < points.cols(); ++t)
        sums(best, t) += w * points(i, t) / std::sqrt(squared);
    }
    for (int64_t j = 0; j < start.rows(); ++j) {
      double squared = 0;
      for (int64_t t = 0; t < start.cols(); ++t) squared += sums(j, t) * sums(j, t);
      EXPECT_GT(squared, 0) << "choose a start without empty clusters";
      for (int64_t t = 0; t < start.cols(); ++t)
        centers(j, t) = static_cast<float>(sums(j, t) / std::sqrt(squared));
    }
  }
  return twin;
}

TEST(KMeansCosine, HandCaseIsDecidedByDirection) {
  Matrix<float> points(4, 2);
  const float values[] = {1, 0, 1000, 1, 0, 0.001f, 1, 1000};
  std::copy_n(values, 8, points.data());
  const KMeansResult result = fit_kmeans({points, {}, {}}, cosine(2));
  EXPECT_EQ(result.labels[0], result.labels[1]);
  EXPECT_EQ(result.labels[2], result.labels[3]);
  EXPECT_NE(result.labels[0], result.labels[2]);
  // Two pairs at an angle of atan(1/1000): each sample is half of it away from its centre.
  EXPECT_NEAR(result.summary.objective, 8 * (1 - std::cos(std::atan(0.001) / 2)), 1e-12);
  EXPECT_EQ(result.model.distance, KMeansDistance::Cosine);
}

TEST(KMeansCosine, EqualsBruteForce) {
  struct Case {
    int64_t n, d;
    int k;
  };
  for (const Case& c : {Case{400, 3, 5}, Case{700, 40, 20}, Case{2000, 130, 24}}) {
    const Matrix<float> points = directions(c.n, c.d, c.k, 7);
    std::vector<double> weights(c.n);
    Random random(5);
    for (double& w : weights) w = 0.5 + random.uniform();
    const Matrix<float> start(points.view().rows_between(0, c.k));
    for (const std::span<const double> w :
         {std::span<const double>(), std::span<const double>(weights)}) {
      const KMeansResult result = fit_kmeans({points, w, start}, cosine(c.k));
      const Twin twin = run_twin(points, w, start);
      EXPECT_EQ(result.labels, twin.labels) << c.d;
      EXPECT_NEAR(result.summary.objective, twin.objective, 1e-5 * twin.objective);
      EXPECT_EQ(predict(result.model, points), result.labels);
    }
  }
}

TEST(KMeansCosine, EqualsNormalisingFirst) {
  const Matrix<float> points = directions(1200, 24, 6, 3);
  const KMeansResult raw = fit_kmeans({points, {}, {}}, cosine(6));
  const KMeansResult unit = fit_kmeans({normalised(points), {}, {}}, cosine(6));
  EXPECT_EQ(raw.labels, unit.labels);
  EXPECT_NEAR(raw.summary.objective, unit.summary.objective, 1e-6 * unit.summary.objective);
  for (int64_t j = 0; j < 6; ++j) {
    double squared = 0;
    for (const float value : raw.model.centers.row_span(j)) squared += double{value} * value;
    EXPECT_NEAR(squared, 1, 1e-6);
  }
}

// From the same labels, k-means on normalised rows has sum_j (W_j - |S_j|^2 / W_j); spherical
// k-means, whose centres have norm 1, 2 sum_j (W_j - |S_j|): never less, and at most twice as much.
TEST(KMeansCosine, ObjectiveIsBetweenThatOfNormalisedRowsAndItsDouble) {
  const Matrix<float> rows = normalised(directions(800, 10, 5, 11));
  const KMeansResult spherical = fit_kmeans({rows, {}, {}}, cosine(5));
  KMeansOptions options;
  options.num_clusters = 5;
  const KMeansProblem problem = make_kmeans_problem({rows, {}, {}}, options);
  ClusterSums sums(problem);
  sums.update(spherical.labels);
  EXPECT_GE(spherical.summary.objective, sums.objective());
  EXPECT_LE(spherical.summary.objective, 2 * sums.objective());
}

TEST(KMeansCosine, ObjectiveNeverIncreases) {
  const Matrix<float> points = normal_points(2000, 12, 9);
  const KMeansResult result = fit_kmeans({points, {}, {}}, cosine(15));
  for (size_t i = 1; i < result.summary.trace.size(); ++i)
    EXPECT_LE(result.summary.trace[i], result.summary.trace[i - 1]);
  EXPECT_NEAR(result.summary.trace.back(), result.summary.objective,
              1e-6 * result.summary.objective);
}

TEST(KMeansCosine, SameBitsForAnyNumberOfThreads) {
  const Matrix<float> points = directions(5000, 17, 9, 2);
  KMeansOptions options = cosine(9);
  options.num_threads = 1;
  const KMeansResult one = fit_kmeans({points, {}, {}}, options);
  options.num_threads = 5;
  const KMeansResult five = fit_kmeans({points, {}, {}}, options);
  EXPECT_EQ(one.labels, five.labels);
  EXPECT_EQ(one.model.centers, five.model.centers);
  EXPECT_EQ(one.summary.trace, five.summary.trace);
}

TEST(KMeansCosine, LengthsDoNotMatter) {
  const Matrix<float> points = directions(600, 8, 4, 4);
  Matrix<float> other(points);
  for (int64_t i = 0; i < other.rows(); ++i)
    for (float& value : other.row_span(i)) value *= i % 2 == 0 ? 1024.0f : 1 / 4096.0f;
  EXPECT_EQ(fit_kmeans({points, {}, {}}, cosine(4)).labels,
            fit_kmeans({other, {}, {}}, cosine(4)).labels);
}

TEST(KMeansCosine, RowsOfZerosGetLabelZeroAndCountNothing) {
  const Matrix<float> points = directions(300, 6, 3, 8);
  Matrix<float> with_zeros(310, 6);
  std::copy_n(points.data(), points.size(), with_zeros.row(10));
  const Matrix<float> start(points.view().rows_between(0, 3));
  const KMeansResult plain = fit_kmeans({points, {}, start}, cosine(3));
  const KMeansResult result = fit_kmeans({with_zeros, {}, start}, cosine(3));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(result.labels[i], 0);
  EXPECT_EQ(std::vector<int>(result.labels.begin() + 10, result.labels.end()), plain.labels);
  EXPECT_EQ(result.model.centers, plain.model.centers);
  EXPECT_NEAR(result.summary.objective, plain.summary.objective, 1e-9);
  ASSERT_EQ(result.summary.warnings.size(), 1u);
  EXPECT_THAT(result.summary.warnings[0], HasSubstr("10 rows have only zeros and no direction"));
  EXPECT_EQ(predict(result.model, with_zeros), result.labels);
  // Any start: zeros are never drawn as centres.
  for (const KMeansInit init : {KMeansInit::PlusPlus, KMeansInit::Random}) {
    KMeansOptions options = cosine(3);
    options.init = init;
    const KMeansResult drawn = fit_kmeans({with_zeros, {}, {}}, options);
    for (const float value : drawn.model.centers.row_span(0)) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(KMeansCosine, WithoutAnyDirectionItIsRefused) {
  const Matrix<float> zeros(5, 2);
  EXPECT_THROW(
      {
        try {
          fit_kmeans({zeros, {}, {}}, cosine(2));
        } catch (const InvalidArgument& error) {
          EXPECT_THAT(error.what(), HasSubstr("has no direction: use euclidean"));
          throw;
        }
      },
      InvalidArgument);
  const Matrix<float> points = directions(5, 2, 1, 1);
  EXPECT_THROW(fit_kmeans({points, {}, zeros.view().rows_between(0, 1)}, cosine(1)),
               InvalidArgument);
}

TEST(KMeansCosine, RowsThatCancelOutLeaveTheirCentre) {
  Matrix<float> points(2, 2);
  points(0, 0) = 3, points(1, 0) = -5;
  Matrix<float> start(1, 2);
  start(0, 1) = 2;
  const KMeansResult result = fit_kmeans({points, {}, start}, cosine(1));
  EXPECT_THAT(result.labels, ElementsAre(0, 0));
  EXPECT_EQ(result.model.centers(0, 0), 0.0f);
  EXPECT_EQ(result.model.centers(0, 1), 1.0f);
  EXPECT_NEAR(result.summary.objective, 4, 1e-12);
}

TEST(KMeansCosine, InfinityIsNotARowWithoutDirection) {
  Matrix<float> points = directions(6, 2, 1, 1);
  points(3, 1) = std::numeric_limits<float>::infinity();
  EXPECT_THROW(fit_kmeans({points, {}, {}}, cosine(2)), DataError);
}

}  // namespace
}  // namespace milieu
