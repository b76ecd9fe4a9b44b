// SPDX-License-Identifier: Apache-2.0
#include "milieu/icc/density/density_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "milieu/base/random.h"
#include "milieu/linalg/isa.h"

namespace milieu {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(DensityMap, TapsOfTheGolden) {
  EXPECT_THAT(gaussian_taps(1, 3), ElementsAre(DoubleNear(.004433, 1e-6), DoubleNear(.054006, 1e-6),
                                               DoubleNear(.242036, 1e-6), DoubleNear(.399050, 1e-6),
                                               DoubleNear(.242036, 1e-6), DoubleNear(.054006, 1e-6),
                                               DoubleNear(.004433, 1e-6)));
  EXPECT_THAT(gaussian_taps(1e-3, 2), ElementsAre(0, 0, 1, 0, 0));
}

struct Golden {
  Grid grid{{9, 9}};
  std::vector<double> object = std::vector<double>(81), context = std::vector<double>(81);
  Golden() {
    object[1 * 9 + 4] = 3, object[2 * 9 + 4] = 2, object[6 * 9 + 4] = 2, object[7 * 9 + 5] = 3;
    context[4 * 9 + 4] = 4, context[4 * 9 + 5] = 2;
  }
  std::vector<double> map(IccWeight weight) const {
    const std::vector<double> sigmas = {1, 1};
    const std::vector<double> own = smooth_counts(object, grid, sigmas, 6);
    std::vector<double> everything = smooth_counts(context, grid, sigmas, 6);
    for (size_t c = 0; c < 81; ++c) everything[c] += own[c];
    return difference_of_density(own, everything, 10, 6, weight);
  }
};

TEST(DensityMap, GoldenDifferenceOfCounts) {
  const std::vector<double> map = Golden().map(IccWeight::Count);
  EXPECT_NEAR(map[1 * 9 + 4], .661671, 1e-6);
  EXPECT_NEAR(map[4 * 9 + 4], -.735404, 1e-6);
  EXPECT_NEAR(map[7 * 9 + 5], .587057, 1e-6);
  EXPECT_NEAR(std::accumulate(map.begin(), map.end(), 0.0), 3.631636, 1e-6);
}

TEST(DensityMap, GoldenDifferenceOfDensities) {
  const std::vector<double> map = Golden().map(IccWeight::Density);
  EXPECT_NEAR(map[1 * 9 + 4], .065552, 1e-6);
  EXPECT_NEAR(map[4 * 9 + 4], -.128883, 1e-6);
  EXPECT_NEAR(map[7 * 9 + 5], .058184, 1e-6);
  EXPECT_NEAR(std::accumulate(map.begin(), map.end(), 0.0), -.036836, 1e-6);
}

// Every sample's kernel written out, in one, two and three dimensions, on every instruction set.
TEST(DensityMap, SeparableEqualsTheSumOverSamples) {
  Random random(3);
  for (const std::vector<int>& size :
       std::vector<std::vector<int>>{{70}, {13, 45}, {40, 70}, {7, 9, 35}}) {
    const Grid grid{size};
    std::vector<double> counts(grid.num_cells(), 0.0);
    for (int i = 0; i < 20; ++i) ++counts[random.uniform_index(grid.num_cells())];
    std::vector<double> sigmas;
    for (size_t a = 0; a < size.size(); ++a) sigmas.push_back(1.5 + static_cast<double>(a));
    const double window = 5;
    std::vector<double> slow(counts.size(), 0.0);
    for (int64_t from = 0; from < grid.num_cells(); ++from) {
      if (counts[from] == 0) continue;
      for (int64_t to = 0; to < grid.num_cells(); ++to) {
        double product = counts[from];
        for (int a = 0; a < grid.dims(); ++a) {
          const int radius = static_cast<int>(window * sigmas[a] / 2);
          const int away = grid.place_of(to)[a] - grid.place_of(from)[a];
          product *= std::abs(away) > radius ? 0 : gaussian_taps(sigmas[a], radius)[away + radius];
        }
        slow[to] += product;
      }
    }
    for (const Isa isa : {Isa::Baseline, Isa::V3, Isa::V4}) {
      if (isa > best_isa()) continue;
      const ScopedIsa scoped(isa);
      const std::vector<double> fast = smooth_counts(counts, grid, sigmas, window, 2);
      for (size_t c = 0; c < fast.size(); ++c) ASSERT_NEAR(fast[c], slow[c], 1e-14) << c;
    }
  }
}

TEST(DensityMap, ObjectEqualToItsContextIsFlat) {
  Random random(5);
  const Grid grid{{30, 30}};
  std::vector<double> counts(900, 0.0);
  for (int i = 0; i < 300; ++i) ++counts[random.uniform_index(900)];
  const std::vector<double> own = smooth_counts(counts, grid, std::vector<double>{3, 3}, 8);
  std::vector<double> everything = own;
  for (double& value : everything) value *= 2;
  for (const IccWeight weight : {IccWeight::Count, IccWeight::Density})
    EXPECT_THAT(difference_of_density(own, everything, 300, 300, weight), ::testing::Each(0.0));
}

}  // namespace
}  // namespace milieu
