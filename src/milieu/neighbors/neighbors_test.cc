// SPDX-License-Identifier: Apache-2.0
// Both searches against a naive twin, on data that is easy, tied, duplicated and badly scaled.
#include "milieu/neighbors/neighbors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Message;

struct Pair {
  double squared_distance;
  int index;
  bool operator<(const Pair& other) const {
    return squared_distance < other.squared_distance ||
           (squared_distance == other.squared_distance && index < other.index);
  }
};

// All points in ascending order of (distance, index).
std::vector<Pair> sort_all(FloatView points, const float* query, int64_t excluded = -1) {
  std::vector<Pair> pairs;
  for (int64_t i = 0; i < points.rows(); ++i) {
    if (i == excluded) continue;
    double sum = 0;
    for (int64_t j = 0; j < points.cols(); ++j)
      sum += (double{query[j]} - points(i, j)) * (double{query[j]} - points(i, j));
    pairs.push_back({sum, static_cast<int>(i)});
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

Matrix<float> normal_points(int64_t n, int64_t d, uint64_t seed, double scale = 1,
                            double offset = 0) {
  Random random(seed);
  Matrix<float> points(n, d);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(offset + scale * random.normal());
  return points;
}

// Small whole numbers: many duplicates and many equal distances, all exact in floating point.
Matrix<float> integer_points(int64_t n, int64_t d, int64_t range, uint64_t seed) {
  Random random(seed);
  Matrix<float> points(n, d);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(random.uniform_index(range));
  return points;
}

void expect_nearest_like_twin(FloatView points, FloatView queries, int k,
                              const NeighborOptions& options) {
  const NeighborLists lists = nearest_neighbors(points, queries, k, options);
  EXPECT_TRUE(lists.is_complete);
  for (int64_t i = 0; i < queries.rows(); ++i) {
    const auto twin = sort_all(points, queries.row(i), options.exclude_self ? i : -1);
    ASSERT_EQ(lists.indices.cols(), std::min<int64_t>(k, static_cast<int64_t>(twin.size())));
    for (int64_t j = 0; j < lists.indices.cols(); ++j) {
      ASSERT_EQ(lists.indices(i, j), twin[j].index) << "query " << i << ", neighbour " << j;
      ASSERT_NEAR(lists.squared_distances(i, j), twin[j].squared_distance,
                  1e-13 * twin[j].squared_distance);
    }
  }
}

void expect_within_like_twin(FloatView points, FloatView queries, double radius,
                             const NeighborOptions& options) {
  const RadiusNeighbors found = radius_neighbors(points, queries, radius, options);
  ASSERT_EQ(static_cast<int64_t>(found.offsets.size()), queries.rows() + 1);
  for (int64_t i = 0; i < queries.rows(); ++i) {
    std::vector<int> expected;
    for (const Pair& pair : sort_all(points, queries.row(i), options.exclude_self ? i : -1))
      if (pair.squared_distance <= radius * radius) expected.push_back(pair.index);
    const std::vector<int> actual(found.indices.begin() + found.offsets[i],
                                  found.indices.begin() + found.offsets[i + 1]);
    ASSERT_EQ(actual, expected) << "query " << i;
  }
}

class NeighborsBothSearches : public ::testing::TestWithParam<NeighborSearch> {
 protected:
  NeighborOptions options(bool exclude_self = false) const {
    NeighborOptions result;
    result.search = GetParam();
    result.exclude_self = exclude_self;
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(, NeighborsBothSearches,
                         ::testing::Values(NeighborSearch::Tree, NeighborSearch::BruteForce),
                         [](const auto& test) {
                           return test.param == NeighborSearch::Tree ? "Tree" : "BruteForce";
                         });

TEST_P(NeighborsBothSearches, HandCase) {
  Matrix<float> points(4, 1);
  for (int i = 0; i < 4; ++i) points(i, 0) = static_cast<float>(i * i);  // 0 1 4 9
  const NeighborLists lists = nearest_neighbors(points, points, 2, options(true));
  EXPECT_THAT(std::vector<int>(lists.indices.data(), lists.indices.data() + 8),
              ElementsAre(1, 2, 0, 2, 1, 0, 2, 1));
  EXPECT_EQ(lists.squared_distances(3, 0), 25);
  const RadiusNeighbors found = radius_neighbors(points, points, 3, options(true));
  EXPECT_THAT(found.offsets, ElementsAre(0, 1, 3, 4, 4));
  EXPECT_THAT(found.indices, ElementsAre(1, 0, 2, 1));
  EXPECT_THAT(found.squared_distances, ElementsAre(1, 1, 9, 9));
}

TEST_P(NeighborsBothSearches, NearestEqualTheTwin) {
  for (const int64_t d : {1, 2, 3, 5, 8}) {
    SCOPED_TRACE(Message() << "d = " << d);
    const Matrix<float> points = normal_points(500, d, 7 + d);
    const Matrix<float> queries = normal_points(150, d, 70 + d, 1.5);
    expect_nearest_like_twin(points, queries, 6, options());
    expect_nearest_like_twin(points, points, 6, options(true));
  }
}

TEST_P(NeighborsBothSearches, TiesAndDuplicatesGoToTheLowestIndex) {
  for (const int64_t d : {1, 2, 4, 8}) {
    SCOPED_TRACE(Message() << "d = " << d);
    const Matrix<float> points = integer_points(400, d, 3, 11 + d);
    expect_nearest_like_twin(points, points, 9, options());
    expect_nearest_like_twin(points, points, 9, options(true));
    expect_within_like_twin(points, points, std::sqrt(2.0), options(true));
  }
}

TEST_P(NeighborsBothSearches, AllPointsEqual) {
  Matrix<float> points(50, 3);
  std::fill_n(points.data(), points.size(), 2.5f);
  expect_nearest_like_twin(points, points, 4, options());
  expect_nearest_like_twin(points, points, 4, options(true));
  expect_within_like_twin(points, points, 0, options(true));
}

TEST_P(NeighborsBothSearches, MoreNeighboursThanPoints) {
  const Matrix<float> points = normal_points(5, 2, 3);
  const Matrix<float> queries = normal_points(3, 2, 4);
  for (const int k : {4, 5, 6, 100}) expect_nearest_like_twin(points, queries, k, options());
  EXPECT_EQ(nearest_neighbors(points, queries, 100, options()).indices.cols(), 5);
  EXPECT_EQ(nearest_neighbors(points, points, 100, options(true)).indices.cols(), 4);
}

TEST_P(NeighborsBothSearches, OnePointHasOnlyItself) {
  const Matrix<float> point = normal_points(1, 2, 3);
  EXPECT_EQ(nearest_neighbors(point, point, 3, options()).indices(0, 0), 0);
  EXPECT_EQ(nearest_neighbors(point, point, 3, options(true)).indices.cols(), 0);
  EXPECT_TRUE(radius_neighbors(point, point, 1, options(true)).indices.empty());
}

TEST_P(NeighborsBothSearches, NoQueriesGiveNoRows) {
  const Matrix<float> points = normal_points(10, 2, 3);
  EXPECT_EQ(nearest_neighbors(points, FloatView(nullptr, 0, 2), 3, options()).indices.rows(), 0);
  EXPECT_THAT(radius_neighbors(points, FloatView(nullptr, 0, 2), 3, options()).offsets,
              ElementsAre(0));
}

TEST_P(NeighborsBothSearches, WithinEqualTheTwin) {
  const Matrix<float> points = normal_points(700, 3, 21);
  const Matrix<float> queries = normal_points(200, 3, 22);
  for (const double radius : {0.0, 0.2, 1.0, 20.0})
    expect_within_like_twin(points, queries, radius, options());
}

TEST_P(NeighborsBothSearches, UnsortedNeighboursAreTheSameOnes) {
  const Matrix<float> points = normal_points(700, 3, 23);
  NeighborOptions unsorted = options();
  unsorted.is_sorted = false;
  const RadiusNeighbors expected = radius_neighbors(points, points, 1, options());
  RadiusNeighbors actual = radius_neighbors(points, points, 1, unsorted);
  ASSERT_EQ(actual.offsets, expected.offsets);
  for (int64_t i = 0; i < 700; ++i) {
    const auto begin = expected.offsets[i];
    const auto end = expected.offsets[i + 1];
    EXPECT_THAT(std::span(actual.indices).subspan(begin, end - begin),
                ::testing::UnorderedElementsAreArray(
                    std::span(expected.indices).subspan(begin, end - begin)));
  }
}

TEST_P(NeighborsBothSearches, RadiusIsInclusive) {
  const Matrix<float> points = integer_points(100, 2, 6, 5);
  for (const double radius : {1.0, 2.0, 5.0})
    expect_within_like_twin(points, points, radius, options());
}

// The points differ only in the last bits of their floats, so that the product sees nothing.
TEST_P(NeighborsBothSearches, PointsFarFromTheOriginAreDistinguished) {
  const Matrix<float> points = normal_points(300, 4, 31, 2, 1e6);
  expect_nearest_like_twin(points, points, 5, options(true));
  expect_within_like_twin(points, points, 1.5, options());
}

TEST_P(NeighborsBothSearches, HugeAndTinyValuesAreExact) {
  for (const double scale : {1e-25, 1e-18, 1e18, 1e30}) {
    SCOPED_TRACE(Message() << "scale = " << scale);
    const Matrix<float> points = normal_points(200, 6, 41, scale);
    expect_nearest_like_twin(points, points, 5, options(true));
  }
}

TEST_P(NeighborsBothSearches, ViewsWithAStrideAreReadRight) {
  const Matrix<float> wide = normal_points(120, 7, 9);
  const FloatView view(wide.data() + 2, 120, 3, 7);
  expect_nearest_like_twin(view, view, 4, options(true));
  expect_within_like_twin(view, view, 1, options());
}

TEST_P(NeighborsBothSearches, AnyNumberOfThreadsGivesTheSameBits) {
  const Matrix<float> points = normal_points(3000, 5, 51);
  NeighborOptions one = options(true);
  one.num_threads = 1;
  const NeighborLists lists = nearest_neighbors(points, points, 4, one);
  const RadiusNeighbors found = radius_neighbors(points, points, 0.7, one);
  for (const int num_threads : {2, 8}) {
    NeighborOptions many = one;
    many.num_threads = num_threads;
    const NeighborLists other = nearest_neighbors(points, points, 4, many);
    EXPECT_TRUE(other.indices == lists.indices);
    EXPECT_TRUE(other.squared_distances == lists.squared_distances);
    const RadiusNeighbors other_found = radius_neighbors(points, points, 0.7, many);
    EXPECT_EQ(other_found.offsets, found.offsets);
    EXPECT_EQ(other_found.indices, found.indices);
    EXPECT_EQ(other_found.squared_distances, found.squared_distances);
  }
}

TEST_P(NeighborsBothSearches, StoppedSearchMarksWhatItLacks) {
  const Matrix<float> points = normal_points(100, 2, 61);
  std::stop_source source;
  source.request_stop();
  Monitor monitor(source.get_token());
  const NeighborLists lists = nearest_neighbors(points, points, 3, options(), monitor);
  EXPECT_FALSE(lists.is_complete);
  EXPECT_EQ(lists.indices(99, 2), -1);
  EXPECT_EQ(lists.squared_distances(0, 0), std::numeric_limits<double>::infinity());
  const RadiusNeighbors found = radius_neighbors(points, points, 3, options(), monitor);
  EXPECT_FALSE(found.is_complete);
  EXPECT_EQ(found.offsets, std::vector<int64_t>(101, 0));
}

TEST_P(NeighborsBothSearches, TooManyPairsAreRefused) {
  const Matrix<float> points = integer_points(100, 2, 3, 71);
  NeighborOptions limited = options();
  limited.max_num_pairs = 9999;
  EXPECT_THROW(radius_neighbors(points, points, 10, limited), InvalidArgument);
  limited.max_num_pairs = 10000;
  EXPECT_EQ(radius_neighbors(points, points, 10, limited).indices.size(), 10000u);
}

// Distances of both searches are summed in the same order: not close, but equal.
TEST(Neighbors, TreeAndBruteForceGiveTheSameBits) {
  for (int64_t d = 1; d <= kMaxTreeDimensions; ++d) {
    const Matrix<float> points = normal_points(400, d, 100 + d);
    NeighborOptions tree{.search = NeighborSearch::Tree};
    NeighborOptions brute{.search = NeighborSearch::BruteForce};
    const NeighborLists a = nearest_neighbors(points, points, 10, tree);
    const NeighborLists b = nearest_neighbors(points, points, 10, brute);
    EXPECT_TRUE(a.indices == b.indices);
    EXPECT_TRUE(a.squared_distances == b.squared_distances);
  }
}

TEST(Neighbors, ManyDimensionsEqualTheTwin) {
  for (const int64_t d : {9, 16, 33, 130}) {
    SCOPED_TRACE(Message() << "d = " << d);
    // More points than one block, so that bounds carry over from block to block.
    const Matrix<float> points = normal_points(2500, d, d);
    const Matrix<float> queries = normal_points(140, d, d + 1);
    expect_nearest_like_twin(points, queries, 7, {});
    const double radius = std::sqrt(1.5 * static_cast<double>(d));
    expect_within_like_twin(points, queries, radius, {});
  }
}

// Many points at nearly one distance: the product cannot order them, the second measure must.
TEST(Neighbors, NearTiesInManyDimensionsEqualTheTwin) {
  Matrix<float> points = normal_points(1500, 64, 5);
  for (int64_t i = 1; i < points.rows(); ++i)
    for (int64_t j = 0; j < 64; ++j)
      points(i, j) =
          points(0, j) + (j == i % 64 ? 1e-3f * (1 + 1e-6f * static_cast<float>(i % 7)) : 0.0f);
  expect_nearest_like_twin(points, points, 12, {.exclude_self = true});
}

TEST(Neighbors, SearchIsChosenByDimension) {
  EXPECT_EQ(NeighborIndex(normal_points(5, 8, 1)).search(), NeighborSearch::Tree);
  EXPECT_EQ(NeighborIndex(normal_points(5, 9, 1)).search(), NeighborSearch::BruteForce);
  EXPECT_THROW(NeighborIndex(normal_points(5, 9, 1), NeighborSearch::Tree), InvalidArgument);
}

TEST(Neighbors, AnIndexCanBeMovedAndAskedAgain) {
  const Matrix<float> points = normal_points(50, 2, 1);
  NeighborIndex first(points);
  const NeighborLists before = first.nearest(points, 3);
  const NeighborIndex second = std::move(first);
  EXPECT_TRUE(second.nearest(points, 3).indices == before.indices);
}

TEST(Neighbors, WrongArgumentsAreRefused) {
  const Matrix<float> points = normal_points(10, 3, 1);
  const Matrix<float> narrow = normal_points(10, 2, 1);
  const Matrix<float> few = normal_points(9, 3, 1);
  EXPECT_THROW(nearest_neighbors(points, points, 0), InvalidArgument);
  EXPECT_THROW(nearest_neighbors(points, narrow, 1), InvalidArgument);
  EXPECT_THROW(nearest_neighbors(points, few, 1, {.exclude_self = true}), InvalidArgument);
  EXPECT_THROW(nearest_neighbors(FloatView(nullptr, 0, 3), points, 1), InvalidArgument);
  EXPECT_THROW(radius_neighbors(points, points, -1), InvalidArgument);
  EXPECT_THROW(radius_neighbors(points, points, NAN), InvalidArgument);
}

TEST(Neighbors, EntriesThatAreNotFiniteAreNamed) {
  Matrix<float> points = normal_points(10, 3, 1);
  const Matrix<float> good = points;
  points(7, 2) = NAN;
  try {
    nearest_neighbors(good, points, 1);
    FAIL() << "NaN was accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("queries has NaN at row 7, column 2"));
  }
  points(7, 2) = 0;
  points(3, 0) = -INFINITY;
  try {
    nearest_neighbors(points, good, 1);
    FAIL() << "an infinite value was accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("points has an infinite value at row 3, column 0"));
  }
}

}  // namespace
}  // namespace milieu
