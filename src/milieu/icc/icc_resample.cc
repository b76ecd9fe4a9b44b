// SPDX-License-Identifier: Apache-2.0
// The bootstrap of the sub-classes: counts are drawn again, cell by cell, as Poisson numbers with
// the observed means (as if samples had arrived again), maps and basins are recomputed, and each
// sub-class is searched for.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/random.h"
#include "milieu/icc/icc_split_internal.h"

namespace milieu::internal {

namespace {

constexpr int kChoiceResamples = 20;
constexpr double kSurvivalWanted = 0.9;
constexpr double kShares[] = {0.02, 0.025, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.125, 0.16, 0.2};

// Poisson numbers: products of uniforms for small means, the normal limit for large ones.
double draw_poisson(Random& random, double mean) {
  if (mean <= 0) return 0;
  if (mean > 100) return std::max(0.0, std::floor(mean + std::sqrt(mean) * random.normal() + 0.5));
  const double limit = std::exp(-mean);
  double product = random.uniform(), number = 0;
  for (; product > limit; product *= random.uniform()) ++number;
  return number;
}

// A stop leaves the rest as it is.
ClassCounts draw_counts(const ClassCounts& counts, const Random& random, const Monitor& monitor) {
  ClassCounts drawn = counts;
  for (size_t c = 0; c < drawn.size() && !monitor.should_stop(); ++c) {
    Random own = random.child(c);
    for (double& count : drawn[c]) count = draw_poisson(own, count);
  }
  return drawn;
}

// Sub-classes of a class by falling height; ties: the lower number first.
std::vector<int> by_height(const ClassSplit& split) {
  std::vector<int> order(split.peaks.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order,
                           [&](int a, int b) { return split.heights[a] > split.heights[b]; });
  return order;
}

// Adds 1 for every sub-class whose maximum lies, in the resample, in another sub-class than those
// of all higher ones.
void count_survivors(const ClassSplit& split, const ClassSplit& drawn, double* survivors) {
  std::vector<int> seen;
  for (const int s : by_height(split)) {
    const int place = drawn.labels[split.peaks[s]];
    if (std::ranges::find(seen, place) != seen.end()) continue;
    seen.push_back(place);
    ++survivors[s];
  }
}

// Mean and the two ends of the number of sub-classes of one class.
void summarize_numbers(std::vector<int64_t>& numbers, Resampling& out) {
  if (numbers.empty()) numbers.push_back(0);  // stopped before the first
  std::ranges::sort(numbers);
  const size_t tail = numbers.size() / 20;
  out.fewest_subclasses.push_back(numbers[tail]);
  out.most_subclasses.push_back(numbers[numbers.size() - 1 - tail]);
  out.mean_subclasses.push_back(
      static_cast<double>(std::accumulate(numbers.begin(), numbers.end(), int64_t{0})) /
      static_cast<double>(numbers.size()));
}

double mean_survival_of_lower(const std::vector<ClassSplit>& splits,
                              const std::vector<double>& survival) {
  double sum = 0, count = 0;
  size_t first = 0;
  for (const ClassSplit& split : splits) {
    const int highest = by_height(split)[0];
    for (size_t s = 0; s < split.peaks.size(); ++s)
      if (static_cast<int>(s) != highest) {
        sum += survival[first + s];
        ++count;
      }
    first += split.peaks.size();
  }
  return count > 0 ? sum / count : 1;
}

// Classes that a stop leaves are not split.
std::vector<ClassSplit> split_classes(const std::vector<std::vector<double>>& maps,
                                      const ClassCounts& counts, const SplitSettings& settings,
                                      const Monitor& monitor) {
  std::vector<ClassSplit> splits;
  const size_t num_split = counts.size() - (settings.has_context ? 1 : 0);
  for (size_t c = 0; c < num_split; ++c)
    splits.push_back(monitor.should_stop() ? whole_class(maps[c])
                                           : split_class(maps[c], counts[c], settings));
  return splits;
}

// The same partition on new maps: how much its passes and peaks move. All classes in a row.
std::vector<double> moved_heights(const std::vector<ClassSplit>& splits,
                                  const std::vector<std::vector<double>>& maps,
                                  const SplitSettings& settings, const Monitor& monitor) {
  std::vector<double> all;
  for (size_t c = 0; c < splits.size() && !monitor.should_stop(); ++c) {
    ClassSplit moved = splits[c];
    for (size_t s = 0; s < moved.peaks.size(); ++s) moved.heights[s] = maps[c][moved.peaks[s]];
    const std::vector<double> heights = persistence_of(moved, maps[c], settings.grid);
    all.insert(all.end(), heights.begin(), heights.end());
  }
  return all;
}

}  // namespace

Resampling resample(const ClassCounts& counts, const std::vector<ClassSplit>& splits,
                    const SplitSettings& settings, int num_resamples, uint64_t seed,
                    Monitor& monitor) {
  size_t total = 0;
  for (const ClassSplit& split : splits) total += split.peaks.size();
  Resampling out;
  out.survival.assign(total, 0);
  std::vector<double> sums(total, 0), squares(total, 0);
  std::vector<std::vector<int64_t>> numbers(splits.size());
  const Random random(seed);
  for (int b = 0; b < num_resamples; ++b) {
    monitor.on_progress("resampling", b, num_resamples);
    if (monitor.should_stop()) break;
    const ClassCounts drawn = draw_counts(counts, random.child(static_cast<uint64_t>(b)), monitor);
    const std::vector<std::vector<double>> drawn_maps = class_maps(drawn, settings, monitor);
    const std::vector<ClassSplit> all = split_classes(drawn_maps, drawn, settings, monitor);
    const std::vector<double> heights = moved_heights(splits, drawn_maps, settings, monitor);
    if (monitor.should_stop()) break;
    size_t first = 0;
    for (size_t c = 0; c < splits.size(); ++c) {
      numbers[c].push_back(static_cast<int64_t>(all[c].peaks.size()));
      count_survivors(splits[c], all[c], out.survival.data() + first);
      first += splits[c].peaks.size();
    }
    for (size_t s = 0; s < heights.size(); ++s) {
      sums[s] += heights[s];
      squares[s] += heights[s] * heights[s];
    }
    ++out.num_resamples;
  }
  const double drawn = std::max(1, out.num_resamples);
  for (double& share : out.survival) share /= drawn;
  for (std::vector<int64_t>& of_class : numbers) summarize_numbers(of_class, out);
  for (size_t s = 0; s < total; ++s)
    out.noise.push_back(
        std::sqrt(std::max(0.0, squares[s] / drawn - sums[s] / drawn * (sums[s] / drawn))));
  return out;
}

double choose_bandwidth(const ClassCounts& counts, SplitSettings& settings, uint64_t seed,
                        Monitor& monitor) {
  for (const double share : kShares) {
    for (size_t a = 0; a < settings.sigmas.size(); ++a)
      settings.sigmas[a] = share * settings.grid.size[a];
    if (settings.sigmas[0] < 1 && share != std::end(kShares)[-1]) continue;
    const std::vector<std::vector<double>> maps = class_maps(counts, settings, monitor);
    const std::vector<ClassSplit> splits = split_classes(maps, counts, settings, monitor);
    const Resampling resampling =
        resample(counts, splits, settings, kChoiceResamples, seed, monitor);
    if (monitor.should_stop() ||
        mean_survival_of_lower(splits, resampling.survival) >= kSurvivalWanted)
      return share;
  }
  return std::end(kShares)[-1];
}

}  // namespace milieu::internal
