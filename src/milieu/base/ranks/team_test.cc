// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/ranks/team.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stop_token>
#include <vector>

namespace milieu {
namespace {

// Calls body(team) on every rank of teams of several sizes.
void for_each_team(const std::function<void(const Team&)>& body) {
  for (const int size : {1, 2, 3, 7})
    run_as_ranks(size, [&](Communicator& ranks) {
      Monitor monitor;
      body(Team(ranks, monitor));
    });
}

TEST(Team, EveryRowIsVisitedOnceAndCompletedOnAll) {
  for (const int64_t n : {0, 1, 5, 64, 65, 1000}) {
    for_each_team([&](const Team& team) {
      std::vector<int> values(2 * n, -1);
      team.parallel_for(n, 4, 2, [&](const Block& block) {
        EXPECT_EQ(block.begin, 4 * block.index);
        for (int64_t i = block.begin; i < block.end; ++i)
          values[2 * i] = values[2 * i + 1] = static_cast<int>(i);
      });
      team.complete<int>(n, 4, values, 2);
      for (int64_t i = 0; i < 2 * n; ++i) EXPECT_EQ(values[i], i / 2);
    });
  }
}

TEST(Team, ValuesThatEndBeforeTheRowsAreCompleted) {
  for_each_team([](const Team& team) {
    std::vector<int64_t> values(37, -1);
    team.parallel_for(100, 2, 1, [&](const Block& block) {
      for (int64_t i = block.begin; i < std::min<int64_t>(block.end, 37); ++i) values[i] = i;
    });
    team.complete<int64_t>(100, 2, values);
    for (int64_t i = 0; i < 37; ++i) EXPECT_EQ(values[i], i);
  });
}

double harmonic(int64_t i) { return 1e8 * std::sin(static_cast<double>(i)); }

TEST(Team, ReductionsAndChainsHaveTheBitsOfOneRank) {
  constexpr int64_t kRows = 3001;
  const auto add = [](const Block& block, double& sum) {
    for (int64_t i = block.begin; i < block.end; ++i) sum += harmonic(i);
  };
  const auto merge = [](double& sum, double part) { sum += part; };
  const double reduced = parallel_reduce(kRows, 8, 1, 0.0, add, merge);
  double chained = 0;
  for (int64_t i = 0; i < kRows; ++i) chained += harmonic(i);
  ASSERT_NE(reduced, chained);  // the order matters
  for_each_team([&](const Team& team) {
    EXPECT_EQ(team.parallel_reduce(kRows, 8, 2, 0.0, add, merge), reduced);
    const Rows own = team.rows(kRows, 8);
    const double sum = team.chain(0.0, [&](double& stats) {
      for (int64_t i = own.begin(); i < own.end(); ++i) stats += harmonic(i);
    });
    EXPECT_EQ(sum, chained);
  });
}

TEST(Team, WholeNumbersAddUp) {
  for_each_team([](const Team& team) {
    const int size = team.rows(1, 1).ranks().size();
    std::vector<int32_t> counts = {1, team.rank(), 100};
    team.add_up(counts);
    EXPECT_EQ(counts, (std::vector<int32_t>{size, size * (size - 1) / 2, 100 * size}));
  });
}

TEST(Team, RowsGoFromOneCutToAnother) {
  for_each_team([](const Team& team) {
    const int size = team.rows(1, 1).ranks().size();
    const std::vector<int64_t> from = team.borders_of(team.rank() % 3);  // some have none
    ASSERT_EQ(std::ssize(from), size + 1);
    std::vector<int64_t> first(from.size(), from.back());  // all on rank 0
    first[0] = 0;
    std::vector<int64_t> own;
    for (int64_t i = from[team.rank()]; i < from[team.rank() + 1]; ++i)
      own.insert(own.end(), {10 * i, 10 * i + 1});
    const auto gathered = team.move_rows(std::span<const int64_t>(own), 2, from, first);
    ASSERT_EQ(std::ssize(gathered), team.rank() == 0 ? 2 * from.back() : 0);
    for (size_t i = 0; i < gathered.size(); ++i)
      EXPECT_EQ(gathered[i], 10 * static_cast<int64_t>(i / 2) + static_cast<int64_t>(i % 2));
    EXPECT_EQ(team.move_rows(std::span<const int64_t>(gathered), 2, first, from), own);
  });
}

TEST(Team, AStopOfOneRankIsSeenByAllAfterTheSamePass) {
  run_as_ranks(3, [](Communicator& ranks) {
    std::stop_source source;
    Monitor monitor(source.get_token());
    const Team team(ranks, monitor);
    std::vector<int> none;
    for (int pass = 0; pass < 5; ++pass) {
      EXPECT_EQ(team.monitor().should_stop(), pass > 2) << pass;
      if (pass == 2 && ranks.rank() == 1) source.request_stop();
      EXPECT_EQ(team.monitor().should_stop(), pass > 2) << pass;
      team.complete<int>(0, 1, none);
    }
    EXPECT_EQ(team.monitor().stop_reason(), StopReason::Cancelled);
  });
}

TEST(Team, ATimeLimitOfOneRankEndsAll) {
  run_as_ranks(2, [](Communicator& ranks) {
    Monitor monitor;
    if (ranks.rank() == 1) monitor.set_time_limit(0);
    const Team team(ranks, monitor);
    EXPECT_FALSE(team.monitor().should_stop());
    std::vector<int32_t> counts(1);
    team.add_up(counts);
    EXPECT_EQ(team.monitor().stop_reason(), StopReason::TimeLimit);
  });
}

}  // namespace
}  // namespace milieu
