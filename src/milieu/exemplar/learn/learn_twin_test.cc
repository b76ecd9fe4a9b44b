// SPDX-License-Identifier: Apache-2.0
// The clustering instance three times: as a graph of crf/graph_example.h with its own slaves, as
// the exact special code, as the fast one. All must take the same path.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "milieu/base/random.h"
#include "milieu/exemplar/learn/cluster_example_internal.h"
#include "milieu/exemplar/learn/cluster_graph.h"
#include "milieu/exemplar/learn/learn.h"

namespace milieu {
namespace {

using internal::ClusterExampleOptions;

struct Case {
  Matrix<float> points;
  std::vector<int> labels;
  int num_clusters = 0;
};

Case made_case(int n, int d, int num_clusters, uint64_t seed) {
  Random random(seed);
  Case made{Matrix<float>(n, d), {}, num_clusters};
  for (int p = 0; p < n; ++p) {
    made.labels.push_back(p % num_clusters);
    for (int t = 0; t < d; ++t)
      made.points(p, t) = static_cast<float>(random.normal() + (t == 0 ? 2 * made.labels[p] : 0));
  }
  return made;
}

double feature(const Case& c, int p, int q, int t) {
  const double difference = static_cast<double>(c.points(p, t)) - c.points(q, t);
  return difference * difference;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

CrfTrainResult train(CrfExample& example, std::vector<double> start, double dual_step, int rounds) {
  CrfTrainInput input;
  input.examples = {&example};
  input.start = std::move(start);
  CrfTrainOptions options;
  options.max_iterations = rounds;
  options.dual_step = dual_step;
  options.num_threads = 1;
  return train_latent_crf(input, options);
}

// Two-label duals move both ways, so the framework's steps are half as long.
TEST(LearnTwins, FrameworkEqualsTheSpecialCode) {
  for (const bool learn_penalty : {false, true}) {
    const Case c = made_case(14, 3, 3, 7);
    ClusterExampleOptions options{0.8, 1.1, 3.0, learn_penalty, 1};
    std::vector<double> start = {0.9, 1.0, 1.1};
    if (learn_penalty) start.push_back(3.0);
    const auto general = make_cluster_graph_example(
        c.points, c.labels, {options.alpha, options.beta, options.penalty, learn_penalty}, 1);
    const auto special = internal::make_exact_cluster_example(
        make_coordinate_features(c.points), c.labels, {1, 1, 1}, options, silent_monitor());
    const CrfTrainResult a = train(*general, start, 0.5, 60);
    const CrfTrainResult b = train(*special, start, 1, 60);
    ASSERT_EQ(a.rounds.size(), b.rounds.size());
    for (size_t i = 0; i < a.rounds.size(); ++i) {
      EXPECT_NEAR(a.rounds[i].energy, b.rounds[i].energy, 1e-12);
      EXPECT_NEAR(a.rounds[i].bound, b.rounds[i].bound, 1e-12);
    }
    for (size_t t = 0; t < start.size(); ++t) EXPECT_NEAR(a.weights[t], b.weights[t], 1e-12);
  }
}

TEST(LearnTwins, FastEqualsExact) {
  for (const int n : {9, 16, 67, 300}) {  // one block of distances, and several
    const Case c = made_case(n, 5, 4, static_cast<uint64_t>(n));
    const ClusterExampleOptions options{1, 1, 4, true, 1};
    const std::vector<double> scale = {0.5, 1, 2, 1, 0.3};
    const auto make = [&](auto maker) {
      return maker(make_coordinate_features(c.points), c.labels, scale, options, silent_monitor());
    };
    const auto fast = make(internal::make_cluster_example);
    const auto exact = make(internal::make_exact_cluster_example);
    const std::vector<double> start = {0.6, 0.6, 0.6, 0.6, 0.6, 4};
    // A choice that depends on the last bits may separate them later on: few rounds, then the
    // values.
    const CrfTrainResult a = train(*fast, start, 1, 5), b = train(*exact, start, 1, 5);
    for (size_t i = 0; i < a.rounds.size(); ++i) {
      EXPECT_NEAR(a.rounds[i].energy, b.rounds[i].energy, 1e-4);
      EXPECT_NEAR(a.rounds[i].bound, b.rounds[i].bound, 1e-4);
    }
    for (size_t t = 0; t < start.size(); ++t) EXPECT_NEAR(a.weights[t], b.weights[t], 1e-3);
  }
}

// Columns come and go with their weights, and what is left of earlier ones does no harm.
TEST(LearnTwins, CoordinateDistancesFollowTheWeights) {
  const Case c = made_case(37, 4, 3, 5);
  const auto features = make_coordinate_features(c.points);
  for (const std::vector<double>& w : {std::vector<double>{1, 0, 2, 0.5},
                                       {0, 3, 0, 0},
                                       {0, 0, 0, 0},
                                       {0.5, 1, 1, 2},
                                       {0, 3, 0, 0}}) {
    features->set_weights(w);
    Matrix<float> fast(37, 37);
    Matrix<double> exact(37, 37);
    features->rows(0, fast.view());
    features->rows(0, exact.view());
    for (int64_t i = 0; i < fast.size(); ++i) EXPECT_NEAR(fast.data()[i], exact.data()[i], 1e-4);
  }
}

// dual <= relaxation <= minimum: the bound never exceeds the least margin energy, whatever the
// weights and however long the duals have moved.
TEST(LearnTwins, BoundNeverExceedsTheMinimum) {
  const Case c = made_case(9, 2, 3, 3);
  const int n = 9;
  const ClusterExampleOptions options{0.7, 1, 2.5, false, 1};
  const auto fast = internal::make_cluster_example(make_coordinate_features(c.points), c.labels,
                                                   {1, 1}, options, silent_monitor());
  Random random(4);
  for (int round = 1; round <= 200; ++round) {
    const std::vector<double> w = {random.uniform(0, 1), random.uniform(0, 1)};
    double least = kInfinity;
    for (int set = 1; set < (1 << n); ++set) {
      double energy = -options.beta * n;
      std::vector<int> count(3, 0);
      for (int p = 0; p < n; ++p) {
        double cheapest = kInfinity;
        for (int q = 0; q < n; ++q)
          if (set >> q & 1)
            cheapest = std::min(cheapest, w[0] * feature(c, p, q, 0) + w[1] * feature(c, p, q, 1) +
                                              (c.labels[p] == c.labels[q] ? options.beta : 0.0));
        const bool is_open = set >> p & 1;
        energy += is_open ? options.penalty + options.beta : cheapest;
        count[c.labels[p]] += is_open;
      }
      for (const int k : count) energy -= options.alpha * std::abs(1 - k);
      least = std::min(least, energy);
    }
    std::vector<double> gradient(2);
    fast->complete(w);
    EXPECT_LE(fast->descend(w, 1 / std::sqrt(round), gradient).bound, least + 1e-4);
  }
}

}  // namespace
}  // namespace milieu
