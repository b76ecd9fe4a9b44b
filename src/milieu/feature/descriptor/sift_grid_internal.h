// SPDX-License-Identifier: Apache-2.0
// Where the bins of dense SIFT lie along one axis of an image, and which pixels count how much.
#pragma once

#include <cstdint>
#include <vector>

#include "milieu/feature/descriptor/dense_sift.h"
#include "milieu/feature/descriptor/sift_loops.h"

namespace milieu::internal {

// The places first + i step, i < count, of patches along one axis.
struct GridAxis {
  int64_t first = 0;
  int64_t count = 0;
};
// All places from 0 to length - size; what is left over is halved. None if size > length.
GridAxis grid_axis(int64_t length, int64_t size, int64_t step);

// Bins along one axis. Patches share bins where they lie at the same place and count the same (a
// flat window), so there are often fewer than four for each patch. In order of their first pixel.
struct SiftAxis {
  std::vector<int> firsts;     // first pixel of each bin
  std::vector<int> counts;     // its pixels
  std::vector<float> weights;  // bins x max_count
  int64_t max_count = 0;
  std::vector<int> bin_from_patch;  // 4 per patch: which bins it has

  int64_t num_bins() const { return static_cast<int64_t>(firsts.size()); }
  SiftBinTable table() const {
    return {firsts.data(), counts.data(), weights.data(), max_count, num_bins()};
  }
  // How many bins, at most, need the same pixel.
  int64_t max_overlap() const;
  // The largest number of bins from the first to the last of one patch.
  int64_t max_span() const;
};
SiftAxis sift_axis(int64_t length, const GridAxis& grid, int64_t step, int patch_size,
                   SiftWindow window);

}  // namespace milieu::internal
