// SPDX-License-Identifier: Apache-2.0
// k-means over ranks gives the bits of k-means on one: labels, centres, trace.
#include <gtest/gtest.h>

#include <string>

#include "milieu/base/random.h"
#include "milieu/base/rows.h"
#include "milieu/classic/kmeans/kmeans.h"

namespace milieu {
namespace {

struct Case {
  std::string name;
  int64_t n = 0;
  KMeansOptions options;
  bool has_weights = false;
  int distinct = 0;  // rows are repeated from so many; 0: all differ
};

KMeansOptions options_with(int k, KMeansInit init, KMeansDistance distance) {
  KMeansOptions options;
  options.num_clusters = k;
  options.num_restarts = 2;
  options.max_iterations = 15;
  options.rel_tolerance = 0;
  options.init = init;
  options.distance = distance;
  options.num_threads = 1;
  return options;
}

// Sizes around the borders of shards: of 1024 rows up to 256 blocks.
std::vector<Case> cases() {
  const KMeansOptions plain = options_with(5, KMeansInit::PlusPlus, KMeansDistance::Euclidean);
  const KMeansOptions random = options_with(7, KMeansInit::Random, KMeansDistance::Euclidean);
  const KMeansOptions cosine = options_with(4, KMeansInit::PlusPlus, KMeansDistance::Cosine);
  const KMeansOptions many = options_with(300, KMeansInit::PlusPlus, KMeansDistance::Euclidean);
  return {{"one shard", 100, plain},
          {"one row in the last shard", 2049, plain, true},
          {"whole shards", 4096, random},
          {"random with weights", 5000, random, true},
          {"cosine", 3000, cosine, true},
          {"more than sixteen shards", 20000, plain},
          {"empty clusters", 6000, many, false, 40}};
}

Matrix<float> points_of(const Case& c) {
  Random random(c.n);
  Matrix<float> points(c.n, 6);
  for (int64_t i = 0; i < c.n; ++i) {
    if (c.distinct > 0 && i >= c.distinct) {
      std::ranges::copy(points.row_span(i % c.distinct), points.row(i));
      continue;
    }
    for (int64_t t = 0; t < 6; ++t)
      points(i, t) = static_cast<float>(random.normal() + 4.0 * static_cast<double>((i % 9) == t));
  }
  // Rows without direction, one in the first shard and one in the last.
  if (c.options.distance == KMeansDistance::Cosine)
    for (const int64_t i : {int64_t{3}, c.n - 1}) std::ranges::fill(points.row_span(i), 0.0f);
  return points;
}

std::vector<double> weights_of(const Case& c) {
  if (!c.has_weights) return {};
  Random random(7);
  std::vector<double> weights(c.n);
  for (double& w : weights) w = random.uniform() < 0.3 ? 0 : random.uniform();
  for (int64_t i = 0; i < std::min<int64_t>(c.n, 1500); ++i) weights[i] = 0;  // the first shard
  return weights;
}

// What a rank has of something that has one entry per row.
std::vector<int> own_part(const Rows& rows, const std::vector<int>& all) {
  return {all.begin() + rows.begin(), all.begin() + rows.end()};
}

TEST(KMeansRanks, AnyNumberOfRanksGivesTheBitsOfOne) {
  for (const Case& c : cases()) {
    const Matrix<float> points = points_of(c);
    const std::vector<double> weights = weights_of(c);
    const KMeansResult alone = fit_kmeans({points, weights, {}}, c.options);
    for (const int size : {2, 3, 7}) {
      run_as_ranks(size, [&](Communicator& ranks) {
        const Rows rows(c.n, KMeansInput::kBlockRows, ranks);
        KMeansInput input;
        input.points = points.view().rows_between(rows.begin(), rows.end());
        if (c.has_weights)
          input.weights = std::span(weights).subspan(rows.begin(), rows.own_size());
        input.rows = &rows;
        const KMeansResult shared = fit_kmeans(input, c.options);
        SCOPED_TRACE(c.name + ", rank " + std::to_string(ranks.rank()) + " of " +
                     std::to_string(size));
        EXPECT_EQ(shared.model.centers, alone.model.centers);
        EXPECT_EQ(shared.summary.trace, alone.summary.trace);
        EXPECT_EQ(shared.summary.objective, alone.summary.objective);
        EXPECT_EQ(shared.summary.sizes, alone.summary.sizes);
        EXPECT_EQ(shared.summary.warnings, alone.summary.warnings);
        EXPECT_EQ(shared.summary.restart, alone.summary.restart);
        EXPECT_EQ(shared.labels, own_part(rows, alone.labels));
      });
    }
  }
}

// A monitor that stops after a few iterations, on one rank only.
class StopAfter : public Monitor {
 public:
  StopAfter(std::stop_source& source, int iterations)
      : Monitor(source.get_token()), source_(source), left_(iterations) {}
  void on_iteration(const IterationReport&) override {
    if (--left_ == 0) source_.request_stop();
  }

 private:
  std::stop_source& source_;
  int left_;
};

TEST(KMeansRanks, AStopOnOneRankStopsAllAtTheSameIteration) {
  const Case c = cases().back();
  const Matrix<float> points = points_of(c);
  std::stop_source alone_source;
  StopAfter alone_monitor(alone_source, 2);
  const KMeansResult alone = fit_kmeans({points, {}, {}}, c.options, alone_monitor);
  EXPECT_EQ(alone.summary.termination, Termination::Cancelled);
  run_as_ranks(3, [&](Communicator& ranks) {
    const Rows rows(c.n, KMeansInput::kBlockRows, ranks);
    std::stop_source source;
    StopAfter monitor(source, ranks.rank() == 2 ? 2 : 1000);
    KMeansInput input;
    input.points = points.view().rows_between(rows.begin(), rows.end());
    input.rows = &rows;
    const KMeansResult shared = fit_kmeans(input, c.options, monitor);
    EXPECT_EQ(shared.summary.termination, Termination::Cancelled);
    EXPECT_EQ(shared.model.centers, alone.model.centers);
    EXPECT_EQ(shared.summary.trace, alone.summary.trace);
    EXPECT_EQ(shared.labels, own_part(rows, alone.labels));
  });
}

TEST(KMeansRanks, WrongWeightsOfOneRankAreNamedByTheirPlaceInAll) {
  const Matrix<float> points = points_of(cases()[3]);
  std::vector<double> weights(5000, 1.0);
  weights[4999] = -1;
  try {
    run_as_ranks(2, [&](Communicator& ranks) {
      const Rows rows(5000, KMeansInput::kBlockRows, ranks);
      KMeansInput input;
      input.points = points.view().rows_between(rows.begin(), rows.end());
      input.weights = std::span(weights).subspan(rows.begin(), rows.own_size());
      input.rows = &rows;
      fit_kmeans(input, KMeansOptions());
    });
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "weights[4999] is -1, must be finite and at least 0");
  }
}

}  // namespace
}  // namespace milieu
