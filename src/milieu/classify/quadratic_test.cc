// SPDX-License-Identifier: Apache-2.0
#include "milieu/classify/quadratic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/classify/class_labels.h"
#include "milieu/classify/lda.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Matrix<double> matrix(int64_t cols, std::initializer_list<double> values) {
  Matrix<double> m(static_cast<int64_t>(values.size()) / cols, cols);
  std::copy(values.begin(), values.end(), m.data());
  return m;
}

TEST(Quadratic, GoldenScoresAfterLda) {
  const Matrix<double> points =
      matrix(2, {-3, 0, -3.5, 1, -2.5, 1.5, 3, 0, 3.5, -1, 2.5, -1.5, 0, 0, .5, 1, -.5, .5});
  const std::vector<int> labels = {0, 0, 0, 1, 1, 1, 2, 2, 2}, classes = {0, 0, 1};
  const LdaModel lda = fit_lda(points, labels, {.num_dims = 0, .ridge = 0});
  const QuadraticModel model =
      fit_quadratic(project(lda, points), labels, classes, {.shrinkage = 3, .ridge = 0});
  const Matrix<double> scores = subclass_scores(model, project(lda, matrix(2, {0, .2})));
  EXPECT_NEAR(scores(0, 0), -28.729145, 1e-6);
  EXPECT_NEAR(scores(0, 1), -31.080165, 1e-6);
  EXPECT_NEAR(scores(0, 2), -1.320297, 1e-6);
  EXPECT_THAT(predict(model, project(lda, points)), ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1));
}

// Scores by the textbook: inverse and determinant of 2 x 2 matrices written out.
TEST(Quadratic, ScoresEqualTheFormula) {
  const LabelledPoints data = make_blobs({.n = 60, .d = 2, .separation = 2, .seed = 3});
  const Matrix<double> points = widen(data.points);
  const QuadraticModel model = fit_quadratic(points, data.labels);
  const Matrix<double> scores = subclass_scores(model, points);
  for (int64_t i = 0; i < 60; ++i)
    for (int64_t s = 0; s < 3; ++s) {
      const double* c = model.covariances.row(s);
      const double det = c[0] * c[3] - c[1] * c[2];
      const double x = points(i, 0) - model.means(s, 0), y = points(i, 1) - model.means(s, 1);
      const double form = (c[3] * x * x - 2 * c[1] * x * y + c[0] * y * y) / det;
      EXPECT_NEAR(scores(i, s), model.log_priors[s] - std::log(det) / 2 - form / 2, 1e-9);
    }
}

TEST(Quadratic, ClassScoresAreLogSumsOverSubclasses) {
  const LabelledPoints data = make_blobs({.n = 80, .d = 2, .num_clusters = 4, .separation = 2});
  const Matrix<double> points = widen(data.points);
  const std::vector<int> classes = {1, 0, 1, 0};
  const QuadraticModel model = fit_quadratic(points, data.labels, classes);
  const Matrix<double> parts = subclass_scores(model, points), sums = class_scores(model, points);
  const Matrix<double> probabilities = predict_probabilities(model, points);
  for (int64_t i = 0; i < 80; ++i) {
    EXPECT_NEAR(std::exp(sums(i, 0)), std::exp(parts(i, 1)) + std::exp(parts(i, 3)), 1e-12);
    EXPECT_NEAR(std::exp(sums(i, 1)), std::exp(parts(i, 0)) + std::exp(parts(i, 2)), 1e-12);
    EXPECT_NEAR(probabilities(i, 0) + probabilities(i, 1), 1, 1e-12);
  }
}

TEST(Quadratic, ShrinkageDrawsSmallClassesToThePooledCovariance) {
  const Matrix<double> points = matrix(1, {0, 2, 10, 14, 20});
  const std::vector<int> labels = {0, 0, 1, 1, 2};
  const QuadraticModel model =
      fit_quadratic(points, labels, {}, {.shrinkage = 2, .ridge = 0, .priors = Priors::Uniform});
  const double pooled = (2.0 + 8.0) / 5;  // scatters 2 and 8
  EXPECT_NEAR(model.covariances(0, 0), 0.5 * pooled + 0.5 * 2, 1e-12);
  EXPECT_NEAR(model.covariances(1, 0), 0.5 * pooled + 0.5 * 8, 1e-12);
  EXPECT_NEAR(model.covariances(2, 0), pooled, 1e-12);  // a single sample has no spread
  EXPECT_NEAR(model.log_priors[2], std::log(1.0 / 3), 1e-12);
}

TEST(Quadratic, FewerSamplesThanColumnsAreNoFault) {
  const LabelledPoints data = make_blobs({.n = 12, .d = 20, .separation = 30});
  const Matrix<double> points = widen(data.points);
  EXPECT_EQ(predict(fit_quadratic(points, data.labels), points), data.labels);
}

TEST(Quadratic, EqualSamplesAreNoFault) {
  const Matrix<double> points = matrix(2, {1, 1, 1, 1, 5, 5, 5, 5});
  const std::vector<int> labels = {0, 0, 1, 1};
  EXPECT_EQ(predict(fit_quadratic(points, labels), points), labels);
  const QuadraticModel flat = fit_quadratic(points, labels, {}, {.shrinkage = 0, .ridge = 0});
  EXPECT_THAT(message_of([&] { predict(flat, points); }), HasSubstr("not positive definite"));
}

TEST(Quadratic, ThreadsChangeNoBit) {
  const LabelledPoints data = make_blobs({.n = 2000, .d = 3, .separation = 2});
  const Matrix<double> points = widen(data.points);
  const QuadraticModel model = fit_quadratic(points, data.labels);
  EXPECT_EQ(subclass_scores(model, points, 1), subclass_scores(model, points, 3));
}

TEST(Quadratic, WrongSizesAreRefused) {
  const Matrix<double> points = matrix(1, {0, 1, 2});
  const std::vector<int> labels = {0, 0, 1}, three = {0, 0, 1};
  EXPECT_THAT(message_of([&] { fit_quadratic(points, labels, three); }),
              HasSubstr("3 entries for 2 sub-classes"));
  EXPECT_THAT(message_of([&] { fit_quadratic(points, labels, {}, {.shrinkage = -1}); }),
              HasSubstr("shrinkage is -1"));
  EXPECT_THAT(message_of([&] { fit_quadratic(points, labels, {}, {.ridge = -1}); }),
              HasSubstr("ridge is -1"));
  const QuadraticModel model = fit_quadratic(points, labels);
  EXPECT_THAT(message_of([&] { predict(model, Matrix<double>(1, 2)); }), HasSubstr("2 columns"));
  QuadraticModel broken = model;
  broken.log_priors.pop_back();
  EXPECT_THAT(message_of([&] { predict(broken, points); }), HasSubstr("are inconsistent"));
  broken = model;
  broken.class_from_subclass[0] = -4;
  EXPECT_THAT(message_of([&] { predict(broken, points); }), HasSubstr("has the class -4"));
}

}  // namespace
}  // namespace milieu
