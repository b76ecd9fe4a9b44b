// SPDX-License-Identifier: Apache-2.0
// The steps of k-means one by one: sums, re-seeding, starts, groups of centres.
#include "milieu/classic/kmeans/kmeans_centers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "milieu/base/random.h"
#include "milieu/classic/kmeans/kmeans_groups_internal.h"
#include "milieu/classic/kmeans/kmeans_seed_steps.h"
#include "milieu/testing/synthetic.h"

namespace milieu::internal {
namespace {

LabelledPoints blobs(int64_t n, int64_t d, int num_clusters, double separation, uint64_t seed,
                     double offset = 0) {
  BlobOptions options;
  options.n = n;
  options.d = d;
  options.num_clusters = num_clusters;
  options.separation = separation;
  options.offset = offset;
  options.seed = seed;
  return make_blobs(options);
}

KMeansProblem problem_of(FloatView points, std::span<const double> weights, int k,
                         int num_threads = 1) {
  KMeansOptions options;
  options.num_clusters = k;
  options.num_threads = num_threads;
  return make_kmeans_problem({points, weights, {}}, options);
}

std::vector<int> random_labels(int64_t n, int k, uint64_t seed) {
  Random random(seed);
  std::vector<int> labels(n);
  for (int& label : labels) label = static_cast<int>(random.uniform_index(k));
  return labels;
}

// The sum of w |x - mean of its cluster|^2, in the slow way.
double objective_of(const KMeansProblem& problem, std::span<const int> labels) {
  const int64_t d = problem.points.cols();
  double objective = 0;
  for (int j = 0; j < problem.num_clusters; ++j) {
    std::vector<long double> mean(d);
    long double weight = 0;
    for (size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] != j) continue;
      const double w = problem.weight(static_cast<int64_t>(i));
      weight += w;
      for (int64_t t = 0; t < d; ++t) mean[t] += w * problem.points(static_cast<int64_t>(i), t);
    }
    for (size_t i = 0; i < labels.size() && weight > 0; ++i)
      for (int64_t t = 0; t < d && labels[i] == j; ++t) {
        const long double difference =
            problem.points(static_cast<int64_t>(i), t) - mean[t] / weight;
        objective +=
            static_cast<double>(problem.weight(static_cast<int64_t>(i)) * difference * difference);
      }
  }
  return objective;
}

TEST(KMeansSteps, MeanAndScatterOfTheProblemAreExact) {
  const LabelledPoints made = blobs(3000, 5, 4, 3, 1, 1000);
  const KMeansProblem problem = problem_of(made.points, {}, 3);
  EXPECT_NEAR(problem.scatter,
              objective_of(problem_of(made.points, {}, 1), std::vector<int>(3000, 0)),
              1e-9 * problem.scatter);
  EXPECT_EQ(problem.total_weight, 3000);
  double mean = 0;
  for (int64_t i = 0; i < 3000; ++i) mean += made.points(i, 2) / 3000.0;
  EXPECT_NEAR(problem.mean[2], mean, 1e-9);
}

TEST(KMeansSteps, MovedSumsEqualFreshOnes) {
  const LabelledPoints made = blobs(70000, 3, 4, 3, 2);
  std::vector<double> weights(70000);
  Random random(1);
  for (double& w : weights) w = random.uniform(0, 2);
  const KMeansProblem problem = problem_of(made.points, weights, 9, 2);
  ClusterSums moved(problem);
  EXPECT_EQ(moved.update(random_labels(70000, 9, 1)), 70000);
  std::vector<int> labels = random_labels(70000, 9, 2);
  moved.update(labels);
  EXPECT_EQ(moved.update(labels), 0);
  labels[5] = (labels[5] + 1) % 9;
  labels[69999] = (labels[69999] + 1) % 9;
  EXPECT_EQ(moved.update(labels), 2);
  ClusterSums fresh(problem);
  fresh.update(labels);
  EXPECT_NEAR(moved.objective(), fresh.objective(), 1e-10 * fresh.objective());
  EXPECT_NEAR(moved.objective(), objective_of(problem, labels), 1e-9 * fresh.objective());
  for (int j = 0; j < 9; ++j) {
    std::vector<float> a(3), b(3);
    moved.write_center(j, a);
    fresh.write_center(j, b);
    for (int t = 0; t < 3; ++t) EXPECT_NEAR(a[t], b[t], 1e-6);
  }
}

TEST(KMeansSteps, ClustersWithoutWeightAreEmpty) {
  const LabelledPoints made = blobs(6, 2, 1, 1, 3);
  const std::vector<double> weights{1, 1, 0, 0, 0.1, 0.2};
  const KMeansProblem problem = problem_of(made.points, weights, 4);
  ClusterSums sums(problem);
  sums.update(std::vector<int>{0, 0, 1, 1, 2, 2});
  EXPECT_FALSE(sums.is_empty(0));
  EXPECT_TRUE(sums.is_empty(1));
  EXPECT_FALSE(sums.is_empty(2));
  EXPECT_TRUE(sums.is_empty(3));
  // What rounding leaves of 0.1 + 0.2 - 0.2 - 0.1 does not make a cluster.
  sums.update(std::vector<int>{0, 0, 1, 1, 0, 0});
  EXPECT_TRUE(sums.is_empty(2));
  Matrix<float> centers(4, 2);
  EXPECT_EQ(update_centers(sums, centers), (std::vector<int>{1, 2, 3}));
}

TEST(KMeansSteps, ReseedingStopsWhenEveryPointLiesOnItsCenter) {
  Matrix<float> points(4, 1);
  points(2, 0) = points(3, 0) = 5;
  const KMeansProblem problem = problem_of(points, {}, 4);
  Matrix<float> centers(4, 1);
  centers(1, 0) = 5;
  centers(2, 0) = -7;
  centers(3, 0) = -8;
  reseed_empty_clusters(problem, std::vector<int>{0, 0, 1, 1}, std::vector<int>{2, 3}, centers);
  EXPECT_EQ(centers(2, 0), -7);
  EXPECT_EQ(centers(3, 0), -8);
}

TEST(KMeansSteps, RandomStartsAreDifferentPointsOfPositiveWeight) {
  const LabelledPoints made = blobs(50, 3, 2, 3, 4);
  std::vector<double> weights(50, 1.0);
  for (int i = 0; i < 50; i += 2) weights[i] = 0;
  const KMeansProblem problem = problem_of(made.points, weights, 25);
  Random random(7);
  const Matrix<float> centers = draw_random_centers(problem, random);
  std::set<float> chosen;
  for (int64_t j = 0; j < 25; ++j) chosen.insert(centers(j, 0));
  EXPECT_EQ(chosen.size(), 25u);
  for (int64_t i = 0; i < 50; ++i)
    EXPECT_EQ(chosen.count(made.points(i, 0)), static_cast<size_t>(i % 2));
}

Matrix<float> plus_plus(const KMeansProblem& problem, uint64_t seed,
                        const Monitor& monitor = silent_monitor()) {
  const Scaling scaling{std::vector<float>(problem.mean.begin(), problem.mean.end()), 1.0f};
  return draw_plus_plus_centers(problem, scaling, Random(seed), monitor);
}

TEST(KMeansSteps, PlusPlusStartsCoverWellSeparatedClusters) {
  const LabelledPoints made = blobs(9000, 4, 20, 40, 5);  // more points than the sample
  const KMeansProblem problem = problem_of(made.points, {}, 20);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Matrix<float> centers = plus_plus(problem, seed);
    std::set<int> covered;
    for (int64_t j = 0; j < 20; ++j)
      for (int64_t i = 0; i < 9000; ++i)
        if (std::equal(centers.row(j), centers.row(j) + 4, made.points.row(i)))
          covered.insert(made.labels[i]);
    // A cluster twice and another never would be a potential thousands of times too large.
    EXPECT_EQ(covered.size(), 20u) << "seed " << seed;
  }
}

TEST(KMeansSteps, PlusPlusDrawsInProportionToSquaredDistances) {
  // The first centre is the only point with a large weight; the second is one of two points at
  // distance 1 and 3 with tiny weights: drawn 1 : 9, two candidates, the better kept. The farther
  // one lowers the potential more, so it loses only when both candidates are the nearer: 1 %.
  Matrix<float> points(3, 1);
  points(1, 0) = 1;
  points(2, 0) = -3;
  const std::vector<double> weights{1, 1e-12, 1e-12};
  const KMeansProblem problem = problem_of(points, weights, 2);
  int num_near = 0;
  constexpr int kRuns = 20000;
  for (uint64_t seed = 0; seed < kRuns; ++seed) num_near += plus_plus(problem, seed)(1, 0) == 1.0f;
  // 200 expected, standard deviation 14.
  EXPECT_NEAR(num_near, 200, 6 * 14);
}

TEST(KMeansSteps, PlusPlusNeverDrawsWeightZeroAndRepeatsOnlyWhenItMust) {
  Matrix<float> points(40, 1);
  for (int64_t i = 0; i < 40; ++i) points(i, 0) = static_cast<float>(i / 2);
  std::vector<double> weights(40, 1.0);
  for (int i = 20; i < 40; ++i) weights[i] = 0;
  const KMeansProblem problem = problem_of(points, weights, 14);
  const Matrix<float> centers = plus_plus(problem, 3);
  std::set<float> chosen(centers.data(), centers.data() + 14);
  EXPECT_EQ(chosen.size(), 10u);
  EXPECT_LT(*chosen.rbegin(), 10);
  for (int64_t j = 10; j < 14; ++j) EXPECT_EQ(centers(j, 0), 0);
}

TEST(KMeansSteps, PlusPlusHasTheSameBitsForAnyNumberOfThreads) {
  const LabelledPoints made = blobs(12000, 6, 30, 3, 6);
  const Matrix<float> one = plus_plus(problem_of(made.points, {}, 60, 1), 4);
  EXPECT_EQ(plus_plus(problem_of(made.points, {}, 60, 3), 4), one);
}

TEST(KMeansSteps, AStoppedPlusPlusFillsTheRest) {
  const LabelledPoints made = blobs(100, 2, 3, 3, 7);
  Monitor monitor;
  monitor.set_time_limit(-1);
  const Matrix<float> centers = plus_plus(problem_of(made.points, {}, 5), 4, monitor);
  for (int64_t j = 0; j < 5; ++j) EXPECT_EQ(centers(j, 1), made.points(0, 1));
}

TEST(KMeansGroups, EveryCenterIsInOneGroupOfWholeTiles) {
  for (const int64_t k : {1, 15, 16, 17, 100, 1024, 1500})
    for (const int max_groups : {1, 7, 64}) {
      const LabelledPoints made = blobs(k, 9, 1, 1, 8);
      const CenterGroups groups = group_centers(made.points, max_groups);
      EXPECT_LE(groups.num_groups, max_groups);
      std::vector<int> seen = groups.centers;
      std::sort(seen.begin(), seen.end());
      ASSERT_EQ(static_cast<int64_t>(seen.size()), k);
      for (int64_t j = 0; j < k; ++j) EXPECT_EQ(seen[j], j);
      for (int g = 0; g < groups.num_groups; ++g) {
        EXPECT_GE(groups.size(g), 1);
        const bool is_ragged = groups.size(g) % kCenterTile != 0;
        EXPECT_FALSE(is_ragged && g + 1 < groups.num_groups);
        for (int i = groups.first[g]; i < groups.first[g + 1]; ++i)
          EXPECT_EQ(groups.group_from_center[groups.centers[i]], g);
      }
    }
}

TEST(KMeansGroups, ScoresAreWithinTheirErrorBounds) {
  for (const double size : {0.01, 1.0, 300.0}) {
    LabelledPoints made = blobs(200, 45, 6, 5, 9);
    for (int64_t i = 0; i < made.points.size(); ++i)
      made.points.data()[i] *= static_cast<float>(size);
    const Scaling scaling{std::vector<float>(45, static_cast<float>(0.5 * size)), 1.0f};
    const Matrix<float> centers(made.points.view().rows_between(0, 64));
    CenterGroups groups = group_centers(centers, 64);
    load_centers(groups, centers, scaling);
    Matrix<int16_t> row(1, groups.row_length);
    for (int64_t i = 64; i < 200; ++i) {
      const QuantisedRow quantised = MILIEU_SELECT_ISA(quantise_row)(
          made.points.row(i), scaling.shift.data(), 1.0f, 45, groups.row_length, row.data());
      for (int g = 0; g < groups.num_groups; ++g) {
        float best = 0, second = 0;
        uint16_t best_center = 0;
        const uint16_t slot = 0;
        ScoreJob job;
        job.points = row.data();
        job.point_scales = &quantised.scale;
        job.row_length = groups.row_length;
        job.slots = &slot;
        job.num_slots = 1;
        job.centers = groups.tiles.row(groups.first_place[g] / kCenterTile);
        job.center_scale = groups.scales[g];
        job.half_norms = groups.half_norms.data() + groups.first_place[g];
        job.num_centers = groups.first_place[g + 1] - groups.first_place[g];
        job.best = &best;
        job.second = &second;
        job.best_center = &best_center;
        job.result_stride = 1;
        MILIEU_SELECT_ISA(score_group)(job);
        std::vector<double> scores;
        for (int c = groups.first[g]; c < groups.first[g + 1]; ++c) {
          double product = 0, squared = 0;
          for (int64_t t = 0; t < 45; ++t) {
            const double center =
                static_cast<double>(centers(groups.centers[c], t)) - scaling.shift[t];
            product += center * (static_cast<double>(made.points(i, t)) - scaling.shift[t]);
            squared += center * center;
          }
          scores.push_back(0.5 * squared - product);
        }
        const double norm = std::sqrt(quantised.squared_norm);
        const double error = quantised.rest * groups.largest_norms[g] +
                             1.002 * norm * groups.slopes[g] + groups.offsets[g];
        EXPECT_NEAR(best, scores[best_center], error);
        std::sort(scores.begin(), scores.end());
        EXPECT_NEAR(best, scores[0], error);
        EXPECT_NEAR(second, scores[1], error);
        // And the bounds are worth something.
        EXPECT_LT(error, 1e-3 * norm * groups.largest_norms[g]);
      }
    }
  }
}

}  // namespace
}  // namespace milieu::internal
