// SPDX-License-Identifier: Apache-2.0
#include "milieu/icc/icc_fit_internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/icc/density/icc_loops.h"

namespace milieu::internal {

namespace {

constexpr double kFewCells = 2;  // a narrower kernel resolves the grid, not the density

// Fraction of the axis that holds all but half a percent of the samples at either end.
double crowded_share(std::vector<double> counts_along_axis) {
  const double n = std::accumulate(counts_along_axis.begin(), counts_along_axis.end(), 0.0);
  const auto last = static_cast<int>(counts_along_axis.size()) - 1;
  int first_kept = 0, last_kept = last;
  double below = counts_along_axis[0], above = counts_along_axis[last];
  while (first_kept < last && below <= 0.005 * n) below += counts_along_axis[++first_kept];
  while (last_kept > 0 && above <= 0.005 * n) above += counts_along_axis[--last_kept];
  return (last_kept - first_kept + 1.0) / (last + 1.0);
}

// How often each label occurs. Four counters per label: labels often repeat in a row, and one
// counter would wait for its last increment.
std::vector<int64_t> label_sizes(std::span<const int> labels, size_t num_labels) {
  std::vector<std::array<int64_t, 4>> counters(num_labels, {0, 0, 0, 0});
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= 0) ++counters[labels[i]][i % 4];
  std::vector<int64_t> sizes;
  for (const auto& four : counters) sizes.push_back(four[0] + four[1] + four[2] + four[3]);
  return sizes;
}

}  // namespace

GridFit::GridFit(Projection projection, const IccOptions& options, int num_classes,
                 bool has_context, const Team& team)
    : projection_(std::move(projection)),
      options_(options),
      team_(team),
      bandwidth_(parse_bandwidth(options.bandwidth, projection_.dims())),
      range_(projection_.dims()),
      num_classes_(num_classes),
      num_split_(num_classes - (has_context ? 1 : 0)) {
  settings_.grid = parse_grid(options.grid, projection_.dims());
  check_memory(settings_.grid, num_classes, options.max_memory_gb);
  settings_.window = options.window;
  settings_.weight = options.weight;
  settings_.climb = options.climb;
  settings_.min_size = options.min_size;
  settings_.num_threads = options.num_threads;
  settings_.has_context = has_context;
}

void GridFit::read_range(const Read& read) {
  const auto measure = [&] {
    range_ = Range(projection_.dims());
    read([&](FloatView points, std::span<const int>) {
      range_.add(projection_, points, options_.num_threads, team_);
    });
    range_.close();
  };
  measure();
  if (bandwidth_.is_auto) {
    settings_.sigmas.assign(settings_.grid.size.size(), 1);
  } else if (bandwidth_.is_matrix(projection_.dims())) {
    const std::vector<double> deviations = rotate_to_kernel(projection_, range_, bandwidth_.values);
    measure();
    for (int a = 0; a < projection_.dims(); ++a)
      settings_.sigmas.push_back(deviations[a] / (range_.high[a] - range_.low[a]) *
                                 settings_.grid.size[a]);
  } else {
    settings_.sigmas = sigmas_in_cells(bandwidth_, settings_.grid);
  }
}

void GridFit::count(const Read& read, Monitor& monitor, std::span<int32_t> cells) {
  const Projection scaled = cell_projection(projection_, range_.low, range_.high, settings_.grid);
  counts_.emplace(settings_.grid, num_classes_);
  read([&](FloatView points, std::span<const int> classes) {
    monitor.on_progress("counting", num_rows_, 0);
    counts_->add(scaled, points, classes, options_.num_threads, monitor, cells, team_);
    num_rows_ += points.rows();
  });
  require(num_rows_ > 0, "there are no points");
}

// Samples along each of the three axes of Grid::extents.
std::array<std::vector<double>, 3> GridFit::counts_along_axes() const {
  const std::array<int64_t, 3> extents = settings_.grid.extents();
  std::array<std::vector<double>, 3> along;
  for (int a = 0; a < 3; ++a) along[a].assign(extents[a], 0.0);
  for (int c = 0; c < num_classes_; ++c) {
    const int32_t* cell = counts_->of_class(c).data();
    for (int64_t i = 0; i < extents[0]; ++i)
      for (int64_t j = 0; j < extents[1]; ++j) {
        int64_t row = 0;
        for (int64_t k = 0; k < extents[2]; ++k) row += cell[k];
        for (int64_t k = 0; k < extents[2]; ++k) along[2][k] += cell[k];
        cell += extents[2];
        along[0][i] += static_cast<double>(row);
        along[1][j] += static_cast<double>(row);
      }
  }
  return along;
}

void GridFit::warn_of_outliers(RunSummary& summary) const {
  const int dims = settings_.grid.dims();
  const std::array<std::vector<double>, 3> counts = counts_along_axes();
  for (int a = 0; a < dims; ++a) {
    const double share = crowded_share(counts[3 - dims + a]);
    if (num_rows_ >= 100 && share <= 0.2)
      summary.warnings.push_back(
          fmt::format("99 % of the samples lie in {:.0f} % of axis {}: outliers stretch the frame; "
                      "remove them, or use a smaller bandwidth and a finer grid",
                      100 * share, a + 1));
  }
}

void GridFit::warn_of_sizes(RunSummary& summary, const ClassCounts& counts) const {
  const double narrowest = *std::ranges::min_element(settings_.sigmas);
  if (narrowest < kFewCells)
    summary.warnings.push_back(fmt::format(
        "the kernel is {:.2g} cells wide: use a finer grid or a larger bandwidth", narrowest));
  for (int c = 0; c < num_split_ && num_classes_ > 1; ++c) {
    const double samples =
        MILIEU_SELECT_ISA(sum_whole)(counts[c].data(), static_cast<int64_t>(counts[c].size()));
    const std::string name = settings_.has_context ? "the set" : fmt::format("class {}", c);
    if (samples < options_.min_size)
      summary.warnings.push_back(fmt::format("{} has {}, fewer than min_size {}: it is not split",
                                             name, counted(static_cast<int64_t>(samples), "sample"),
                                             options_.min_size));
  }
}

void GridFit::fill_model(IccModel& model, const std::vector<std::vector<double>>& maps,
                         const std::vector<ClassSplit>& splits) const {
  const Grid& grid = settings_.grid;
  model.axes = projection_.axes;
  model.origin = projection_.origin;
  model.low = range_.low;
  model.high = range_.high;
  model.grid = grid.size;
  model.sigmas = settings_.sigmas;
  model.density_weight = options_.weight == IccWeight::Density;
  model.maps = Matrix<float>(num_split_, grid.num_cells());
  model.cell_labels.reserve(grid.num_cells() * num_split_);
  std::vector<double> maxima;
  for (int c = 0; c < num_split_; ++c) {
    std::copy(maps[c].begin(), maps[c].end(), model.maps.row(c));
    model.cell_labels.insert(model.cell_labels.end(), splits[c].labels.begin(),
                             splits[c].labels.end());
    model.subclasses.push_back(static_cast<int>(splits[c].peaks.size()));
    model.heights.insert(model.heights.end(), splits[c].heights.begin(), splits[c].heights.end());
    for (const int32_t peak : splits[c].peaks) {
      const std::vector<int> place = grid.place_of(peak);
      for (int a = 0; a < grid.dims(); ++a)
        maxima.push_back(range_.low[a] +
                         place[a] * (range_.high[a] - range_.low[a]) / (grid.size[a] - 1));
    }
  }
  model.maxima = Matrix<double>(
      DoubleView(maxima.data(), static_cast<int64_t>(model.heights.size()), grid.dims()));
}

namespace {

// Stopped before the first resample there is nothing to say.
void add_resampling(const Resampling& again, int num_wanted, RunSummary& summary) {
  if (again.num_resamples > 0) {
    summary.extra.emplace_back("survival", again.survival);
    summary.extra.emplace_back("noise", again.noise);
    summary.extra.emplace_back("mean_subclasses", again.mean_subclasses);
    summary.extra.emplace_back("fewest_subclasses", again.fewest_subclasses);
    summary.extra.emplace_back("most_subclasses", again.most_subclasses);
  }
  summary.extra.emplace_back("resamples", int64_t{again.num_resamples});
  if (again.num_resamples < num_wanted)
    summary.warnings.push_back(fmt::format("the bootstrap was stopped after {} of {} resamples",
                                           again.num_resamples, num_wanted));
}

}  // namespace

IccResult GridFit::split(Monitor& monitor) {
  IccResult result;
  const ClassCounts counts = to_class_counts(*counts_);
  if (bandwidth_.is_auto) choose_bandwidth(counts, settings_, options_.seed, monitor);
  const std::vector<std::vector<double>> maps = class_maps(counts, settings_, monitor);
  std::vector<ClassSplit> splits;
  std::vector<double> persistence;
  for (int c = 0; c < num_split_; ++c) {
    monitor.on_progress("splitting", c, num_split_);
    splits.push_back(monitor.should_stop() ? whole_class(maps[c])
                                           : split_class(maps[c], counts[c], settings_));
    for (const double height : persistence_of(splits[c], maps[c], splits[c].saddles))
      persistence.push_back(height);
  }
  fill_model(result.model, maps, splits);
  warn_of_sizes(result.summary, counts);
  warn_of_outliers(result.summary);
  std::vector<double> shares;
  for (size_t a = 0; a < settings_.sigmas.size(); ++a)
    shares.push_back(settings_.sigmas[a] / settings_.grid.size[a]);
  result.summary.extra.emplace_back("bandwidth", shares);
  result.summary.extra.emplace_back("persistence", persistence);
  if (options_.bootstrap > 0)
    add_resampling(resample(counts, splits, settings_, options_.bootstrap, options_.seed, monitor),
                   options_.bootstrap, result.summary);
  return result;
}

std::vector<int64_t> GridFit::subclass_sizes(const IccModel& model) const {
  std::vector<int64_t> sizes(model.num_subclasses(), 0);
  const int64_t cells = settings_.grid.num_cells();
  int first = 0;
  for (int c = 0; c < num_classes_; ++c) {
    const auto counts = counts_->of_class(c);
    for (int64_t cell = 0; cell < cells; ++cell)
      sizes[first + model.cell_labels[c * cells + cell]] += counts[cell];
    first += model.subclasses[c];
  }
  return sizes;
}

void finish_summary(IccResult& result, int64_t n, int64_t d, const IccOptions& options,
                    const Monitor& monitor) {
  RunSummary& summary = result.summary;
  summary.method = "icc";
  summary.version = version();
  summary.seed = options.seed;
  summary.n = n;
  summary.d = d;
  summary.iterations = 1;
  const StopReason reason = monitor.stop_reason();
  summary.termination =
      reason == StopReason::None ? Termination::Converged : termination_from(reason);
  summary.message = reason == StopReason::None
                        ? "every sample is at its maximum"
                        : "stopped early: classes that were not reached are not split";
  if (!result.labels.empty())
    summary.sizes = label_sizes(result.labels, result.model.heights.size());
  summary.clusters =
      static_cast<int>(std::ranges::count_if(summary.sizes, [](int64_t s) { return s > 0; }));
  double sum = 0, count = 0;
  for (size_t s = 0; s < summary.sizes.size(); ++s) {
    sum += static_cast<double>(summary.sizes[s]) * result.model.heights[s];
    count += static_cast<double>(summary.sizes[s]);
  }
  summary.objective = count > 0 ? sum / count : 0;
  std::vector<int64_t> subclasses(result.model.subclasses.begin(), result.model.subclasses.end());
  summary.extra.emplace(summary.extra.begin(), "subclasses", std::move(subclasses));
}

}  // namespace milieu::internal
