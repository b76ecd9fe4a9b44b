// SPDX-License-Identifier: Apache-2.0
// Nearest neighbours as a graph of memberships [McInnes18, Alg. 2 and 3].
#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/report/map/neighbor_map.h"

namespace milieu::internal {

namespace {

constexpr int kRounds = 64;           // of the bisection
constexpr double kLeastWidth = 1e-3;  // of a row's mean distance

double membership(double distance, double nearest, double width) {
  return distance <= nearest ? 1 : std::exp(-(distance - nearest) / width);
}

// The width at which the memberships sum to `target`; they grow with it.
double width_for(std::span<const double> distances, double nearest, double target) {
  const auto sum = [&](double width) {
    double total = 0;
    for (const double d : distances) total += membership(d, nearest, width);
    return total;
  };
  double low = 0, high = 1;
  while (sum(high) < target && high < 1e30) low = high, high *= 2;
  for (int round = 0; round < kRounds; ++round) {
    const double middle = (low + high) / 2;
    (sum(middle) < target ? low : high) = middle;
  }
  return (low + high) / 2;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<size_t>(1, values.size()));
}

struct Pair {
  int from = 0, to = 0;
  float weight = 0;
};

// Pairs of both directions, by their first row.
std::vector<std::vector<Pair>> both_directions(const NeighborLists& nearest) {
  const int64_t n = nearest.indices.rows(), k = nearest.indices.cols();
  Matrix<double> distances(n, k);
  for (int64_t i = 0; i < distances.size(); ++i)
    distances.data()[i] = std::sqrt(nearest.squared_distances.data()[i]);
  const double mean = mean_of({distances.data(), static_cast<size_t>(distances.size())});
  std::vector<std::vector<Pair>> pairs(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const std::vector<float> weights =
        memberships({distances.row(i), static_cast<size_t>(k)}, mean);
    for (int64_t j = 0; j < k; ++j) {
      const int other = nearest.indices(i, j);
      const float weight = weights[static_cast<size_t>(j)];
      pairs[static_cast<size_t>(i)].push_back({static_cast<int>(i), other, weight});
      pairs[static_cast<size_t>(other)].push_back({other, static_cast<int>(i), weight});
    }
  }
  return pairs;
}

}  // namespace

std::vector<float> memberships(std::span<const double> distances, double mean) {
  const auto first = std::ranges::find_if(distances, [](double d) { return d > 0; });
  const double nearest = first == distances.end() ? 0 : *first;
  const double target = std::log2(static_cast<double>(distances.size() + 1));
  const double own_mean = mean_of(distances);
  const double width = std::max({width_for(distances, nearest, target),
                                 kLeastWidth * (nearest > 0 ? own_mean : mean), 1e-30});
  std::vector<float> weights;
  for (const double d : distances)
    weights.push_back(static_cast<float>(membership(d, nearest, width)));
  return weights;
}

NeighborGraph neighbor_graph(const NeighborLists& nearest) {
  NeighborGraph graph;
  graph.offsets.push_back(0);
  for (std::vector<Pair>& pairs : both_directions(nearest)) {
    std::ranges::sort(pairs, {}, [](const Pair& pair) { return std::pair(pair.to, pair.weight); });
    for (size_t e = 0; e < pairs.size(); ++e) {
      const bool is_mutual = e + 1 < pairs.size() && pairs[e + 1].to == pairs[e].to;
      const float other = is_mutual ? pairs[e + 1].weight : 0;
      graph.rows.push_back(pairs[e].to);
      graph.weights.push_back(pairs[e].weight + other - pairs[e].weight * other);
      if (is_mutual) ++e;
    }
    graph.offsets.push_back(static_cast<int64_t>(graph.rows.size()));
  }
  return graph;
}

}  // namespace milieu::internal
