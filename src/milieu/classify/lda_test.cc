// SPDX-License-Identifier: Apache-2.0
#include "milieu/classify/lda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/classify/class_labels.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;

// The nine points of the method note's case G5.
Matrix<double> nine_points() {
  Matrix<double> points(9, 2);
  const double values[] = {-3, 0,   -3.5, 1, -2.5, 1.5, 3, 0,   3.5,
                           -1, 2.5, -1.5, 0, 0,    .5,  1, -.5, .5};
  std::copy(std::begin(values), std::end(values), points.data());
  return points;
}
const std::vector<int> kNineLabels = {0, 0, 0, 1, 1, 1, 2, 2, 2};

TEST(Lda, GoldenNinePoints) {
  const LdaModel lda = fit_lda(nine_points(), kNineLabels, {.num_dims = 0, .ridge = 0});
  ASSERT_EQ(lda.components.rows(), 2);
  EXPECT_NEAR(std::abs(lda.components(0, 0)), 2.589322, 1e-6);
  EXPECT_NEAR(std::abs(lda.components(1, 0)), 0.458984, 1e-6);
  EXPECT_NEAR(std::abs(lda.components(0, 1)), 0.996484, 1e-6);
  EXPECT_NEAR(std::abs(lda.components(1, 1)), 1.633412, 1e-6);
}

TEST(Lda, ProjectedClassesHaveUnitCovarianceAndCentredMean) {
  const LabelledPoints data = make_blobs({.n = 200, .d = 5, .num_clusters = 4, .offset = 100});
  const Matrix<double> points = widen(data.points);
  const LdaModel lda = fit_lda(points, data.labels, {.num_dims = 0, .ridge = 0});
  const Matrix<double> z = project(lda, points);
  ASSERT_EQ(z.cols(), 3);
  for (int64_t a = 0; a < 3; ++a)
    for (int64_t b = 0; b < 3; ++b) {
      double within = 0, mean = 0;
      for (int64_t i = 0; i < z.rows(); ++i) {
        within += (z(i, a) - lda.class_means(data.labels[i], a)) *
                  (z(i, b) - lda.class_means(data.labels[i], b)) / 200;
        mean += z(i, a) / 200;
      }
      EXPECT_NEAR(within, a == b, 1e-9);
      EXPECT_NEAR(mean, 0, 1e-8);
    }
}

// Every direction's ratio of variances is at most the first eigenvalue.
TEST(Lda, FirstDirectionHasTheLargestRatio) {
  const LabelledPoints data = make_blobs({.n = 90, .d = 2, .num_clusters = 3, .separation = 3});
  const Matrix<double> points = widen(data.points);
  const LdaModel lda = fit_lda(points, data.labels, {.num_dims = 1, .ridge = 0});
  for (int step = 0; step < 180; ++step) {
    const double angle = step * M_PI / 180, c = std::cos(angle), s = std::sin(angle);
    double mean[3] = {}, count[3] = {}, total = 0, within = 0, between = 0;
    for (int64_t i = 0; i < 90; ++i) {
      mean[data.labels[i]] += c * points(i, 0) + s * points(i, 1);
      ++count[data.labels[i]];
      total += (c * points(i, 0) + s * points(i, 1)) / 90;
    }
    for (int k = 0; k < 3; ++k) mean[k] /= count[k];
    for (int64_t i = 0; i < 90; ++i) {
      const double x = c * points(i, 0) + s * points(i, 1), m = mean[data.labels[i]];
      within += (x - m) * (x - m);
      between += (m - total) * (m - total);
    }
    EXPECT_LE(between / within, lda.eigenvalues[0] * (1 + 1e-9));
  }
}

TEST(Lda, UnitsOfFeaturesDoNotMatter) {
  const LabelledPoints data = make_blobs({.n = 60, .d = 3, .separation = 3});
  Matrix<double> points = widen(data.points);
  const std::vector<int> plain = predict(fit_lda(points, data.labels), points);
  for (int64_t i = 0; i < 60; ++i) points(i, 1) *= 1e9;
  EXPECT_EQ(predict(fit_lda(points, data.labels), points), plain);
}

TEST(Lda, ConstantFeatureAndOneSampleAClassAreNoFault) {
  Matrix<double> points(3, 3);
  points(1, 0) = 1;
  points(2, 1) = 1;
  const std::vector<int> labels = {0, 1, 2};
  EXPECT_EQ(predict(fit_lda(points, labels), points), labels);
  EXPECT_THAT(message_of([&] { fit_lda(points, labels, {.num_dims = 0, .ridge = 0}); }),
              HasSubstr("give a ridge above 0"));
}

TEST(Lda, OneClassHasOneDirection) {
  const LdaModel lda = fit_lda(nine_points(), std::vector<int>(9, 0));
  EXPECT_EQ(lda.components.rows(), 1);
  EXPECT_EQ(predict(lda, nine_points()), std::vector<int>(9, 0));
}

TEST(Lda, WrongSizesAreRefused) {
  EXPECT_THAT(message_of([] { fit_lda(nine_points(), kNineLabels, {.num_dims = 3}); }),
              HasSubstr("num_dims is 3"));
  EXPECT_THAT(message_of([] { fit_lda(nine_points(), kNineLabels, {.ridge = -1}); }),
              HasSubstr("ridge is -1"));
  EXPECT_THAT(message_of([] { fit_lda(Matrix<double>(), {}); }), HasSubstr("no points"));
  const LdaModel lda = fit_lda(nine_points(), kNineLabels);
  EXPECT_THAT(message_of([&] { project(lda, Matrix<double>(2, 3)); }), HasSubstr("3 columns"));
}

}  // namespace
}  // namespace milieu
