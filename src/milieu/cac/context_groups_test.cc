// SPDX-License-Identifier: Apache-2.0
#include "milieu/cac/context_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/linalg/distance.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Matrix<float> random_positions(int64_t n, uint64_t seed) {
  Random random(seed);
  Matrix<float> positions(n, 2);
  for (int64_t i = 0; i < positions.size(); ++i)
    positions.data()[i] = static_cast<float>(random.uniform_index(12));  // many at one place
  return positions;
}

// Neighbours by sorting all distances of an image.
std::vector<int> brute_force(FloatView positions, const std::vector<int>& images, int i,
                             const NeighborhoodOptions& options) {
  std::vector<std::pair<double, int>> others;
  for (int j = 0; j < positions.rows(); ++j)
    if (j != i && images[j] == images[i])
      others.emplace_back(squared_distance(positions.row_span(i), positions.row_span(j)), j);
  std::sort(others.begin(), others.end());
  std::vector<int> members;
  if (options.include_self) members.push_back(i);
  for (size_t r = 0; r < others.size(); ++r)
    if (options.epsilon > 0 ? others[r].first <= options.epsilon * options.epsilon
                            : static_cast<int>(r) < options.num_neighbors)
      members.push_back(others[r].second);
  return members;
}

TEST(SpatialGroups, AreTheNearestWithinTheImageSelfFirst) {
  const Matrix<float> positions = random_positions(120, 1);
  std::vector<int> images(120);
  for (int i = 0; i < 120; ++i) images[i] = i % 7 == 0 ? 40 : i % 3;
  images[50] = 99;  // alone in its image
  for (const bool include_self : {true, false})
    for (const double epsilon : {0.0, 2.5}) {
      NeighborhoodOptions options;
      options.num_neighbors = 5;
      options.epsilon = epsilon;
      options.include_self = include_self;
      const ContextGroups groups = spatial_groups(positions, images, options);
      ASSERT_EQ(groups.num_groups(), 120);
      for (int i = 0; i < 120; ++i) {
        const auto members = groups.members_of(i);
        EXPECT_EQ(std::vector<int>(members.begin(), members.end()),
                  brute_force(positions, images, i, options));
      }
      validate_groups(groups);
    }
}

TEST(SpatialGroups, MoreNeighboursThanSamplesAreAllSamples) {
  const Matrix<float> positions = random_positions(4, 2);
  NeighborhoodOptions options;
  options.num_neighbors = 10;
  const ContextGroups groups = spatial_groups(positions, {}, options);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(groups.size_of(i), 4);
}

TEST(SpatialGroups, SamplesAtOnePlaceAreFirstInTheirOwnGroupOnce) {
  const Matrix<float> positions(6, 2);
  NeighborhoodOptions options;
  options.num_neighbors = 3;
  const ContextGroups groups = spatial_groups(positions, {}, options);
  for (int i = 0; i < 6; ++i) {
    const auto members = groups.members_of(i);
    EXPECT_EQ(members[0], i);
    EXPECT_EQ(std::count(members.begin(), members.end(), i), 1);
    EXPECT_EQ(members.size(), 4u);
  }
}

TEST(SpatialGroups, BadInputIsNamed) {
  const Matrix<float> positions = random_positions(5, 3);
  EXPECT_THAT(message_of([&] {
                spatial_groups(positions, std::vector<int>{1, 2}, {});
              }),
              HasSubstr("images has 2 entries, positions has 5 rows"));
  NeighborhoodOptions options;
  options.num_neighbors = 0;
  EXPECT_THAT(message_of([&] { spatial_groups(positions, {}, options); }),
              HasSubstr("num_neighbors is 0, must be at least 1"));
  options.num_neighbors = 1;
  options.epsilon = -1;
  EXPECT_THROW(spatial_groups(positions, {}, options), InvalidArgument);
}

TEST(SpatialGroups, AStoppedSearchLeavesSamplesAlone) {
  const Matrix<float> positions = random_positions(40, 3);
  std::vector<int> images(40);
  for (int i = 0; i < 40; ++i) images[i] = i % 4;
  Monitor monitor;
  monitor.set_time_limit(0);
  const ContextGroups groups = spatial_groups(positions, images, {}, monitor);
  for (int i = 0; i < 40; ++i) EXPECT_THAT(groups.members_of(i), ElementsAre(i));
}

ContextGroups three_groups() {
  ContextGroups groups;
  groups.num_samples = 3;
  groups.members = {2, 0, 1, 2};
  groups.offsets = {0, 2, 2, 4};
  return groups;
}

TEST(ViewGroups, HoldEachSamplesPrimitivesAndThenTheExtraGroups) {
  ContextGroups extra = three_groups();
  extra.weights = {2, 1, 1, 3};
  extra.group_weights = {1, 1, 5};
  const ContextGroups groups = view_groups(3, 2, extra);
  EXPECT_EQ(groups.num_samples, 6);
  ASSERT_EQ(groups.num_groups(), 6);
  EXPECT_THAT(groups.members_of(1), ElementsAre(1, 4));
  EXPECT_THAT(groups.members_of(3), ElementsAre(2, 5, 0, 3));
  EXPECT_EQ(groups.size_of(4), 0);
  EXPECT_EQ(groups.weights[6], 2);
  EXPECT_EQ(groups.group_weight(5), 5);
  EXPECT_EQ(groups.group_weight(0), 1);
  validate_groups(groups);
}

TEST(ViewGroups, NeighborsAreThoseOfTheScaledViewsSideBySide) {
  Matrix<float> a(30, 2), b(30, 1), joined(30, 3);
  Random random(2);
  for (int i = 0; i < 30; ++i) {
    for (int t = 0; t < 2; ++t) joined(i, t) = a(i, t) = static_cast<float>(random.normal());
    b(i, 0) = static_cast<float>(random.normal());
    joined(i, 2) = 3 * b(i, 0);
  }
  const std::vector<FloatView> views = {a, b};
  const std::vector<double> scales = {1, 9};
  const ContextGroups near = neighbors_in_views(views, scales, 4, 1);
  NeighborhoodOptions options;
  options.num_neighbors = 4;
  EXPECT_EQ(near.members, spatial_groups(joined, {}, options).members);
  EXPECT_EQ(near.members.size(), 150u);
}

TEST(ContextGroups, TransposeTwiceIsTheSameMatrix) {
  ContextGroups groups = three_groups();
  groups.weights = {2, 1, 1, 3};
  const ContextGroups columns = transpose(groups);
  EXPECT_THAT(columns.members_of(2), ElementsAre(0, 2));
  EXPECT_EQ(columns.size_of(1), 1);
  const ContextGroups back = transpose(columns);
  EXPECT_THAT(back.members_of(0), ElementsAre(0, 2));
  EXPECT_THAT(std::vector<float>(back.weights), ElementsAre(1, 2, 1, 3));
}

TEST(ContextGroups, ComeFromGroupFiles) {
  const ContextGroups groups = context_from_groups(parse_groups("0 1\n2 2\n", "text", 3));
  EXPECT_EQ(groups.num_groups(), 2);
  EXPECT_THAT(groups.weights, ElementsAre(1, 1, 2));
  EXPECT_TRUE(context_from_groups(parse_groups("0 1\n", "text", 3)).weights.empty());
}

TEST(ContextGroups, EveryRuleIsChecked) {
  const auto message = [](auto change) {
    ContextGroups groups = three_groups();
    change(groups);
    return message_of([&] { validate_groups(groups); });
  };
  EXPECT_THAT(message([](auto& g) { g.members[1] = 7; }),
              HasSubstr("group 0 names sample 7, there are only samples 0 to 2"));
  EXPECT_THAT(message([](auto& g) { g.members[1] = 2; }), HasSubstr("sample 2 twice"));
  EXPECT_THAT(message([](auto& g) { g.offsets[1] = 4; }), HasSubstr("offsets"));
  EXPECT_THAT(message([](auto& g) { g.weights = {1}; }), HasSubstr("one weight per member"));
  EXPECT_THAT(message([](auto& g) { g.weights = {1, 0, 1, 1}; }), HasSubstr("is 0, must be"));
  EXPECT_THAT(message([](auto& g) { g.group_weights = {1}; }), HasSubstr("one entry per group"));
  EXPECT_THAT(message([](auto& g) { g.group_weights = {1, -1, 1}; }), HasSubstr("group 1 is -1"));
}

}  // namespace
}  // namespace milieu
