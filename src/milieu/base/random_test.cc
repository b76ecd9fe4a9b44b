// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "milieu/base/error.h"

namespace milieu {
namespace {

// Frozen: a change here changes every result that Milieu ever printed for a seed. The bits are
// those of xoshiro256++ seeded by splitmix64, checked once against a separate implementation.
TEST(Random, FirstNumbersAreFrozen) {
  Random bits(1);
  EXPECT_EQ(bits.next_bits(), 0xcfc5d07f6f03c29bu);
  EXPECT_EQ(bits.next_bits(), 0xbf424132963fe08du);
  Random uniform(1);
  EXPECT_EQ(uniform.uniform(), 0x1.9f8ba0fede078p-1);
  EXPECT_EQ(uniform.uniform(), 0x1.7e8482652c7fcp-1);
  EXPECT_EQ(uniform.uniform(), 0x1.9a37d5757aafp-4);
  Random normal(1);
  EXPECT_EQ(normal.normal(), 0x1.7fe2b6e80acbfp-1);
  EXPECT_EQ(normal.normal(), -0x1.b4f02841c1196p-2);
  EXPECT_EQ(normal.normal(), -0x1.3f7ed083decfap+0);
  const Random root(1);
  EXPECT_EQ(root.child(0).next_bits(), 0x7a1dd08615f1435au);
  EXPECT_EQ(root.child(7).next_bits(), 0x56d2c8fc0a8706d4u);
  EXPECT_EQ(root.child(7).child(3).next_bits(), 0x92f8cb5c307ba0ebu);
  EXPECT_EQ(Random((uint64_t{1} << 63) + 5).next_bits(), 0x52e8a786521a8ba1u);
}

TEST(Random, FirstSamplesAreFrozen) {
  Random index(1);
  std::vector<int64_t> drawn(4);
  for (int64_t& i : drawn) i = index.uniform_index(1000);
  EXPECT_EQ(drawn, (std::vector<int64_t>{387, 965, 744, 470}));
  EXPECT_EQ(Random(1).sample_without_replacement(10, 4), (std::vector<int64_t>{7, 9, 2, 3}));
  EXPECT_EQ(Random(1).sample_without_replacement(100, 4), (std::vector<int64_t>{87, 65, 44, 70}));
  std::vector<int> values = {0, 1, 2, 3, 4, 5, 6, 7};
  Random(1).shuffle(std::span<int>(values));
  EXPECT_EQ(values, (std::vector<int>{7, 1, 6, 5, 0, 4, 2, 3}));
}

TEST(Random, UniformNeverReachesItsUpperEnd) {
  // 1 + (1 - 2^-53) rounds to 2; a narrow range makes the rounding frequent.
  Random random(9);
  const double high = std::nextafter(std::nextafter(1.0, 2.0), 2.0);
  for (int i = 0; i < 1000; ++i) {
    const double x = random.uniform(1.0, high);
    ASSERT_TRUE(x >= 1.0 && x < high);
  }
  EXPECT_EQ(random.uniform(3.0, 3.0), 3.0);
}

TEST(Random, ChildDependsOnSeedAndIndexOnly) {
  Random fresh(7);
  Random used(7);
  for (int i = 0; i < 100; ++i) used.next_bits();
  EXPECT_EQ(fresh.child(3).next_bits(), used.child(3).next_bits());
  EXPECT_NE(fresh.child(3).next_bits(), fresh.child(4).next_bits());
  EXPECT_NE(Random(8).child(3).next_bits(), fresh.child(3).next_bits());
}

TEST(Random, ChildrenOfManyIndicesDiffer) {
  std::set<uint64_t> firsts;
  const Random root(1);
  for (uint64_t i = 0; i < 10000; ++i) firsts.insert(root.child(i).next_bits());
  EXPECT_EQ(firsts.size(), 10000u);
}

TEST(Random, UniformHasTheRightMomentsAndRange) {
  Random random(2);
  double sum = 0, squares = 0;
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
  }
  // Five standard errors of the mean of U and of U^2.
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kDraws));
}

TEST(Random, NormalHasTheRightMoments) {
  Random random(3);
  double sum = 0, squares = 0, fourth = 0;
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(fourth / kDraws, 3, 5 * std::sqrt(96.0 / kDraws));
}

TEST(Random, UniformIndexIsUnbiased) {
  Random random(4);
  constexpr int kDraws = 70000;
  std::vector<int> counts(7, 0);
  for (int i = 0; i < kDraws; ++i) ++counts[random.uniform_index(7)];
  for (int count : counts) EXPECT_NEAR(count, kDraws / 7.0, 5 * std::sqrt(kDraws / 7.0));
  EXPECT_THROW(random.uniform_index(0), InvalidArgument);
}

TEST(Random, WeightedIndexFollowsWeightsAndSkipsZeros) {
  Random random(5);
  const std::vector<double> weights = {0, 1, 0, 3, 0};
  std::vector<int> counts(5, 0);
  for (int i = 0; i < 40000; ++i) ++counts[random.weighted_index(weights)];
  EXPECT_EQ(counts[0] + counts[2] + counts[4], 0);
  EXPECT_NEAR(counts[1], 10000, 5 * std::sqrt(40000 * .25 * .75));
  EXPECT_THROW(random.weighted_index(std::vector<double>{0, 0}), InvalidArgument);
  EXPECT_THROW(random.weighted_index(std::vector<double>{1, -1}), InvalidArgument);
  EXPECT_THROW(random.weighted_index(std::vector<double>{NAN}), InvalidArgument);
}

TEST(Random, SamplesWithoutReplacementAreDistinct) {
  Random random(6);
  for (const int count : {0, 1, 10, 60, 100}) {
    std::vector<int64_t> sample = random.sample_without_replacement(100, count);
    EXPECT_EQ(static_cast<int>(sample.size()), count);
    EXPECT_EQ(std::set<int64_t>(sample.begin(), sample.end()).size(), sample.size());
    for (int64_t i : sample) EXPECT_TRUE(i >= 0 && i < 100);
  }
  EXPECT_THROW(random.sample_without_replacement(3, 4), InvalidArgument);
}

TEST(Random, ShuffleIsAPermutation) {
  Random random(7);
  std::vector<int> values = {0, 1, 2, 3, 4, 5, 6, 7};
  random.shuffle(std::span<int>(values));
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Random, PortableLogAgreesWithTheLibrary) {
  Random random(8);
  for (int i = 0; i < 100000; ++i) {
    const double x =
        std::ldexp(0.5 + random.uniform(), static_cast<int>(random.uniform_index(200)) - 100);
    const double expected = std::log(x);
    EXPECT_NEAR(portable_log(x), expected, 4e-16 * std::max(1.0, std::abs(expected))) << x;
  }
  EXPECT_EQ(portable_log(1.0), 0.0);
}

}  // namespace
}  // namespace milieu
