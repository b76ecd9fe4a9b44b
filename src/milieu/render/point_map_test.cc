// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/point_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/render/markup_check.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Matrix<float> random_points(int64_t n, int64_t d, uint64_t seed) {
  Random random(seed);
  Matrix<float> points(n, d);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(random.normal());
  return points;
}

std::vector<int> cyclic_labels(int64_t n, int num_clusters) {
  std::vector<int> labels(n);
  for (int64_t i = 0; i < n; ++i) labels[i] = static_cast<int>(i % num_clusters);
  return labels;
}

std::string map_of(FloatView points, std::span<const int> labels) {
  return render_point_map({.points = points, .labels = labels, .names = {}});
}

int64_t num_dots(const std::string& map) {
  int64_t count = 0;
  for (size_t at = map.find("h0"); at != std::string::npos; at = map.find("h0", at + 1)) ++count;
  return count;
}

TEST(PointMap, EveryShapeOfDataGivesAValidFigureWithAllPoints) {
  for (const auto& [n, d] :
       {std::pair{1, 1}, {1, 2}, {1, 5}, {2, 5}, {3, 3}, {50, 1}, {50, 2}, {50, 9}}) {
    const Matrix<float> points = random_points(n, d, 7);
    const std::string map = map_of(points, cyclic_labels(n, 3));
    EXPECT_THAT(find_markup_faults(map), IsEmpty()) << n << " x " << d;
    EXPECT_EQ(num_dots(map), n);
  }
}

TEST(PointMap, NothingToDrawGivesNothing) {
  EXPECT_EQ(map_of(FloatView(), {}), "");
  Matrix<float> points(2, 3);
  std::fill_n(points.data(), points.size(), NAN);
  EXPECT_EQ(map_of(points, cyclic_labels(2, 1)), "");
}

TEST(PointMap, EqualPointsAreDrawn) {
  for (int64_t d : {1, 2, 4}) {
    Matrix<float> points(20, d);
    std::fill_n(points.data(), points.size(), 1e6f);
    const std::string map = map_of(points, cyclic_labels(20, 2));
    EXPECT_THAT(find_markup_faults(map), IsEmpty());
    EXPECT_EQ(num_dots(map), 20);
  }
}

TEST(PointMap, ManyPointsAreThinnedOutAndTheCaptionSaysSo) {
  const Matrix<float> points = random_points(20000, 3, 1);
  const std::string map = map_of(points, cyclic_labels(20000, 3));
  EXPECT_EQ(num_dots(map), kMaxMapPoints);
  EXPECT_THAT(map, HasSubstr("5,000 of 20,000 samples"));
  EXPECT_THAT(map, HasSubstr("fitted on 300 of the samples"));
  EXPECT_LT(map.size(), 150000u);
  EXPECT_EQ(map, map_of(points, cyclic_labels(20000, 3)));
}

TEST(PointMap, RowsThatAreNotFiniteAreLeftOutAndCounted) {
  Matrix<float> points = random_points(30, 3, 2);
  points(4, 1) = NAN;
  points(9, 2) = INFINITY;
  const std::string map = map_of(points, cyclic_labels(30, 2));
  EXPECT_EQ(num_dots(map), 28);
  EXPECT_THAT(map, HasSubstr("2 samples left out"));
}

// A plane in five dimensions: its two axes carry everything.
TEST(PointMap, CaptionNamesTheShareOfTheVariance) {
  const Matrix<float> plane = random_points(100, 2, 3);
  Matrix<float> points(100, 5);
  for (int64_t i = 0; i < 100; ++i) points(i, 1) = plane(i, 0), points(i, 4) = 2 * plane(i, 1);
  EXPECT_THAT(map_of(points, cyclic_labels(100, 2)), HasSubstr("carry 100.0% of the variance"));
}

TEST(PointMap, LegendNamesClustersAndTheUnclustered) {
  const Matrix<float> points = random_points(4, 2, 4);
  const std::vector<int> labels = {-1, 1, 1, 0};
  const std::string map = render_point_map(
      {.points = points, .labels = labels, .names = {"<b>x</b>", "cats"}, .noun = "class"});
  EXPECT_THAT(find_markup_faults(map), IsEmpty());
  EXPECT_THAT(map, HasSubstr("&lt;b&gt;x&lt;/b&gt;"));
  EXPECT_THAT(map, HasSubstr("cats"));
  EXPECT_THAT(map, HasSubstr("no class"));
}

TEST(PointMap, ALongLegendIsCut) {
  const Matrix<float> points = random_points(400, 2, 5);
  EXPECT_THAT(map_of(points, cyclic_labels(400, 40)), HasSubstr("and 8 more"));
}

TEST(PointMap, LabelsOfAnotherLengthAreRefused) {
  const Matrix<float> points = random_points(4, 2, 6);
  EXPECT_THROW(map_of(points, cyclic_labels(3, 2)), InvalidArgument);
}

TEST(PointMap, RepresentativeRowsAreDistinctAndAscending) {
  const std::vector<int64_t> few = representative_rows(5, 10);
  EXPECT_EQ(few, (std::vector<int64_t>{0, 1, 2, 3, 4}));
  const std::vector<int64_t> many = representative_rows(1000, 100);
  EXPECT_EQ(std::set<int64_t>(many.begin(), many.end()).size(), 100u);
  EXPECT_TRUE(std::is_sorted(many.begin(), many.end()));
  EXPECT_TRUE(many.front() >= 0 && many.back() < 1000);
}

}  // namespace
}  // namespace milieu
