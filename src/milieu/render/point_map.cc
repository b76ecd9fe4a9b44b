// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/point_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/linalg/pca.h"
#include "milieu/render/number_text.h"
#include "milieu/render/page.h"
#include "milieu/render/page_style_internal.h"
#include "milieu/render/svg.h"

namespace milieu {
namespace {

constexpr int kWidth = 560;
constexpr double kInnerWidth = 488;  // of the plot, between its margins
constexpr double kMinInnerHeight = 220, kMaxInnerHeight = 420;
constexpr int kMarginsHeight = 80;
constexpr int kNumRounds = 6;                // see add_all_dots
constexpr int64_t kMaxMapValues = 40000000;  // numbers that are copied for the map
constexpr int64_t kMaxFitValues = 4000000;   // numbers that the PCA copies

// Where the samples lie on the map, and what the axes mean.
struct Coordinates {
  std::vector<double> x;
  std::vector<double> y;
  std::string x_label;
  std::string y_label;
  std::string note;          // a sentence about the axes
  bool has_y = true;         // false: the vertical position has no meaning
  bool is_isotropic = true;  // both axes have the same unit
};

// One entry of the legend.
struct Group {
  int label = 0;
  std::vector<int64_t> members;  // indices into the coordinates
};

bool is_finite_row(FloatView points, int64_t row) {
  const auto values = points.row_span(row);
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

Matrix<float> copy_rows(FloatView points, std::span<const int64_t> rows) {
  Matrix<float> copy(static_cast<int64_t>(rows.size()), points.cols());
  for (size_t i = 0; i < rows.size(); ++i)
    std::memcpy(copy.row(i), points.row(rows[i]), sizeof(float) * points.cols());
  return copy;
}

// The base-2 van der Corput sequence: spreads dots evenly over [0, 1).
double spread(uint64_t index) {
  double value = 0;
  for (double digit = 0.5; index > 0; index /= 2, digit /= 2) value += index % 2 == 1 ? digit : 0;
  return value;
}

Coordinates line_coordinates(FloatView points) {
  Coordinates c;
  for (int64_t i = 0; i < points.rows(); ++i) {
    c.x.push_back(points(i, 0));
    c.y.push_back(spread(static_cast<uint64_t>(i) + 1));
  }
  c.x_label = "value";
  c.note = "The samples have one dimension; the vertical position has no meaning.";
  c.has_y = c.is_isotropic = false;
  return c;
}

Coordinates plane_coordinates(FloatView points) {
  Coordinates c;
  for (int64_t i = 0; i < points.rows(); ++i) {
    c.x.push_back(points(i, 0));
    c.y.push_back(points(i, 1));
  }
  c.x_label = "first dimension";
  c.y_label = "second dimension";
  return c;
}

Coordinates principal_coordinates(FloatView points) {
  const int64_t fit_limit = std::clamp<int64_t>(kMaxFitValues / points.cols(), 50, kMaxAxisPoints);
  const std::vector<int64_t> fit_rows = representative_rows(points.rows(), fit_limit);
  const Matrix<float> fit_points = copy_rows(points, fit_rows);
  const int count = static_cast<int>(std::min<int64_t>(2, fit_points.rows()));
  const Pca pca = fit_pca(fit_points, count);
  const Matrix<float> projected = project(pca, points);
  Coordinates c;
  for (int64_t i = 0; i < points.rows(); ++i) {
    c.x.push_back(projected(i, 0));
    c.y.push_back(count > 1 ? projected(i, 1) : 0.0);
  }
  c.x_label = "first principal axis";
  c.y_label = "second principal axis";
  const double shown =
      std::accumulate(pca.explained_variance.begin(), pca.explained_variance.end(), 0.0);
  if (pca.total_variance > 0)
    c.note = fmt::format(
        "The two axes carry {} of the variance of all {}{}.",
        percent_text(shown / pca.total_variance), count_text(points.cols(), "dimension"),
        fit_points.rows() < points.rows()
            ? fmt::format(" (fitted on {} of the samples)", count_text(fit_points.rows()))
            : "");
  return c;
}

Coordinates find_coordinates(FloatView points) {
  if (points.cols() == 1) return line_coordinates(points);
  if (points.cols() == 2) return plane_coordinates(points);
  return principal_coordinates(points);
}

// Widens the axes so that a unit is as long on both, and returns the height that this asks for.
double equalise_units(Axis& x, Axis& y) {
  const double x_range = x.high - x.low, y_range = y.high - y.low;
  const double height =
      std::clamp(kInnerWidth * y_range / x_range, kMinInnerHeight, kMaxInnerHeight);
  const double unit = std::max(x_range / kInnerWidth, y_range / height);
  const auto widen = [](Axis& axis, double range) {
    const double room = (range - (axis.high - axis.low)) / 2;
    axis.low -= room;
    axis.high += room;
  };
  widen(x, unit * kInnerWidth);
  widen(y, unit * height);
  return height;
}

PlotSpec make_spec(const PointMapInput& input, const Coordinates& c, size_t num_groups) {
  PlotSpec spec;
  spec.id = input.id;
  spec.title = fmt::format("Map of the samples by {}", input.noun);
  spec.description = fmt::format("{} dots in {} colours, one for each {}.", count_text(c.x.size()),
                                 num_groups, input.noun);
  spec.width = kWidth;
  spec.x.label = c.x_label;
  spec.x.max_ticks = spec.y.max_ticks = 8;
  spec.y.label = c.y_label;
  spec.y.is_hidden = !c.has_y;
  spec.x = fit_axis(spec.x, c.x, 0.04);
  spec.y = fit_axis(spec.y, c.y, 0.04);
  double height = c.has_y ? kMinInnerHeight : 90;
  if (c.is_isotropic) height = equalise_units(spec.x, spec.y);
  spec.height = static_cast<int>(std::lround(height)) + kMarginsHeight;
  return spec;
}

// By label, ascending; -1 last.
std::vector<Group> group_by_label(std::span<const int> labels) {
  std::map<int, std::vector<int64_t>> members;
  for (size_t i = 0; i < labels.size(); ++i) members[labels[i]].push_back(i);
  std::vector<Group> groups;
  for (auto& [label, indices] : members) groups.push_back({label, std::move(indices)});
  if (!groups.empty() && groups[0].label < 0)
    std::rotate(groups.begin(), groups.begin() + 1, groups.end());
  return groups;
}

std::string name_of(const PointMapInput& input, int label) {
  if (label < 0) return "no " + input.noun;
  if (label < static_cast<int>(input.names.size())) return input.names[label];
  return fmt::format("{}", label);
}

double dot_diameter(size_t count) {
  if (count <= 300) return 7;
  if (count <= 1000) return 5.5;
  return count <= 3000 ? 4.2 : 3.4;
}

// In several rounds, so that no cluster hides the others: each round draws a share of every
// cluster.
void add_all_dots(Plot& plot, const PointMapInput& input, const Coordinates& c,
                  const std::vector<Group>& groups) {
  for (int round = 0; round < kNumRounds; ++round)
    for (size_t g = 0; g < groups.size(); ++g) {
      const Group& group = groups[g];
      Dots dots;
      for (size_t i = round; i < group.members.size(); i += kNumRounds) {
        dots.x.push_back(c.x[group.members[i]]);
        dots.y.push_back(c.y[group.members[i]]);
      }
      dots.color = cluster_color(group.label);
      dots.is_square = has_square_marker(group.label);
      dots.diameter = dot_diameter(c.x.size());
      dots.title = input.noun + " " + name_of(input, group.label);
      if (g < internal::kMaxLegendEntries) dots.class_name = fmt::format("k{}", g);
      plot.add_dots(dots);
    }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The number of each cluster at the median of its dots, large clusters first; a label that would
// touch another is left out.
void add_labels(Plot& plot, const Coordinates& c, std::vector<Group> groups) {
  std::erase_if(groups, [](const Group& group) { return group.label < 0; });
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return a.members.size() > b.members.size();
  });
  std::vector<std::pair<double, double>> taken;
  for (const Group& group : groups) {
    std::vector<double> xs, ys;
    for (int64_t i : group.members) xs.push_back(c.x[i]), ys.push_back(c.y[i]);
    const double x = median(std::move(xs)), y = median(std::move(ys));
    const double view_x = plot.to_view_x(x), view_y = plot.to_view_y(y);
    const bool is_free = std::none_of(taken.begin(), taken.end(), [&](const auto& other) {
      return std::abs(other.first - view_x) < 20 && std::abs(other.second - view_y) < 16;
    });
    if (!is_free) continue;
    taken.emplace_back(view_x, view_y);
    plot.add_label(x, y, fmt::format("{}", group.label));
  }
}

void add_legend(Markup& figure, const PointMapInput& input, const std::vector<Group>& groups) {
  const size_t shown = std::min<size_t>(groups.size(), internal::kMaxLegendEntries);
  figure.open("ul", {{"class", "legend"}, {"aria-label", "Colours"}});
  for (size_t g = 0; g < shown; ++g) {
    figure.open("li", {{"class", fmt::format("e{}", g)}});
    add_swatch(figure, groups[g].label);
    figure.text(name_of(input, groups[g].label)).close("li");
  }
  if (shown < groups.size())
    figure.element("li", fmt::format("and {} more", groups.size() - shown));
  figure.close("ul");
}

std::string caption_text(int64_t num_samples, int64_t num_chosen, size_t num_shown,
                         const std::string& note) {
  std::string text;
  if (num_chosen < num_samples)
    text += fmt::format("{} of {} samples, chosen at random with a fixed seed. ",
                        count_text(num_chosen), count_text(num_samples));
  const int64_t left_out = num_chosen - static_cast<int64_t>(num_shown);
  if (left_out > 0)
    text += fmt::format("{} left out: not all of their values are finite. ",
                        count_text(left_out, "sample"));
  return text + note;
}

}  // namespace

std::vector<int64_t> representative_rows(int64_t n, int64_t max_rows) {
  std::vector<int64_t> rows;
  if (n <= max_rows) {
    rows.resize(n);
    std::iota(rows.begin(), rows.end(), int64_t{0});
    return rows;
  }
  rows = Random(1).sample_without_replacement(n, max_rows);
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::string render_point_map(const PointMapInput& input) {
  require(static_cast<int64_t>(input.labels.size()) == input.points.rows(), [&] {
    return fmt::format("labels has {}, points has {}: they must match",
                       counted(input.labels.size(), "entry", "entries"),
                       counted(input.points.rows(), "row"));
  });
  const int64_t max_rows = std::clamp<int64_t>(
      kMaxMapValues / std::max<int64_t>(1, input.points.cols()), 500, kMaxMapPoints);
  std::vector<int64_t> rows = representative_rows(input.points.rows(), max_rows);
  const auto num_chosen = static_cast<int64_t>(rows.size());
  std::erase_if(rows, [&](int64_t row) { return !is_finite_row(input.points, row); });
  if (rows.empty() || input.points.cols() == 0) return {};

  std::vector<int> labels;
  for (int64_t row : rows) labels.push_back(input.labels[row]);
  const Coordinates coordinates = find_coordinates(copy_rows(input.points, rows));
  const std::vector<Group> groups = group_by_label(labels);
  Plot plot(make_spec(input, coordinates, groups.size()));
  add_all_dots(plot, input, coordinates, groups);
  if (input.names.empty()) add_labels(plot, coordinates, groups);

  Markup figure;
  figure.open("figure", {{"class", "map"}}).raw(std::move(plot).finish());
  add_legend(figure, input, groups);
  const std::string caption =
      caption_text(input.points.rows(), num_chosen, rows.size(), coordinates.note);
  if (!caption.empty()) figure.element("figcaption", caption);
  return std::move(figure.close("figure")).finish();
}

}  // namespace milieu
