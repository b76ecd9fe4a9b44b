// SPDX-License-Identifier: Apache-2.0
// From the ends of climbs to sub-classes: ends that lie together are one maximum, small ones join
// the maximum that the highest straight path leads to.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "milieu/icc/density/basins.h"
#include "milieu/icc/icc_free_internal.h"

namespace milieu::internal {

namespace {

constexpr double kSameMode = 0.5;  // kernels: ends nearer than this are one maximum
constexpr int kFewModes = 16;      // of a class: all pairs are looked at
constexpr int kNearModes = 8;
constexpr size_t kPairsAtOnce = 64;
constexpr int kPathPlaces = 16;  // of a straight path at which its height is evaluated

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

// Pairs of modes, in order, between which a path is looked at: all where modes are few; else the
// nearest ones of each mode, and the nearest higher one, so that every mode leads to the highest.
std::vector<std::pair<int, int>> mode_pairs(FloatView ends, const Modes& modes) {
  const auto count = static_cast<int>(modes.rows.size());
  std::set<std::pair<int, int>> pairs;
  for (int a = 0; a < count; ++a) {
    std::vector<std::pair<double, int>> others;  // modes stand in the order of falling heights
    for (int b = 0; b < count; ++b)
      if (b != a)
        others.emplace_back(
            squared_distance(ends.row(modes.rows[a]), ends.row(modes.rows[b]), ends.cols()), b);
    const auto near = std::min<size_t>(others.size(), count <= kFewModes ? count : kNearModes);
    const auto end = others.begin() + static_cast<int64_t>(near);
    std::partial_sort(others.begin(), end, others.end());
    for (size_t o = 0; o < near; ++o) pairs.insert(std::minmax(a, int{others[o].second}));
    const auto higher = std::ranges::min_element(others, {}, [&](const auto& other) {
      return std::pair(other.second < a ? other.first : std::numeric_limits<double>::infinity(),
                       other.second);
    });
    if (a > 0) pairs.insert(std::minmax(a, int{higher->second}));
  }
  return {pairs.begin(), pairs.end()};
}

// Height of the straight path between modes: passes without a grid.
std::vector<Saddle> straight_saddles(const DensityField& field, FloatView ends, const Modes& modes,
                                     int own_class, int num_threads, const Monitor& monitor) {
  const std::vector<std::pair<int, int>> pairs = mode_pairs(ends, modes);
  std::vector<Saddle> saddles;
  const int64_t p = ends.cols();
  for (size_t begin = 0; begin < pairs.size() && !monitor.should_stop(); begin += kPairsAtOnce) {
    const size_t end = std::min(pairs.size(), begin + kPairsAtOnce);
    Matrix<float> places(static_cast<int64_t>(end - begin) * kPathPlaces, p);
    for (int64_t place = 0; place < places.rows(); ++place) {
      const auto [a, b] = pairs[begin + static_cast<size_t>(place / kPathPlaces)];
      const double share = (static_cast<double>(place % kPathPlaces) + 1) / (kPathPlaces + 1.0);
      for (int64_t j = 0; j < p; ++j)
        places(place, j) = static_cast<float>((1 - share) * ends(modes.rows[a], j) +
                                              share * ends(modes.rows[b], j));
    }
    const std::vector<int> of(places.rows(), own_class);
    const std::vector<double> values = field.values(places, of, num_threads, monitor);
    for (size_t pair = begin; pair < end; ++pair) {
      const auto [a, b] = pairs[pair];
      double lowest = std::min(modes.heights[a], modes.heights[b]);
      for (int s = 0; s < kPathPlaces; ++s)
        lowest = std::min(lowest, values[(pair - begin) * kPathPlaces + static_cast<size_t>(s)]);
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
  Matrix<float> own(static_cast<int64_t>(members.size()), ends.cols());
  for (size_t m = 0; m < members.size(); ++m)
    std::copy_n(ends.row(members[m]), ends.cols(), own.row(static_cast<int64_t>(m)));
  const std::vector<int> of(members.size(), own_class);
  const std::vector<double> heights = field.values(own, of, options.num_threads, monitor);
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

// The sub-class of the nearest mode of each place's class. An empty list: the monitor stopped it.
std::vector<int> nearest_labels(const IccModel& model, FloatView ends, std::span<const int> of,
                                const Monitor& monitor) {
  // Modes are stored class by class; those of a class have its sub-classes as labels.
  std::vector<int64_t> first_mode(model.num_classes() + 1, 0);
  const std::vector<int> class_from_subclass = model.class_from_subclass();
  for (const int label : model.mode_labels) ++first_mode[class_from_subclass[label] + 1];
  std::partial_sum(first_mode.begin(), first_mode.end(), first_mode.begin());
  std::vector<int> labels(ends.rows());
  for (int64_t i = 0; i < ends.rows() && !monitor.should_stop(); ++i)
    labels[i] = model.mode_labels[nearest_mode(model.modes, first_mode[of[i]],
                                               first_mode[of[i] + 1], ends.row(i))];
  if (monitor.should_stop()) return {};
  return labels;
}

// Labels of the model's own samples from the ends of their climbs; only those without a class,
// which have not climbed in the class they belong to, climb again.
std::vector<int> label_samples(const IccModel& model, const Matrix<float>& ends, int num_threads,
                               Monitor& monitor) {
  std::vector<int> of(model.sample_classes.begin(), model.sample_classes.begin() + ends.rows());
  std::vector<int64_t> unknown;
  for (size_t i = 0; i < of.size(); ++i) {
    if (of[i] < 0) unknown.push_back(static_cast<int64_t>(i));
    of[i] = std::max(of[i], 0);
  }
  std::vector<int> labels = nearest_labels(model, ends, of, monitor);
  if (labels.empty() || unknown.empty()) return labels;
  Matrix<float> places(static_cast<int64_t>(unknown.size()), ends.cols());
  for (size_t u = 0; u < unknown.size(); ++u)
    std::copy_n(model.samples.row(unknown[u]), ends.cols(), places.row(static_cast<int64_t>(u)));
  const std::vector<int> found = predict_free(model, std::move(places), {}, num_threads, monitor);
  if (found.empty()) return {};
  for (size_t u = 0; u < unknown.size(); ++u) labels[unknown[u]] = found[u];
  return labels;
}

}  // namespace

std::vector<int> fit_free(IccModel& model, const IccOptions& options, int num_classes,
                          Monitor& monitor) {
  const DensityField field(model.samples, model.sample_classes, num_classes, model.reach,
                           model.density_weight ? IccWeight::Density : IccWeight::Count);
  std::vector<std::vector<int64_t>> members(num_classes);
  const auto num_climbed = static_cast<int64_t>(
      std::ranges::count_if(model.sample_classes, [&](int c) { return c < num_classes; }));
  std::vector<int> climbed(model.sample_classes.begin(),
                           model.sample_classes.begin() + num_climbed);
  for (size_t i = 0; i < climbed.size(); ++i) {
    if (climbed[i] >= 0) members[climbed[i]].push_back(static_cast<int64_t>(i));
    climbed[i] = std::max(climbed[i], 0);  // rows without a class are labelled afterwards
  }
  Matrix<float> ends(model.samples.view().rows_between(0, num_climbed));
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
  return label_samples(model, ends, options.num_threads, monitor);
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
  return nearest_labels(model, places, of, monitor);
}

}  // namespace milieu::internal
