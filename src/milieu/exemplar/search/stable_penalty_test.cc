// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/search/stable_penalty_internal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <variant>

#include "milieu/base/random.h"
#include "milieu/exemplar/search/exemplar.h"

namespace milieu {
namespace {

// `groups` round groups of `size` at random places of the unit cube, sample i of group i % groups.
Matrix<float> made_groups(int groups, int size, int columns, double spread, uint64_t seed) {
  Random random(seed);
  Matrix<float> centers(groups, columns);
  for (int64_t i = 0; i < centers.size(); ++i)
    centers.data()[i] = static_cast<float>(random.normal());
  Matrix<float> points(groups * size, columns);
  for (int p = 0; p < groups * size; ++p)
    for (int t = 0; t < columns; ++t)
      points(p, t) = static_cast<float>(centers(p % groups, t) + spread * random.normal());
  return points;
}

ExemplarResult fit(const Matrix<float>& points, const char* penalty) {
  ExemplarInput input;
  input.points = points;
  ExemplarOptions options;
  if (penalty != nullptr) options.penalty = penalty;
  return fit_exemplar(input, options);
}

double penalty_of(const ExemplarResult& result) {
  for (const auto& [name, value] : result.summary.extra)
    if (name == "penalty") return std::get<double>(value);
  return NAN;
}

// The median of the distances gave 155 clusters for 20 classes.
TEST(StablePenalty, DefaultFindsTheGroupsWhereTheMedianSplitsThem_issue28) {
  const Matrix<float> points = made_groups(8, 50, 6, 0.35, 3);
  EXPECT_EQ(fit(points, nullptr).model.rows.size(), 8u);
  EXPECT_GT(fit(points, "median").model.rows.size(), 16u);
}

// Beyond the samples that are looked at, the penalty grows with their number.
TEST(StablePenalty, LargerSetsOfTheSameKindHaveTheSameGroups) {
  const Matrix<float> points = made_groups(8, 250, 6, 0.35, 3);
  EXPECT_EQ(fit(points, "stable").model.rows.size(), 8u);
}

TEST(StablePenalty, FollowsTheUnitAndTheSeedOnly) {
  const Matrix<float> points = made_groups(5, 30, 4, 0.3, 7);
  Matrix<float> doubled = points;
  for (int64_t i = 0; i < doubled.size(); ++i) doubled.data()[i] *= 2;
  const ExemplarResult one = fit(points, "stable"), two = fit(doubled, "stable");
  EXPECT_DOUBLE_EQ(2 * penalty_of(one), penalty_of(two));
  EXPECT_EQ(one.labels, two.labels);
  EXPECT_EQ(penalty_of(one), penalty_of(fit(points, "stable")));
}

TEST(StablePenalty, FewSamplesAndTargetNumbersStartWithTheMedian) {
  const Matrix<float> few = made_groups(3, 6, 2, 0.1, 1);
  EXPECT_EQ(penalty_of(fit(few, "stable")), penalty_of(fit(few, "median")));
}

TEST(StablePenalty, StoppedSearchGivesTheFirstPenalty) {
  std::stop_source stop;
  stop.request_stop();
  Monitor monitor(stop.get_token());
  const auto cost = [](int64_t p, int64_t q) { return static_cast<float>(std::abs(p - q)); };
  EXPECT_EQ(internal::stable_penalty(50, cost, 3, 1, 1, monitor), 3);
}

}  // namespace
}  // namespace milieu
