// SPDX-License-Identifier: Apache-2.0
// Normalized cut as a whole: shapes that k-means cannot find, exhaustive search on small graphs,
// graphs that are disconnected, and everything that a caller can do wrong.
#include "milieu/classic/ncut/ncut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/ncut/ncut_graph_internal.h"
#include "milieu/classic/test_points.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Message;

const SummaryValue* find_extra(const RunSummary& summary, const std::string& name) {
  for (const auto& [key, value] : summary.extra)
    if (key == name) return &value;
  return nullptr;
}

int64_t num_components(const NcutResult& result) {
  return std::get<int64_t>(*find_extra(result.summary, "components"));
}

double cut_of(FloatView points, const NcutOptions& options, const std::vector<int>& labels) {
  return internal::normalized_cut(*internal::build_graph(points, options, silent_monitor()),
                                  labels);
}

// 0 1 and 3 4 with affinity exp(-2 d^2): a = exp(-2) inside, b = exp(-8), c = exp(-18) twice,
// e = exp(-32) across. The cut leaves b + 2 c + e of each side's 2 a + b + 2 c + e.
TEST(Ncut, HandCase) {
  const NcutResult result =
      fit_ncut({line({0, 1, 3, 4})}, {.num_clusters = 2, .bandwidth = 0.5, .num_neighbors = 0});
  EXPECT_THAT(result.labels, ElementsAre(0, 0, 1, 1));
  const double across = std::exp(-8) + 2 * std::exp(-18) + std::exp(-32);
  EXPECT_NEAR(result.summary.objective, 2 * across / (2 * std::exp(-2) + across), 1e-10);
  EXPECT_EQ(result.summary.termination, Termination::Converged);
  EXPECT_THAT(result.summary.sizes, ElementsAre(2, 2));
  EXPECT_THAT(result.summary.warnings, IsEmpty());
  EXPECT_EQ(result.model.labels, result.labels);
}

// The relaxation need not find the optimum, but never beats it; here it does find it.
TEST(Ncut, CutOfTwoIsTheLeastOfAllSplits) {
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    const LabelledPoints blobs =
        make_blobs({.n = 12, .d = 2, .num_clusters = 2, .separation = 6, .seed = seed});
    const NcutOptions options{.num_clusters = 2, .bandwidth = 2, .num_neighbors = 0};
    double least = INFINITY;
    for (int split = 1; split < (1 << 11); ++split) {
      std::vector<int> labels(12);
      for (int i = 0; i < 11; ++i) labels[i + 1] = split >> i & 1;
      least = std::min(least, cut_of(blobs.points, options, labels));
    }
    EXPECT_NEAR(fit_ncut({blobs.points}, options).summary.objective, least, 1e-12);
  }
}

TEST(Ncut, FindsRingsAndMoonsWhereKMeansFails) {
  const LabelledPoints shapes[] = {make_rings({.n = 400}), make_moons({.n = 400})};
  for (const LabelledPoints& shape : shapes) {
    KMeansInput input;
    input.points = shape.points;
    KMeansOptions kmeans;
    kmeans.num_clusters = 2;
    EXPECT_FALSE(same_partition(fit_kmeans(input, kmeans).labels, shape.labels));
    const NcutResult sparse = fit_ncut({shape.points}, {.num_clusters = 2, .num_neighbors = 10});
    EXPECT_TRUE(same_partition(sparse.labels, shape.labels));
    const NcutResult complete =
        fit_ncut({shape.points}, {.num_clusters = 2, .bandwidth = 0.1, .num_neighbors = 0});
    EXPECT_TRUE(same_partition(complete.labels, shape.labels));
  }
}

// Above the size of the direct solver, so by Lanczos.
TEST(Ncut, FindsOverlappingMoonsByLanczos) {
  const LabelledPoints moons = make_moons({.n = 1500, .noise = 0.08});
  const NcutResult result = fit_ncut({moons.points}, {.num_clusters = 2, .num_neighbors = 30});
  EXPECT_EQ(std::get<std::string>(*find_extra(result.summary, "solver")), "lanczos");
  int64_t agreeing = 0;
  for (size_t i = 0; i < moons.labels.size(); ++i)
    agreeing += (result.labels[i] == result.labels[0]) == (moons.labels[i] == moons.labels[0]);
  EXPECT_GT(agreeing, 1480);
}

TEST(Ncut, FindsSeparatedBlobs) {
  const LabelledPoints blobs = make_blobs({.n = 200, .d = 5, .num_clusters = 4, .separation = 20});
  for (const int num_neighbors : {0, 10, 199})
    for (const double bandwidth : {0.0, 3.0}) {
      NcutOptions options{.num_clusters = 4, .bandwidth = bandwidth};
      options.num_neighbors = num_neighbors;
      const NcutResult result = fit_ncut({blobs.points}, options);
      EXPECT_TRUE(same_partition(result.labels, blobs.labels));
      EXPECT_EQ(result.summary.objective, cut_of(blobs.points, options, result.labels));
    }
}

TEST(Ncut, AllNeighboursGiveTheDenseResult) {
  const Matrix<float> points = normal_points(150, 4, 3);
  const NcutResult dense = fit_ncut({points}, {.num_clusters = 3, .num_neighbors = 0});
  const NcutResult sparse = fit_ncut({points}, {.num_clusters = 3, .num_neighbors = 149});
  EXPECT_EQ(sparse.labels, dense.labels);
  EXPECT_EQ(sparse.summary.objective, dense.summary.objective);
  EXPECT_TRUE(sparse.model.embedding == dense.model.embedding);
}

TEST(Ncut, MoreRestartsNeverRaiseTheCut) {
  const Matrix<float> points = normal_points(300, 3, 4);
  double before = INFINITY;
  for (const int num_restarts : {1, 3, 9}) {
    const NcutResult result = fit_ncut({points}, {.num_clusters = 6, .num_restarts = num_restarts});
    EXPECT_LE(result.summary.objective, before);
    EXPECT_LT(result.summary.restart, num_restarts);
    EXPECT_EQ(result.summary.num_restarts, num_restarts);
    before = result.summary.objective;
  }
}

// The relaxation bounds every cut from below: the sum of the k smallest Laplacian eigenvalues.
TEST(Ncut, EigenvaluesBoundTheCut) {
  const Matrix<float> points = normal_points(200, 2, 5);
  for (const int k : {2, 4, 7}) {
    const NcutResult result = fit_ncut({points}, {.num_clusters = k, .bandwidth = 1});
    const auto& values = std::get<std::vector<double>>(*find_extra(result.summary, "eigenvalues"));
    ASSERT_EQ(values.size(), static_cast<size_t>(k));
    double bound = 0;
    for (const double value : values) bound += value;
    EXPECT_LE(bound, result.summary.objective + 1e-9);
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  }
}

TEST(Ncut, ComponentsAreTheClustersWhenThereAreAsMany) {
  const NcutResult result =
      fit_ncut({line({100, 0, 1, 101, 2, 50, 51})}, {.num_clusters = 3, .num_neighbors = 1});
  EXPECT_THAT(result.labels, ElementsAre(0, 1, 1, 0, 1, 2, 2));
  EXPECT_EQ(result.summary.objective, 0);
  EXPECT_EQ(num_components(result), 3);
  ASSERT_EQ(result.summary.warnings.size(), 1u);
  EXPECT_THAT(result.summary.warnings[0], HasSubstr("the graph has 3 components"));
  EXPECT_EQ(result.model.embedding(5, 2), 1);
}

// Pairs at 0, 10, 25 and three samples at 100: the first pair and the three are the largest, the
// pairs at 10 and 25 join the pair at 0, which holds the nearest sample.
TEST(Ncut, SmallComponentsJoinTheNearestLargeOne) {
  const NcutResult result = fit_ncut({line({0, 1, 10, 11, 25, 26, 100, 101, 102})},
                                     {.num_clusters = 2, .num_neighbors = 1});
  EXPECT_EQ(num_components(result), 4);
  EXPECT_THAT(result.labels, ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1));
  EXPECT_EQ(result.summary.objective, 0);
}

TEST(Ncut, FewerComponentsThanClustersAreSplit) {
  const LabelledPoints blobs = make_blobs({.n = 80, .d = 2, .num_clusters = 2, .separation = 100});
  const NcutResult result = fit_ncut({blobs.points}, {.num_clusters = 4, .num_neighbors = 8});
  EXPECT_EQ(num_components(result), 2);
  EXPECT_EQ(result.summary.clusters, 4);
  // No cluster reaches over both components.
  for (size_t i = 0; i < 80; ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(result.labels[i] == result.labels[j] && blobs.labels[i] != blobs.labels[j]);
}

TEST(Ncut, IsolatedSamplesHaveADefinedPlace) {
  // The bandwidth is far too small for any edge.
  const NcutOptions options{.num_clusters = 2, .bandwidth = 1e-6, .num_neighbors = 0};
  const NcutResult none = fit_ncut({line({0, 10, 11, 1})}, options);
  EXPECT_EQ(num_components(none), 4);
  EXPECT_THAT(none.labels, ElementsAre(0, 1, 1, 0));
  EXPECT_EQ(none.summary.objective, 0);
  // One outlier beside a connected set is its own cluster, as its cut is 0.
  const NcutResult outlier =
      fit_ncut({line({0, 1, 2, 1000})}, {.num_clusters = 2, .bandwidth = 1, .num_neighbors = 0});
  EXPECT_THAT(outlier.labels, ElementsAre(0, 0, 0, 1));
}

TEST(Ncut, FewDistinctSamplesAreAClusterEach) {
  const Matrix<float> points = line({5, 1, 5, 1, 9, 5});
  const NcutResult exact = fit_ncut({points}, {.num_clusters = 3});
  EXPECT_THAT(exact.labels, ElementsAre(0, 1, 0, 1, 2, 0));
  const NcutResult fewer = fit_ncut({points}, {.num_clusters = 5});
  EXPECT_EQ(fewer.labels, exact.labels);
  ASSERT_GE(fewer.summary.warnings.size(), 1u);
  EXPECT_THAT(fewer.summary.warnings[0], HasSubstr("only 3 distinct samples"));
}

TEST(Ncut, EqualSamplesAreOneCluster) {
  const Matrix<float> points(40, 3);
  for (const int num_neighbors : {0, 5}) {
    const NcutResult result =
        fit_ncut({points}, {.num_clusters = 2, .num_neighbors = num_neighbors});
    EXPECT_THAT(result.labels, Each(0));
    EXPECT_EQ(result.summary.clusters, 1);
    EXPECT_EQ(result.summary.warnings.size(), 1u);
  }
}

TEST(Ncut, OneClusterOneSampleAndAsManyClustersAsSamples) {
  const NcutResult one = fit_ncut({normal_points(30, 2, 6)}, {.num_clusters = 1});
  EXPECT_THAT(one.labels, Each(0));
  EXPECT_EQ(one.summary.objective, 0);
  EXPECT_THAT(fit_ncut({line({7})}, {.num_clusters = 1}).labels, ElementsAre(0));
  const NcutResult all =
      fit_ncut({line({3, 1, 2})}, {.num_clusters = 3, .bandwidth = 1, .num_neighbors = 0});
  EXPECT_THAT(all.labels, ElementsAre(0, 1, 2));
  EXPECT_NEAR(all.summary.objective, 3, 1e-12);  // everything is cut
}

TEST(Ncut, ManyDuplicatesAreClusteredTogether) {
  LabelledPoints blobs = make_blobs({.n = 60, .d = 2, .num_clusters = 3, .separation = 15});
  Matrix<float> points(600, 2);
  for (int64_t i = 0; i < 600; ++i) std::copy_n(blobs.points.row(i / 10), 2, points.row(i));
  const NcutResult result = fit_ncut({points}, {.num_clusters = 3, .num_neighbors = 30});
  for (int64_t i = 0; i < 600; ++i)
    EXPECT_EQ(result.labels[i] == result.labels[0], blobs.labels[i / 10] == blobs.labels[0]);
}

TEST(Ncut, AnyNumberOfThreadsGivesTheSameBits) {
  const Matrix<float> points = normal_points(900, 3, 7);
  NcutOptions options;
  options.num_clusters = 5;
  options.num_threads = 1;
  const NcutResult one = fit_ncut({points}, options);
  for (const int num_threads : {2, 8}) {
    options.num_threads = num_threads;
    const NcutResult many = fit_ncut({points}, options);
    EXPECT_EQ(many.labels, one.labels);
    EXPECT_EQ(many.summary.objective, one.summary.objective);
    EXPECT_TRUE(many.model.embedding == one.model.embedding);
  }
}

TEST(Ncut, EigenvectorsThatDoNotConvergeAreReported) {
  NcutOptions options;
  options.num_clusters = 4;
  options.num_neighbors = 3;
  options.max_eigen_iterations = 1;
  options.eigen_tolerance = 1e-14;
  std::vector<float> grid;
  for (int i = 0; i < 2500; ++i) grid.push_back(static_cast<float>(i));
  const NcutResult result = fit_ncut({line(grid)}, options);
  EXPECT_EQ(result.summary.termination, Termination::NumericalIssue);
  ASSERT_EQ(result.summary.warnings.size(), 1u);
  EXPECT_THAT(result.summary.warnings[0], HasSubstr("of 4 eigenvectors converged"));
  EXPECT_EQ(result.labels.size(), 2500u);
}

TEST(Ncut, StoppedRunIsValid) {
  std::stop_source source;
  source.request_stop();
  Monitor monitor(source.get_token());
  const NcutResult result = fit_ncut({normal_points(50, 2, 8)}, {.num_clusters = 3}, monitor);
  EXPECT_EQ(result.summary.termination, Termination::Cancelled);
  EXPECT_THAT(result.labels, Each(0));
  EXPECT_EQ(result.labels.size(), 50u);
}

// Stops at the end of a restart: the labels found so far are kept.
class StopAtRestart : public Monitor {
 public:
  StopAtRestart(std::stop_source source, int restart)
      : Monitor(source.get_token()), source_(source), restart_(restart) {}
  void on_iteration(const IterationReport& report) override {
    if (report.restart == restart_) source_.request_stop();
  }

 private:
  std::stop_source source_;
  int restart_;
};

TEST(Ncut, StoppedAfterARestartKeepsTheBestSoFar) {
  const Matrix<float> points = normal_points(100, 2, 9);
  StopAtRestart monitor(std::stop_source(), 1);
  const NcutResult stopped = fit_ncut({points}, {.num_clusters = 4}, monitor);
  EXPECT_EQ(stopped.summary.termination, Termination::Cancelled);
  EXPECT_EQ(stopped.summary.num_restarts, 2);
  const NcutResult two = fit_ncut({points}, {.num_clusters = 4, .num_restarts = 2});
  EXPECT_EQ(stopped.labels, two.labels);
}

void expect_refused(FloatView points, const NcutOptions& options, const char* message) {
  try {
    fit_ncut({points}, options);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(Ncut, WrongInputIsRefused) {
  Matrix<float> points = normal_points(5, 2, 10);
  expect_refused(points, {.num_clusters = 0}, "num_clusters is 0, must be at least 1");
  expect_refused(points, {.num_clusters = 6}, "num_clusters is 6, there are only 5 samples");
  expect_refused(points, {.num_clusters = 2, .bandwidth = -1}, "bandwidth is -1");
  expect_refused(points, {.num_clusters = 2, .bandwidth = INFINITY}, "bandwidth is inf");
  expect_refused(points, {.num_clusters = 2, .num_neighbors = -1}, "num_neighbors is -1");
  expect_refused(FloatView(nullptr, 0, 2), {}, "points is 0 x 2");
  points(3, 1) = NAN;
  expect_refused(points, {.num_clusters = 2}, "points has NaN at row 3, column 1");
}

TEST(Ncut, TooMuchMemoryIsRefusedWithTheNumber) {
  const Matrix<float> points(2000, 1);
  NcutOptions options;
  options.num_neighbors = 0;
  options.max_memory_gb = 0.01;
  expect_refused(points, options, "take up to 0.048 GB");
}

}  // namespace
}  // namespace milieu
