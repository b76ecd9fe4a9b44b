// SPDX-License-Identifier: Apache-2.0
// From counts to sub-classes: maps, basins, merging, and the confidence of the sub-classes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/icc/density/basins.h"
#include "milieu/icc/icc.h"
#include "milieu/icc/icc_frame_internal.h"

namespace milieu::internal {

struct SplitSettings {
  Grid grid;
  std::vector<double> sigmas;  // cells, one per axis
  double window = 8;
  IccWeight weight = IccWeight::Count;
  IccClimb climb = IccClimb::Basin;
  int64_t min_size = 10;
  int num_threads = 1;
  bool has_context = false;  // the last class is only context: it is not split
};

// Counts of all classes: whole numbers, as double. One row per class.
using ClassCounts = std::vector<std::vector<double>>;
ClassCounts to_class_counts(const CellCounts& counts);

// The difference of density of every class; zeros for those that a stop leaves.
std::vector<std::vector<double>> class_maps(const ClassCounts& counts,
                                            const SplitSettings& settings,
                                            const Monitor& monitor = silent_monitor());

// The sub-classes of one class, in the order of the cells of their maxima.
struct ClassSplit {
  std::vector<int> labels;     // sub-class of every cell
  std::vector<int32_t> peaks;  // cell of each maximum
  std::vector<double> heights;
  std::vector<Saddle> saddles;  // highest pass of each pair of sub-classes that touch
};
ClassSplit split_class(std::span<const double> map, std::span<const double> counts,
                       const SplitSettings& settings);
// The whole class as one sub-class: its maximum is the highest cell.
ClassSplit whole_class(std::span<const double> map);

// For each sub-class the height of its maximum above the highest pass to a sub-class with a higher
// one (equal ones: the lower number counts as higher), as a share of the largest |map|; the highest
// one has its height above the lowest cell.
std::vector<double> persistence_of(const ClassSplit& split, std::span<const double> map,
                                   std::vector<Saddle> saddles);
// The same with the passes of the split's cells on `map`.
std::vector<double> persistence_of(const ClassSplit& split, std::span<const double> map,
                                   const Grid& grid);

// The sub-classes under resampling, all classes in a row.
struct Resampling {
  std::vector<double> survival;  // fraction of resamples in which the sub-class is separate from
                                 // every higher one of its class
  std::vector<double> noise;     // standard deviation of (peak - pass), same unit as
                                 // persistence
  std::vector<double> mean_subclasses;  // classes: mean number of sub-classes
  // classes: all but 5 % of the resamples have at least, and all but 5 % at most, this many
  std::vector<int64_t> fewest_subclasses, most_subclasses;
  int num_resamples = 0;
};
// `num_resamples` Poisson resamples of the counts; stops early with the monitor.
Resampling resample(const ClassCounts& counts, const std::vector<ClassSplit>& splits,
                    const SplitSettings& settings, int num_resamples, uint64_t seed,
                    Monitor& monitor);

// The smallest kernel (a share of every axis) at which sub-classes survive resampling; sets
// settings.sigmas. Returns the share.
double choose_bandwidth(const ClassCounts& counts, SplitSettings& settings, uint64_t seed,
                        Monitor& monitor);

}  // namespace milieu::internal
