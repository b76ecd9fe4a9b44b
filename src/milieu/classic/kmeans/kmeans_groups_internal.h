// SPDX-License-Identifier: Apache-2.0
// The centres of k-means as the assignment step needs them: cut into groups of neighbours,
// quantised to 16-bit integers, with bounds on what quantisation and rounding can change.
//
// All of it works in scaled coordinates x' = (x - shift) * factor. With X = |x'|, the score
// s = |c'|^2/2 - x'.c' of a point and a centre of group g that score_group finds differs from the
// exact one by at most
//   error = rest * largest_norms[g] + X slopes[g] + offsets[g],
// `rest` being what quantisation left of x' (see load_centers for the terms). Squared distances are
// |x'|^2 + 2 s.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/classic/kmeans/kmeans_loops.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

inline constexpr int kMaxGroups = 64;  // groups of a point are kept as bits of a word

// One bit for each of `count` groups.
inline uint64_t all_groups(int count) { return ~uint64_t{0} >> (kMaxGroups - count); }

// The scaled coordinates. A good shift is near the middle of the data, a good factor brings them to
// a size of about 1; results do not depend on either, only speed does.
struct Scaling {
  std::vector<float> shift;  // d
  float factor = 1;          // a power of two
};

// The power of two that brings `size` (positive) near 1; 1 when size is 0 or not finite.
float scaling_factor(double size);

struct CenterGroups {
  int num_groups = 0;
  std::vector<int> centers;            // the k centres in the order of their groups
  std::vector<int> first;              // num_groups + 1: where each group begins in `centers`
  std::vector<int> group_from_center;  // k

  // The rest is filled by load_centers.
  int64_t row_length = 0;
  std::vector<int> first_place;      // num_groups + 1: as `first`, each group padded to whole tiles
  Matrix<int16_t> tiles;             // one row per tile: [pair of dimensions][centre][2]
  std::vector<float> half_norms;     // by place; large for padding
  std::vector<float> scales;         // by group
  std::vector<float> largest_norms;  // by group: largest |c'|; these three padded to kMaxGroups
  std::vector<float> slopes;         // by group, see above
  std::vector<float> offsets;        // by group

  int size(int g) const { return first[g + 1] - first[g]; }
};

// Cuts the centres into at most max_groups groups (and kMaxGroups) of whole tiles, each a set of
// neighbours: the centres are halved again and again across the direction in which they spread
// most.
CenterGroups group_centers(FloatView centers, int max_groups);

// Quantises the centres, whose grouping stays.
void load_centers(CenterGroups& groups, FloatView centers, const Scaling& scaling);

}  // namespace milieu::internal
