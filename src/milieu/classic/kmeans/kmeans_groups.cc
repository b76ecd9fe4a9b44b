// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/classic/kmeans/kmeans_groups_internal.h"

namespace milieu::internal {
namespace {

constexpr float kNoCenter = 1e38f;  // the score of padding

// The direction in which the given centres spread most, by a few power iterations: near enough.
std::vector<double> main_direction(FloatView centers, std::span<const int> members) {
  constexpr int kIterations = 6;
  const int64_t d = centers.cols();
  std::vector<double> mean(d), direction(d, 1.0), next(d);
  for (const int j : members)
    for (int64_t t = 0; t < d; ++t) mean[t] += centers(j, t) / static_cast<double>(members.size());
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    std::fill(next.begin(), next.end(), 0.0);
    for (const int j : members) {
      double along = 0;
      for (int64_t t = 0; t < d; ++t) along += (centers(j, t) - mean[t]) * direction[t];
      for (int64_t t = 0; t < d; ++t) next[t] += along * (centers(j, t) - mean[t]);
    }
    const double norm = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
    if (!(norm > 0) || !std::isfinite(norm)) break;
    for (int64_t t = 0; t < d; ++t) direction[t] = next[t] / norm;
  }
  return direction;
}

void sort_along(FloatView centers, std::span<int> members, const std::vector<double>& direction) {
  std::vector<std::pair<double, int>> keyed;
  for (const int j : members) {
    double along = 0;
    for (int64_t t = 0; t < centers.cols(); ++t) along += centers(j, t) * direction[t];
    keyed.emplace_back(along, j);
  }
  std::sort(keyed.begin(), keyed.end());
  for (size_t i = 0; i < members.size(); ++i) members[i] = keyed[i].second;
}

// Cuts members into num_groups groups of whole tiles (the last may be ragged); appends their sizes.
void halve(FloatView centers, std::span<int> members, int64_t num_groups, std::vector<int>& sizes) {
  if (num_groups == 1) {
    std::sort(members.begin(), members.end());
    sizes.push_back(static_cast<int>(members.size()));
    return;
  }
  sort_along(centers, members, main_direction(centers, members));
  const int64_t num_tiles = (static_cast<int64_t>(members.size()) + kCenterTile - 1) / kCenterTile;
  const int64_t left_groups = num_groups / 2;
  const int64_t left_tiles = num_tiles * left_groups / num_groups;
  const size_t left = static_cast<size_t>(left_tiles * kCenterTile);
  halve(centers, members.first(left), left_groups, sizes);
  halve(centers, members.subspan(left), num_groups - left_groups, sizes);
}

}  // namespace

float scaling_factor(double size) {
  if (!(size > 0) || !std::isfinite(size)) return 1.0f;
  return std::ldexp(1.0f, std::clamp(-std::ilogb(size), -120, 120));
}

CenterGroups group_centers(FloatView centers, int max_groups) {
  CenterGroups groups;
  const int64_t k = centers.rows();
  const int64_t num_tiles = (k + kCenterTile - 1) / kCenterTile;
  groups.num_groups = static_cast<int>(
      std::clamp<int64_t>(std::min<int64_t>(max_groups, num_tiles), 1, kMaxGroups));
  groups.centers.resize(k);
  std::iota(groups.centers.begin(), groups.centers.end(), 0);
  std::vector<int> sizes;
  halve(centers, groups.centers, groups.num_groups, sizes);
  groups.first.push_back(0);
  groups.group_from_center.resize(k);
  for (int g = 0; g < groups.num_groups; ++g) {
    groups.first.push_back(groups.first[g] + sizes[g]);
    for (int i = groups.first[g]; i < groups.first[g + 1]; ++i)
      groups.group_from_center[groups.centers[i]] = g;
  }
  return groups;
}

namespace {

// Rows of scaled centres in double, one group at a time.
struct ScaledGroup {
  Matrix<double> rows;
  std::vector<double> norms;
  double largest_norm = 0;
  double largest_number = 0;
};

ScaledGroup scale_group(const CenterGroups& groups, int g, FloatView centers,
                        const Scaling& scaling) {
  ScaledGroup scaled;
  scaled.rows = Matrix<double>(groups.size(g), centers.cols());
  for (int i = 0; i < groups.size(g); ++i) {
    const float* center = centers.row(groups.centers[groups.first[g] + i]);
    double* row = scaled.rows.row(i);
    double squared = 0;
    for (int64_t t = 0; t < centers.cols(); ++t) {
      row[t] = (static_cast<double>(center[t]) - scaling.shift[t]) * scaling.factor;
      squared += row[t] * row[t];
      scaled.largest_number = std::max(scaled.largest_number, std::abs(row[t]));
    }
    scaled.norms.push_back(std::sqrt(squared));
    scaled.largest_norm = std::max(scaled.largest_norm, scaled.norms.back());
  }
  return scaled;
}

// Writes the integers of one centre into its tile; returns the norm of what rounding left over.
double quantise_center(std::span<const double> row, float scale, int64_t place,
                       Matrix<int16_t>& tiles) {
  int16_t* tile = tiles.row(place / kCenterTile);
  const int64_t lane = place % kCenterTile;
  double squared = 0;
  for (size_t t = 0; t < row.size(); ++t) {
    const double integer = scale > 0 ? std::nearbyint(row[t] / scale) : 0.0;
    const double rest = row[t] - integer * scale;
    squared += rest * rest;
    tile[(t / 2) * 2 * kCenterTile + 2 * lane + t % 2] =
        static_cast<int16_t>(std::clamp(integer, -32767.0, 32767.0));
  }
  return std::sqrt(squared);
}

}  // namespace

// The terms of the error of a score, with C = |c'| at most largest_norms[g], q the quantised
// vectors times their scales and u = 2^-24:
//   |x' - q_x| C        the rest that quantise_row measures, times largest_norms[g];
//   |q_x| |c' - q_c|    measured here in double; |q_x| is below 1.01 X for any d < 10^6;
//   5 u X C + 4 u C^2   float arithmetic on the product of scales, the integer, |c'|^2/2 and the
//                       difference;
//   32 u |s|            the last bits of a score, which score_group gives to the place of the
//   centre;
//                       |s| <= X C + C^2/2.
// All are rounded up by more than the rounding of X and of these numbers to float.
void load_centers(CenterGroups& groups, FloatView centers, const Scaling& scaling) {
  const int64_t d = centers.cols();
  const int num_groups = groups.num_groups;
  groups.row_length = (d + kQuantisedPadding - 1) / kQuantisedPadding * kQuantisedPadding;
  groups.first_place.assign(1, 0);
  for (int g = 0; g < num_groups; ++g) {
    const int64_t tiles = (groups.size(g) + kCenterTile - 1) / kCenterTile;
    groups.first_place.push_back(groups.first_place[g] + static_cast<int>(tiles * kCenterTile));
  }
  const int num_places = groups.first_place[num_groups];
  const int64_t num_tiles = num_places / kCenterTile;
  if (groups.tiles.rows() != num_tiles)
    groups.tiles = Matrix<int16_t>(num_tiles, groups.row_length * kCenterTile);
  groups.half_norms.assign(num_places, kNoCenter);
  groups.scales.assign(num_groups, 0);
  groups.largest_norms.assign(kMaxGroups, 0);
  groups.slopes.assign(kMaxGroups, 0);
  groups.offsets.assign(kMaxGroups, 0);
  for (int g = 0; g < num_groups; ++g) {
    const ScaledGroup scaled = scale_group(groups, g, centers, scaling);
    groups.scales[g] = static_cast<float>(
        std::max(scaled.largest_norm / kQuantisedNorm, scaled.largest_number / kQuantisedLargest));
    double largest_rest = 0;
    for (int i = 0; i < groups.size(g); ++i) {
      const int64_t place = groups.first_place[g] + i;
      groups.half_norms[place] = static_cast<float>(0.5 * scaled.norms[i] * scaled.norms[i]);
      largest_rest = std::max(largest_rest, quantise_center(scaled.rows.row_span(i),
                                                            groups.scales[g], place, groups.tiles));
    }
    const double norm = scaled.largest_norm;
    groups.largest_norms[g] = static_cast<float>(1.001 * norm);
    groups.slopes[g] = static_cast<float>(1.02 * largest_rest + 2.4e-6 * norm);
    groups.offsets[g] = static_cast<float>(1.3e-6 * norm * norm);
  }
}

}  // namespace milieu::internal
