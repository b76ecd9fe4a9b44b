// SPDX-License-Identifier: Apache-2.0
// Synthetic CRFs for the tests of crf/: random unaries and factors, and minima by enumeration.
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

}  // namespace milieu::internal
