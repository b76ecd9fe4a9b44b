// SPDX-License-Identifier: Apache-2.0
// Small regions join their neighbours over the highest pass.
#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "milieu/icc/density/basins.h"

namespace milieu {

namespace {

class RegionGraph {
 public:
  RegionGraph(const std::vector<Saddle>& saddles, std::vector<int64_t> sizes)
      : sizes_(std::move(sizes)), passes_(sizes_.size()), owner_(sizes_.size()) {
    for (const Saddle& saddle : saddles) {
      passes_[saddle.first][saddle.second] = saddle.height;
      passes_[saddle.second][saddle.first] = saddle.height;
    }
    for (size_t r = 0; r < owner_.size(); ++r) owner_[r] = static_cast<int>(r);
  }

  void merge_below(int64_t min_size) {
    std::set<std::pair<int64_t, int>> used;  // smallest first
    for (size_t r = 0; r < sizes_.size(); ++r)
      if (sizes_[r] > 0) used.emplace(sizes_[r], static_cast<int>(r));
    while (used.size() > 1 && used.begin()->first < min_size) {
      const int small = used.begin()->second;
      const int target = neighbor_of(small);
      if (target < 0) break;  // the grid is connected: only without any saddle
      used.erase(used.begin());
      used.erase({sizes_[target], target});
      join(small, target);
      used.emplace(sizes_[target], target);
    }
  }

  // Regions without samples, over the highest passes first, from all that have some.
  void assign_unused() {
    using Step = std::tuple<double, int, int>;  // height, region, owner
    const auto is_later = [](const Step& a, const Step& b) {
      return std::make_tuple(std::get<0>(a), -std::get<1>(a), -std::get<2>(a)) <
             std::make_tuple(std::get<0>(b), -std::get<1>(b), -std::get<2>(b));
    };
    std::priority_queue<Step, std::vector<Step>, decltype(is_later)> steps(is_later);
    std::vector<char> is_assigned(sizes_.size(), 0);
    const auto leave = [&](int region, int owner) {
      for (const auto& [next, height] : passes_[region])
        if (sizes_[next] == 0 && !is_assigned[next]) steps.emplace(height, next, owner);
    };
    for (size_t r = 0; r < sizes_.size(); ++r)
      if (sizes_[r] > 0) leave(static_cast<int>(r), static_cast<int>(r));
    while (!steps.empty()) {
      const auto [height, region, owner] = steps.top();
      steps.pop();
      if (is_assigned[region]) continue;
      is_assigned[region] = 1;
      owner_[region] = owner;
      leave(region, owner);
    }
  }

  std::vector<int> owners() {
    std::vector<int> result(owner_.size());
    for (size_t r = 0; r < owner_.size(); ++r) {
      int at = static_cast<int>(r);
      while (owner_[at] != at) at = owner_[at];
      result[r] = at;
    }
    return result;
  }

 private:
  // The region with samples that `small` joins.
  int neighbor_of(int small) const {
    int best = -1;
    for (const auto& [next, height] : passes_[small])
      if (sizes_[next] > 0 && (best < 0 || height > passes_[small].at(best))) best = next;
    return best >= 0 ? best : widest_path_from(small);
  }

  // Best first: the height of a path is that of its lowest pass.
  int widest_path_from(int start) const {
    using Step = std::pair<double, int>;  // height, -region: equal heights, lowest region first
    std::priority_queue<Step> steps;
    std::vector<char> is_seen(sizes_.size(), 0);
    steps.emplace(std::numeric_limits<double>::infinity(), -start);
    while (!steps.empty()) {
      const auto [height, negative] = steps.top();
      steps.pop();
      const int region = -negative;
      if (is_seen[region]) continue;
      is_seen[region] = 1;
      if (region != start && sizes_[region] > 0) return region;
      for (const auto& [next, pass] : passes_[region])
        if (!is_seen[next]) steps.emplace(std::min(height, pass), -next);
    }
    return -1;
  }

  void join(int small, int target) {
    owner_[small] = target;
    sizes_[target] += sizes_[small];
    for (const auto& [next, height] : passes_[small]) {
      passes_[next].erase(small);
      if (next == target) continue;
      const auto widen = [&](int a, int b) {
        const auto [kept, is_new] = passes_[a].emplace(b, height);
        if (!is_new) kept->second = std::max(kept->second, height);
      };
      widen(target, next);
      widen(next, target);
    }
    passes_[small].clear();
    sizes_[small] = -1;  // gone: neither used nor unused
  }

  std::vector<int64_t> sizes_;
  std::vector<std::map<int, double>> passes_;  // neighbours in order: ties to the lowest
  std::vector<int> owner_;
};

}  // namespace

std::vector<int> merge_small(const std::vector<Saddle>& saddles, std::vector<int64_t> sizes,
                             int64_t min_size) {
  RegionGraph graph(saddles, std::move(sizes));
  graph.merge_below(min_size);
  graph.assign_unused();
  return graph.owners();
}

}  // namespace milieu
