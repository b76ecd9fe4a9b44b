// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/random.h"
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/exemplar/metric/learn_metric_internal.h"

namespace milieu::internal {
namespace {

struct Made {
  Matrix<float> points;
  std::vector<int> labels;
  LearnSet set() const { return {points, labels, {}}; }
};

// Clusters differ by `shift` in the first column; the second one varies ten times as much.
Made made(int n, int columns, int clusters, double shift, uint64_t seed) {
  Random random(seed);
  Made out{Matrix<float>(n, columns), {}};
  for (int p = 0; p < n; ++p) {
    out.labels.push_back(p % clusters);
    for (int t = 0; t < columns; ++t)
      out.points(p, t) = static_cast<float>((t == 1 ? 10 : 1) * random.normal() +
                                            (t == 0 ? shift * (p % clusters) : 0));
  }
  return out;
}

std::vector<char> kept(size_t count) { return std::vector<char>(count, 1); }

// Mean distance of pairs within clusters over that of pairs between them.
double within_over_between(const Matrix<float>& d, const std::vector<int>& labels) {
  double sums[2] = {0, 0}, counts[2] = {0, 0};
  for (int64_t p = 0; p < d.rows(); ++p)
    for (int64_t q = 0; q < d.rows(); ++q) {
      if (p == q) continue;
      const int same = labels[p] == labels[q];
      sums[same] += d(p, q);
      ++counts[same];
    }
  return (sums[1] / counts[1]) / (sums[0] / counts[0]);
}

Matrix<float> squared_distances(const Matrix<float>& rows) {
  Matrix<float> d(rows.rows(), rows.rows());
  pair_distances(Distance::SquaredEuclidean, rows, rows, d);
  return d;
}

// What a metric fitted to labels without meaning makes of the samples it has seen, where r columns
// have the same variance: with S the covariance within clusters of n samples, the metric is
// proportional to (S + z)^-1, and by the law of Marchenko and Pastur its mean eigenvalue m solves
// m (1 - g + z + g z m) = 1, g = r / degrees of freedom. So the trace of S (S + z)^-1 is 1 - z m,
// that of the true covariance is m.
double flattered_ratio(double n, double r, double clusters, double shrinkage) {
  const double z = shrinkage / (1 - shrinkage), freedom = n - clusters, g = r / freedom;
  const double b = 1 - g + z, m = (std::sqrt(b * b + 4 * g * z) - b) / (2 * g * z);
  const double within = 1 - z * m, all = (freedom * within + (clusters - 1) * m) / (n - 1);
  const double same = (n / clusters - 1) / (n - 1);  // share of pairs within clusters
  return within / ((all - same * within) / (1 - same));
}

// Labels without meaning: a metric that has seen them separates the samples it has seen, the
// cross-fitted one does not. Tolerances are three standard errors: a distance in about 50
// dimensions varies by a fifth, and 120 samples are independent.
TEST(LearnMetric, CrossFittingDoesNotFlatter_issue28) {
  const Made noise = made(120, 90, 12, 0, 1);
  const LearnInput input{{noise.set()}};
  const MetricCandidates metrics = fit_metrics(input, {}, kept(90), 1, 1, silent_monitor());
  const std::vector<double> first = {1, 0, 0};
  const Matrix<float> seen = squared_distances(metric_coordinates(
      joined_projection(metrics, first), metrics.space.is_root, noise.points, 1));
  EXPECT_NEAR(within_over_between(seen, noise.labels), flattered_ratio(120, 90, 12, 0.1), 0.06);
  EXPECT_LT(flattered_ratio(120, 90, 12, 0.1), 0.86);
  for (const Matrix<float>& each : metrics.distances[0])
    EXPECT_NEAR(within_over_between(each, noise.labels), 1, 0.06);
  // Several sets: by the metric of the others.
  const Made other = made(120, 90, 12, 0, 2);
  const MetricCandidates two =
      fit_metrics({{noise.set(), other.set()}}, {}, kept(90), 1, 1, silent_monitor());
  for (const auto& set : two.distances)
    EXPECT_NEAR(within_over_between(set[0], noise.labels), 1, 0.06);
}

TEST(LearnMetric, VarianceWithinClustersIsDiscounted) {
  const Made two = made(150, 5, 3, 4, 3);
  const MetricCandidates metrics = fit_metrics({{two.set()}}, {}, kept(5), 1, 1, silent_monitor());
  // Columns are scaled to variance 1. Of the first one, 16 * 2 / 3 of 1 + 16 * 2 / 3 is between
  // clusters; the mean of |x - y|^2 is twice the variance within, and 32 / (1 + 16 * 2 / 3) more
  // between clusters. A factor is 1 / ((1 - l) variance within + l times its mean).
  const double total = 1 + 16.0 * 2 / 3, first = 1 / total, mean = (first + 4) / 5;
  for (int64_t l = 0; l < kNumMetrics; ++l) {
    const Matrix<float>& each = metrics.distances[0][l];
    const double shrink = kShrinkages[l], of_first = 1 / ((1 - shrink) * first + shrink * mean);
    const double within = 2 * (first * of_first + 4 / (1 - shrink + shrink * mean));
    const double expected = within / (within + 32 / total * of_first);
    // Three standard errors: the variance within 147 free samples and 4 columns varies by 6 %.
    EXPECT_NEAR(within_over_between(each, two.labels), expected, 0.18 * expected) << shrink;
    for (int64_t p = 0; p < each.rows(); ++p) {
      EXPECT_EQ(each(p, p), 0);
      for (int64_t q = 0; q < p; ++q) {
        EXPECT_FLOAT_EQ(each(p, q), each(q, p));
        EXPECT_GT(each(p, q), 0);
      }
    }
  }
}

// The weighted sum of the metrics is one metric.
TEST(LearnMetric, JoinedProjectionIsTheWeightedSum) {
  const Made some = made(110, 6, 4, 2, 5);
  const MetricCandidates metrics = fit_metrics({{some.set()}}, {}, kept(6), 1, 1, silent_monitor());
  const auto distances = [&](std::vector<double> weights) {
    return squared_distances(metric_coordinates(joined_projection(metrics, weights),
                                                metrics.space.is_root, some.points, 1));
  };
  const Matrix<float> sum = distances({2, 0.5, 3}), a = distances({1, 0, 0}),
                      b = distances({0, 1, 0}), c = distances({0, 0, 1});
  for (int64_t i = 0; i < sum.size(); ++i)
    EXPECT_NEAR(sum.data()[i], 2 * a.data()[i] + 0.5 * b.data()[i] + 3 * c.data()[i],
                1e-3 * (1 + sum.data()[i]));
  EXPECT_TRUE(joined_projection(metrics, std::vector<double>{0, 0, 0}).empty());
}

TEST(LearnMetric, RootsAreTakenOfHistogramsOnly) {
  Made bags = made(110, 6, 4, 2, 6);
  for (int64_t i = 0; i < bags.points.size(); ++i)
    bags.points.data()[i] = std::abs(bags.points.data()[i]);
  const std::vector<CandidateDistance> candidates = {
      {"a chi-squared", Distance::ChiSquared, 0, 0, 3},
      {"a l1", Distance::L1, 0, 0, 3},
      {"b l1", Distance::L1, 0, 3, 3}};
  const LearnInput input{{bags.set()}, candidates};
  const MetricCandidates metrics = fit_metrics(input, candidates, kept(3), 1, 1, silent_monitor());
  EXPECT_EQ(metrics.space.is_root, (std::vector<int64_t>{1, 1, 1, 0, 0, 0}));
}

TEST(LearnMetric, ScreenedColumnsAreNotInTheMetric) {
  const Made some = made(110, 6, 4, 2, 9);
  const MetricCandidates metrics =
      fit_metrics({{some.set()}}, {}, {1, 0, 1, 1, 0, 1}, 1, 1, silent_monitor());
  for (int64_t j = 0; j < metrics.space.map.cols(); ++j) {
    EXPECT_EQ(metrics.space.map(1, j), 0);
    EXPECT_EQ(metrics.space.map(4, j), 0);
  }
  EXPECT_NE(metrics.space.map(0, 0), 0);
}

TEST(LearnMetric, JoinedFeaturesAreTheBaseAndTheMatrices) {
  const Made some = made(30, 4, 3, 1, 8);
  std::vector<Matrix<float>> matrices = {squared_distances(some.points)};
  const auto base = make_coordinate_features(some.points);
  const auto joined = make_joined_features(make_coordinate_features(some.points), matrices);
  ASSERT_EQ(joined->num_features(), 5);
  base->set_weights(std::vector<double>{1, 2, 0, 3});
  joined->set_weights(std::vector<double>{1, 2, 0, 3, 0.5});
  Matrix<float> plain(30, 30), all(30, 30), upper(30, 30);
  base->rows(0, plain);
  joined->rows(0, all);
  joined->upper_rows(0, upper);
  for (int64_t i = 0; i < all.size(); ++i)
    EXPECT_NEAR(all.data()[i], plain.data()[i] + 0.5 * matrices[0].data()[i], 1e-2);
  EXPECT_EQ(all, upper);
  std::vector<double> sum(5, 0.0);
  joined->add_pair(3, 7, 2, sum);
  EXPECT_FLOAT_EQ(sum[4], 2 * matrices[0](3, 7));
  EXPECT_EQ(joined->sums(1).size(), 5u);
}

}  // namespace
}  // namespace milieu::internal
