// SPDX-License-Identifier: Apache-2.0
// The assignment step under constraints: least total cost over all splits that obey them.
//
// Two parts: dcp_assign_two.cc. More parts with size limits but no links: a transportation problem,
// dcp_assign_flow.cc. All else: branch and bound, dcp_assign_search.cc.
#include <algorithm>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/dcp/dcp_constraints_internal.h"

namespace milieu::internal {
namespace {

constexpr size_t kMaxGroups = 20000;

int find_root(std::vector<int>& parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

}  // namespace

Constraints::Constraints(int64_t n, int num_parts, const ConstraintList& list)
    : is_empty_(false), num_parts_(num_parts), sizes_(list.sizes) {
  std::vector<int> parent(n);
  std::iota(parent.begin(), parent.end(), 0);
  for (const auto& [i, j] : list.must_links) {
    const int a = find_root(parent, static_cast<int>(i)),
              b = find_root(parent, static_cast<int>(j));
    parent[std::max(a, b)] = std::min(a, b);
  }
  std::vector<int> group_of_root(n, -1);
  group_of_sample_.resize(n);
  for (int i = 0; i < n; ++i) {
    int& group = group_of_root[find_root(parent, i)];
    if (group < 0) {
      group = static_cast<int>(group_sizes_.size());
      group_sizes_.push_back(0);
    }
    ++group_sizes_[group];
    group_of_sample_[i] = group;
  }
  fixed_.assign(group_sizes_.size(), -1);
  for (const auto& [i, part] : list.memberships) {
    int& fixed = fixed_[group_of_sample_[i]];
    if (fixed >= 0 && fixed != part) is_contradictory_ = true;
    fixed = part;
  }
  enemies_.resize(group_sizes_.size());
  for (const auto& [i, j] : list.cannot_links) {
    const int a = group_of_sample_[i], b = group_of_sample_[j];
    if (a == b) is_contradictory_ = true;
    enemies_[a].push_back(b);
    enemies_[b].push_back(a);
  }
  std::vector<char> is_seen(group_sizes_.size());
  for (int first = 0; first < static_cast<int>(group_sizes_.size()); ++first) {
    if (is_seen[first]) continue;
    std::vector<int> cluster{first};
    is_seen[first] = 1;
    for (size_t at = 0; at < cluster.size(); ++at)
      for (const int enemy : enemies_[cluster[at]])
        if (!is_seen[enemy]) {
          is_seen[enemy] = 1;
          cluster.push_back(enemy);
        }
    clusters_.push_back(std::move(cluster));
  }
}

Matrix<double> Constraints::group_costs(const Matrix<double>& costs) const {
  Matrix<double> sums(static_cast<int64_t>(group_sizes_.size()), num_parts_);
  for (size_t i = 0; i < group_of_sample_.size(); ++i)
    for (int k = 0; k < num_parts_; ++k)
      sums(group_of_sample_[i], k) += costs(static_cast<int64_t>(i), k);
  return sums;
}

std::optional<std::vector<int>> Constraints::assign(const Matrix<double>& costs) const {
  if (is_contradictory_) return std::nullopt;
  require(num_parts_ == 2 || sizes_.empty() || clusters_.size() == group_of_sample_.size() ||
              group_sizes_.size() <= kMaxGroups,
          "sizes together with links for more than two parts are limited to 20,000 groups of "
          "samples: drop the sizes or the links");
  const Matrix<double> sums = group_costs(costs);
  std::vector<int> parts(group_sizes_.size(), -1);
  const bool has_single_groups = clusters_.size() == group_of_sample_.size();
  const bool is_found = num_parts_ == 2     ? assign_two_parts(sums, parts)
                        : sizes_.empty()    ? assign_clusters(sums, parts)
                        : has_single_groups ? assign_by_flow(sums, parts)
                                            : assign_by_search(sums, parts);
  if (!is_found) return std::nullopt;
  std::vector<int> labels(group_of_sample_.size());
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = parts[group_of_sample_[i]];
  return labels;
}

}  // namespace milieu::internal
