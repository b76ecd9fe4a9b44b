// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/ncut/ncut_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/ncut/ncut.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// `groups` groups of `size` on a line, each 1 wide, `apart` between the beginnings of two of them;
// sample i is of group i % groups.
std::vector<double> made_places(int groups, int size, double apart) {
  Random random(4);
  std::vector<double> place(groups * size);
  for (int i = 0; i < groups * size; ++i) place[i] = apart * (i % groups) + random.uniform();
  return place;
}

// Their squared distances.
Matrix<float> made_distances(int groups, int size, double apart) {
  const std::vector<double> place = made_places(groups, size, apart);
  const int n = groups * size;
  Matrix<float> distances(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      distances(i, j) = static_cast<float>(std::pow(place[i] - place[j], 2));
  return distances;
}

NcutOptions few_neighbors() {
  NcutOptions options;
  options.num_neighbors = 5;
  options.scale_neighbor = 3;
  return options;
}

int count(const std::vector<int>& labels) {
  return static_cast<int>(std::set<int>(labels.begin(), labels.end()).size());
}

// Groups 0.4 apart, each 1 wide: by the eigenvalues of ncut on the same points.
TEST(CutPath, GapsAreThoseOfTheEigenvalues) {
  const std::vector<double> places = made_places(4, 12, 1.4);
  Matrix<float> points(48, 1);
  for (int i = 0; i < 48; ++i) points(i, 0) = static_cast<float>(places[i]);
  NcutOptions options;
  options.num_neighbors = 12;
  options.num_clusters = 9;
  const NcutResult found = fit_ncut({points}, options);
  std::vector<double> eigenvalues;  // of the Laplacian, ascending
  for (const auto& [name, value] : found.summary.extra)
    if (name == "eigenvalues") eigenvalues = std::get<std::vector<double>>(value);
  ASSERT_EQ(eigenvalues.size(), 9u);
  const CutPath path = cut_path(made_distances(4, 12, 1.4), 2, 8, options);
  ASSERT_EQ(path.gaps.size(), 7u);
  for (int k = 2; k <= 8; ++k)
    EXPECT_NEAR(path.gaps[k - 2], eigenvalues[k] - eigenvalues[k - 1], 1e-5) << k;
}

// Groups 1.5 times as far apart as they are wide: four eigenvalues of the normalized affinities are
// near 1, less what leaves the groups, and the others are those within a group.
TEST(CutPath, EveryNumberHasItsPartsAndTheTrueOneTheWidestGap) {
  const Matrix<float> distances = made_distances(4, 12, 2.5);
  NcutOptions options;
  options.num_neighbors = 14;  // more than a group has: one component
  const CutPath path = cut_path(distances, 2, 9, options);
  ASSERT_EQ(path.first, 2);
  ASSERT_EQ(path.last(), 9);
  for (int k = 2; k <= 9; ++k) EXPECT_EQ(count(path.labels[k - 2]), k);
  const auto widest = std::max_element(path.gaps.begin(), path.gaps.end());
  EXPECT_EQ(path.first + (widest - path.gaps.begin()), 4);
  for (int i = 0; i < 48; ++i) EXPECT_EQ(path.labels[2][i], i % 4);
}

TEST(CutPath, ComponentsAreTheFewestParts) {
  const CutPath path = cut_path(made_distances(6, 10, 1000), 2, 8, few_neighbors());
  EXPECT_EQ(path.first, 6);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(path.labels[0][i], i % 6);
}

TEST(CutPath, FewerPartsThanComponentsJoinMoreNeighbors) {
  const CutPath path = cut_path(made_distances(6, 10, 3), 3, 3, few_neighbors());
  EXPECT_EQ(path.first, 3);
  ASSERT_EQ(path.labels.size(), 1u);
  EXPECT_EQ(count(path.labels[0]), 3);
  for (int i = 6; i < 60; ++i) EXPECT_EQ(path.labels[0][i], path.labels[0][i % 6]);
}

TEST(CutPath, BothDirectionsCount) {
  const Matrix<float> distances = made_distances(3, 10, 1.6);
  Matrix<float> lopsided = distances;
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < i; ++j) {
      lopsided(i, j) = 2 * distances(i, j);
      lopsided(j, i) = 0;
    }
  EXPECT_EQ(cut_path(distances, 2, 5, few_neighbors()).labels,
            cut_path(lopsided, 2, 5, few_neighbors()).labels);
}

TEST(CutPath, ExtremesStopsAndWrongNumbers) {
  const Matrix<float> distances = made_distances(3, 4, 2);
  const CutPath all = cut_path(distances, 12, 12, few_neighbors());
  EXPECT_EQ(count(all.labels[0]), 12);
  const Matrix<float> one(1, 1);
  EXPECT_EQ(cut_path(one, 1, 1, few_neighbors()).labels[0], std::vector<int>{0});
  std::stop_source stop;
  stop.request_stop();
  Monitor monitor(stop.get_token());
  EXPECT_TRUE(cut_path(distances, 2, 5, few_neighbors(), monitor).labels.empty());
  EXPECT_THAT([&] { cut_path(distances, 2, 13, few_neighbors()); },
              ThrowsMessage<InvalidArgument>(HasSubstr("2 to 13 parts of a 12 x 12 matrix")));
}

}  // namespace
}  // namespace milieu
