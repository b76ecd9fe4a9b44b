// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "milieu/exemplar/search/dual_bound_internal.h"
#include "milieu/exemplar/search/dual_loops.h"
#include "milieu/exemplar/search/exemplar_cases_internal.h"

namespace milieu::internal {
namespace {

using internal::DualPoint;

// L(v) of the note, term by term.
double dual_twin(const Matrix<float>& costs, double penalty, const std::vector<double>& v) {
  double value = 0;
  for (int64_t q = 0; q < costs.rows(); ++q) {
    double rho = penalty - v[q];
    for (int64_t p = 0; p < costs.rows(); ++p)
      if (p != q) rho += std::min(0.0, costs(p, q) - v[p]);
    value += v[q] + std::min(0.0, rho);
  }
  return value;
}

// 9 samples have short rows (summed by columns), 150 have long ones (summed by rows).
TEST(DualBound, ValueIsTheFormulaOfTheNote) {
  for (const int n : {9, 150}) {
    const Matrix<float> costs = random_costs(Kind::Asymmetric, n, 5);
    const ServiceLists lists =
        lists_from_matrix(costs, std::vector<double>(n, 0.6), 1, silent_monitor());
    Random random(3);
    std::vector<double> v(n);
    for (double& value : v) value = random.uniform(0, 0.6);
    const DualPoint point = internal::evaluate_dual(lists, v, 2, silent_monitor());
    EXPECT_NEAR(point.bound, dual_twin(costs, 0.6, v), 1e-9) << n;
  }
}

TEST(DualBound, KernelGivesTheSameBitsOnEveryInstructionSet) {
  Random random(4);
  std::vector<int> index(45);
  std::vector<float> cost(45);
  std::vector<double> v(100);
  for (double& value : v) value = random.uniform();
  for (int i = 0; i < 45; ++i) {
    index[i] = static_cast<int>(random.uniform_index(100));
    cost[i] = static_cast<float>(random.uniform());
  }
  for (const int count : {0, 1, 7, 8, 45}) {
    double slow = 0;
    for (int i = 0; i < count; ++i) slow += std::min(0.0, cost[i] - v[index[i]]);
    const double expected =
        internal::baseline::sum_below(index.data(), cost.data(), count, v.data());
    EXPECT_NEAR(expected, slow, 1e-12);
    for (const Isa isa : {Isa::V3, Isa::V4}) {
      if (isa > best_isa()) continue;
      const ScopedIsa scoped(isa);
      EXPECT_EQ(MILIEU_SELECT_ISA(sum_below)(index.data(), cost.data(), count, v.data()), expected);
    }
  }
}

TEST(DualBound, AscentNeverPassesTheOptimum) {
  for (const Kind kind : kKinds) {
    const int n = 11;
    const Matrix<float> costs = random_costs(kind, n, 30);
    const std::vector<double> penalty(n, 0.4);
    const double optimum = exhaustive_optimum(costs, penalty);
    const ServiceLists lists = lists_from_matrix(costs, penalty, 1, silent_monitor());
    const DualPoint start =
        internal::evaluate_dual(lists, std::vector<double>(n, 0.0), 1, silent_monitor());
    internal::DualOptions options;
    options.target = optimum;
    const internal::DualAscent ascent =
        internal::maximise_dual(lists, start, options, silent_monitor());
    EXPECT_GE(ascent.best.bound, start.bound);
    EXPECT_LE(ascent.best.bound, optimum + 1e-9);
    EXPECT_LE(ascent.iterations, options.max_iterations);
  }
}

// The candidates that the reduced costs close are in no solution better than the one they were
// closed with: with them gone the optimum stays.
TEST(DualBound, ClosedCandidatesAreInNoBetterSolution) {
  for (const Kind kind : kKinds) {
    const int n = 11;
    Matrix<float> costs = random_costs(kind, n, 31);
    const std::vector<double> penalty(n, 0.5);
    const double optimum = exhaustive_optimum(costs, penalty);
    const ServiceLists lists = lists_from_matrix(costs, penalty, 1, silent_monitor());
    internal::DualOptions options;
    options.target = optimum * (1 + 0.01);
    const DualPoint point =
        internal::maximise_dual(
            lists, internal::evaluate_dual(lists, std::vector<double>(n, 0.0), 1, silent_monitor()),
            options, silent_monitor())
            .best;
    const double slack = options.target - point.bound;
    std::vector<char> is_closed(n, 0);
    for (int q = 0; q < n; ++q) is_closed[q] = point.rho[q] > slack;
    const ServiceLists rest = without_candidates(lists, is_closed);
    for (int p = 0; p < n; ++p)
      for (int q = 0; q < n; ++q)
        if (p != q && is_closed[q]) costs(p, q) = 100;
    EXPECT_NEAR(exhaustive_optimum(costs, penalty), optimum, 1e-6);
    EXPECT_NEAR(internal::evaluate_dual(rest, point.v, 1, silent_monitor()).bound, point.bound,
                1e-9);
  }
}

}  // namespace
}  // namespace milieu::internal
