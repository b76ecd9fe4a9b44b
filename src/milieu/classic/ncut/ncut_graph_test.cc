// SPDX-License-Identifier: Apache-2.0
// The graph of normalized cut by hand and against a dense twin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/random.h"
#include "milieu/classic/ncut/ncut_graph_internal.h"
#include "milieu/classic/test_points.h"

namespace milieu::internal {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

AffinityGraph graph_of(FloatView points, double bandwidth, int num_neighbors,
                       int scale_neighbor = 7) {
  NcutOptions options;
  options.bandwidth = bandwidth;
  options.num_neighbors = num_neighbors;
  options.scale_neighbor = scale_neighbor;
  return *build_graph(points, options, silent_monitor());
}

// W as a square matrix.
Matrix<double> dense(const AffinityGraph& graph) {
  Matrix<double> w(graph.size(), graph.size());
  for (int64_t i = 0; i < graph.size(); ++i)
    for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e)
      w(i, graph.neighbors[e]) = graph.weights[e];
  return w;
}

double squared(FloatView points, int64_t a, int64_t b) {
  double sum = 0;
  for (int64_t j = 0; j < points.cols(); ++j)
    sum += std::pow(static_cast<double>(points(a, j)) - points(b, j), 2);
  return sum;
}

// Bandwidth 0.5 is the affinity exp(-2 d^2).
TEST(NcutGraph, HandCaseFixedBandwidth) {
  const AffinityGraph graph = graph_of(line({0, 1, 3}), 0.5, 0);
  const Matrix<double> w = dense(graph);
  EXPECT_DOUBLE_EQ(w(0, 1), std::exp(-2));
  EXPECT_DOUBLE_EQ(w(1, 2), std::exp(-8));
  EXPECT_DOUBLE_EQ(w(0, 2), std::exp(-18));
  EXPECT_EQ(w(0, 0), 0);
  EXPECT_DOUBLE_EQ(graph.degrees[1], std::exp(-2) + std::exp(-8));
}

// Samples 0 1 3 7, scales by the first neighbour: 1 1 2 4.
TEST(NcutGraph, HandCaseSelfTuned) {
  const Matrix<double> w = dense(graph_of(line({0, 1, 3, 7}), 0, 0, 1));
  EXPECT_DOUBLE_EQ(w(0, 1), std::exp(-1.0 / (1 * 1)));
  EXPECT_DOUBLE_EQ(w(1, 2), std::exp(-4.0 / (1 * 2)));
  EXPECT_DOUBLE_EQ(w(3, 2), std::exp(-16.0 / (4 * 2)));
  EXPECT_DOUBLE_EQ(w(0, 3), std::exp(-49.0 / (1 * 4)));
}

TEST(NcutGraph, NeighboursAreJoinedInBothDirections) {
  // The nearest: 0 -> 1, 1 -> 0, 3 -> 1, 7 -> 3.
  const AffinityGraph graph = graph_of(line({0, 1, 3, 7}), 2, 1);
  EXPECT_THAT(graph.offsets, ElementsAre(0, 1, 3, 5, 6));
  EXPECT_THAT(graph.neighbors, ElementsAre(1, 0, 2, 1, 3, 2));
}

TEST(NcutGraph, AffinitiesEqualTheDenseTwin) {
  const Matrix<float> points = normal_points(80, 3, 5);
  const Matrix<double> fixed = dense(graph_of(points, 0.8, 0));
  const Matrix<double> tuned = dense(graph_of(points, 0, 0));
  std::vector<double> scales;
  for (int64_t i = 0; i < 80; ++i) {
    std::vector<double> distances;
    for (int64_t j = 0; j < 80; ++j)
      if (j != i) distances.push_back(std::sqrt(squared(points, i, j)));
    std::sort(distances.begin(), distances.end());
    scales.push_back(distances[6]);
  }
  for (int64_t i = 0; i < 80; ++i)
    for (int64_t j = 0; j < 80; ++j) {
      if (i == j) continue;
      // Edges below the 1e-12 of the degrees are dropped.
      EXPECT_NEAR(fixed(i, j), std::exp(-squared(points, i, j) / (2 * 0.64)), 1e-11);
      EXPECT_NEAR(tuned(i, j), std::exp(-squared(points, i, j) / (scales[i] * scales[j])), 1e-11);
      EXPECT_EQ(tuned(i, j), tuned(j, i));
    }
}

TEST(NcutGraph, AllNeighboursAreTheCompleteGraph) {
  for (const int64_t d : {2, 15}) {
    const Matrix<float> points = normal_points(60, d, 6);
    for (const double bandwidth : {0.0, 1.0}) {
      const AffinityGraph sparse = graph_of(points, bandwidth, 59);
      const AffinityGraph complete = graph_of(points, bandwidth, 0);
      EXPECT_EQ(sparse.offsets, complete.offsets);
      EXPECT_EQ(sparse.neighbors, complete.neighbors);
      EXPECT_EQ(sparse.weights, complete.weights);
      EXPECT_EQ(sparse.degrees, complete.degrees);
    }
  }
}

TEST(NcutGraph, DuplicatesHaveAffinityOneAndAPositiveScale) {
  // Nine samples at 0: their seventh neighbour is at distance 0, the first positive one at 2.
  std::vector<float> values(9, 0);
  values.push_back(2);
  const Matrix<double> w = dense(graph_of(line(values), 0, 0));
  EXPECT_EQ(w(0, 8), 1);
  EXPECT_DOUBLE_EQ(w(0, 9), std::exp(-4.0 / (2 * 2)));
  Matrix<float> equal(12, 2);
  EXPECT_EQ(dense(graph_of(equal, 0, 0))(3, 7), 1);
}

TEST(NcutGraph, FarSamplesAreDisconnected) {
  const AffinityGraph graph = graph_of(line({0, 1, 1000, 1001, 5000}), 1, 0);
  EXPECT_THAT(connected_components(graph), ElementsAre(0, 0, 1, 1, 2));
  EXPECT_EQ(graph.degrees[4], 0);
}

TEST(NcutGraph, ComponentsAreNumberedByFirstOccurrence) {
  const AffinityGraph graph = graph_of(line({50, 0, 51, 1, 100, 101}), 1, 1);
  EXPECT_THAT(connected_components(graph), ElementsAre(0, 1, 0, 1, 2, 2));
}

// Weights 1 - 2: a, 2 - 3: b. Cutting between 2 and 3: b / (a + 2 b... ) by hand below.
TEST(NcutGraph, CutValueByHand) {
  AffinityGraph graph;
  graph.offsets = {0, 1, 3, 4};
  graph.neighbors = {1, 0, 2, 1};
  graph.weights = {3, 3, 1, 1};
  graph.degrees = {3, 4, 1};
  EXPECT_DOUBLE_EQ(normalized_cut(graph, std::vector<int>{0, 0, 1}), 1.0 / 7 + 1.0 / 1);
  EXPECT_DOUBLE_EQ(normalized_cut(graph, std::vector<int>{0, 1, 1}), 3.0 / 3 + 3.0 / 5);
  EXPECT_DOUBLE_EQ(normalized_cut(graph, std::vector<int>{0, 1, 2}), 3);
  EXPECT_EQ(normalized_cut(graph, std::vector<int>{0, 0, 0}), 0);
}

TEST(NcutGraph, ProductEqualsTheDenseTwin) {
  const AffinityGraph graph = graph_of(normal_points(1500, 2, 7), 0, 8);
  const Matrix<double> w = dense(graph);
  const std::vector<double> roots = inverse_root_degrees(graph);
  Random random(1);
  std::vector<double> x(1500);
  for (double& value : x) value = random.normal();
  std::vector<double> y(1500);
  multiply_normalized(graph, roots, 2, x, y);
  for (int64_t i = 0; i < 1500; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < 1500; ++j)
      sum += w(i, j) * x[j] / std::sqrt(graph.degrees[i] * graph.degrees[j]);
    ASSERT_THAT(y[i], DoubleNear(sum, 1e-13));
  }
}

TEST(NcutGraph, AnyNumberOfThreadsGivesTheSameBits) {
  const Matrix<float> points = normal_points(1500, 3, 8);
  NcutOptions options;
  options.num_threads = 1;
  const AffinityGraph one = *build_graph(points, options, silent_monitor());
  options.num_threads = 8;
  const AffinityGraph many = *build_graph(points, options, silent_monitor());
  EXPECT_EQ(many.neighbors, one.neighbors);
  EXPECT_EQ(many.weights, one.weights);
  EXPECT_EQ(many.degrees, one.degrees);
}

TEST(NcutGraph, StoppedBuildGivesNothing) {
  std::stop_source source;
  source.request_stop();
  Monitor monitor(source.get_token());
  const Matrix<float> points = normal_points(50, 2, 9);
  for (const int num_neighbors : {0, 5}) {
    NcutOptions options;
    options.bandwidth = 1;
    options.num_neighbors = num_neighbors;
    EXPECT_FALSE(build_graph(points, options, monitor).has_value());
  }
}

TEST(NcutGraph, MemoryIsEstimated) {
  EXPECT_DOUBLE_EQ(graph_gigabytes(10001, 0), 10001 * 10000 * 12e-9);
  EXPECT_DOUBLE_EQ(graph_gigabytes(10000, 20), 10000 * 40 * 12e-9);
  EXPECT_DOUBLE_EQ(graph_gigabytes(11, 20), 11 * 10 * 12e-9);
}

}  // namespace
}  // namespace milieu::internal
