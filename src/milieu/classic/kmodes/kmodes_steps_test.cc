// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/kmodes/kmodes_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "milieu/linalg/isa.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using namespace internal;

using ::testing::ElementsAre;

BitMatrix random_bits(int64_t rows, int64_t cols, Random& random) {
  BitMatrix bits(rows, cols);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) bits.set_bit(i, j, random.bernoulli(0.5));
  return bits;
}

TEST(KModesSteps, PackedBitsAreTheEntries) {
  Random random(1);
  for (const int64_t cols : {1, 63, 64, 65, 130}) {
    const BitMatrix bits = random_bits(9, cols, random);
    EXPECT_EQ(pack_bits(unpack_bits(bits), "points", 1), bits);
    EXPECT_EQ(bits.words(), (cols + 63) / 64);
  }
}

TEST(KModesSteps, AssignmentEqualsPlainLoopsOnEveryInstructionSet) {
  Random random(2);
  for (const Isa isa : {Isa::Baseline, Isa::V3, Isa::V4}) {
    if (isa > best_isa()) continue;
    const ScopedIsa scope(isa);
    for (const int64_t cols : {1, 5, 64, 200}) {
      KModesProblem problem;
      problem.points = random_bits(50, cols, random);
      const BitMatrix modes = random_bits(7, cols, random);
      const ModeAssignment found = *assign_modes(problem, modes, silent_monitor());
      double objective = 0;
      for (int64_t i = 0; i < 50; ++i) {
        int label = -1;
        int least = std::numeric_limits<int>::max();
        for (int c = 0; c < 7; ++c) {
          int distance = 0;
          for (int64_t j = 0; j < cols; ++j)
            distance += problem.points.bit(i, j) != modes.bit(c, j);
          if (distance < least) {
            least = distance;
            label = c;
          }
        }
        EXPECT_EQ(found.labels[i], label);
        EXPECT_EQ(found.distances[i], least);
        objective += least;
      }
      EXPECT_EQ(found.objective, objective);
    }
  }
}

// The rule of context-aware clustering (its golden case G5): u = 1 iff 2 S >= n, a tie gives 1.
TEST(KModesSteps, MajorityNeedsHalfTheWeight) {
  KModesProblem problem;
  problem.points = BitMatrix(2, 4);
  for (const auto& [row, bit] : {std::pair{0, 1}, {0, 3}, {1, 0}, {1, 1}, {1, 3}})
    problem.points.set_bit(row, bit, true);
  BitMatrix modes(2, 4);
  modes.set_bit(1, 2, true);
  // Votes (1, 2, 0, 2) of 2: exactly half is enough.
  EXPECT_THAT(update_modes(problem, std::vector<int>{0, 0}, modes), ElementsAre(2, 0));
  EXPECT_TRUE(modes.bit(0, 0) && modes.bit(0, 1) && !modes.bit(0, 2) && modes.bit(0, 3));
  EXPECT_TRUE(modes.bit(1, 2)) << "a cluster without members keeps its mode";
  const std::vector<double> weights = {3, 2};
  problem.weights = weights;
  // Votes (2, 5, 0, 5) of 5.
  EXPECT_THAT(update_modes(problem, std::vector<int>{0, 0}, modes), ElementsAre(5, 0));
  EXPECT_TRUE(!modes.bit(0, 0) && modes.bit(0, 1) && !modes.bit(0, 2) && modes.bit(0, 3));
}

TEST(KModesSteps, MajorityVoteIsTheBestMode) {
  Random random(3);
  KModesProblem problem;
  problem.points = random_bits(31, 8, random);
  std::vector<int> labels(31);
  for (int& label : labels) label = static_cast<int>(random.uniform_index(2));
  BitMatrix modes(2, 8);
  update_modes(problem, labels, modes);
  const auto cost = [&](int cluster, int code) {
    int sum = 0;
    for (int64_t i = 0; i < 31; ++i)
      for (int64_t j = 0; j < 8 && labels[i] == cluster; ++j)
        sum += problem.points.bit(i, j) != ((code >> j) & 1);
    return sum;
  };
  for (int cluster = 0; cluster < 2; ++cluster) {
    const int found = static_cast<int>(modes.row(cluster)[0]);
    for (int code = 0; code < 256; ++code) EXPECT_LE(cost(cluster, found), cost(cluster, code));
  }
}

TEST(KModesSteps, EmptyModesTakeTheFarthestSamplesInOrder) {
  KModesProblem problem;
  problem.points = BitMatrix(5, 4);
  for (int64_t i = 0; i < 5; ++i) problem.points.row(i)[0] = static_cast<uint64_t>(i);
  ModeAssignment assignment;
  assignment.labels = {0, 0, 0, 0, 0};
  assignment.distances = {0, 3, 2, 3, 3};
  const std::vector<double> weights = {1, 1, 1, 0, 1};
  problem.weights = weights;  // sample 3 has no weight: it is not taken
  BitMatrix modes(4, 4);
  const std::vector<double> cluster_weights = {4, 0, 0, 0};
  EXPECT_EQ(reseed_empty_modes(problem, assignment, cluster_weights, modes), 3);
  EXPECT_EQ(modes.row(1)[0], 1u);
  EXPECT_EQ(modes.row(2)[0], 4u);
  EXPECT_EQ(modes.row(3)[0], 2u);
  assignment.distances = {0, 0, 0, 0, 0};
  BitMatrix kept = modes;
  EXPECT_EQ(reseed_empty_modes(problem, assignment, cluster_weights, kept), 0);
  EXPECT_EQ(kept, modes);
}

TEST(KModesSteps, PlusPlusTakesDistinctSamplesWhileThereAreAny) {
  KModesProblem problem;
  problem.points = BitMatrix(40, 3);
  for (int64_t i = 0; i < 40; ++i) problem.points.row(i)[0] = static_cast<uint64_t>(i % 4);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const BitMatrix modes = seed_plus_plus(problem, 6, Random(seed), silent_monitor());
    uint64_t seen = 0;
    for (int64_t c = 0; c < 4; ++c) seen |= uint64_t{1} << modes.row(c)[0];
    EXPECT_EQ(seen, 15u);  // all four distinct samples come first
  }
}

// Three distinct samples at distances 1 and 3 from the first: the second mode is the far one in 3
// of 4 draws.
TEST(KModesSteps, PlusPlusDrawsInProportionToTheDistance) {
  KModesProblem problem;
  problem.points = BitMatrix(3, 4);
  problem.points.row(1)[0] = 1;
  problem.points.row(2)[0] = 14;
  const std::vector<double> weights = {1e9, 1, 1};  // the first mode is sample 0, almost surely
  problem.weights = weights;
  int num_far = 0;
  constexpr int kDraws = 4000;
  for (int seed = 0; seed < kDraws; ++seed)
    num_far += seed_plus_plus(problem, 2, Random(seed), silent_monitor()).row(1)[0] == 14;
  EXPECT_NEAR(num_far, 0.75 * kDraws, 5 * std::sqrt(kDraws * 0.75 * 0.25));
}

TEST(KModesSteps, RandomSeedsAreDistinctSamplesOfPositiveWeight) {
  KModesProblem problem;
  problem.points = BitMatrix(10, 4);
  for (int64_t i = 0; i < 10; ++i) problem.points.row(i)[0] = static_cast<uint64_t>(i);
  std::vector<double> weights(10, 1.0);
  weights[4] = 0;
  problem.weights = weights;
  const BitMatrix modes = seed_random(problem, 9, Random(1));
  uint64_t seen = 0;
  for (int64_t c = 0; c < 9; ++c) seen |= uint64_t{1} << modes.row(c)[0];
  EXPECT_EQ(seen, 0x3ffu & ~(1u << 4));
}

}  // namespace
}  // namespace milieu
