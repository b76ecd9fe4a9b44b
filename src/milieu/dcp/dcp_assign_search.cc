// SPDX-License-Identifier: Apache-2.0
// The assignment step for three and more parts with links: branch and bound over groups, largest
// regret first. Without size limits each cluster of groups is searched alone. A search that is cut
// keeps the best split found and says so (is_exact).
#include <algorithm>
#include <limits>

#include "milieu/dcp/dcp_constraints_internal.h"

namespace milieu::internal {

constexpr int64_t kMaxNodes = 200000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class GroupSearch {
 public:
  GroupSearch(const Constraints& constraints, const Matrix<double>& costs, std::vector<int> groups,
              bool has_limits, std::vector<int>& parts)
      : c_(constraints), costs_(costs), order_(std::move(groups)), parts_(parts) {
    sizes_.resize(c_.num_parts_);
    most_.assign(c_.num_parts_, std::numeric_limits<int64_t>::max());
    least_.assign(c_.num_parts_, 0);
    if (has_limits) {
      most_ = c_.sizes_.most;
      least_ = c_.sizes_.least;
    }
    for (const int group : order_) remaining_ += c_.group_sizes_[group];
    sort_groups();
    bounds_.assign(order_.size() + 1, 0);
    for (size_t i = order_.size(); i-- > 0;)
      bounds_[i] = bounds_[i + 1] + costs_(order_[i], cheapest(order_[i]));
  }

  bool run() {
    descend(0, 0);
    if (best_.empty() && !order_.empty()) return false;
    for (size_t i = 0; i < order_.size(); ++i) parts_[order_[i]] = best_[i];
    return true;
  }
  bool was_cut() const { return num_nodes_ >= kMaxNodes; }

 private:
  int cheapest(int group) const {
    if (c_.fixed_[group] >= 0) return c_.fixed_[group];
    int best = 0;
    for (int k = 1; k < c_.num_parts_; ++k)
      if (costs_(group, k) < costs_(group, best)) best = k;
    return best;
  }
  // How much more the second choice costs.
  double regret(int group) const {
    if (c_.fixed_[group] >= 0) return kInfinity;
    const int best = cheapest(group);
    double second = kInfinity;
    for (int k = 0; k < c_.num_parts_; ++k)
      if (k != best) second = std::min(second, costs_(group, k) - costs_(group, best));
    return second;
  }
  void sort_groups() {
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      if (c_.enemies_[a].size() != c_.enemies_[b].size())
        return c_.enemies_[a].size() > c_.enemies_[b].size();
      if (c_.group_sizes_[a] != c_.group_sizes_[b]) return c_.group_sizes_[a] > c_.group_sizes_[b];
      return regret(a) > regret(b);
    });
  }

  bool can_take(int group, int part) const {
    if (!c_.is_allowed(group, part)) return false;
    if (sizes_[part] + c_.group_sizes_[group] > most_[part]) return false;
    return std::none_of(c_.enemies_[group].begin(), c_.enemies_[group].end(),
                        [&](int enemy) { return parts_[enemy] == part; });
  }
  // Whether what is left can fill all parts to their least.
  bool can_fill() const {
    int64_t missing = 0;
    for (int k = 0; k < c_.num_parts_; ++k) missing += std::max<int64_t>(0, least_[k] - sizes_[k]);
    return missing <= remaining_;
  }

  void descend(size_t at, double cost) {
    if (++num_nodes_ >= kMaxNodes || cost + bounds_[at] >= best_cost_ || !can_fill()) return;
    if (at == order_.size()) {
      best_cost_ = cost;
      best_.clear();
      for (const int group : order_) best_.push_back(parts_[group]);
      return;
    }
    const int group = order_[at];
    std::vector<int> by_cost(c_.num_parts_);
    for (int k = 0; k < c_.num_parts_; ++k) by_cost[k] = k;
    std::stable_sort(by_cost.begin(), by_cost.end(),
                     [&](int a, int b) { return costs_(group, a) < costs_(group, b); });
    for (const int part : by_cost) {
      if (!can_take(group, part)) continue;
      parts_[group] = part;
      sizes_[part] += c_.group_sizes_[group];
      remaining_ -= c_.group_sizes_[group];
      descend(at + 1, cost + costs_(group, part));
      remaining_ += c_.group_sizes_[group];
      sizes_[part] -= c_.group_sizes_[group];
      parts_[group] = -1;
    }
  }

  const Constraints& c_;
  const Matrix<double>& costs_;
  std::vector<int> order_;
  std::vector<int>& parts_;
  std::vector<int64_t> sizes_, most_, least_;
  std::vector<double> bounds_;  // least cost of the groups from a place on
  std::vector<int> best_;
  double best_cost_ = kInfinity;
  int64_t remaining_ = 0, num_nodes_ = 0;
};

bool Constraints::assign_clusters(const Matrix<double>& costs, std::vector<int>& parts) const {
  for (const std::vector<int>& cluster : clusters_) {
    GroupSearch search(*this, costs, cluster, false, parts);
    if (!search.run()) return false;
    if (search.was_cut()) is_exact_ = false;
  }
  return true;
}

bool Constraints::assign_by_search(const Matrix<double>& costs, std::vector<int>& parts) const {
  std::vector<int> groups;
  for (const std::vector<int>& cluster : clusters_)
    groups.insert(groups.end(), cluster.begin(), cluster.end());
  GroupSearch search(*this, costs, std::move(groups), true, parts);
  const bool is_found = search.run();
  if (search.was_cut()) is_exact_ = false;
  return is_found;
}

}  // namespace milieu::internal
