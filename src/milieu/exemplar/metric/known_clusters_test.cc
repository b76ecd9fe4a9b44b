// SPDX-License-Identifier: Apache-2.0
// Sets that hold the clusters of the training sets, and sets that do not.
#include "milieu/exemplar/metric/known_clusters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/exemplar/metric/learn_metric_internal.h"
#include "milieu/metrics/metrics.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr int kColumns = 30;

struct Made {
  Matrix<float> points;
  std::vector<int> labels;
  LearnSet set() const { return {points, labels, {}}; }
};

// Clusters `first`, first + 1, ...: centers of their own in all columns, and one scatter for all
// clusters, far wider along three directions that cross all columns.
Made made(int first, int clusters, int size, uint64_t seed) {
  Random shape(7);
  Matrix<float> center(20, kColumns), wide(3, kColumns);
  for (int64_t i = 0; i < center.size(); ++i)
    center.data()[i] = static_cast<float>(1.2 * shape.normal());
  for (int64_t i = 0; i < wide.size(); ++i)
    wide.data()[i] = static_cast<float>(1.5 * shape.normal());
  Random random(seed);
  Made out{Matrix<float>(int64_t{clusters} * size, kColumns), {}};
  for (int p = 0; p < clusters * size; ++p) {
    out.labels.push_back(p % clusters);
    const double along[] = {random.normal(), random.normal(), random.normal()};
    for (int t = 0; t < kColumns; ++t) {
      double value = center(first + p % clusters, t) + random.normal();
      for (int w = 0; w < 3; ++w) value += along[w] * wide(w, t);
      out.points(p, t) = static_cast<float>(value);
    }
  }
  return out;
}

LearnedDistance learn(const std::vector<LearnSet>& sets, int num_threads = 0) {
  ExemplarLearnOptions options;
  options.train.max_iterations = 30;
  options.train.num_threads = num_threads;
  return learn_exemplar_distance({sets}, options).model;
}

double accuracy(const LearnedDistance& model, const Made& data, KnownSet known, int count) {
  ExemplarOptions options;
  options.known_clusters = known;
  options.num_clusters = count;
  return compute_metrics(fit_learned_exemplar(model, data.points, options).labels, data.labels)
      .accuracy;
}

TEST(KnownClusters, AreFoundAlongTheirAxes_issue28) {
  for (const uint64_t seed : {1, 2}) {
    const LearnedDistance model = learn({made(0, 6, 24, 10 * seed).set()});
    ASSERT_TRUE(model.known.serves("clusters")) << seed;
    EXPECT_EQ(model.known.axes.cols(), 5);
    const Made fresh = made(0, 6, 24, 10 * seed + 1);
    EXPECT_TRUE(compare_with_known(model, fresh.points).holds_known()) << seed;
    const double known = accuracy(model, fresh, KnownSet::Yes, 6);
    EXPECT_GT(known, accuracy(model, fresh, KnownSet::No, 6)) << seed;
    EXPECT_EQ(known, accuracy(model, fresh, KnownSet::Auto, 6)) << seed;
  }
}

TEST(KnownClusters, OtherClustersAreNotTakenForThem_issue28) {
  for (const uint64_t seed : {1, 2}) {
    const LearnedDistance model = learn({made(0, 6, 24, 10 * seed).set()});
    const Made others = made(6, 6, 24, 10 * seed + 1);
    EXPECT_FALSE(compare_with_known(model, others.points).holds_known()) << seed;
    EXPECT_EQ(accuracy(model, others, KnownSet::Auto, 6), accuracy(model, others, KnownSet::No, 6));
  }
}

TEST(KnownClusters, SummarySaysWhichDistanceWasUsed) {
  const LearnedDistance model = learn({made(0, 6, 24, 1).set()});
  const auto message = [&](const Made& data) {
    return fit_learned_exemplar(model, data.points, {}).summary.message;
  };
  EXPECT_THAT(message(made(0, 6, 24, 2)), HasSubstr("separated along the axes of these clusters"));
  EXPECT_THAT(message(made(6, 6, 24, 2)), HasSubstr("under the distance for any clusters"));
}

TEST(KnownClusters, AreForPointsAndMetricsOnly) {
  ExemplarLearnOptions options;
  options.metric = false;
  options.train.max_iterations = 30;
  const Made train = made(0, 6, 24, 1);
  const LearnedDistance model = learn_exemplar_distance({{train.set()}}, options).model;
  EXPECT_TRUE(model.known.empty());
  EXPECT_THAT([&] { accuracy(model, train, KnownSet::Yes, 6); },
              ThrowsMessage<InvalidArgument>(HasSubstr("known_clusters is yes")));
}

TEST(KnownClusters, DoNotDependOnThreads) {
  const Made train = made(0, 6, 24, 1);
  const LearnedDistance one = learn({train.set()}, 1), two = learn({train.set()}, 2);
  EXPECT_EQ(one.known.space, two.known.space);
  EXPECT_EQ(one.known.axes, two.known.axes);
  EXPECT_EQ(one.known.limits, two.known.limits);
  EXPECT_EQ(one.known.penalty, two.known.penalty);
}

// Several sets: clusters have other numbers in each, and cannot be matched.
TEST(KnownClusters, SeveralSetsOfTheSameClusters) {
  std::vector<Made> sets;
  for (uint64_t k = 0; k < 4; ++k) sets.push_back(made(0, 6, 16, 20 + k));
  std::vector<LearnSet> views;
  for (const Made& each : sets) views.push_back(each.set());
  const LearnedDistance model = learn(views);
  ASSERT_TRUE(model.known.serves("clusters"));
  EXPECT_TRUE(compare_with_known(model, made(0, 6, 24, 3).points).holds_known());
  EXPECT_FALSE(compare_with_known(model, made(6, 6, 24, 3).points).holds_known());
}

// Fisher's discriminants are the leading solutions of S_b v = l S_w v with v' S_w v = 1.
TEST(KnownClusters, AxesAreFishersDiscriminants) {
  using Dense = Eigen::MatrixXd;
  const Made train = made(0, 6, 30, 5);
  const LearnInput input{{train.set()}};
  const internal::MetricCandidates metrics =
      internal::fit_metrics(input, {}, std::vector<char>(kColumns, 1), 1, 1, silent_monitor());
  const auto centers = internal::cluster_centers(metrics.space, input, internal::keep_all(input));
  constexpr double kShrinkage = 0.3;
  const auto found = internal::find_discriminants(metrics.all, centers, kShrinkage);
  const Matrix<float>& rows = metrics.space.coordinates[0];
  const Matrix<float> ours = internal::along(found, metrics.all.white(rows, kShrinkage));

  const int64_t n = rows.rows(), r = rows.cols();
  Dense x(n, r), mean = Dense::Zero(6, r);
  for (int64_t p = 0; p < n; ++p)
    for (int64_t j = 0; j < r; ++j) x(p, j) = rows(p, j);
  for (int64_t p = 0; p < n; ++p) mean.row(train.labels[p]) += x.row(p) / 30.0;
  Dense within = Dense::Zero(r, r);
  for (int64_t p = 0; p < n; ++p) {
    const Dense away = x.row(p) - mean.row(train.labels[p]);
    within += away.transpose() * away / static_cast<double>(n - 6);
  }
  within = (1 - kShrinkage) * within +
           kShrinkage * within.trace() / static_cast<double>(r) * Dense::Identity(r, r);
  const Dense about = mean.rowwise() - mean.colwise().mean();
  const Eigen::GeneralizedSelfAdjointEigenSolver<Dense> solver(about.transpose() * about, within);
  const Dense theirs = x * solver.eigenvectors().rightCols(5);
  for (int64_t p = 0; p < n; p += 7)
    for (int64_t q = 0; q < n; q += 5) {
      double squares = 0;
      for (int64_t s = 0; s < 5; ++s) squares += std::pow(ours(p, s) - ours(q, s), 2);
      EXPECT_NEAR(squares, (theirs.row(p) - theirs.row(q)).squaredNorm(), 1e-3 * (1 + squares));
    }
}

TEST(KnownClusters, NewSamplesThatAreNotNumbersAreNamed) {
  const LearnedDistance model = learn({made(0, 6, 24, 1).set()});
  Made fresh = made(0, 6, 24, 2);
  for (int t = 0; t < kColumns; ++t) fresh.points(5, t) = NAN;
  EXPECT_THAT([&] { fit_learned_exemplar(model, fresh.points, {}); },
              ThrowsMessage<Error>(HasSubstr("nan")));
}

TEST(KnownClusters, DamagedOnesAreRefused) {
  const LearnedDistance good = learn({made(0, 6, 24, 1).set()});
  const auto refuses = [&](const char* what, auto&& damage) {
    LearnedDistance bad = good;
    damage(bad.known);
    EXPECT_THAT([&] { check_learned_distance(bad, "a file"); },
                ThrowsMessage<DataError>(HasSubstr(what)));
  };
  check_learned_distance(good, "a file");
  refuses("do not match", [](KnownClusters& k) { k.axes = Matrix<float>(3, 2); });
  refuses("do not match", [](KnownClusters& k) { k.centers = Matrix<float>(3, 2); });
  refuses("not all finite", [](KnownClusters& k) { k.centers(0, 0) = NAN; });
  refuses("not all finite", [](KnownClusters& k) { k.limits.clear(); });
  refuses("use of", [](KnownClusters& k) { k.use = "some"; });
  refuses("penalty for known", [](KnownClusters& k) { k.penalty = {0}; });
  refuses("rules for known", [](KnownClusters& k) { k.penalty_rule = {100}; });
  refuses("rules for known", [](KnownClusters& k) { k.same_cluster = {1, 2}; });
  refuses("rules for known", [](KnownClusters& k) { k.grouping = "tree"; });
}

}  // namespace
}  // namespace milieu
