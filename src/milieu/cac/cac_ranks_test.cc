// SPDX-License-Identifier: Apache-2.0
// cac over ranks gives the bits of cac on one: words, phrases, trace.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/cac/cac.h"
#include "milieu/testing/teams.h"

namespace milieu {
namespace {

struct Case {
  std::string name;
  int64_t n = 0;
  bool has_positions = false;
  int num_views = 1;
  CacOptions options = {};
};

// Blocks are 512 rows.
std::vector<Case> cases() {
  std::vector<Case> all = {{"one shard", 300, true},
                           {"one row in the last shard", 1025, true},
                           {"more than sixteen blocks", 8500, true},
                           {"two views", 1500, false, 2},
                           {"by counts", 1300, true}};
  for (Case& c : all) {
    c.options.num_restarts = 1;
    c.options.max_iterations = 4;
    c.options.num_threads = 1;
  }
  all[4].options.lambda = 0.5;
  all[4].options.phrase_model = CacPhraseModel::Counts;
  return all;
}

Matrix<float> rows_of(int64_t n, int64_t d, uint64_t seed) {
  Random random(seed);
  Matrix<float> rows(n, d);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t t = 0; t < d; ++t)
      rows(i, t) = static_cast<float>(random.normal() +
                                      3.0 * static_cast<double>((i / 100) % 2 + i % 2 == t));
  return rows;
}

TEST(CacRanks, AnyNumberOfRanksGivesTheBitsOfOne) {
  for (const Case& c : cases()) {
    const Matrix<float> first = rows_of(c.n, 4, 1), second = rows_of(c.n, 3, 2);
    Matrix<float> positions(c.n, 2);
    for (int64_t i = 0; i < c.n; ++i) positions(i, 0) = static_cast<float>(i);
    CacInput input;
    input.views = {first};
    if (c.num_views > 1) input.views.emplace_back(second);
    if (c.has_positions) input.positions = positions;
    const CacResult alone = fit_cac(input, c.options);
    const std::vector<int> sizes = c.n > 1000 ? std::vector<int>{3} : std::vector<int>{2, 7};
    run_as_teams(c.name, sizes, [&](const Team& team) {
      CacInput own = input;
      own.team = &team;
      const CacResult shared = fit_cac(own, c.options, team.monitor());
      EXPECT_EQ(shared.labels, alone.labels);
      EXPECT_EQ(shared.words, alone.words);
      EXPECT_EQ(shared.phrases, alone.phrases);
      EXPECT_EQ(shared.margins, alone.margins);
      EXPECT_EQ(shared.summary.objective, alone.summary.objective);
      EXPECT_EQ(shared.summary.trace, alone.summary.trace);
      EXPECT_EQ(shared.summary.warnings, alone.summary.warnings);
    });
  }
}

}  // namespace
}  // namespace milieu
