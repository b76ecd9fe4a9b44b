// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/exemplar/search/exemplar_cases_internal.h"

namespace milieu::internal {
namespace {

using ::testing::HasSubstr;

TEST(ExemplarCount, TargetNumberIsGivenExactlyWithABound) {
  const Matrix<float> costs = random_costs(Kind::Uniform, 12, 10);
  ExemplarInput input;
  input.costs = costs;
  for (const int k : {1, 2, 5, 12}) {
    ExemplarOptions options;
    options.num_clusters = k;
    const ExemplarResult result = fit_exemplar(input, options);
    EXPECT_EQ(static_cast<int>(result.model.rows.size()), k);
    double best = INFINITY;  // over all sets of k
    for (int set = 1; set < (1 << 12); ++set) {
      if (__builtin_popcount(set) != k) continue;
      double cost = 0;
      for (int p = 0; p < 12; ++p) {
        double cheapest = set >> p & 1 ? 0 : INFINITY;
        for (int q = 0; q < 12; ++q)
          if (set >> q & 1 && q != p) cheapest = std::min<double>(cheapest, costs(p, q));
        cost += cheapest;
      }
      best = std::min(best, cost);
    }
    EXPECT_NEAR(result.energy, best, 1e-5) << k;
    EXPECT_LE(result.lower_bound, best + 1e-6) << k;
    EXPECT_FALSE(result.curve.empty());
    for (size_t i = 1; i < result.curve.size(); ++i)
      EXPECT_GE(result.curve[i].penalty, result.curve[i - 1].penalty);
  }
}

TEST(ExemplarCount, LessMemoryGivesTheNearestNumberAndAWarning) {
  const int n = 300;
  Random random(3);
  Matrix<float> points(n, 2);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(random.uniform());
  ExemplarInput input;
  input.points = points;
  ExemplarOptions options;
  options.num_clusters = 20;
  const ExemplarResult exact = fit_exemplar(input, options);
  EXPECT_EQ(exact.model.rows.size(), 20u);
  options.max_memory_gb = 0.0006;  // no room for 300 x 300 distances
  const ExemplarResult near = fit_exemplar(input, options);
  ASSERT_FALSE(near.summary.warnings.empty());
  EXPECT_THAT(near.summary.warnings[0], HasSubstr("max_memory_gb is 0.0006"));
  EXPECT_NEAR(static_cast<double>(near.model.rows.size()), 20, 6);
  if (near.model.rows.size() == 20) {
    EXPECT_LE(near.lower_bound, exact.energy + 1e-6);
    EXPECT_LE(exact.lower_bound, near.energy + 1e-6);
  }
}

}  // namespace
}  // namespace milieu::internal
