// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/kernel.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <stop_token>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/linalg/isa.h"

namespace milieu {
namespace {

Matrix<float> random_histograms(int64_t rows, int64_t cols, uint64_t seed) {
  Random random(seed);
  Matrix<float> points(rows, cols);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = random.bernoulli(0.3) ? 0.0f : static_cast<float>(random.uniform());
  return points;
}

KernelSpec spec_of(Kernel kernel) {
  return {.kernel = kernel, .gamma = 0.7, .offset = 0.5, .degree = 3};
}

// One pair, straight from the definition in kernel.h.
double twin(const KernelSpec& spec, std::span<const float> x, std::span<const float> y) {
  double dot = 0, minima = 0, additive = 0, chi = 0, squares = 0;
  for (size_t t = 0; t < x.size(); ++t) {
    const double a = x[t], b = y[t];
    dot += a * b;
    minima += std::min(a, b);
    if (a + b > 0) additive += 2 * a * b / (a + b);
    if (a + b > 0) chi += (a - b) * (a - b) / (a + b);
    squares += (a - b) * (a - b);
  }
  switch (spec.kernel) {
    case Kernel::Linear:
      return dot;
    case Kernel::Polynomial:
      return std::pow(spec.gamma * dot + spec.offset, spec.degree);
    case Kernel::Intersection:
      return minima;
    case Kernel::ChiSquared:
      return additive;
    case Kernel::ExpChiSquared:
      return std::exp(-spec.gamma * chi);
    case Kernel::Rbf:
      return std::exp(-spec.gamma * squares);
  }
  return NAN;
}

TEST(Kernel, EveryKernelEqualsItsDefinition) {
  for (const int64_t d : {1, 5, 16, 41})
    for (const auto& [name, kernel] : kernel_choices().choices) {
      const Matrix<float> a = random_histograms(70, d, 1), b = random_histograms(9, d, 2);
      const KernelSpec spec = spec_of(kernel);
      Matrix<double> out(70, 9);
      ASSERT_TRUE(cross_gram(spec, a, b, out.view()));
      for (int i = 0; i < 70; ++i)
        for (int j = 0; j < 9; ++j)
          EXPECT_NEAR(out(i, j), twin(spec, a.row_span(i), b.row_span(j)), 1e-12 * (1 + out(i, j)))
              << name << " d " << d;
    }
}

TEST(Kernel, GramIsSymmetricAndEqualsTheCrossGram) {
  for (const int64_t n : {1, 63, 64, 65, 200})
    for (const auto& [name, kernel] : kernel_choices().choices) {
      const Matrix<float> points = random_histograms(n, 11, 3);
      Matrix<double> square(n, n), cross(n, n);
      ASSERT_TRUE(gram(spec_of(kernel), points, square.view()));
      ASSERT_TRUE(cross_gram(spec_of(kernel), points, points, cross.view()));
      EXPECT_EQ(square, cross) << name << " n " << n;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < i; ++j) EXPECT_EQ(square(i, j), square(j, i));
    }
}

TEST(Kernel, GramIsPositiveSemiDefinite) {
  const int64_t n = 80;  // more rows than columns: the linear Gram matrix is singular
  const Matrix<float> points = random_histograms(n, 20, 4);
  for (const auto& [name, kernel] : kernel_choices().choices) {
    Matrix<double> square(n, n);
    gram(spec_of(kernel), points, square.view());
    const Eigen::Map<const Eigen::MatrixXd> map(square.data(), n, n);
    const Eigen::VectorXd values =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(map).eigenvalues();
    EXPECT_GE(values.minCoeff(), -1e-10 * values.maxCoeff()) << name;
  }
}

TEST(Kernel, FloatIsTheRoundedDouble) {
  const Matrix<float> points = random_histograms(70, 13, 5);
  for (const auto& [name, kernel] : kernel_choices().choices) {
    Matrix<double> exact(70, 70);
    Matrix<float> rounded(70, 70), cross(70, 70), block(70, 70);
    gram(spec_of(kernel), points, exact.view());
    gram(spec_of(kernel), points, rounded.view());
    cross_gram(spec_of(kernel), points, points, cross.view());
    kernel_block(spec_of(kernel), points, points, block.view());
    EXPECT_EQ(rounded, cross) << name;
    EXPECT_EQ(rounded, block) << name;
    for (int64_t i = 0; i < exact.size(); ++i)
      EXPECT_EQ(rounded.data()[i], static_cast<float>(exact.data()[i])) << name;
  }
}

TEST(Kernel, BitsDoNotDependOnThreadsOrInstructionSet) {
  const Matrix<float> points = random_histograms(300, 37, 6);
  for (const auto& [name, kernel] : kernel_choices().choices) {
    Matrix<double> one(300, 300), two(300, 300), base(300, 300);
    gram(spec_of(kernel), points, one.view(), 1);
    gram(spec_of(kernel), points, two.view(), 2);
    {
      const ScopedIsa scope(Isa::Baseline);
      gram(spec_of(kernel), points, base.view(), 2);
    }
    EXPECT_EQ(one, two) << name;
    EXPECT_EQ(one, base) << name;
  }
}

TEST(Kernel, DiagonalIsThatOfTheGram) {
  const Matrix<float> points = random_histograms(9, 6, 7);
  for (const auto& [name, kernel] : kernel_choices().choices) {
    Matrix<double> square(9, 9);
    gram(spec_of(kernel), points, square.view());
    const std::vector<double> diagonal = kernel_diagonal(spec_of(kernel), points);
    for (int i = 0; i < 9; ++i) EXPECT_EQ(diagonal[i], square(i, i)) << name;
  }
}

TEST(Kernel, RbfGammaIsOneOverTheMeanSquaredDistance) {
  const Matrix<float> points = random_histograms(40, 7, 8);
  double total = 0, chi = 0;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < i; ++j) {
      KernelSpec spec = spec_of(Kernel::Rbf);
      spec.gamma = 1;
      total -= std::log(twin(spec, points.row_span(i), points.row_span(j)));
      spec.kernel = Kernel::ExpChiSquared;
      chi -= std::log(twin(spec, points.row_span(i), points.row_span(j)));
    }
  EXPECT_NEAR(choose_gamma(Kernel::Rbf, points), 780 / total, 1e-10);
  EXPECT_NEAR(choose_gamma(Kernel::ExpChiSquared, points), 780 / chi, 1e-10);
  EXPECT_EQ(choose_gamma(Kernel::Polynomial, points), 1.0 / 7);
  EXPECT_EQ(choose_gamma(Kernel::Linear, points), 1);
}

TEST(Kernel, GammaOfEqualRowsIsOne) {
  const Matrix<float> points(5, 3);
  EXPECT_EQ(choose_gamma(Kernel::Rbf, points), 1);
  EXPECT_EQ(choose_gamma(Kernel::ExpChiSquared, points), 1);
  EXPECT_EQ(choose_gamma(Kernel::Rbf, points.view().rows_between(0, 1)), 1);
}

TEST(Kernel, HistogramKernelsRefuseNegativeFeatures) {
  Matrix<float> points(2, 2);
  Matrix<double> out(2, 2);
  points(1, 1) = -0.5f;
  for (const Kernel kernel : {Kernel::Intersection, Kernel::ChiSquared, Kernel::ExpChiSquared})
    EXPECT_THROW(gram(spec_of(kernel), points, out.view()), InvalidArgument);
  EXPECT_TRUE(gram(spec_of(Kernel::Rbf), points, out.view()));
}

TEST(Kernel, WrongNumbersAndShapesAreRefused) {
  const Matrix<float> points(2, 2), other(2, 3);
  Matrix<double> out(2, 2), small(1, 2);
  KernelSpec spec = spec_of(Kernel::Polynomial);
  spec.degree = 0;
  EXPECT_THROW(gram(spec, points, out.view()), InvalidArgument);
  spec = spec_of(Kernel::Polynomial);
  spec.offset = -1;
  EXPECT_THROW(gram(spec, points, out.view()), InvalidArgument);
  spec = spec_of(Kernel::Rbf);
  spec.gamma = 0;
  EXPECT_THROW(gram(spec, points, out.view()), InvalidArgument);
  spec = spec_of(Kernel::Linear);
  spec.gamma = 0;  // not used
  EXPECT_TRUE(gram(spec, points, out.view()));
  EXPECT_THROW(cross_gram(spec, points, other, out.view()), InvalidArgument);
  EXPECT_THROW(gram(spec, points, small.view()), InvalidArgument);
}

TEST(Kernel, StopIsHeeded) {
  const Matrix<float> points = random_histograms(200, 3, 9);
  Matrix<double> out(200, 200);
  std::stop_source stop;
  stop.request_stop();
  Monitor monitor(stop.get_token());
  EXPECT_FALSE(gram(spec_of(Kernel::Rbf), points, out.view(), 2, monitor));
  EXPECT_FALSE(cross_gram(spec_of(Kernel::Rbf), points, points, out.view(), 2, monitor));
}

}  // namespace
}  // namespace milieu
