// SPDX-License-Identifier: Apache-2.0
// Maximum flow with real capacities by Dinic's layers: graphs of a few thousand nodes, as cut
// slaves make them.
#pragma once

#include <vector>

namespace milieu::internal {

class MaxFlow {
 public:
  explicit MaxFlow(int num_nodes) : first_(num_nodes, -1) {}

  // capacity >= 0, from one node to another only.
  void add_edge(int from, int to, double capacity);
  // The value of the flow, and of the cut.
  double run(int source, int sink);
  // After run(): reachable from the source in what is left.
  bool is_on_source_side(int node) const { return level_[node] >= 0; }

 private:
  struct Edge {
    int to = 0;
    int next = -1;  // next edge of the same node
    double left = 0;
  };
  bool make_levels(int source, int sink);
  double push(int source, int sink);
  double augment(const std::vector<int>& path);

  std::vector<int> first_, level_, current_;
  std::vector<Edge> edges_;  // edge e and e ^ 1 are each other's reverse
  double tolerance_ = 0;     // capacities below it count as none
};

}  // namespace milieu::internal
