// SPDX-License-Identifier: Apache-2.0
// Groups of rows without a common neighbour pull at nothing but themselves, so the layout drives
// them apart without limit: their distances mean nothing, and empty space hides what does.
#include <algorithm>
#include <cmath>

#include "milieu/report/map/neighbor_map.h"

namespace milieu::internal {

namespace {

constexpr double kGap = 0.5;  // between two groups, in mean radii

struct Group {
  double x = 0, y = 0;  // centre of its bounding circle
  double radius = 0;
  std::vector<int> rows;
};

// The connected components of the graph, by their first row.
std::vector<Group> groups_of(const NeighborGraph& graph) {
  const size_t n = graph.offsets.size() - 1;
  std::vector<bool> is_seen(n, false);
  std::vector<Group> groups;
  for (size_t first = 0; first < n; ++first) {
    if (is_seen[first]) continue;
    is_seen[first] = true;
    Group group;
    group.rows.push_back(static_cast<int>(first));
    for (size_t at = 0; at < group.rows.size(); ++at) {
      const auto row = static_cast<size_t>(group.rows[at]);
      for (int64_t e = graph.offsets[row]; e < graph.offsets[row + 1]; ++e) {
        const int other = graph.rows[static_cast<size_t>(e)];
        if (is_seen[static_cast<size_t>(other)]) continue;
        is_seen[static_cast<size_t>(other)] = true;
        group.rows.push_back(other);
      }
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

void measure(Group& group, const std::vector<float>& places) {
  const auto x = [&](int row) { return double{places[static_cast<size_t>(2 * row)]}; };
  const auto y = [&](int row) { return double{places[static_cast<size_t>(2 * row + 1)]}; };
  for (const int row : group.rows) {
    group.x += x(row) / static_cast<double>(group.rows.size());
    group.y += y(row) / static_cast<double>(group.rows.size());
  }
  for (const int row : group.rows)
    group.radius = std::max(group.radius, std::hypot(x(row) - group.x, y(row) - group.y));
}

// The smallest share of their distances at which no two circles, a gap apart, meet; at most 1.
double least_share(const std::vector<Group>& groups) {
  double mean = 0, share = 0;
  for (const Group& group : groups) mean += group.radius / static_cast<double>(groups.size());
  for (size_t a = 0; a < groups.size(); ++a)
    for (size_t b = 0; b < a; ++b) {
      const double distance = std::hypot(groups[a].x - groups[b].x, groups[a].y - groups[b].y);
      const double wanted = groups[a].radius + groups[b].radius + kGap * mean;
      share = std::max(share, distance > 0 ? wanted / distance : 1.0);
    }
  return std::min(share, 1.0);
}

}  // namespace

void pack_groups(const NeighborGraph& graph, std::vector<float>& places) {
  std::vector<Group> groups = groups_of(graph);
  if (groups.size() < 2) return;
  for (Group& group : groups) measure(group, places);
  const double share = least_share(groups);
  for (const Group& group : groups)
    for (const int row : group.rows) {
      places[static_cast<size_t>(2 * row)] += static_cast<float>((share - 1) * group.x);
      places[static_cast<size_t>(2 * row + 1)] += static_cast<float>((share - 1) * group.y);
    }
}

}  // namespace milieu::internal
