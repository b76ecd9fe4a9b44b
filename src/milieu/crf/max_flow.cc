// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "milieu/crf/max_flow_internal.h"

namespace milieu::internal {

namespace {

constexpr double kRelativeTolerance = 1e-15;  // of the largest capacity

}  // namespace

void MaxFlow::add_edge(int from, int to, double capacity) {
  edges_.push_back({to, first_[from], capacity});
  first_[from] = static_cast<int>(edges_.size()) - 1;
  edges_.push_back({from, first_[to], 0.0});
  first_[to] = static_cast<int>(edges_.size()) - 1;
  tolerance_ = std::max(tolerance_, kRelativeTolerance * capacity);
}

bool MaxFlow::make_levels(int source, int sink) {
  level_.assign(first_.size(), -1);
  level_[source] = 0;
  std::vector<int> queue = {source};
  for (size_t i = 0; i < queue.size(); ++i)
    for (int e = first_[queue[i]]; e >= 0; e = edges_[e].next)
      if (edges_[e].left > tolerance_ && level_[edges_[e].to] < 0) {
        level_[edges_[e].to] = level_[queue[i]] + 1;
        queue.push_back(edges_[e].to);
      }
  return level_[sink] >= 0;
}

double MaxFlow::augment(const std::vector<int>& path) {
  double amount = std::numeric_limits<double>::infinity();
  for (const int e : path) amount = std::min(amount, edges_[e].left);
  for (const int e : path) {
    edges_[e].left -= amount;
    edges_[e ^ 1].left += amount;
  }
  return amount;
}

// One path after the other through the layers, without recursion.
double MaxFlow::push(int source, int sink) {
  double total = 0;
  std::vector<int> path;
  int node = source;
  while (true) {
    if (node == sink) {
      total += augment(path);
      // Back to the tail of the first edge that is full.
      const auto full = std::find_if(path.begin(), path.end(),
                                     [&](int e) { return edges_[e].left <= tolerance_; });
      node = edges_[*full ^ 1].to;
      path.erase(full, path.end());
      continue;
    }
    int& e = current_[node];
    while (e >= 0 && (edges_[e].left <= tolerance_ || level_[edges_[e].to] != level_[node] + 1))
      e = edges_[e].next;
    if (e >= 0) {
      path.push_back(e);
      node = edges_[e].to;
    } else if (path.empty()) {
      return total;
    } else {
      level_[node] = -1;  // leads nowhere
      node = edges_[path.back() ^ 1].to;
      path.pop_back();
    }
  }
}

double MaxFlow::run(int source, int sink) {
  double total = 0;
  while (make_levels(source, sink)) {
    current_ = first_;
    total += push(source, sink);
  }
  return total;
}

}  // namespace milieu::internal
