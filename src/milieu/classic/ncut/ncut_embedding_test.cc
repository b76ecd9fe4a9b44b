// SPDX-License-Identifier: Apache-2.0
// The Lanczos eigenvectors against Eigen's dense solver, above all where eigenvalues are equal.
#include "milieu/classic/ncut/ncut_embedding_internal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "milieu/base/random.h"
#include "milieu/testing/synthetic.h"

namespace milieu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::Message;

// Edges by pairs, both directions added.
AffinityGraph graph_from(int64_t n, const std::map<std::pair<int, int>, double>& edges) {
  std::vector<std::map<int, double>> rows(n);
  for (const auto& [pair, weight] : edges) {
    rows[pair.first][pair.second] = weight;
    rows[pair.second][pair.first] = weight;
  }
  AffinityGraph graph;
  graph.offsets.push_back(0);
  for (const auto& row : rows) {
    graph.degrees.push_back(0);
    for (const auto& [j, weight] : row) {
      graph.neighbors.push_back(j);
      graph.weights.push_back(weight);
      graph.degrees.back() += weight;
    }
    graph.offsets.push_back(static_cast<int64_t>(graph.neighbors.size()));
  }
  return graph;
}

Eigenvectors solve(const AffinityGraph& graph, int count, bool by_lanczos) {
  EigenOptions options;
  options.max_direct_n = by_lanczos ? 0 : 100000;
  return leading_eigenvectors(graph, connected_components(graph), count, options, silent_monitor());
}

// Residuals of A v = lambda v and orthonormality, by the definition.
void expect_eigenvectors(const AffinityGraph& graph, const Eigenvectors& eigen, double tolerance) {
  const int64_t n = graph.size();
  const std::vector<double> roots = inverse_root_degrees(graph);
  for (int64_t c = 0; c < eigen.vectors.cols(); ++c) {
    std::vector<double> v(n);
    std::vector<double> y(n);
    for (int64_t i = 0; i < n; ++i) v[i] = eigen.vectors(i, c);
    multiply_normalized(graph, roots, 1, v, y);
    double residual = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double isolated = graph.degrees[i] == 0 ? v[i] : 0;  // its own component: value 1
      residual += std::pow(y[i] + isolated - eigen.values[c] * v[i], 2);
    }
    EXPECT_LT(std::sqrt(residual), tolerance) << "column " << c;
    for (int64_t b = 0; b <= c; ++b) {
      double dot = 0;
      for (int64_t i = 0; i < n; ++i) dot += v[i] * eigen.vectors(i, b);
      EXPECT_NEAR(dot, b == c ? 1 : 0, tolerance) << "columns " << b << " and " << c;
    }
  }
}

void expect_like_dense(const AffinityGraph& graph, int count) {
  const Eigenvectors lanczos = solve(graph, count, true);
  const Eigenvectors direct = solve(graph, count, false);
  EXPECT_FALSE(lanczos.is_direct);
  EXPECT_TRUE(direct.is_direct);
  ASSERT_EQ(lanczos.status, EigenStatus::Converged);
  ASSERT_EQ(lanczos.values.size(), static_cast<size_t>(count));
  for (int c = 0; c < count; ++c)
    EXPECT_NEAR(lanczos.values[c], direct.values[c], 1e-7) << "value " << c;
  expect_eigenvectors(graph, lanczos, 1e-6);
  expect_eigenvectors(graph, direct, 1e-10);
}

// A path of three samples with weights 1 and 1: D^-1/2 W D^-1/2 has the values 1, 0, -1.
TEST(NcutEmbedding, HandCasePath) {
  const AffinityGraph graph = graph_from(3, {{{0, 1}, 1}, {{1, 2}, 1}});
  const Eigenvectors eigen = solve(graph, 2, false);
  EXPECT_NEAR(eigen.values[0], 1, 1e-14);
  EXPECT_NEAR(eigen.values[1], 0, 1e-14);
  EXPECT_NEAR(eigen.vectors(0, 0), 0.5, 1e-14);
  EXPECT_NEAR(eigen.vectors(1, 0), std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(std::abs(eigen.vectors(0, 1)), std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(eigen.vectors(1, 1), 0, 1e-14);
}

TEST(NcutEmbedding, LanczosEqualsTheDenseSolver) {
  const LabelledPoints moons = make_moons({.n = 400});
  NcutOptions options;
  options.num_neighbors = 10;
  for (const double bandwidth : {0.0, 0.3}) {
    options.bandwidth = bandwidth;
    expect_like_dense(*build_graph(moons.points, options, silent_monitor()), 5);
  }
}

// A ring of equal weights has every eigenvalue but 1 (and -1) twice.
TEST(NcutEmbedding, DoubleEigenvaluesAreFoundTwice) {
  std::map<std::pair<int, int>, double> edges;
  for (int i = 0; i < 150; ++i) edges[{i, (i + 1) % 150}] = 1;
  const AffinityGraph ring = graph_from(150, edges);
  const Eigenvectors eigen = solve(ring, 5, true);
  for (const int c : {1, 2}) EXPECT_NEAR(eigen.values[c], std::cos(2 * M_PI / 150), 1e-9);
  for (const int c : {3, 4}) EXPECT_NEAR(eigen.values[c], std::cos(4 * M_PI / 150), 1e-9);
  expect_like_dense(ring, 5);
}

// Equal components: every value as often as there are components.
TEST(NcutEmbedding, EqualComponentsGiveEqualValues) {
  std::map<std::pair<int, int>, double> edges;
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i + 1 < 40; ++i) edges[{40 * c + i, 40 * c + i + 1}] = 1;
  const AffinityGraph paths = graph_from(120, edges);
  const Eigenvectors eigen = solve(paths, 6, true);
  for (const int c : {0, 1, 2}) EXPECT_EQ(eigen.values[c], 1);
  for (const int c : {3, 4, 5}) EXPECT_NEAR(eigen.values[c], std::cos(M_PI / 39), 1e-9);
  expect_like_dense(paths, 6);
}

// Dense blocks held together by edges of 1e-9: four values closer to each other than the tolerance.
TEST(NcutEmbedding, NearlySeparateBlocksAreAllFound) {
  std::map<std::pair<int, int>, double> edges;
  Random random(2);
  for (int c = 0; c < 4; ++c)
    for (int i = 0; i < 30; ++i)
      for (int j = 0; j < i; ++j) edges[{30 * c + i, 30 * c + j}] = 0.5 + random.uniform();
  for (int c = 0; c < 3; ++c) edges[{30 * c, 30 * (c + 1)}] = 1e-9;
  const AffinityGraph graph = graph_from(120, edges);
  ASSERT_THAT(connected_components(graph), ::testing::Each(0));
  const Eigenvectors eigen = solve(graph, 4, true);
  for (const double value : eigen.values) EXPECT_GT(value, 1 - 1e-8);
  expect_like_dense(graph, 5);
}

TEST(NcutEmbedding, SamplesWithoutEdgesAreComponents) {
  std::map<std::pair<int, int>, double> edges;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < i; ++j) edges[{i, j}] = 1.0 / (1 + i + j);
  const AffinityGraph graph = graph_from(42, edges);  // rows 40 and 41 have none
  const Eigenvectors eigen = solve(graph, 4, true);
  EXPECT_EQ(eigen.vectors(40, 1), 1);
  EXPECT_EQ(eigen.vectors(41, 2), 1);
  expect_like_dense(graph, 4);
}

TEST(NcutEmbedding, LargestEntryOfAColumnIsPositive) {
  const LabelledPoints blobs = make_blobs({.n = 200, .separation = 4});
  const AffinityGraph graph = *build_graph(blobs.points, {}, silent_monitor());
  for (const bool by_lanczos : {true, false}) {
    const Eigenvectors eigen = solve(graph, 4, by_lanczos);
    for (int64_t c = 0; c < 4; ++c) {
      double top = 0;
      for (int64_t i = 0; i < 200; ++i)
        if (std::abs(eigen.vectors(i, c)) > std::abs(top)) top = eigen.vectors(i, c);
      EXPECT_GT(top, 0);
    }
  }
}

TEST(NcutEmbedding, AnyNumberOfThreadsGivesTheSameBits) {
  const LabelledPoints moons = make_moons({.n = 1500});
  const AffinityGraph graph = *build_graph(moons.points, {}, silent_monitor());
  EigenOptions options;
  options.num_threads = 1;
  const Eigenvectors one =
      leading_eigenvectors(graph, connected_components(graph), 4, options, silent_monitor());
  options.num_threads = 8;
  const Eigenvectors many =
      leading_eigenvectors(graph, connected_components(graph), 4, options, silent_monitor());
  EXPECT_FALSE(one.is_direct);
  EXPECT_TRUE(many.vectors == one.vectors);
}

// One restart at the strictest tolerance cannot finish on a long path.
AffinityGraph long_path(int n) {
  std::map<std::pair<int, int>, double> edges;
  for (int i = 0; i + 1 < n; ++i) edges[{i, i + 1}] = 1;
  return graph_from(n, edges);
}

TEST(NcutEmbedding, WithoutConvergenceSmallGraphsAreSolvedDirectly) {
  const AffinityGraph path = long_path(700);
  EigenOptions options;
  options.max_iterations = 1;
  options.tolerance = 1e-14;
  const Eigenvectors eigen =
      leading_eigenvectors(path, connected_components(path), 3, options, silent_monitor());
  EXPECT_EQ(eigen.status, EigenStatus::Converged);
  EXPECT_TRUE(eigen.is_direct);
  EXPECT_NEAR(eigen.values[2], std::cos(2 * M_PI / 699), 1e-12);
}

TEST(NcutEmbedding, WithoutConvergenceLargeGraphsSaySo) {
  const AffinityGraph path = long_path(5000);
  EigenOptions options;
  options.max_iterations = 1;
  options.tolerance = 1e-14;
  const Eigenvectors eigen =
      leading_eigenvectors(path, connected_components(path), 3, options, silent_monitor());
  EXPECT_EQ(eigen.status, EigenStatus::NotConverged);
  EXPECT_GE(eigen.vectors.cols(), 1);  // the component's own is known without iteration
  EXPECT_LT(eigen.vectors.cols(), 3);
}

TEST(NcutEmbedding, StopsWhenTheMonitorAsks) {
  std::stop_source source;
  source.request_stop();
  Monitor monitor(source.get_token());
  const AffinityGraph path = long_path(1000);
  EXPECT_EQ(leading_eigenvectors(path, connected_components(path), 3, {}, monitor).status,
            EigenStatus::Stopped);
}

TEST(NcutEmbedding, RowsAreScaledToLengthOne) {
  Matrix<double> vectors(3, 2);
  vectors(0, 0) = 3;
  vectors(0, 1) = -4;
  vectors(1, 1) = 1e-200;
  const Matrix<float> rows = normalize_rows(vectors);
  EXPECT_THAT(rows.row_span(0), ElementsAre(0.6f, -0.8f));
  EXPECT_THAT(rows.row_span(1), ElementsAre(0, 1));
  EXPECT_THAT(rows.row_span(2), ElementsAre(0, 0));
}

}  // namespace
}  // namespace milieu::internal
