// SPDX-License-Identifier: Apache-2.0
// The default: whitened features, a cost per set, restarts chosen by balance and separation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/dcp/dcp_cases_internal.h"
#include "milieu/dcp/dcp_problem_internal.h"
#include "milieu/dcp/dcp_separation_internal.h"
#include "milieu/linalg/pca.h"
#include "milieu/metrics/metrics.h"

namespace milieu {
namespace {

using internal::dcp_cases::Case;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kDims = 12;

void fill_noise(Matrix<float>& rows, double size, Random& random) {
  for (int64_t i = 0; i < rows.size(); ++i)
    rows.data()[i] = static_cast<float>(size * random.normal());
}

// Every sample has two factors, each of two values: `wide` along the first axis, a narrower one
// along the second. Contexts lie between the values of one and take both values of the other.
struct Factors {
  Matrix<float> points{240, kDims}, between_wide{120, kDims}, between_narrow{120, kDims};
  std::vector<int> wide, narrow;
};

Factors make_factors() {
  Random random(3);
  Factors f;
  fill_noise(f.points, 0.5, random);
  fill_noise(f.between_wide, 0.5, random);
  fill_noise(f.between_narrow, 0.5, random);
  for (int64_t i = 0; i < f.points.rows(); ++i) {
    f.wide.push_back(static_cast<int>(i % 2));
    f.narrow.push_back(static_cast<int>(i / 2 % 2));
    f.points(i, 0) += f.wide.back() == 1 ? 6.0f : -6.0f;
    f.points(i, 1) += f.narrow.back() == 1 ? 2.0f : -2.0f;
  }
  for (int64_t i = 0; i < f.between_wide.rows(); ++i) {
    f.between_wide(i, 1) += i % 2 == 1 ? 2.0f : -2.0f;
    f.between_narrow(i, 0) += i % 2 == 1 ? 6.0f : -6.0f;
  }
  return f;
}

DcpResult fit(const Matrix<float>& points, const Matrix<float>& context,
              const DcpOptions& options = {}) {
  DcpInput input;
  input.points = points;
  input.context = context;
  return fit_dcp(input, options);
}

TEST(DcpWhiten, TheContextDecidesWhichFactorIsSplit_issue26) {
  const Factors f = make_factors();
  const DcpResult wide = fit(f.points, f.between_wide), narrow = fit(f.points, f.between_narrow);
  EXPECT_EQ(compute_metrics(wide.labels, f.wide).error, 0);
  EXPECT_EQ(compute_metrics(narrow.labels, f.narrow).error, 0);
  EXPECT_GT(wide.confidence, 0.9);
  EXPECT_THAT(wide.summary.warnings, Not(Contains(HasSubstr("confidence"))));
}

TEST(DcpWhiten, OneInElevenIsFound_issue26) {
  Random random(5);
  Matrix<float> points(440, kDims), context(200, kDims);
  fill_noise(points, 1, random);
  fill_noise(context, 1, random);
  std::vector<int> truth;
  for (int64_t i = 0; i < 440; ++i) {
    truth.push_back(i % 11 == 0 ? 1 : 0);
    points(i, 3) += truth.back() == 1 ? 6.0f : -5.0f;
    points(i, 0) *= 3;  // a wide direction that means nothing
  }
  for (int64_t i = 0; i < 200; ++i) context(i, 0) *= 3;
  EXPECT_LT(compute_metrics(fit(points, context).labels, truth).balanced_error, 0.02);
}

TEST(DcpWhiten, UnitsAndNumbersOfSamplesDoNotMatter_issue26) {
  const Factors f = make_factors();
  const DcpResult plain = fit(f.points, f.between_narrow);
  Matrix<float> large = f.points, large_context = f.between_narrow;
  for (int64_t i = 0; i < large.size(); ++i) large.data()[i] *= 256;
  for (int64_t i = 0; i < large_context.size(); ++i) large_context.data()[i] *= 256;
  const DcpResult scaled = fit(large, large_context);
  EXPECT_EQ(plain.labels, scaled.labels);
  EXPECT_NEAR(plain.summary.objective, scaled.summary.objective, 1e-6);
  EXPECT_NEAR(plain.separation, scaled.separation, 1e-4);
  const auto twice = [](const Matrix<float>& rows) {
    Matrix<float> out(2 * rows.rows(), rows.cols());
    for (int64_t i = 0; i < out.rows(); ++i)
      std::copy_n(rows.row(i % rows.rows()), rows.cols(), out.row(i));
    return out;
  };
  DcpOptions options;
  options.whiten = "0.1";
  EXPECT_NEAR(fit(twice(f.points), twice(f.between_narrow), options).summary.objective,
              fit(f.points, f.between_narrow, options).summary.objective, 1e-5);
}

TEST(DcpWhiten, SamplesWithoutAClearSplitAreCalledSo_issue26) {
  Random random(7);
  Matrix<float> points(600, 4), context(300, 4);
  fill_noise(points, 1, random);
  fill_noise(context, 1, random);
  const DcpResult result = fit(points, context);
  EXPECT_LT(result.confidence, 0.7);
  EXPECT_THAT(result.summary.warnings, Contains(HasSubstr("no clear split")));
}

TEST(DcpWhiten, ModelsPredictTheirTrainingLabels) {
  const Factors f = make_factors();
  for (const DcpKernel kernel : {DcpKernel::Linear, DcpKernel::Polynomial, DcpKernel::Rbf})
    for (const double bias : {0.0, 1.0}) {
      DcpOptions options;
      options.kernel = kernel;
      options.bias = bias;
      options.whiten = "0.3,0.1";
      const DcpResult result = fit(f.points, f.between_wide, options);
      EXPECT_EQ(predict(result.model, f.points), result.labels);
      EXPECT_TRUE(result.floor == 0.3 || result.floor == 0.1);
    }
}

TEST(DcpWhiten, ThreeClustersAreThreeParts) {
  Random random(9);
  Matrix<float> points(300, kDims), context(100, kDims);
  fill_noise(points, 0.5, random);
  fill_noise(context, 0.5, random);
  std::vector<int> truth;
  for (int64_t i = 0; i < 300; ++i) {
    truth.push_back(static_cast<int>(i % 3));
    points(i, truth.back()) += 5;
  }
  for (int64_t i = 0; i < 100; ++i)
    for (int64_t t = 0; t < 3; ++t) context(i, t) += 5.0f / 3;
  DcpOptions options;
  options.num_clusters = 3;
  EXPECT_LT(compute_metrics(fit(points, context, options).labels, truth).error, 0.02);
}

TEST(DcpWhiten, ComponentsAreThoseOfThePrincipalComponentAnalysis) {
  Random random(11);
  Matrix<float> points(150, 90), context(100, 90), both(250, 90);
  fill_noise(points, 1, random);
  fill_noise(context, 1, random);
  for (Matrix<float>* rows : {&points, &context})
    for (int64_t i = 0; i < rows->rows(); ++i)
      for (int64_t t = 0; t < 90; ++t) (*rows)(i, t) *= std::pow(0.9f, static_cast<float>(t));
  std::copy_n(points.data(), points.size(), both.data());
  std::copy_n(context.data(), context.size(), both.row(150));
  DcpInput input;
  input.points = points;
  input.context = context;
  DcpOptions options;
  const auto rows = internal::find_principal_rows(internal::make_linear_features(input, options),
                                                  {}, 1, silent_monitor());
  const Pca pca = fit_pca(both, 60);
  ASSERT_EQ(rows->variances.size(), 60u);
  for (size_t j = 0; j < 40; ++j)
    EXPECT_NEAR(rows->variances[j], pca.explained_variance[j] * 249 / 250,
                1e-3 * pca.explained_variance[j]);
  for (int64_t j = 0; j < 10; ++j) {
    double along = 0;
    for (int64_t t = 0; t < 90; ++t) along += rows->axes(j, t) * pca.components(j, t);
    EXPECT_NEAR(std::abs(along), 1, 1e-3);
  }
}

// Two normals at -a and a with variance 1, far apart: 1/2 ln(1 + a^2) - ln 2 better than one.
TEST(DcpSeparation, EqualsTheGainOfTwoNormals) {
  Random random(13);
  constexpr int64_t kCount = 20000;
  Matrix<double> values(kCount, 2), context(kCount, 2), apart(kCount, 2);
  std::vector<int> labels;
  for (int64_t i = 0; i < kCount; ++i) {
    labels.push_back(static_cast<int>(i % 2));
    const double f = (i % 2 == 0 ? 5 : -5) + random.normal();
    values(i, 0) = apart(i, 0) = 0.5 * f;
    values(i, 1) = apart(i, 1) = -0.5 * f;
    const double z = random.normal();
    context(i, 0) = z;
    context(i, 1) = -z;
  }
  const double expected = 0.5 * std::log(26.0) - std::log(2.0);
  EXPECT_NEAR(internal::measure_separation(values, labels, context, {}, {}), expected, 0.02);
  // A context that is split alike takes it all back.
  EXPECT_NEAR(internal::measure_separation(values, labels, apart, {}, {}), 0, 1e-3);
  EXPECT_EQ(internal::confidence_of(-1), 0.5);
  EXPECT_GT(internal::confidence_of(expected), 0.9);
}

TEST(DcpWhiten, WrongFloorsAreRefused) {
  const Factors f = make_factors();
  for (const char* text : {"", "some", "0.1,", "-1", "nan", "1;2"}) {
    DcpOptions options;
    options.whiten = text;
    EXPECT_THROW(fit(f.points, f.between_wide, options), InvalidArgument) << text;
  }
  DcpOptions options;
  options.init = DcpInit::Axes;
  options.whiten = "none";
  EXPECT_THROW(fit(f.points, f.between_wide, options), InvalidArgument);
}

}  // namespace
}  // namespace milieu
