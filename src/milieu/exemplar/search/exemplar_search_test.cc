// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "milieu/exemplar/search/exemplar_cases_internal.h"
#include "milieu/exemplar/search/exemplar_search_internal.h"

namespace milieu::internal {
namespace {

TEST(ExemplarSearch, MovesChangeTheEnergyAsPredicted) {
  const int n = 30;
  const Matrix<float> costs = random_costs(Kind::Negative, n, 8);
  const ServiceLists lists =
      lists_from_matrix(costs, std::vector<double>(n, 0.4), 1, silent_monitor());
  Random random(4);
  for (int round = 0; round < 300; ++round) {
    std::vector<int> open;
    for (int q = 0; q < n; ++q)
      if (random.bernoulli(0.2)) open.push_back(q);
    internal::SearchState state(lists, open);
    const double before = state.energy();
    const int q = static_cast<int>(random.uniform_index(n));
    double expected = 0;
    if (state.is_open(q)) {
      expected = state.drop_change(q);
      state.drop(q);
    } else {
      const internal::Move move = state.best_move(q);
      EXPECT_LE(move.change, state.add_change(q) + 1e-12);
      expected = move.change;
      state.add(q);
      if (move.drop >= 0) state.drop(move.drop);
    }
    EXPECT_NEAR(state.energy(), before + expected, 1e-9);
    // The bookkeeping after the move equals a state made from scratch.
    std::vector<int> now;
    for (int p = 0; p < n; ++p)
      if (state.is_open(p)) now.push_back(p);
    const internal::SearchState fresh(lists, now);
    for (int p = 0; p < n; ++p) {
      EXPECT_EQ(state.service(p).server, fresh.service(p).server);
      EXPECT_EQ(state.service(p).second, fresh.service(p).second);
      EXPECT_NEAR(state.drop_change(p), fresh.drop_change(p), 1e-9);
    }
  }
}

// Lists may hold more than can pay: the search must end as on lists that do not.
TEST(ExemplarSearch, EntriesBeyondThePenaltyAreNotUsed) {
  const int n = 60;
  const Matrix<float> costs = random_costs(Kind::Asymmetric, n, 3);
  const std::vector<double> small(n, 0.3);
  ServiceLists wide = lists_from_matrix(costs, std::vector<double>(n, 9.0), 1, silent_monitor());
  wide.penalty = small;
  const ServiceLists narrow = lists_from_matrix(costs, small, 1, silent_monitor());
  ASSERT_GT(wide.num_entries(), narrow.num_entries());
  const std::vector<int> open = internal::greedy_exemplars(narrow, 1, silent_monitor());
  EXPECT_EQ(internal::greedy_exemplars(wide, 2, silent_monitor()), open);
  const internal::SearchState a(wide, open), b(narrow, open);
  for (int p = 0; p < n; ++p) {
    EXPECT_EQ(a.service(p).server, b.service(p).server);
    EXPECT_EQ(a.service(p).second, b.service(p).second);
  }
}

// The search skips what has not changed; what it ends with must hold against every single move.
TEST(ExemplarSearch, EndsWhereNoSampleLooksBetter) {
  const int n = 200;
  std::vector<int> all(n);
  for (int q = 0; q < n; ++q) all[q] = q;
  for (const Kind kind : kKinds) {
    const ServiceLists lists = lists_from_matrix(random_costs(kind, n, 21),
                                                 std::vector<double>(n, 0.5), 1, silent_monitor());
    internal::SearchState state(lists, {});
    internal::improve(state, lists, all, silent_monitor());
    internal::SearchState again(lists, state.exemplars());
    EXPECT_NEAR(again.energy(), state.energy(), 1e-9);
    int64_t moves = internal::improve(again, lists, all, silent_monitor());
    EXPECT_LE(again.energy(), state.energy() + 1e-9);
    EXPECT_LE(moves, n / 10);
  }
}

}  // namespace
}  // namespace milieu::internal
