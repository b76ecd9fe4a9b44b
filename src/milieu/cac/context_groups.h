// SPDX-License-Identifier: Apache-2.0
// Context groups: the matrix Q of [Yuan08, Sec. 2.1], which sample occurs in which group. Made from
// positions in images, from group files (data/groups.h), or from several views of the same samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/data/groups.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// Compressed rows: group g holds members [offsets[g], offsets[g + 1]), each sample at most once.
// Half the memory of Groups: there may be tens of millions of members.
struct ContextGroups {
  int64_t num_samples = 0;          // members are in [0, num_samples)
  std::vector<int64_t> offsets{0};  // number of groups + 1
  std::vector<int> members;
  std::vector<float> weights;         // one per member, positive; empty: all 1
  std::vector<double> group_weights;  // one per group, at least 0; empty: all 1

  int64_t num_groups() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t size_of(int64_t group) const { return offsets[group + 1] - offsets[group]; }
  std::span<const int> members_of(int64_t group) const {
    return {members.data() + offsets[group], static_cast<size_t>(size_of(group))};
  }
  double member_weight(int64_t entry) const { return weights.empty() ? 1.0 : weights[entry]; }
  double group_weight(int64_t group) const {
    return group_weights.empty() ? 1.0 : group_weights[group];
  }
};

// Throws InvalidArgument when there are more samples than fit into an int.
ContextGroups context_from_groups(const Groups& groups);

// Throws InvalidArgument, naming the entry, when offsets, members or weights break their rules.
void validate_groups(const ContextGroups& groups);

struct NeighborhoodOptions {
  int num_neighbors = 10;    // K nearest, fewer where an image has fewer samples
  double epsilon = 0;        // if above 0: all neighbours within this distance instead
  bool include_self = true;  // the sample itself is the first member of its group
  int num_threads = 0;
};

// One group per sample: the sample and its spatial neighbours within its image. `images` has the
// image of each sample (any integers), or is empty: all are in one image. When the monitor stops,
// groups that were not searched yet hold the sample alone.
ContextGroups spatial_groups(FloatView positions, std::span<const int> images,
                             const NeighborhoodOptions& options,
                             Monitor& monitor = silent_monitor());

// One group per sample: the sample and its `num_neighbors` nearest neighbours in all views
// concatenated, with the squared distances of view v times scales[v].
ContextGroups neighbors_in_views(std::span<const FloatView> views, std::span<const double> scales,
                                 int num_neighbors, int num_threads,
                                 Monitor& monitor = silent_monitor());

// The groups of several views [Yuan08, Sec. 3.3]. Sample i of view v becomes primitive
// v * num_samples + i; group i holds the primitives of sample i. Groups of `extra` (over samples)
// follow, each holding all primitives of its members.
ContextGroups view_groups(int64_t num_samples, int num_views, const ContextGroups& extra);

// The same matrix by columns: offsets over samples, members are groups in ascending order, with the
// weights of the members; group weights are not copied.
ContextGroups transpose(const ContextGroups& groups);

}  // namespace milieu
