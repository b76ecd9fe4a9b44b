// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/map/neighbor_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "milieu/base/random.h"
#include "milieu/report/collection.h"

namespace milieu {
namespace {

using internal::memberships;
using internal::NeighborGraph;

double total(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

Matrix<float> clusters(int count, int64_t each, int64_t d, uint64_t seed = 1) {
  Random random(seed);
  Matrix<float> centers(count, d), points(count * each, d);
  for (int64_t i = 0; i < centers.size(); ++i)
    centers.data()[i] = static_cast<float>(4 * random.normal());
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t j = 0; j < d; ++j)
      points(i, j) = centers(i / each, j) + static_cast<float>(random.normal());
  return points;
}

TEST(Memberships, SumToTheLogarithmOfTheirNumberAndFallFromOne) {
  const std::vector<double> distances = {1, 1.5, 2, 2.5, 4, 7, 7.5};
  const std::vector<float> weights = memberships(distances, 3.6);
  EXPECT_NEAR(total(weights), 3, 1e-5);  // log2(8)
  EXPECT_EQ(weights[0], 1);
  for (size_t i = 1; i < weights.size(); ++i) EXPECT_LT(weights[i], weights[i - 1]);
  // One width for all: log w is a line in the distance.
  const double width = -(distances[1] - 1) / std::log(weights[1]);
  for (size_t i = 2; i < weights.size(); ++i)
    EXPECT_NEAR(weights[i], std::exp(-(distances[i] - 1) / width), 1e-5);
}

TEST(Memberships, EqualRowsAndEqualDistancesAreMembersWhole) {
  EXPECT_THAT(memberships(std::vector<double>{0, 0, 0}, 1), ::testing::Each(1.F));
  EXPECT_THAT(memberships(std::vector<double>{2, 2, 2}, 2), ::testing::Each(1.F));
  const std::vector<float> doubles = memberships(std::vector<double>{0, 3, 9, 9, 9, 9, 9}, 6);
  EXPECT_EQ(doubles[0], 1);  // another image of the same
  EXPECT_EQ(doubles[1], 1);  // the nearest of those that differ
  EXPECT_LT(doubles[2], 1);
}

// a + b - ab on dense matrices.
TEST(NeighborGraph, IsTheUnionOfBothDirections) {
  const Matrix<float> points = clusters(2, 12, 3);
  const NeighborLists nearest = nearest_neighbors(points, points, 5, {.exclude_self = true});
  const int64_t n = points.rows();
  double mean = 0;
  for (int64_t i = 0; i < n * 5; ++i) mean += std::sqrt(nearest.squared_distances.data()[i]);
  mean /= static_cast<double>(n * 5);
  Matrix<double> one_way(n, n);
  for (int64_t i = 0; i < n; ++i) {
    std::vector<double> distances;
    for (int64_t j = 0; j < 5; ++j) distances.push_back(std::sqrt(nearest.squared_distances(i, j)));
    const std::vector<float> weights = memberships(distances, mean);
    for (int64_t j = 0; j < 5; ++j)
      one_way(i, nearest.indices(i, j)) = weights[static_cast<size_t>(j)];
  }
  const NeighborGraph graph = internal::neighbor_graph(nearest);
  Matrix<double> found(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t e = graph.offsets[static_cast<size_t>(i)];
         e < graph.offsets[static_cast<size_t>(i) + 1]; ++e)
      found(i, graph.rows[static_cast<size_t>(e)]) = graph.weights[static_cast<size_t>(e)];
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      EXPECT_NEAR(found(i, j), one_way(i, j) + one_way(j, i) - one_way(i, j) * one_way(j, i), 1e-6)
          << i << " " << j;
}

// The squared error of 1 / (1 + a d^2b) on a grid, against 1 up to 0.1 and exp(-(d - 0.1)) above.
double curve_error(double a, double b) {
  double error = 0;
  for (int i = 0; i < 300; ++i) {
    const double d = 3.0 * i / 299;
    const double wanted = d < 0.1 ? 1 : std::exp(-(d - 0.1));
    error += std::pow(1 / (1 + a * std::pow(d, 2 * b)) - wanted, 2);
  }
  return error;
}

TEST(NeighborMap, ItsCurveIsTheLeastSquaresFit) {
  const double best = curve_error(internal::kMapA, internal::kMapB);
  for (const double da : {-1e-3, 0.0, 1e-3})
    for (const double db : {-1e-3, 0.0, 1e-3}) {
      if (da == 0 && db == 0) continue;
      EXPECT_LT(best, curve_error(internal::kMapA + da, internal::kMapB + db)) << da << " " << db;
    }
}

// Rows of ten clusters in 20 dimensions overlap in the principal plane; here all but few of the
// nearest places belong to rows of the same cluster.
TEST(NeighborMap, NearestPlacesAreOfTheSameCluster) {
  const int64_t each = 40;
  const Matrix<float> points = clusters(10, each, 20);
  const std::vector<float> start = principal_map(points);
  const auto wrong = [&](const std::vector<float>& map) {
    Matrix<float> places(points.rows(), 2);
    std::copy(map.begin(), map.end(), places.data());
    const NeighborLists nearest = nearest_neighbors(places, places, 5, {.exclude_self = true});
    int64_t count = 0;
    for (int64_t i = 0; i < points.rows(); ++i)
      for (int64_t j = 0; j < 5; ++j) count += nearest.indices(i, j) / each != i / each;
    return count;
  };
  const std::vector<float> map = neighbor_map(points, start);
  EXPECT_LT(wrong(map), points.rows() * 5 / 100);
  EXPECT_GT(wrong(start), 10 * std::max<int64_t>(1, wrong(map)));
  const auto [low, high] = std::ranges::minmax(map);
  EXPECT_GE(low, -1.0001F);
  EXPECT_LE(high, 1.0001F);
}

TEST(NeighborMap, SameSeedSameBitsForAnyNumberOfThreads) {
  const Matrix<float> points = clusters(3, 90, 5);
  const std::vector<float> start = principal_map(points);
  const std::vector<float> one = neighbor_map(points, start, {.num_epochs = 50, .num_threads = 1});
  EXPECT_EQ(one, neighbor_map(points, start, {.num_epochs = 50, .num_threads = 4}));
  EXPECT_NE(one, neighbor_map(points, start, {.num_epochs = 50, .seed = 2, .num_threads = 4}));
}

TEST(NeighborMap, FewAndEqualRowsStayFinite) {
  for (const int64_t n : {1, 2, 3, 4, 5, 40}) {
    Matrix<float> points(n, 3);
    std::fill_n(points.data(), points.size(), 2.F);
    const std::vector<float> map = neighbor_map(points, principal_map(points));
    ASSERT_EQ(map.size(), static_cast<size_t>(2 * n));
    for (const float value : map) EXPECT_TRUE(std::isfinite(value)) << n;
  }
}

// Two groups of two rows each, 100 apart; a graph that joins them leaves all where they are.
TEST(PackGroups, GroupsWithoutACommonNeighbourComeTogetherAsTheyAre) {
  const std::vector<float> apart = {0, 0, 0, 2, 100, 0, 100, 4};
  std::vector<float> places = apart;
  internal::pack_groups({{0, 1, 2, 3, 4}, {1, 0, 3, 2}, {1, 1, 1, 1}}, places);
  for (const size_t first : {0, 4}) {  // the shape of a group is kept
    EXPECT_NEAR(places[first + 2] - places[first], 0, 1e-4);
    EXPECT_NEAR(places[first + 3] - places[first + 1], apart[first + 3], 1e-4);
  }
  // The circles have radii 1 and 2; half their mean between them: the centres are 3.75 apart.
  const double dx = places[4] - places[0], dy = (places[5] + 2) - (places[1] + 1);
  EXPECT_NEAR(std::hypot(dx, dy), 3.75, 1e-4);
  places = apart;
  internal::pack_groups({{0, 1, 3, 5, 6}, {1, 0, 2, 1, 3, 2}, {1, 1, 1, 1, 1, 1}}, places);
  EXPECT_EQ(places, apart);
}

// Reports progress, and ends when it is told to.
class ImpatientMonitor : public Monitor {
 public:
  explicit ImpatientMonitor(std::stop_source& stop) : Monitor(stop.get_token()), stop_(stop) {}
  void on_progress(std::string_view stage, int64_t done, int64_t total) override {
    if (stage != "layout") return;
    EXPECT_EQ(total, 500);
    if (done == 20) stop_.request_stop();
    last = done;
  }
  int64_t last = -1;

 private:
  std::stop_source& stop_;
};

TEST(NeighborMap, StopsWhenAskedAndGivesNothing) {
  const Matrix<float> points = clusters(2, 50, 4);
  std::stop_source stop;
  ImpatientMonitor monitor(stop);
  EXPECT_TRUE(neighbor_map(points, principal_map(points), {}, monitor).empty());
  EXPECT_EQ(monitor.last, 20);
}

}  // namespace
}  // namespace milieu
