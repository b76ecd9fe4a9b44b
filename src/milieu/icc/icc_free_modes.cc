// SPDX-License-Identifier: Apache-2.0
// From the ends of climbs to sub-classes: ends that lie together are one maximum, small ones join
// the maximum that the highest straight path leads to.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "milieu/icc/density/basins.h"
#include "milieu/icc/icc_free_internal.h"

namespace milieu::internal {

namespace {

constexpr double kSameMode = 0.5;  // kernels: ends nearer than this are one maximum
constexpr int kPathPlaces = 16;    // of a straight path at which its height is evaluated

double squared_distance(const float* a, const float* b, int64_t p) {
  double sum = 0;
  for (int64_t j = 0; j < p; ++j) {
    const double away = static_cast<double>(a[j]) - b[j];
    sum += away * away;
  }
  return sum;
}

struct Modes {
  std::vector<int64_t> rows;  // the highest end of each mode
  std::vector<double> heights;
};

// Highest ends first; an end within kSameMode of a mode belongs to it. A stop leaves the rest out.
Modes find_modes(FloatView ends, const std::vector<int64_t>& members,
                 const std::vector<double>& heights, const Monitor& monitor) {
  std::vector<size_t> order(members.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return heights[a] > heights[b]; });
  Modes modes;
  for (const size_t o : order) {
    if (monitor.should_stop()) break;
    const bool is_known = std::ranges::any_of(modes.rows, [&](int64_t row) {
      return squared_distance(ends.row(row), ends.row(members[o]), ends.cols()) <
             kSameMode * kSameMode;
    });
    if (is_known) continue;
    modes.rows.push_back(members[o]);
    modes.heights.push_back(heights[o]);
  }
  return modes;
}

// Height of the straight path between every two modes: passes without a grid.
std::vector<Saddle> straight_saddles(const DensityField& field, FloatView ends, const Modes& modes,
                                     int own_class, int num_threads, const Monitor& monitor) {
  const auto count = static_cast<int>(modes.rows.size());
  std::vector<Saddle> saddles;
  const int64_t p = ends.cols();
  for (int a = 0; a < count && !monitor.should_stop(); ++a) {
    Matrix<float> places(static_cast<int64_t>(count - a - 1) * kPathPlaces, p);
    for (int b = a + 1; b < count; ++b)
      for (int s = 0; s < kPathPlaces; ++s)
        for (int64_t j = 0; j < p; ++j) {
          const double share = (s + 1.0) / (kPathPlaces + 1.0);
          places((b - a - 1) * kPathPlaces + s, j) = static_cast<float>(
              (1 - share) * ends(modes.rows[a], j) + share * ends(modes.rows[b], j));
        }
    if (places.empty()) continue;
    const std::vector<int> of(places.rows(), own_class);
    const std::vector<FieldPoint> points = field.evaluate(places, of, num_threads, monitor);
    for (int b = a + 1; b < count; ++b) {
      double lowest = std::min(modes.heights[a], modes.heights[b]);
      for (int s = 0; s < kPathPlaces; ++s)
        lowest = std::min(lowest, points[(b - a - 1) * kPathPlaces + s].value);
      saddles.push_back({a, b, lowest});
    }
  }
  return saddles;
}

// Index, among rows [first, last) of `modes`, of the nearest to `place`; ties: the lowest.
int64_t nearest_mode(FloatView modes, int64_t first, int64_t last, const float* place) {
  int64_t best = first;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t m = first; m < last; ++m) {
    const double away = squared_distance(modes.row(m), place, modes.cols());
    if (away < least) {
      least = away;
      best = m;
    }
  }
  return best;
}

struct ClassModes {
  Modes modes;
  std::vector<int> subclass_from_mode;
  int num_subclasses = 0;
};

// Meaningless when the monitor stops it.
ClassModes split_free(const DensityField& field, FloatView ends,
                      const std::vector<int64_t>& members, int own_class, const IccOptions& options,
                      const Monitor& monitor) {
  std::vector<double> heights;
  Matrix<float> own(static_cast<int64_t>(members.size()), ends.cols());
  for (size_t m = 0; m < members.size(); ++m)
    std::copy_n(ends.row(members[m]), ends.cols(), own.row(static_cast<int64_t>(m)));
  const std::vector<int> of(members.size(), own_class);
  for (const FieldPoint& at : field.evaluate(own, of, options.num_threads, monitor))
    heights.push_back(at.value);
  ClassModes out;
  out.modes = find_modes(ends, members, heights, monitor);
  if (monitor.should_stop()) return out;
  Matrix<float> modes(static_cast<int64_t>(out.modes.rows.size()), ends.cols());
  for (int64_t m = 0; m < modes.rows(); ++m)
    std::copy_n(ends.row(out.modes.rows[m]), ends.cols(), modes.row(m));
  std::vector<int64_t> sizes(modes.rows(), 0);
  for (int64_t i = 0; i < own.rows() && !monitor.should_stop(); ++i)
    ++sizes[nearest_mode(modes, 0, modes.rows(), own.row(i))];
  const std::vector<Saddle> saddles =
      straight_saddles(field, ends, out.modes, own_class, options.num_threads, monitor);
  if (monitor.should_stop()) return out;
  const std::vector<int> owner = merge_small(saddles, sizes, options.min_size);
  std::map<int, int> subclass_from_owner;  // in the order of falling heights
  for (const int o : owner)
    out.subclass_from_mode.push_back(
        subclass_from_owner.emplace(o, static_cast<int>(subclass_from_owner.size())).first->second);
  out.num_subclasses = static_cast<int>(subclass_from_owner.size());
  return out;
}

}  // namespace

std::vector<int> fit_free(IccModel& model, const IccOptions& options, int num_classes,
                          Monitor& monitor) {
  const DensityField field(model.samples, model.sample_classes, num_classes, model.reach,
                           model.density_weight ? IccWeight::Density : IccWeight::Count);
  std::vector<std::vector<int64_t>> members(num_classes);
  std::vector<int> climbed = model.sample_classes;
  for (size_t i = 0; i < climbed.size(); ++i) {
    if (climbed[i] >= 0) members[climbed[i]].push_back(static_cast<int64_t>(i));
    climbed[i] = std::max(climbed[i], 0);  // rows without a class are labelled afterwards
  }
  Matrix<float> ends = model.samples;
  if (!field.climb(ends, climbed, options.num_threads, monitor)) return {};
  std::vector<float> modes;
  model.mode_labels.clear();
  model.subclasses.clear();
  model.heights.clear();
  std::vector<double> maxima;
  int first = 0;
  for (int c = 0; c < num_classes; ++c) {
    const ClassModes split = split_free(field, ends, members[c], c, options, monitor);
    if (monitor.should_stop()) return {};
    std::vector<char> has_height(split.num_subclasses, 0);
    for (size_t m = 0; m < split.modes.rows.size(); ++m) {
      const float* place = ends.row(split.modes.rows[m]);
      modes.insert(modes.end(), place, place + ends.cols());
      model.mode_labels.push_back(first + split.subclass_from_mode[m]);
      if (has_height[split.subclass_from_mode[m]]++) continue;  // the first one is the highest
      model.heights.push_back(split.modes.heights[m]);
      maxima.insert(maxima.end(), place, place + ends.cols());
    }
    model.subclasses.push_back(split.num_subclasses);
    first += split.num_subclasses;
  }
  model.modes = Matrix<float>(
      FloatView(modes.data(), static_cast<int64_t>(model.mode_labels.size()), ends.cols()));
  model.maxima = Matrix<double>(DoubleView(maxima.data(), first, ends.cols()));
  return predict_free(model, model.samples, model.sample_classes, options.num_threads, monitor);
}

std::vector<int> predict_free(const IccModel& model, Matrix<float> places,
                              std::span<const int> classes, int num_threads, Monitor& monitor) {
  const DensityField field(model.samples, model.sample_classes, model.num_classes(), model.reach,
                           model.density_weight ? IccWeight::Density : IccWeight::Count);
  std::vector<int> of(classes.begin(), classes.end());
  if (of.empty()) of.assign(places.rows(), -1);
  if (std::ranges::find(of, -1) != of.end()) {
    const std::vector<int> best = field.best_classes(places, num_threads, monitor);
    for (size_t i = 0; i < of.size(); ++i)
      if (of[i] < 0) of[i] = best[i];
  }
  if (!field.climb(places, of, num_threads, monitor)) return {};
  // Modes are stored class by class; those of a class have its sub-classes as labels.
  std::vector<int64_t> first_mode(model.num_classes() + 1, 0);
  const std::vector<int> class_from_subclass = model.class_from_subclass();
  for (const int label : model.mode_labels) ++first_mode[class_from_subclass[label] + 1];
  std::partial_sum(first_mode.begin(), first_mode.end(), first_mode.begin());
  std::vector<int> labels(places.rows());
  for (int64_t i = 0; i < places.rows() && !monitor.should_stop(); ++i)
    labels[i] = model.mode_labels[nearest_mode(model.modes, first_mode[of[i]],
                                               first_mode[of[i] + 1], places.row(i))];
  if (monitor.should_stop()) return {};
  return labels;
}

}  // namespace milieu::internal
