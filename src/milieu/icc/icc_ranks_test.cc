// SPDX-License-Identifier: Apache-2.0
// icc over ranks gives the bits of icc on one: labels, maps, summary.
#include <gtest/gtest.h>

#include <string>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/icc/icc.h"
#include "milieu/testing/teams.h"

namespace milieu {
namespace {

struct Case {
  std::string name;
  int64_t n = 0;
  int64_t d = 0;
  bool has_classes = false;
  int64_t context = 0;  // rows of it
  IccOptions options = {};
};

// Sizes around the borders of shards, which are 16,384 rows here.
std::vector<Case> cases() {
  std::vector<Case> all = {{"one shard", 300, 3},
                           {"one row in the last shard", 2 * 16384 + 1, 3, true},
                           {"many shards", 20 * 16384 - 5, 2, true},
                           {"wide", 500, 12, true},
                           {"discriminant axes", 20000, 4, true},
                           {"context", 20000, 3, false, 15000},
                           {"bootstrap", 17000, 2, true}};
  for (Case& c : all) c.options.grid = "40x30";
  all[1].options.bandwidth = "0.1";
  all[4].options.projection = IccProjection::Lda;
  all[6].options.bootstrap = 5;
  return all;
}

Matrix<float> rows_of(int64_t n, int64_t d, uint64_t seed) {
  Random random(seed);
  Matrix<float> rows(n, d);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t t = 0; t < d; ++t)
      rows(i, t) = static_cast<float>(random.normal() + 4.0 * static_cast<double>(i % 4 == t));
  return rows;
}

TEST(IccRanks, AnyNumberOfRanksGivesTheBitsOfOne) {
  for (const Case& c : cases()) {
    const Matrix<float> points = rows_of(c.n, c.d, 1), context = rows_of(c.context, c.d, 2);
    std::vector<int> classes;
    for (int64_t i = 0; i < c.n && c.has_classes; ++i)
      classes.push_back(static_cast<int>(i % 7 == 5 ? -1 : i % 3));
    IccInput input{points, classes};
    input.context = context;
    const IccResult alone = fit_icc(input, c.options);
    run_as_teams(c.name, {2, 3, 7}, [&](const Team& team) {
      IccInput own = input;
      own.team = &team;
      const IccResult shared = fit_icc(own, c.options, team.monitor());
      EXPECT_EQ(shared.labels, alone.labels);
      EXPECT_TRUE(shared.model.maps == alone.model.maps);
      EXPECT_TRUE(shared.model.axes == alone.model.axes);
      EXPECT_EQ(shared.model.cell_labels, alone.model.cell_labels);
      EXPECT_EQ(shared.summary.objective, alone.summary.objective);
      EXPECT_EQ(shared.summary.sizes, alone.summary.sizes);
      EXPECT_EQ(shared.summary.extra, alone.summary.extra);
      EXPECT_EQ(shared.summary.warnings, alone.summary.warnings);
    });
  }
}

TEST(IccRanks, ABadRowIsNamedOnAllRanks) {
  Matrix<float> points = rows_of(40000, 2, 1);
  points(39999, 1) = std::numeric_limits<float>::infinity();
  run_as_ranks(3, [&](Communicator& ranks) {
    Monitor monitor;
    const Team team(ranks, monitor);
    IccInput input{points, {}};
    input.team = &team;
    try {
      fit_icc(input, {}, team.monitor());
      ADD_FAILURE() << "no exception";
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("row 39999, column 1"), std::string::npos);
    }
  });
}

TEST(IccRanks, WhatLooksAtPairsIsRefused) {
  const Matrix<float> points = rows_of(100, 2, 1);
  run_as_ranks(2, [&](Communicator& ranks) {
    Monitor monitor;
    const Team team(ranks, monitor);
    IccInput input{points, {}};
    input.team = &team;
    IccOptions free, surface;
    free.climb = IccClimb::Free;
    surface.projection = IccProjection::Isomap;
    EXPECT_THROW(fit_icc(input, free, team.monitor()), InvalidArgument);
    EXPECT_THROW(fit_icc(input, surface, team.monitor()), InvalidArgument);
  });
}

}  // namespace
}  // namespace milieu
