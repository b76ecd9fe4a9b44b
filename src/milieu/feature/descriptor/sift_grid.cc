// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "milieu/feature/descriptor/sift_grid_internal.h"

namespace milieu::internal {
namespace {

// Bin k of the patch with centre `center`, step 4 of dense_sift.h, for one axis. Twice the place of
// the bin's centre is a whole number, also where bins have an odd side.
void append_bin(int64_t length, int64_t twice_place, int64_t center, int side, SiftWindow window,
                SiftAxis& axis) {
  const double place = 0.5 * static_cast<double>(twice_place);
  const double spread = 2.0 * side;
  const int64_t first = std::max<int64_t>(0, static_cast<int64_t>(std::floor(place - side)) + 1);
  const int64_t last =
      std::min<int64_t>(length - 1, static_cast<int64_t>(std::ceil(place + side)) - 1);
  axis.firsts.push_back(static_cast<int>(first));
  axis.counts.push_back(static_cast<int>(std::max<int64_t>(0, last - first + 1)));
  axis.weights.resize(axis.weights.size() + axis.max_count);
  float* weights = &axis.weights[axis.weights.size() - axis.max_count];
  for (int64_t x = first; x <= last; ++x) {
    const double from_center = static_cast<double>(x - center) / spread;
    const double share = 1.0 - std::abs(static_cast<double>(x) - place) / side;
    const double seen =
        window == SiftWindow::Gaussian ? std::exp(-0.5 * from_center * from_center) : 1.0;
    weights[x - first] = static_cast<float>(share * seen);
  }
}

}  // namespace

GridAxis grid_axis(int64_t length, int64_t size, int64_t step) {
  if (size > length) return {};
  return {(length - size) % step / 2, (length - size) / step + 1};
}

int64_t SiftAxis::max_overlap() const {
  int64_t most = 0;
  size_t begin = 0;
  for (size_t bin = 0; bin < firsts.size(); ++bin) {
    while (firsts[begin] + max_count <= firsts[bin]) ++begin;
    most = std::max<int64_t>(most, static_cast<int64_t>(bin - begin) + 1);
  }
  return most;
}

int64_t SiftAxis::max_span() const {
  int most = 0;
  for (size_t i = 0; i < bin_from_patch.size(); i += 4)
    most = std::max(most, bin_from_patch[i + 3] - bin_from_patch[i] + 1);
  return most;
}

SiftAxis sift_axis(int64_t length, const GridAxis& grid, int64_t step, int patch_size,
                   SiftWindow window) {
  const int side = patch_size / 4;
  SiftAxis axis;
  axis.max_count = 2 * side;
  // Key: twice the place, then the bin's number if it matters.
  std::map<std::pair<int64_t, int>, int64_t> center_from_bin;
  const auto key_of = [&](int64_t i, int k) {
    const int64_t center = grid.first + i * step + patch_size / 2;
    return std::pair(2 * center + (2 * k - 3) * side, window == SiftWindow::Flat ? 0 : k);
  };
  for (int64_t i = 0; i < grid.count; ++i)
    for (int k = 0; k < 4; ++k)
      center_from_bin[key_of(i, k)] = grid.first + i * step + patch_size / 2;
  std::map<std::pair<int64_t, int>, int> number_from_bin;
  for (const auto& [key, center] : center_from_bin) {
    number_from_bin[key] = static_cast<int>(axis.num_bins());
    append_bin(length, key.first, center, side, window, axis);
  }
  for (int64_t i = 0; i < grid.count; ++i)
    for (int k = 0; k < 4; ++k) axis.bin_from_patch.push_back(number_from_bin.at(key_of(i, k)));
  return axis;
}

}  // namespace milieu::internal
