// SPDX-License-Identifier: Apache-2.0
// The clusters of the training sets, kept with a learned distance for new sets that hold the same
// ones: along the axes on which these clusters differ most they are found far better than by a
// distance that must serve any clusters, and other clusters far worse.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/model_visitor.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// Symbols: g as in LearnedDistance::metric; D columns, r axes of the space, C clusters.
struct KnownClusters {
  Matrix<float> space;  // D x r: g(x) times it has unit scatter within clusters; empty: none known
  Matrix<float> axes;   // r x s: of that space, those on which the clusters differ most
  Matrix<float> centers;             // C x r, in that space
  std::vector<double> limits;        // {median squared distance of a set's samples to the nearest
                                     // centre, above which it holds other clusters}
  std::string use;                   // "clusters", "classes" (by the nearest sample) or "both"
  std::vector<double> penalty;       // {f}; this and the rest as in LearnedDistance
  std::vector<double> penalty_rule;  // {n, e}
  std::vector<double> same_cluster;  // {d} or empty
  std::string grouping;              // "exemplars" or "cut"

  bool empty() const { return space.empty(); }
  bool serves(const char* what) const { return !empty() && (use == what || use == "both"); }
};

template <MaybeConst<KnownClusters> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  visit_optional(v, "known_space", m.space);
  visit_optional(v, "known_axes", m.axes);
  visit_optional(v, "known_centers", m.centers);
  visit_optional(v, "known_limits", m.limits);
  visit_optional(v, "known_use", m.use);
  visit_optional(v, "known_penalty", m.penalty);
  visit_optional(v, "known_penalty_rule", m.penalty_rule);
  visit_optional(v, "known_same_cluster", m.same_cluster);
  visit_optional(v, "known_grouping", m.grouping);
}

}  // namespace milieu
