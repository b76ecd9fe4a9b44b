// SPDX-License-Identifier: Apache-2.0
#include "milieu/icc/icc_split_internal.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "milieu/icc/density/basins.h"
#include "milieu/icc/density/icc_loops.h"

namespace milieu::internal {

namespace {

// Cells of maxima to region numbers, in the order of the cells.
struct Regions {
  std::vector<int32_t> of_cell;
  std::vector<int32_t> roots;
};

Regions number_regions(const std::vector<int32_t>& root_of_cell) {
  Regions regions;
  std::vector<int32_t> number(root_of_cell.size(), 0);
  for (size_t cell = 0; cell < root_of_cell.size(); ++cell)
    if (root_of_cell[cell] == static_cast<int32_t>(cell)) {
      number[cell] = static_cast<int32_t>(regions.roots.size());
      regions.roots.push_back(static_cast<int32_t>(cell));
    }
  regions.of_cell.resize(root_of_cell.size());
  MILIEU_SELECT_ISA(look_up)
  (number.data(), root_of_cell.data(), static_cast<int64_t>(root_of_cell.size()),
   regions.of_cell.data());
  return regions;
}

// Samples of each region. Neighbouring cells are mostly of one region: a run of them is one sum.
std::vector<int64_t> region_sizes(const Regions& regions, std::span<const double> counts) {
  std::vector<int64_t> sizes(regions.roots.size(), 0);
  int64_t run = 0;
  for (size_t cell = 0; cell < counts.size(); ++cell) {
    run += static_cast<int64_t>(counts[cell]);
    if (cell + 1 < counts.size() && regions.of_cell[cell + 1] == regions.of_cell[cell]) continue;
    sizes[regions.of_cell[cell]] += run;
    run = 0;
  }
  return sizes;
}

// Passes between regions as passes between what the regions became: the highest of each pair, pairs
// in ascending order.
std::vector<Saddle> merge_saddles(const std::vector<Saddle>& saddles,
                                  const std::vector<int>& label_from_region) {
  std::map<std::pair<int, int>, double> highest;
  for (const Saddle& saddle : saddles) {
    const int a = label_from_region[saddle.first], b = label_from_region[saddle.second];
    if (a == b) continue;
    const auto [place, is_new] = highest.emplace(std::minmax(a, b), saddle.height);
    if (!is_new) place->second = std::max(place->second, saddle.height);
  }
  std::vector<Saddle> merged;
  for (const auto& [pair, height] : highest) merged.push_back({pair.first, pair.second, height});
  return merged;
}

}  // namespace

ClassCounts to_class_counts(const CellCounts& counts) {
  ClassCounts all;
  for (int c = 0; c < counts.num_classes(); ++c) {
    const auto cells = counts.of_class(c);
    all.emplace_back(cells.begin(), cells.end());
  }
  return all;
}

namespace {

// Two classes that weigh by count are each other's context: one is the other with its sign turned,
// and one filter of the difference of the counts makes both [Yu13, Eq. 4].
std::vector<std::vector<double>> opposite_maps(const ClassCounts& counts,
                                               const SplitSettings& settings) {
  std::vector<double> difference(counts[0].size());
  for (size_t cell = 0; cell < difference.size(); ++cell)
    difference[cell] = counts[0][cell] - counts[1][cell];
  std::vector<double> own = smooth_counts(difference, settings.grid, settings.sigmas,
                                          settings.window, settings.num_threads);
  double lowest = 0, highest = 0;
  MILIEU_SELECT_ISA(widen_range)
  (own.data(), static_cast<int64_t>(own.size()), 1, &lowest, &highest);
  const double noise = 1e-12 * std::max(-lowest, highest);  // as in difference_of_density
  std::vector<double> other(own.size());
  for (size_t cell = 0; cell < own.size(); ++cell) {
    own[cell] = std::abs(own[cell]) < noise ? 0 : own[cell];
    other[cell] = 0 - own[cell];
  }
  return {std::move(own), std::move(other)};
}

}  // namespace

std::vector<std::vector<double>> class_maps(const ClassCounts& counts,
                                            const SplitSettings& settings, const Monitor& monitor) {
  if (counts.size() == 2 && settings.weight == IccWeight::Count)
    return opposite_maps(counts, settings);
  std::vector<std::vector<double>> maps;
  std::vector<double> everything(counts[0].size(), 0.0);
  std::vector<double> samples;
  for (const std::vector<double>& own : counts) {
    maps.push_back(monitor.should_stop() ? std::vector<double>(own.size(), 0.0)
                                         : smooth_counts(own, settings.grid, settings.sigmas,
                                                         settings.window, settings.num_threads));
    for (size_t cell = 0; cell < everything.size(); ++cell) everything[cell] += maps.back()[cell];
    samples.push_back(MILIEU_SELECT_ISA(sum_whole)(own.data(), static_cast<int64_t>(own.size())));
  }
  const double n = std::accumulate(samples.begin(), samples.end(), 0.0);
  for (size_t c = 0; c < maps.size() && !monitor.should_stop(); ++c)
    maps[c] =
        difference_of_density(maps[c], everything, samples[c], n - samples[c], settings.weight);
  return maps;
}

ClassSplit split_class(std::span<const double> map, std::span<const double> counts,
                       const SplitSettings& settings) {
  const Grid& grid = settings.grid;
  const Regions regions = number_regions(settings.climb == IccClimb::Gradient
                                             ? climb_gradient(map, grid, settings.num_threads)
                                             : find_basins(map, grid, settings.num_threads));
  const auto num_regions = static_cast<int>(regions.roots.size());
  const std::vector<int64_t> sizes = region_sizes(regions, counts);
  const std::vector<Saddle> saddles = find_saddles(map, regions.of_cell, num_regions, grid);
  const std::vector<int> owner = merge_small(saddles, sizes, settings.min_size);
  std::vector<int> subclass_from_region(num_regions, 0);
  ClassSplit split;
  for (int r = 0; r < num_regions; ++r) {
    if (owner[r] != r || sizes[r] == 0) continue;
    subclass_from_region[r] = static_cast<int>(split.peaks.size());
    split.peaks.push_back(regions.roots[r]);
    split.heights.push_back(map[regions.roots[r]]);
  }
  if (split.peaks.empty()) return whole_class(map);  // a resample may have no sample of the class
  split.labels.resize(map.size());
  std::vector<int> label_from_region(num_regions);
  for (int r = 0; r < num_regions; ++r) label_from_region[r] = subclass_from_region[owner[r]];
  MILIEU_SELECT_ISA(look_up)
  (label_from_region.data(), regions.of_cell.data(), static_cast<int64_t>(map.size()),
   split.labels.data());
  split.saddles = merge_saddles(saddles, label_from_region);
  return split;
}

ClassSplit whole_class(std::span<const double> map) {
  const auto peak = static_cast<int32_t>(std::ranges::max_element(map) - map.begin());
  return {std::vector<int>(map.size(), 0), {peak}, {map[peak]}, {}};
}

std::vector<double> persistence_of(const ClassSplit& split, std::span<const double> map,
                                   const Grid& grid) {
  const std::vector<int32_t> regions(split.labels.begin(), split.labels.end());
  return persistence_of(split, map,
                        find_saddles(map, regions, static_cast<int>(split.peaks.size()), grid));
}

std::vector<double> persistence_of(const ClassSplit& split, std::span<const double> map,
                                   std::vector<Saddle> saddles) {
  const auto num = static_cast<int>(split.peaks.size());
  double lowest = map[0], highest = map[0];
  MILIEU_SELECT_ISA(widen_range)
  (map.data(), static_cast<int64_t>(map.size()), 1, &lowest, &highest);
  const double unit = std::max({std::abs(lowest), std::abs(highest), 1e-300});
  std::ranges::stable_sort(saddles,
                           [](const Saddle& a, const Saddle& b) { return a.height > b.height; });
  std::vector<int> elder(num);  // highest sub-class of each merged set
  std::iota(elder.begin(), elder.end(), 0);
  const auto find = [&](int s) {
    while (elder[s] != s) s = elder[s];
    return s;
  };
  std::vector<double> persistence(num);
  for (int s = 0; s < num; ++s) persistence[s] = (split.heights[s] - lowest) / unit;
  for (const Saddle& saddle : saddles) {
    int a = find(saddle.first), b = find(saddle.second);
    if (a == b) continue;
    if (split.heights[b] > split.heights[a] || (split.heights[b] == split.heights[a] && b < a))
      std::swap(a, b);
    persistence[b] = (split.heights[b] - saddle.height) / unit;
    elder[b] = a;
  }
  return persistence;
}

}  // namespace milieu::internal
