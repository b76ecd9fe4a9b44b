// SPDX-License-Identifier: Apache-2.0
#include "milieu/classify/overlap.h"

#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/random.h"
#include "milieu/classify/class_labels.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

TEST(Overlap, GaussiansOfOneDimensionAreIntegrals) {
  const double mean_a[] = {0}, mean_b[] = {1.5}, a[] = {1}, b[] = {4};
  double integral = 0;
  for (double x = -30; x < 30; x += 1e-3)
    integral += 1e-3 * std::sqrt(std::exp(-x * x / 2) / std::sqrt(2 * M_PI) *
                                 std::exp(-(x - 1.5) * (x - 1.5) / 8) / std::sqrt(8 * M_PI));
  EXPECT_NEAR(gaussian_overlap(mean_a, a, mean_b, b), integral, 1e-9);
  EXPECT_NEAR(gaussian_overlap(mean_a, a, mean_a, a), 1, 1e-12);
}

TEST(Overlap, DrawsAgreeWithTheClosedForm) {
  const LabelledPoints data = make_blobs({.n = 300, .d = 2, .separation = 1.5, .seed = 4});
  const QuadraticModel model = fit_quadratic(widen(data.points), data.labels);
  const int draws = 4000;
  const Matrix<double> overlaps = class_overlaps(model, draws);
  for (int64_t a = 0; a < 3; ++a)
    for (int64_t b = 0; b < 3; ++b) {
      const double exact = gaussian_overlap(model.means.row_span(a), model.covariances.row_span(a),
                                            model.means.row_span(b), model.covariances.row_span(b));
      EXPECT_NEAR(overlaps(a, b), exact, 4 * 0.5 / std::sqrt(draws)) << a << b;
    }
}

TEST(Overlap, SubclassesThatFitBetterOverlapLess) {
  // Class 0 lies on both sides of class 1: one Gaussian covers it, two do not.
  Random random(2);
  Matrix<double> points(300, 1);
  std::vector<int> classes(300), subclasses(300);
  for (int i = 0; i < 300; ++i) {
    classes[i] = i % 3 == 2;
    subclasses[i] = i % 3;
    points(i, 0) = (i % 3 == 2 ? 0 : i % 3 == 1 ? 6 : -6) + random.normal();
  }
  const double before = mean_overlap(fit_quadratic(points, classes));
  const std::vector<int> class_of = {0, 0, 1};
  const double after = mean_overlap(fit_quadratic(points, subclasses, class_of));
  EXPECT_LT(after, before / 5);
}

}  // namespace
}  // namespace milieu
