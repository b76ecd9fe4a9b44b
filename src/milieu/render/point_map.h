// SPDX-License-Identifier: Apache-2.0
// A map of the samples: each a dot at its first two principal coordinates (at its own coordinates
// in one or two dimensions), coloured by cluster, with a legend and a caption that says what is
// shown.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// More samples than this are thinned out, by a random choice with a fixed seed; above 8,000
// dimensions further, down to 500, because the map works on a copy of them.
inline constexpr int64_t kMaxMapPoints = 5000;
// The principal axes are fitted on at most this many of them: two axes need no more.
inline constexpr int64_t kMaxAxisPoints = 300;

struct PointMapInput {
  FloatView points;                // n x d; rows with NaN or infinities are left out
  std::span<const int> labels;     // n, in [-1, ...)
  std::vector<std::string> names;  // of the labels, for the legend; empty: their numbers
  std::string id = "map";          // unique on the page
  std::string noun = "cluster";    // what a label stands for
};

// A <figure>; empty text when there is nothing to draw. Deterministic; at most about 100 KB.
std::string render_point_map(const PointMapInput& input);

// Rows that represent all n: every row when n <= max_rows, else a random choice with a fixed seed,
// ascending.
std::vector<int64_t> representative_rows(int64_t n, int64_t max_rows);

}  // namespace milieu
