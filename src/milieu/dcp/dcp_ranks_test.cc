// SPDX-License-Identifier: Apache-2.0
// dcp over ranks gives the bits of dcp on one: labels, planes, objectives.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/dcp/dcp.h"
#include "milieu/testing/teams.h"

namespace milieu {
namespace {

struct Case {
  std::string name;
  int64_t n = 0, m = 0, d = 0;
  bool has_weights = false;
  bool has_memberships = false;
  DcpOptions options = {};
};

// Blocks are 65,536 / (d + 1) rows, at most 4,096.
std::vector<Case> cases() {
  std::vector<Case> all = {
      {"one shard", 200, 100, 5},      {"one row in the last shard", 600, 4082, 13, true},
      {"many blocks", 3000, 1501, 60}, {"more columns than components", 900, 400, 90, true},
      {"large margin", 900, 500, 60},  {"memberships", 500, 230, 60, false, true}};
  for (Case& c : all) {
    c.options.num_clusters = 3;
    c.options.num_restarts = 2;
    c.options.max_iterations = 6;
    c.options.num_threads = 1;
  }
  all[4].options.whiten = "none";
  all[4].options.loss = DcpLoss::Hinge;
  return all;
}

Matrix<float> rows_of(int64_t n, int64_t d, double away, uint64_t seed) {
  Random random(seed);
  Matrix<float> rows(n, d);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t t = 0; t < d; ++t)
      rows(i, t) = static_cast<float>(random.normal() + away * static_cast<double>(i % 3 == t));
  return rows;
}

std::vector<double> weights_of(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<double> weights(n);
  for (double& w : weights) w = random.uniform() < 0.3 ? 0 : random.uniform();
  return weights;
}

TEST(DcpRanks, AnyNumberOfRanksGivesTheBitsOfOne) {
  for (const Case& c : cases()) {
    const Matrix<float> points = rows_of(c.n, c.d, 4, 1), context = rows_of(c.m, c.d, 0, 2);
    const std::vector<double> weights = weights_of(c.has_weights ? c.n : 0, 3),
                              context_weights = weights_of(c.has_weights ? c.m : 0, 4);
    std::vector<int> memberships;
    for (int64_t i = 0; i < c.n && c.has_memberships; ++i)
      memberships.push_back(i % 10 == 0 ? static_cast<int>(i % 3) : -1);
    DcpInput input{points, context, weights, context_weights};
    input.memberships = memberships;
    const DcpResult alone = fit_dcp(input, c.options);
    const std::vector<int> sizes = c.n + c.m > 1000 ? std::vector<int>{3} : std::vector<int>{2, 7};
    run_as_teams(c.name, sizes, [&](const Team& team) {
      DcpInput own = input;
      own.team = &team;
      const DcpResult shared = fit_dcp(own, c.options, team.monitor());
      EXPECT_EQ(shared.labels, alone.labels);
      EXPECT_TRUE(shared.model.coefficients == alone.model.coefficients);
      EXPECT_EQ(shared.model.offsets, alone.model.offsets);
      EXPECT_EQ(shared.summary.objective, alone.summary.objective);
      EXPECT_EQ(shared.summary.trace, alone.summary.trace);
      EXPECT_EQ(shared.summary.extra, alone.summary.extra);
      EXPECT_EQ(shared.margins, alone.margins);
    });
  }
}

}  // namespace
}  // namespace milieu
