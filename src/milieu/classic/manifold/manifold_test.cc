// SPDX-License-Identifier: Apache-2.0
// Isomap and LLE beside scikit-learn's, and against what the definitions say.
#include "milieu/classic/manifold/manifold.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <span>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/manifold/manifold_steps.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;

// A plane that is rolled up: its two coordinates are what an embedding should find.
Matrix<float> swiss_roll(int n, uint64_t seed) {
  Random random(seed);
  Matrix<float> points(n, 3);
  for (int i = 0; i < n; ++i) {
    const double turn = 1.5 * 3.14159 * (1 + 2 * random.uniform());
    points(i, 0) = static_cast<float>(turn * std::cos(turn));
    points(i, 1) = static_cast<float>(20 * random.uniform());
    points(i, 2) = static_cast<float>(turn * std::sin(turn));
  }
  return points;
}

ManifoldModel fit(FloatView points, ManifoldKind kind, int neighbors = 10, int dims = 2) {
  ManifoldOptions options;
  options.kind = kind;
  options.num_neighbors = neighbors;
  options.num_dims = dims;
  options.num_threads = 2;
  return fit_manifold(points, options).model;
}

void expect_near(std::ifstream& in, const Matrix<double>& ours, double tolerance,
                 const char* what) {
  std::vector<double> theirs;
  for (int64_t i = 0; i < ours.size(); ++i) {
    double value = 0;
    ASSERT_TRUE(in >> value) << what;
    theirs.push_back(value);
  }
  double scale = 0;
  for (const double x : theirs) scale = std::max(scale, std::abs(x));
  for (int64_t i = 0; i < ours.size(); ++i)
    ASSERT_NEAR(ours.data()[i], theirs[static_cast<size_t>(i)], tolerance * scale) << what << i;
}

TEST(Manifold, EqualsScikitLearn_issue30) {
  const Matrix<float> points = swiss_roll(340, 2);
  const TempDir dir;
  {
    std::ofstream out(dir.file("case.txt"));
    out << "300 40 3 12 2\n";
    for (int64_t i = 0; i < points.rows(); ++i)
      for (const float x : points.row_span(i)) out << fmt::format("{:.17g} ", double{x});
  }
  const char* root = std::getenv("MILIEU_SOURCE_DIR");
  ASSERT_NE(root, nullptr);
  const std::string command =
      fmt::format("/usr/bin/python3 {}/src/milieu/classic/manifold/manifold_reference.py {} > {}",
                  root, dir.file("case.txt"), dir.file("out.txt"));
  const int status = std::system(command.c_str());
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "scikit-learn is not installed";
  ASSERT_EQ(status, 0);
  std::ifstream in(dir.file("out.txt"));
  const FloatView old = points.view().rows_between(0, 300),
                  fresh = points.view().rows_between(300, 340);
  for (const ManifoldKind kind : {ManifoldKind::Isomap, ManifoldKind::Lle}) {
    const ManifoldModel model = fit(old, kind, 12);
    expect_near(in, map_to_manifold(model, old), 1e-3, "places of the fit, ");
    expect_near(in, map_to_manifold(model, fresh), 1e-3, "places of new samples, ");
  }
}

// All pairs by Floyd and Warshall, on the graph as its definition says.
TEST(Manifold, PathsAreTheShortest_issue30) {
  const Matrix<float> points = swiss_roll(60, 5);
  const int n = 60, k = 5;
  std::vector<std::vector<double>> length(n, std::vector<double>(n, 1e30));
  for (int i = 0; i < n; ++i) {
    std::vector<std::pair<double, int>> others;
    for (int j = 0; j < n; ++j) {
      double squares = 0;
      for (int t = 0; t < 3; ++t) squares += std::pow(double{points(i, t)} - points(j, t), 2);
      if (j != i) others.emplace_back(std::sqrt(squares), j);
    }
    std::ranges::sort(others);
    length[i][i] = 0;
    for (int a = 0; a < k; ++a)
      length[i][others[a].second] = length[others[a].second][i] = others[a].first;
  }
  for (int m = 0; m < n; ++m)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        length[i][j] = std::min(length[i][j], length[i][m] + length[m][j]);
  Monitor monitor;
  const internal::NeighborGraph graph = internal::make_neighbor_graph(points, k, 1, monitor);
  ASSERT_EQ(graph.num_pieces, 1);
  std::vector<float> paths(n);
  for (int i = 0; i < n; ++i) {
    internal::shortest_paths(graph, i, paths);
    for (int j = 0; j < n; ++j) EXPECT_NEAR(paths[j], length[i][j], 1e-4);
  }
}

// Two clouds far apart: one edge, the shortest between them.
TEST(Manifold, PiecesAreJoinedWhereTheyAreNearest_issue30) {
  Matrix<float> points(40, 1);
  for (int i = 0; i < 40; ++i) points(i, 0) = static_cast<float>(i < 20 ? i : 100 + i);
  ManifoldOptions options;
  options.num_neighbors = 3;
  options.num_dims = 1;
  const ManifoldResult result = fit_manifold(points, options);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_THAT(result.warnings[0], HasSubstr("in 2 pieces"));
  const Matrix<double> places = map_to_manifold(result.model, points);
  // A line stays a line: distances are kept exactly.
  for (int i = 0; i < 40; ++i)
    EXPECT_NEAR(std::abs(places(i, 0) - places(0, 0)), points(i, 0) - points(0, 0), 1e-3);
}

TEST(Manifold, ASampleOfTheFitKeepsItsPlace_issue30) {
  const Matrix<float> points = swiss_roll(200, 3);
  const ManifoldModel lle = fit(points, ManifoldKind::Lle);
  EXPECT_TRUE(map_to_manifold(lle, points) == lle.places);
  const ManifoldModel isomap = fit(points, ManifoldKind::Isomap);
  const Matrix<double> all = map_to_manifold(isomap, points);
  EXPECT_TRUE(map_to_manifold(isomap, points.view().rows_between(50, 60)) ==
              Matrix<double>(all.view().rows_between(50, 60)));
}

// Few landmarks give nearly the distances of all.
TEST(Manifold, LandmarksAreEnough_issue30) {
  const int n = 800;
  const Matrix<float> points = swiss_roll(n, 4);
  ManifoldOptions options;
  options.num_neighbors = 8;
  const Matrix<double> all = map_to_manifold(fit_manifold(points, options).model, points);
  options.max_landmarks = 120;
  const ManifoldModel few = fit_manifold(points, options).model;
  ASSERT_EQ(few.geodesics.rows(), 120);
  const Matrix<double> places = map_to_manifold(few, points);
  double difference = 0, size = 0;
  for (int i = 0; i < n; i += 7)
    for (int j = 0; j < i; j += 5) {
      const auto distance = [&](const Matrix<double>& of) {
        return std::hypot(of(i, 0) - of(j, 0), of(i, 1) - of(j, 1));
      };
      difference += std::pow(distance(all) - distance(places), 2);
      size += std::pow(distance(all), 2);
    }
  EXPECT_LT(std::sqrt(difference / size), 0.05);
}

TEST(Manifold, ThreadsChangeNoBit_issue30) {
  const Matrix<float> points = swiss_roll(150, 6);
  for (const ManifoldKind kind : {ManifoldKind::Isomap, ManifoldKind::Lle}) {
    ManifoldOptions options;
    options.kind = kind;
    options.num_threads = 1;
    const ManifoldModel one = fit_manifold(points, options).model;
    options.num_threads = 4;
    const ManifoldModel four = fit_manifold(points, options).model;
    EXPECT_TRUE(map_to_manifold(one, points, 1) == map_to_manifold(four, points, 4));
  }
}

TEST(Manifold, WrongUsesAreRefused_issue30) {
  const Matrix<float> points = swiss_roll(20, 1);
  EXPECT_THAT(message_of([&] { fit(points, ManifoldKind::Isomap, 20); }),
              HasSubstr("num_neighbors is 20, but there are 20 samples"));
  EXPECT_THAT(message_of([&] { fit(points, ManifoldKind::Lle, 5, 19); }),
              HasSubstr("num_dims is 19, too many for 20 samples"));
  Matrix<float> same(30, 2);
  EXPECT_THROW(fit(same, ManifoldKind::Isomap, 5), DataError);
  Matrix<float> broken = points;
  broken(2, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(fit(broken, ManifoldKind::Lle, 5), DataError);
  const ManifoldModel model = fit(points, ManifoldKind::Isomap, 5);
  EXPECT_TRUE(is_consistent(model));
  EXPECT_THAT(message_of([&] { map_to_manifold(model, same); }),
              HasSubstr("points have 2 columns"));
  ManifoldModel short_of = model;
  short_of.means.pop_back();
  EXPECT_FALSE(is_consistent(short_of));
}

}  // namespace
}  // namespace milieu
