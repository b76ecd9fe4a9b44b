// SPDX-License-Identifier: Apache-2.0
#include "milieu/crf/slave.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/crf/crf_cases_internal.h"
#include "milieu/crf/graph.h"
#include "milieu/crf/max_flow_internal.h"

namespace milieu {
namespace {

using internal::least_cost;
using internal::random_unaries;
using internal::total_cost;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Factors = std::vector<std::shared_ptr<const CrfFactor>>;

void expect_exact(const CrfSlave& slave, const std::vector<double>& w, Random& random) {
  for (int round = 0; round < 60; ++round) {
    const CrfUnaries unaries = random_unaries(slave.num_labels(), random);
    std::vector<int> labels(slave.variables().size());
    const double found = slave.minimise(unaries, w, labels);
    EXPECT_NEAR(found, least_cost(slave, unaries, w), 1e-9);
    EXPECT_NEAR(total_cost(slave, unaries, labels, w), found, 1e-9);
  }
}

std::shared_ptr<const CrfFactor> random_table(int a, int b, int la, int lb, Random& random) {
  std::vector<LinearCost> costs;
  for (int i = 0; i < la * lb; ++i) costs.push_back({random.uniform(-1, 1), {{0, 0.5}}});
  return std::make_shared<TableFactor>(std::vector<int>{a, b}, std::vector<int>{la, lb}, costs);
}

TEST(Slave, TreesEqualEnumeration) {
  Random random(1);
  // A forest: 4 - 1 - 0 - 2, 2 - 3 and 5 - 6, with different numbers of labels.
  const std::vector<int> labels = {2, 3, 2, 4, 2, 3, 2};
  const TreeSlave tree({random_table(0, 1, 2, 3, random), random_table(1, 4, 3, 2, random),
                        random_table(2, 0, 2, 2, random), random_table(3, 2, 4, 2, random),
                        random_table(5, 6, 3, 2, random)});
  expect_exact(tree, {0.3}, random);
}

TEST(Slave, CutsEqualEnumeration) {
  Random random(2);
  for (int round = 0; round < 10; ++round) {
    Factors factors;
    const int n = 3 + static_cast<int>(random.uniform_index(5));
    for (int a = 0; a < n; ++a)
      for (int b = a + 1; b < n; ++b) {
        if (random.uniform() < 0.4 && factors.size() > 1) continue;
        // Any submodular table: four free values, one of them high enough.
        const double v00 = random.uniform(-1, 1), v11 = random.uniform(-1, 1),
                     v10 = random.uniform(-1, 1), v01 = v00 + v11 - v10 + random.uniform(0, 1.5);
        factors.push_back(std::make_shared<TableFactor>(
            std::vector<int>{a, b}, std::vector<int>{2, 2},
            std::vector<LinearCost>{
                constant_cost(v00), constant_cost(v01), constant_cost(v10), {v11, {}}}));
      }
    expect_exact(CutSlave(factors), {}, random);
  }
}

TEST(Slave, CutRefusesWhatIsNotSubmodular) {
  const CutSlave cut({std::make_shared<PottsFactor>(4, 9, 2, weighted_cost(0))});
  std::vector<int> labels(2);
  const CrfUnaries unaries = {{0, 1}, {1, 0}};
  EXPECT_NEAR(cut.minimise(unaries, std::vector<double>{0.5}, labels), 0.5, 1e-12);
  EXPECT_THAT([&] { cut.minimise(unaries, std::vector<double>{-0.5}, labels); },
              ThrowsMessage<InvalidArgument>(HasSubstr("between variables 4 and 9 is not submod")));
}

// Pairs, concave counts, P^n and robust P^n factors that share variables, in one cut.
TEST(Slave, CutsOfHigherOrderEqualEnumeration_issue30) {
  Random random(3);
  for (int round = 0; round < 10; ++round) {
    Factors factors;
    for (int v = 0; v < 4; ++v)
      factors.push_back(std::make_shared<PottsFactor>(v, v + 1, 2, weighted_cost(0)));
    std::vector<LinearCost> concave = {constant_cost(random.uniform(-1, 1))};
    double slope = random.uniform(0, 1);
    for (int c = 1; c <= 4; ++c, slope -= random.uniform(0, 0.8))
      concave.push_back(constant_cost(concave.back().constant + slope));
    factors.push_back(std::make_shared<CountFactor>(std::vector<int>{4, 0, 3, 1}, concave));
    factors.push_back(std::make_shared<PnFactor>(
        std::vector<int>{1, 2, 3},
        std::vector<LinearCost>{constant_cost(random.uniform(-0.5, 0)), constant_cost(0)},
        weighted_cost(1)));
    factors.push_back(std::make_shared<LatentPnFactor>(9, std::vector<int>{0, 1, 2, 3, 4}, 2,
                                                       weighted_cost(0), weighted_cost(1)));
    factors.push_back(std::make_shared<LatentPnFactor>(8, std::vector<int>{2, 4}, 2,
                                                       weighted_cost(1), constant_cost(0.2)));
    expect_exact(CutSlave(factors), {random.uniform(0, 1), random.uniform(0.3, 1)}, random);
  }
}

TEST(Slave, CutRefusesCountsThatAreNotConcave_issue30) {
  const CutSlave cut({std::make_shared<CountFactor>(
      std::vector<int>{5, 6, 7},
      std::vector<LinearCost>{{}, weighted_cost(0), weighted_cost(0, 4), weighted_cost(0, 9)})});
  std::vector<int> labels(3);
  const CrfUnaries unaries = {{0, 1}, {1, 0}, {0, 0}};
  EXPECT_THAT(
      [&] { cut.minimise(unaries, std::vector<double>{1}, labels); },
      ThrowsMessage<InvalidArgument>(HasSubstr("is not concave in the number of labels 1")));
  // Turned round it is concave.
  EXPECT_NEAR(cut.minimise(unaries, std::vector<double>{-1}, labels), -8, 1e-12);
  EXPECT_EQ(labels, (std::vector<int>{1, 1, 1}));
  const CutSlave robust({std::make_shared<LatentPnFactor>(0, std::vector<int>{1, 2}, 2,
                                                          weighted_cost(0), constant_cost(1))});
  const CrfUnaries three = {{0, 0, 0}, {0, 1}, {1, 0}};
  EXPECT_THAT([&] { robust.minimise(three, std::vector<double>{-1}, labels); },
              ThrowsMessage<InvalidArgument>(HasSubstr("members that disagree")));
}

TEST(Slave, BadSlavesAreNamed) {
  const auto edge = [](int a, int b) {
    return std::make_shared<PottsFactor>(a, b, 2, constant_cost(1));
  };
  EXPECT_THAT(([&] {
                TreeSlave({edge(0, 1), edge(1, 2), edge(2, 0)});
              }),
              ThrowsMessage<InvalidArgument>(HasSubstr("close a cycle")));
  const auto wide = std::make_shared<PottsFactor>(0, 1, 3, constant_cost(1));
  EXPECT_THAT(([&] { CutSlave({wide}); }), ThrowsMessage<InvalidArgument>(HasSubstr("3 labels")));
  EXPECT_THAT(([&] {
                TreeSlave({edge(0, 2), wide});
              }),
              ThrowsMessage<InvalidArgument>(HasSubstr("2 labels in one factor and 3 in another")));
  CrfGraph graph;
  graph.add_variable({LinearCost(), LinearCost()});
  EXPECT_THAT([&] { graph.add_clique(edge(0, 1)); },
              ThrowsMessage<InvalidArgument>(HasSubstr("names variable 1, the graph has 1")));
}

// A grid of 3 x 3 with Potts factors, cut into rows and columns.
CrfGraph made_grid(int num_labels, Random& random) {
  CrfGraph graph;
  for (int v = 0; v < 9; ++v) {
    std::vector<LinearCost> costs;
    for (int l = 0; l < num_labels; ++l) costs.push_back(constant_cost(random.uniform(-1, 1)));
    graph.add_variable(costs);
  }
  const auto edge = [&](int a, int b) {
    return std::make_shared<PottsFactor>(a, b, num_labels, weighted_cost(0));
  };
  for (int i = 0; i < 3; ++i) {
    graph.add_slave(
        std::make_shared<TreeSlave>(Factors{edge(3 * i, 3 * i + 1), edge(3 * i + 1, 3 * i + 2)}));
    graph.add_slave(std::make_shared<TreeSlave>(Factors{edge(i, i + 3), edge(i + 3, i + 6)}));
  }
  return graph;
}

TEST(Graph, BoundNeverExceedsTheLeastEnergy) {
  Random random(3);
  const std::vector<double> w = {0.4};
  int num_met = 0;
  for (int round = 0; round < 20; ++round) {
    const CrfGraph graph = made_grid(2 + round % 2, random);
    const double least = internal::least_energy(graph, w);
    const CrfSolution found = minimise_crf(graph, w);
    EXPECT_LE(found.bound, least + 1e-9);
    EXPECT_GE(found.energy, least - 1e-9);
    EXPECT_NEAR(graph.energy(found.labels, w), found.energy, 1e-12);
    num_met += found.energy < least + 1e-9;
  }
  EXPECT_GE(num_met, 15);  // the relaxation of Potts grids this small is nearly always tight
}

}  // namespace
}  // namespace milieu
