// SPDX-License-Identifier: Apache-2.0
// Affinity propagation: against scikit-learn's exemplars, the optimum of small problems, the
// search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/exemplar/search/exemplar.h"
#include "milieu/exemplar/search/exemplar_cases_internal.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ExemplarResult fit(const Matrix<float>& costs, const std::vector<double>& penalties,
                   ExemplarSolver solver) {
  ExemplarInput input;
  input.costs = costs;
  input.penalties = penalties;
  ExemplarOptions options;
  options.distance = Distance::Precomputed;
  options.solver = solver;
  return fit_exemplar(input, options);
}

// Three groups far apart on a line: the exemplars are their middles, as sklearn.cluster
// .affinity_propagation(-D, preference=-4, damping=0.9) of scikit-learn 1.2 gives them.
TEST(AffinityPropagation, FindsTheMiddlesThatScikitLearnFinds_issue30) {
  const std::vector<double> x = {0, 1, 2.1, 10, 11.2, 12, 20, 21, 22.5};
  Matrix<float> costs(9, 9);
  for (int p = 0; p < 9; ++p)
    for (int q = 0; q < 9; ++q) costs(p, q) = static_cast<float>((x[p] - x[q]) * (x[p] - x[q]));
  const ExemplarResult found =
      fit(costs, std::vector<double>(9, 4), ExemplarSolver::AffinityPropagation);
  EXPECT_THAT(found.model.rows, ElementsAre(1, 4, 7));
  EXPECT_THAT(found.labels, ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2));
  EXPECT_EQ(found.summary.termination, Termination::Converged);
  EXPECT_NEAR(found.gap, 0, 1e-6);
}

// Never below the optimum, which its bound never exceeds; on metric problems nearly always there.
TEST(AffinityPropagation, EndsBetweenItsBoundAndWhatSearchFinds_issue30) {
  int num_optimal = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<float> costs = internal::random_costs(internal::Kind::Gaussian, 10, seed);
    const std::vector<double> penalties(10, 1.0);
    const double least = internal::exhaustive_optimum(costs, penalties);
    const ExemplarResult found = fit(costs, penalties, ExemplarSolver::AffinityPropagation);
    EXPECT_GE(found.energy, least - 1e-5);
    EXPECT_LE(found.lower_bound, least + 1e-5);
    num_optimal += found.energy < least + 1e-5;
  }
  EXPECT_GE(num_optimal, 15);
}

TEST(AffinityPropagation, IsNotBetterThanTheSearchOnLargerSets_issue30) {
  Random random(3);
  Matrix<float> points(300, 2);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(random.normal());
  ExemplarInput input;
  input.points = points;
  ExemplarOptions options;
  options.penalty = "2";
  const ExemplarResult search = fit_exemplar(input, options);
  options.solver = ExemplarSolver::AffinityPropagation;
  const ExemplarResult messages = fit_exemplar(input, options);
  EXPECT_GE(messages.energy, search.energy * (1 - 1e-6));
  EXPECT_LE(messages.lower_bound, search.energy);
  EXPECT_LT(messages.gap, 0.05);
  options.num_threads = 1;
  EXPECT_EQ(fit_exemplar(input, options).labels, messages.labels);
  options.num_clusters = 4;
  EXPECT_THAT([&] { fit_exemplar(input, options); },
              ThrowsMessage<InvalidArgument>(HasSubstr("which has no target number")));
}

}  // namespace
}  // namespace milieu
