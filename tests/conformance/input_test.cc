// SPDX-License-Identifier: Apache-2.0
// Inputs at the edge of the definition: few, equal, constant, huge, broken.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "methods.h"
#include "milieu/base/error.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void expect_valid(const ConformanceOutcome& outcome, int64_t n, bool may_leave_out) {
  ASSERT_EQ(static_cast<int64_t>(outcome.labels.size()), n);
  EXPECT_THAT(outcome.labels,
              HasLabelsBelow(static_cast<int>(outcome.summary.sizes.size()), may_leave_out));
  int64_t counted = std::count(outcome.labels.begin(), outcome.labels.end(), -1);
  for (const int64_t size : outcome.summary.sizes) counted += size;
  EXPECT_EQ(counted, n);
  EXPECT_FALSE(std::isnan(outcome.summary.objective));
}

// `copies` rows for each row of `distinct`, in turn.
Matrix<float> repeat_rows(FloatView distinct, int copies) {
  Matrix<float> points(distinct.rows() * copies, distinct.cols());
  for (int64_t i = 0; i < points.rows(); ++i)
    std::copy_n(distinct.row(i % distinct.rows()), distinct.cols(), points.row(i));
  return points;
}

TEST_P(Conformance, AsManyClustersAsSamplesIsAllowed) {
  const LabelledPoints data = method().make_data(6, 3, 6, 1);
  const ConformanceOutcome outcome = fit(data.points, {.num_clusters = 6});
  expect_valid(outcome, 6, method().may_leave_out);
  if (method().takes_num_clusters && !method().may_leave_empty) {
    EXPECT_EQ(std::set<int>(outcome.labels.begin(), outcome.labels.end()).size(), 6u);
  }
}

TEST_P(Conformance, MoreClustersThanSamplesAreRefused) {
  if (!method().takes_num_clusters) GTEST_SKIP() << "the method finds the number of clusters";
  const LabelledPoints data = method().make_data(6, 3, 3, 1);
  EXPECT_THROW(fit(data.points, {.num_clusters = 7}), InvalidArgument);
  EXPECT_THAT(message_of([&] { fit(data.points, {.num_clusters = 7}); }),
              AllOf(HasSubstr("num_clusters is 7"), HasSubstr("6")));
}

TEST_P(Conformance, DuplicatesShareALabel) {
  const LabelledPoints data = method().make_data(5, 3, 5, 1);
  const ConformanceOutcome outcome = fit(repeat_rows(data.points, 20), {.num_clusters = 5});
  expect_valid(outcome, 100, method().may_leave_out);
  for (int i = 5; i < 100; ++i) ASSERT_EQ(outcome.labels[i], outcome.labels[i % 5]) << i;
  if (method().takes_num_clusters && !method().may_leave_empty) {
    EXPECT_EQ(outcome.summary.clusters, 5);
  }
}

TEST_P(Conformance, MoreClustersThanDistinctSamplesIsAWarning) {
  if (!method().takes_num_clusters) GTEST_SKIP() << "the method finds the number of clusters";
  const LabelledPoints data = method().make_data(4, 3, 4, 1);
  const ConformanceOutcome outcome = fit(repeat_rows(data.points, 10), {.num_clusters = 7});
  expect_valid(outcome, 40, method().may_leave_out);
  EXPECT_FALSE(outcome.summary.warnings.empty());
  if (outcome.predict) {
    EXPECT_EQ(outcome.predict(repeat_rows(data.points, 10)), outcome.labels);
  }
}

TEST_P(Conformance, OneSampleIsOneCluster) {
  const LabelledPoints data = method().make_data(1, 3, 1, 1);
  const ConformanceOutcome outcome = fit(data.points, {.num_clusters = 1});
  EXPECT_EQ(outcome.labels, std::vector<int>{0});
  EXPECT_EQ(outcome.summary.clusters, 1);
  EXPECT_FALSE(std::isnan(outcome.summary.objective));
}

TEST_P(Conformance, OneClusterTakesAll) {
  if (!method().takes_num_clusters) GTEST_SKIP() << "the method finds the number of clusters";
  const LabelledPoints data = make_overlapping(100, 3, 3, 1);
  EXPECT_EQ(fit(data.points, {.num_clusters = 1}).labels, std::vector<int>(100, 0));
}

TEST_P(Conformance, OneFeatureIsEnough) {
  const LabelledPoints data = method().make_data(90, 1, 3, 1);
  const ConformanceOutcome outcome = fit(data.points, {.num_clusters = 3});
  expect_valid(outcome, 90, method().may_leave_out);
  if (!method().is_binary && !method().separates_by_planes) {
    EXPECT_THAT(outcome.labels, IsSamePartitionAs(data.labels));
  }
}

TEST_P(Conformance, EqualSamplesAreOneCluster) {
  const LabelledPoints data = method().make_data(1, 3, 1, 1);
  const Matrix<float> points = repeat_rows(data.points, 30);
  const ConformanceOutcome outcome = fit(points, {.num_clusters = 1});
  EXPECT_EQ(outcome.labels, std::vector<int>(30, 0));
  EXPECT_FALSE(std::isnan(outcome.summary.objective));
  if (!method().takes_num_clusters) return;
  const ConformanceOutcome three = fit(points, {.num_clusters = 3});
  expect_valid(three, 30, method().may_leave_out);
  EXPECT_FALSE(three.summary.warnings.empty());
}

TEST_P(Conformance, ConstantFeatureChangesNothing) {
  const LabelledPoints data = method().make_data(200, 3, 3, 2);
  const int64_t d = data.points.cols();
  Matrix<float> points(200, d + 1);
  for (int64_t i = 0; i < 200; ++i) {
    std::copy_n(data.points.row(i), d, points.row(i));
    points(i, d) = 1;
  }
  const ConformanceOutcome outcome = fit(points);
  EXPECT_THAT(outcome.labels, IsSamePartitionAs(data.labels));
  EXPECT_TRUE(std::isfinite(outcome.summary.objective));
}

TEST_P(Conformance, NonFiniteEntriesAreRefusedByRowAndColumn) {
  const LabelledPoints data = method().make_data(50, 3, 3, 1);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {std::nanf(""), kInfinity, -kInfinity}) {
    Matrix<float> points = data.points;
    points(17, 2) = bad;
    points(31, 0) = bad;  // the first one is named
    const std::string message = message_of([&] { fit(points); });
    EXPECT_THAT(message, HasSubstr("row 17, column 2")) << bad;
    EXPECT_THROW(fit(points), DataError);
  }
}

TEST_P(Conformance, EmptyInputIsRefused) {
  EXPECT_THROW(fit(Matrix<float>(0, 3)), InvalidArgument);
  EXPECT_THROW(fit(Matrix<float>(5, 0)), InvalidArgument);
  EXPECT_THROW(fit(FloatView()), InvalidArgument);
}

TEST_P(Conformance, UnitOfMeasurementDoesNotMatter) {
  if (method().is_binary) GTEST_SKIP() << "samples of 0 and 1 have no unit";
  if (method().is_counts) GTEST_SKIP() << "counts have no unit: more of them say more";
  const LabelledPoints data = method().make_data(200, 3, 3, 3);
  for (const float scale : {0x1p-20f, 0x1p20f}) {
    Matrix<float> scaled = data.points;
    for (float& x : std::span(scaled.data(), scaled.size())) x *= scale;
    EXPECT_THAT(fit(scaled).labels, IsSamePartitionAs(data.labels)) << scale;
  }
}

TEST_P(Conformance, OriginDoesNotMatter) {
  if (method().is_binary) GTEST_SKIP() << "samples of 0 and 1 have a fixed origin";
  if (method().is_counts) GTEST_SKIP() << "counts begin at 0";
  const LabelledPoints data = make_blobs(
      {.n = 200, .d = 3, .num_clusters = 3, .separation = 20, .offset = 3000, .seed = 4});
  EXPECT_THAT(fit(data.points).labels, IsSamePartitionAs(data.labels));
}

// Squares of such numbers do not fit into a float: a clear refusal or a right answer, never NaN.
TEST_P(Conformance, HugeValuesAreRefusedOrRight) {
  if (method().is_binary) GTEST_SKIP() << "samples of 0 and 1 are never huge";
  if (method().is_counts) GTEST_SKIP() << "a number that large does not count anything";
  const LabelledPoints data = method().make_data(60, 3, 3, 5);
  Matrix<float> huge = data.points;
  for (float& x : std::span(huge.data(), huge.size())) x *= 1e30f;
  try {
    const ConformanceOutcome outcome = fit(huge);
    EXPECT_THAT(outcome.labels, IsSamePartitionAs(data.labels));
    EXPECT_FALSE(std::isnan(outcome.summary.objective));
  } catch (const Error& refused) {
    EXPECT_STRNE(refused.what(), "");
  }
}

}  // namespace
}  // namespace milieu
