// SPDX-License-Identifier: Apache-2.0
// The assignment step for two parts, exact under any constraints. Groups joined by cannot-links
// have at most two colourings. With size limits the linked clusters are a knapsack (dynamic
// programming over the number of their samples in part 0), and the free samples are sorted by what
// part 0 costs more than part 1 and cut.
#include <algorithm>
#include <array>
#include <limits>

#include "milieu/dcp/dcp_constraints_internal.h"

namespace milieu::internal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What one colouring of a cluster means.
struct Coloring {
  double cost = 0;
  int64_t size = 0;  // samples in part 0
  bool is_allowed = true;
};
using Colorings = std::array<Coloring, 2>;  // the second one swaps the parts

bool is_cheaper_swapped(const Colorings& c) {
  if (!c[0].is_allowed || !c[1].is_allowed) return !c[0].is_allowed;
  return c[1].cost < c[0].cost;
}

// Least costs of the free samples by how many of them are in part 0.
struct FreeSamples {
  std::vector<size_t> order;  // clusters by rising price of part 0, those free to choose
  std::vector<double> costs;  // entry t: with `forced` + t of them in part 0
  int64_t forced = 0;         // in part 0 in any case
};

FreeSamples sort_free(const std::vector<Colorings>& colorings, const std::vector<size_t>& free) {
  FreeSamples sorted;
  double base = 0;
  // Colouring 0 of a single sample is part 0.
  for (const size_t c : free) {
    const Colorings& choice = colorings[c];
    if (choice[0].is_allowed && choice[1].is_allowed) {
      sorted.order.push_back(c);
      base += choice[1].cost;
    } else {
      base += choice[choice[0].is_allowed ? 0 : 1].cost;
      sorted.forced += choice[0].is_allowed ? 1 : 0;
    }
  }
  const auto price = [&](size_t c) { return colorings[c][0].cost - colorings[c][1].cost; };
  std::stable_sort(sorted.order.begin(), sorted.order.end(),
                   [&](size_t a, size_t b) { return price(a) < price(b); });
  sorted.costs.push_back(base);
  for (const size_t c : sorted.order) sorted.costs.push_back(sorted.costs.back() + price(c));
  return sorted;
}

// Least costs of linked clusters by how many of their samples are in part 0.
struct Knapsack {
  std::vector<double> costs;
  std::vector<std::vector<char>> taken;  // cluster, samples: the colouring of the best way there
};

Knapsack fill_knapsack(const std::vector<Colorings>& colorings, const std::vector<size_t>& linked) {
  Knapsack sack;
  int64_t total = 0;
  for (const size_t c : linked) total += std::max(colorings[c][0].size, colorings[c][1].size);
  sack.costs.assign(total + 1, kInfinity);
  sack.costs[0] = 0;
  for (const size_t c : linked) {
    std::vector<double> next(total + 1, kInfinity);
    std::vector<char> taken(total + 1, 0);
    for (int swap = 0; swap < 2; ++swap) {
      const Coloring& choice = colorings[c][swap];
      if (!choice.is_allowed) continue;
      for (int64_t s = choice.size; s <= total; ++s) {
        const double cost = sack.costs[s - choice.size] + choice.cost;
        if (cost < next[s]) {
          next[s] = cost;
          taken[s] = static_cast<char>(swap);
        }
      }
    }
    sack.costs = std::move(next);
    sack.taken.push_back(std::move(taken));
  }
  return sack;
}

// Chooses the colourings with between `least` and `most` samples in part 0; false: impossible.
bool choose_within(const std::vector<Colorings>& colorings, const std::vector<size_t>& free,
                   const std::vector<size_t>& linked, int64_t least, int64_t most,
                   std::vector<char>& swaps) {
  const FreeSamples sorted = sort_free(colorings, free);
  const Knapsack sack = fill_knapsack(colorings, linked);
  const int64_t num_free = static_cast<int64_t>(sorted.order.size());
  // The costs of the free samples are convex in their number: the best one in a range is the
  // unbounded best, moved into the range.
  const auto cheapest = std::min_element(sorted.costs.begin(), sorted.costs.end());
  const int64_t unbounded = cheapest - sorted.costs.begin();
  double best = kInfinity;
  int64_t best_sack = 0, best_free = 0;
  for (int64_t s = 0; s < static_cast<int64_t>(sack.costs.size()); ++s) {
    const int64_t low = std::max<int64_t>(0, least - s - sorted.forced);
    const int64_t high = std::min(num_free, most - s - sorted.forced);
    if (low > high || sack.costs[s] == kInfinity) continue;
    const int64_t t = std::clamp(unbounded, low, high);
    if (sack.costs[s] + sorted.costs[t] < best) {
      best = sack.costs[s] + sorted.costs[t];
      best_sack = s;
      best_free = t;
    }
  }
  if (best == kInfinity) return false;
  for (const size_t c : free) swaps[c] = colorings[c][0].is_allowed ? 0 : 1;
  for (int64_t i = best_free; i < num_free; ++i) swaps[sorted.order[i]] = 1;
  for (size_t i = linked.size(); i-- > 0;) {
    swaps[linked[i]] = sack.taken[i][best_sack];
    best_sack -= colorings[linked[i]][swaps[linked[i]]].size;
  }
  return true;
}

}  // namespace

bool Constraints::assign_two_parts(const Matrix<double>& costs, std::vector<int>& parts) const {
  std::vector<Colorings> colorings(clusters_.size());
  std::vector<int> color(parts.size(), -1);
  std::vector<size_t> free, linked;
  for (size_t c = 0; c < clusters_.size(); ++c) {
    color[clusters_[c][0]] = 0;
    for (const int group : clusters_[c]) {  // breadth first: the colour of the group is known
      for (const int enemy : enemies_[group]) {
        if (color[enemy] < 0) color[enemy] = 1 - color[group];
        if (color[enemy] == color[group]) return false;  // an odd cycle
      }
      for (int swap = 0; swap < 2; ++swap) {
        const int part = color[group] ^ swap;
        Coloring& coloring = colorings[c][swap];
        coloring.cost += costs(group, part);
        coloring.size += part == 0 ? group_sizes_[group] : 0;
        coloring.is_allowed = coloring.is_allowed && is_allowed(group, part);
      }
    }
    if (!colorings[c][0].is_allowed && !colorings[c][1].is_allowed) return false;
    const bool is_free = clusters_[c].size() == 1 && group_sizes_[clusters_[c][0]] == 1;
    (is_free ? free : linked).push_back(c);
  }
  std::vector<char> swaps(clusters_.size());
  if (sizes_.empty()) {
    for (size_t c = 0; c < clusters_.size(); ++c) swaps[c] = is_cheaper_swapped(colorings[c]);
  } else {
    const int64_t n = static_cast<int64_t>(group_of_sample_.size());
    const int64_t least = std::max(sizes_.least[0], n - sizes_.most[1]);
    const int64_t most = std::min(sizes_.most[0], n - sizes_.least[1]);
    if (!choose_within(colorings, free, linked, least, most, swaps)) return false;
  }
  for (size_t c = 0; c < clusters_.size(); ++c)
    for (const int group : clusters_[c]) parts[group] = color[group] ^ swaps[c];
  return true;
}

}  // namespace milieu::internal
