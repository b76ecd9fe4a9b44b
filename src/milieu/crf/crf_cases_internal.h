// SPDX-License-Identifier: Apache-2.0
// Synthetic CRFs for the tests of crf/: random unaries and factors, and minima by enumeration;
// chains to train on.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/crf/graph.h"

namespace milieu::internal {

inline CrfUnaries random_unaries(const std::vector<int>& num_labels, Random& random) {
  CrfUnaries unaries;
  for (const int labels : num_labels) {
    std::vector<double>& costs = unaries.emplace_back();
    for (int l = 0; l < labels; ++l) costs.push_back(random.uniform(-1, 1));
  }
  return unaries;
}

// Calls use(labels) for every labelling.
template <class Use>
void for_each_labelling(const std::vector<int>& num_labels, Use&& use) {
  std::vector<int> labels(num_labels.size(), 0);
  while (true) {
    use(labels);
    size_t i = labels.size();
    while (i > 0 && ++labels[i - 1] == num_labels[i - 1]) labels[--i] = 0;
    if (i == 0) return;
  }
}

// Unaries + factors of a slave or of a factor.
template <class Part>
double total_cost(const Part& part, const CrfUnaries& unaries, const std::vector<int>& labels,
                  const std::vector<double>& w) {
  double cost = part.value(labels, w);
  for (size_t i = 0; i < labels.size(); ++i) cost += unaries[i][labels[i]];
  return cost;
}

template <class Part>
double least_cost(const Part& part, const CrfUnaries& unaries, const std::vector<double>& w) {
  double best = std::numeric_limits<double>::infinity();
  for_each_labelling(part.num_labels(), [&](const std::vector<int>& labels) {
    best = std::min(best, total_cost(part, unaries, labels, w));
  });
  return best;
}

inline double least_energy(const CrfGraph& graph, const std::vector<double>& w) {
  std::vector<int> num_labels;
  for (int v = 0; v < graph.num_variables(); ++v) num_labels.push_back(graph.num_labels(v));
  double best = std::numeric_limits<double>::infinity();
  for_each_labelling(num_labels, [&](const std::vector<int>& labels) {
    best = std::min(best, graph.energy(labels, w));
  });
  return best;
}

// A chain of binary variables whose unary sees the truth through noise (weight 0), neighbours that
// like to agree (weight 1), and a latent choice per block of four (weights 2 and 3).
struct Chain {
  CrfGraph graph;
  std::vector<int> observed;
};

inline Chain made_chain(int n, bool has_latent, double noise, uint64_t seed) {
  Random random(seed);
  Chain chain;
  std::vector<int> truth;
  for (int v = 0; v < n; ++v) {
    truth.push_back(v / 4 % 2);
    const double seen = truth[v] + noise * random.normal();
    chain.graph.add_variable({weighted_cost(0, seen), weighted_cost(0, 1 - seen)});
  }
  chain.observed = truth;
  for (int v = 0; v + 1 < n; ++v)
    chain.graph.add_clique(std::make_shared<PottsFactor>(v, v + 1, 2, weighted_cost(1)));
  for (int v = 0; has_latent && v + 4 <= n; v += 4) {
    const int choice = chain.graph.add_variable({{}, {}, {}});
    chain.observed.push_back(-1);
    chain.graph.add_clique(std::make_shared<LatentPnFactor>(
        choice, std::vector<int>{v, v + 1, v + 2, v + 3}, 2, weighted_cost(2), weighted_cost(3)));
  }
  for (int v = 0; v < n; ++v) chain.graph.add_to_wrong_labels(v, truth[v], -1);  // Hamming margin
  return chain;
}

}  // namespace milieu::internal
