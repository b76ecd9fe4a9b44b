// SPDX-License-Identifier: Apache-2.0
// Basins against a slow, obvious climb; plateaus; merging.
#include "milieu/icc/density/basins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <set>

#include "milieu/base/random.h"
#include "milieu/icc/density/density_map.h"
#include "milieu/linalg/isa.h"

namespace milieu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// The neighbours of a cell in row order, with the length of the step.
std::vector<std::pair<int64_t, double>> neighbors_of(const Grid& grid, int64_t cell) {
  std::vector<std::pair<int64_t, double>> found;
  const std::vector<int> here = grid.place_of(cell);
  for (int64_t other = 0; other < grid.num_cells(); ++other) {
    const std::vector<int> there = grid.place_of(other);
    int squares = 0;
    bool is_near = other != cell;
    for (int a = 0; a < grid.dims(); ++a) {
      is_near &= std::abs(there[a] - here[a]) <= 1;
      squares += (there[a] - here[a]) * (there[a] - here[a]);
    }
    if (is_near) found.emplace_back(other, std::sqrt(squares));
  }
  return found;
}

// One climb, step by step, as the header says it.
class SlowClimb {
 public:
  SlowClimb(const std::vector<double>& map, const Grid& grid) : map_(map) {
    for (int64_t cell = 0; cell < grid.num_cells(); ++cell)
      neighbors_.push_back(neighbors_of(grid, cell));
  }

  int64_t top_of(int64_t cell) const {
    while (true) {
      const int64_t next = steepest(cell).first;
      if (next != cell) {
        cell = next;
        continue;
      }
      std::set<int64_t> flat = {cell};
      std::queue<int64_t> open;
      open.push(cell);
      int64_t outlet = -1;
      while (!open.empty()) {
        const int64_t at = open.front();
        open.pop();
        for (const auto& [other, length] : neighbors_[at]) {
          if (map_[other] != map_[at]) continue;
          const double slope = steepest(other).second;
          if (slope > 0) {
            const bool is_better = outlet < 0 || slope > steepest(outlet).second ||
                                   (slope == steepest(outlet).second && other < outlet);
            if (is_better) outlet = other;
          } else if (flat.insert(other).second) {
            open.push(other);
          }
        }
      }
      if (outlet < 0) return *flat.begin();
      cell = outlet;
    }
  }

 private:
  std::pair<int64_t, double> steepest(int64_t cell) const {
    std::pair<int64_t, double> best = {cell, 0};
    for (const auto& [other, length] : neighbors_[cell]) {
      const double slope = (map_[other] - map_[cell]) * (1 / length);
      if (slope > best.second) best = {other, slope};
    }
    return best;
  }

  const std::vector<double>& map_;
  std::vector<std::vector<std::pair<int64_t, double>>> neighbors_;
};

void expect_same_as_slow(const std::vector<double>& map, const Grid& grid) {
  const SlowClimb slow(map, grid);
  for (const Isa isa : {Isa::Baseline, Isa::V3, Isa::V4}) {
    if (isa > best_isa()) continue;
    const ScopedIsa scoped(isa);
    const std::vector<int32_t> fast = find_basins(map, grid, 2);
    for (int64_t cell = 0; cell < grid.num_cells(); ++cell)
      ASSERT_EQ(fast[cell], slow.top_of(cell)) << "cell " << cell << ", " << to_string(isa);
  }
}

TEST(Basins, EqualASlowClimbOnRandomMaps) {
  Random random(1);
  for (const std::vector<int>& size :
       std::vector<std::vector<int>>{{40}, {12, 17}, {17, 3}, {5, 6, 7}}) {
    for (int round = 0; round < 12; ++round) {
      const Grid grid{size};
      std::vector<double> map(grid.num_cells());
      // A few levels only: plateaus of all shapes; or smooth maps.
      for (double& value : map)
        value = round % 3 == 0   ? random.normal()
                : round % 3 == 1 ? static_cast<double>(random.uniform_index(3))
                                 : static_cast<double>(random.uniform_index(6));
      expect_same_as_slow(map, grid);
      for (double& value : map) value = random.bernoulli(0.05) ? 1 : 0;
      expect_same_as_slow(smooth_counts(map, grid, std::vector<double>(size.size(), 1.5), 4), grid);
    }
  }
}

TEST(Basins, PlateauDrainsThroughItsSteepestOutlet) {
  const Grid grid{{5, 5}};
  std::vector<double> map(25, 0.0);
  for (int c = 1; c <= 3; ++c) map[10 + c] = 1;
  map[5 + 3] = 2;
  EXPECT_THAT(find_basins(map, grid), Each(8));
}

TEST(Basins, FlatMapIsOneMaximum) {
  EXPECT_THAT(find_basins(std::vector<double>(60, 0.0), Grid{{6, 10}}), Each(0));
}

TEST(Basins, GradientAscentFindsTheSameMaxima) {
  Random random(7);
  const Grid grid{{60, 60}};
  std::vector<double> counts(3600, 0.0);
  for (int i = 0; i < 400; ++i) {
    const double cx = i % 2 ? 15 : 45, cy = i % 4 < 2 ? 15 : 45;
    const int x = static_cast<int>(std::clamp(cx + 5 * random.normal(), 0.0, 59.0));
    const int y = static_cast<int>(std::clamp(cy + 5 * random.normal(), 0.0, 59.0));
    ++counts[x * 60 + y];
  }
  const std::vector<double> map = smooth_counts(counts, grid, std::vector<double>{5, 5}, 8);
  const std::vector<int32_t> basins = find_basins(map, grid), ends = climb_gradient(map, grid, 2);
  const std::set<int32_t> tops(basins.begin(), basins.end());
  EXPECT_EQ(tops.size(), 4u);
  EXPECT_EQ(std::set<int32_t>(ends.begin(), ends.end()), tops);
  int same = 0;
  for (size_t c = 0; c < map.size(); ++c) same += basins[c] == ends[c];
  EXPECT_GT(same, 3600 * 0.9);  // they differ on ridges only
}

TEST(Basins, SaddlesAreTheHighestPasses) {
  const Grid grid{{2, 4}};
  const std::vector<double> map = {5, 3, 4, 6,  //
                                   5, 1, 2, 6};
  const std::vector<int32_t> regions = {0, 0, 1, 1, 0, 0, 1, 1};
  const std::vector<Saddle> saddles = find_saddles(map, regions, 2, grid);
  ASSERT_EQ(saddles.size(), 1u);
  EXPECT_EQ(saddles[0].first, 0);
  EXPECT_EQ(saddles[0].second, 1);
  EXPECT_EQ(saddles[0].height, 3);
}

// Every pair of cells that are neighbours, one by one.
TEST(Basins, SaddlesEqualASlowSearchOnRandomMaps) {
  Random random(4);
  for (const std::vector<int>& size :
       std::vector<std::vector<int>>{{90}, {5, 70}, {17, 3}, {4, 3, 37}}) {
    const Grid grid{size};
    std::vector<double> map(grid.num_cells());
    std::vector<int32_t> regions(map.size());
    for (size_t c = 0; c < map.size(); ++c) {
      map[c] = random.normal();
      regions[c] = c > 0 && random.bernoulli(0.9) ? regions[c - 1]
                                                  : static_cast<int32_t>(random.uniform_index(6));
    }
    std::map<std::pair<int, int>, double> highest;
    for (int64_t a = 0; a < grid.num_cells(); ++a)
      for (int64_t b = a + 1; b < grid.num_cells(); ++b) {
        int away = 0;
        for (int axis = 0; axis < grid.dims(); ++axis)
          away = std::max(away, std::abs(grid.place_of(a)[axis] - grid.place_of(b)[axis]));
        if (away > 1 || regions[a] == regions[b]) continue;
        const std::pair<int, int> pair = std::minmax(regions[a], regions[b]);
        const double height = std::min(map[a], map[b]);
        const auto [kept, is_new] = highest.emplace(pair, height);
        if (!is_new) kept->second = std::max(kept->second, height);
      }
    const std::vector<Saddle> fast = find_saddles(map, regions, 6, grid);
    ASSERT_EQ(fast.size(), highest.size());
    size_t place = 0;
    for (const auto& [pair, height] : highest) {
      EXPECT_EQ(std::make_pair(fast[place].first, fast[place].second), pair);
      EXPECT_EQ(fast[place++].height, height);
    }
  }
}

TEST(Basins, ManyRegionsHaveTheSameSaddlesAsFew) {
  Random random(2);
  const Grid grid{{40, 40}};
  std::vector<double> map(1600);
  for (double& value : map) value = random.normal();
  std::vector<int32_t> regions(1600);
  for (size_t c = 0; c < 1600; ++c) regions[c] = static_cast<int32_t>(c % 200);
  const std::vector<Saddle> dense = find_saddles(map, regions, 200, grid);
  const std::vector<Saddle> sparse = find_saddles(map, regions, 300, grid);
  ASSERT_EQ(dense.size(), sparse.size());
  for (size_t i = 0; i < dense.size(); ++i) {
    EXPECT_EQ(dense[i].first, sparse[i].first);
    EXPECT_EQ(dense[i].second, sparse[i].second);
    EXPECT_EQ(dense[i].height, sparse[i].height);
  }
}

TEST(Basins, SmallRegionsJoinOverTheHighestPassSmallestFirst) {
  // 0 - 1 - 2 - 3 in a row; 1 (2 samples) goes to 2 over the higher pass, 3 (1 sample) first.
  const std::vector<Saddle> saddles = {{0, 1, 1.0}, {1, 2, 2.0}, {2, 3, 0.5}};
  EXPECT_THAT(merge_small(saddles, {20, 2, 7, 1}, 3), ElementsAre(0, 2, 2, 2));
  // With a larger limit the merged one is still too small and joins on.
  EXPECT_THAT(merge_small(saddles, {20, 2, 7, 1}, 11), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(merge_small(saddles, {20, 2, 7, 1}, 1), ElementsAre(0, 1, 2, 3));
}

TEST(Basins, EmptyRegionsAreBridgesAndJoinLast) {
  // 0 and 3 have samples; 1 and 2 have none and lie between.
  const std::vector<Saddle> saddles = {{0, 1, 3.0}, {1, 2, 1.0}, {2, 3, 2.0}};
  EXPECT_THAT(merge_small(saddles, {20, 0, 0, 20}, 5), ElementsAre(0, 0, 3, 3));
  EXPECT_THAT(merge_small(saddles, {20, 0, 0, 2}, 5), ElementsAre(0, 0, 0, 0));
}

}  // namespace
}  // namespace milieu
