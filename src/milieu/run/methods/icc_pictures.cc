// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/methods/icc_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/render/color.h"
#include "milieu/render/png.h"
#include "milieu/render/raster_draw.h"

namespace milieu {

namespace {

constexpr int kPanel = 400;  // pixels per side
constexpr int kMargin = 12;
constexpr int kTitle = 30;
constexpr int kArrows = 25;              // a side
constexpr size_t kMostNameLetters = 14;  // of a class, so that the title fits above its panel
constexpr Color kInk{40, 40, 40}, kGrey{170, 170, 170}, kWhite{255, 255, 255};

// The frame of one panel: fractions of the axes to pixels, the second axis upwards.
struct Panel {
  int left = 0;
  int top = kTitle;
  double x(double share) const { return left + share * (kPanel - 1); }
  double y(double share) const { return top + (1 - share) * (kPanel - 1); }
};

Panel panel_at(int index) {
  Panel panel;
  panel.left = kMargin + index * (kPanel + kMargin);
  return panel;
}

RasterImage blank_picture(int panels) {
  RasterImage image(kMargin + panels * (kPanel + kMargin), kTitle + kPanel + kMargin, 3);
  fill_rectangle(image, 0, 0, image.width, image.height, kWhite);
  return image;
}

void frame_panel(RasterImage& image, const Panel& panel, const std::string& title) {
  draw_text(image, panel.left, 8, title, kInk);
  const double right = panel.left + kPanel, bottom = panel.top + kPanel;
  draw_line(image, panel.left - 1, panel.top - 1, right, panel.top - 1, kInk);
  draw_line(image, panel.left - 1, bottom, right, bottom, kInk);
  draw_line(image, panel.left - 1, panel.top - 1, panel.left - 1, bottom, kInk);
  draw_line(image, right, panel.top - 1, right, bottom, kInk);
}

// A class's map in the plane: along a third axis the highest cell represents its column.
struct PlaneMap {
  int u = 1, v = 1;
  std::vector<float> heights;
  std::vector<int> labels;
  float largest = 0;

  float height(int i, int j) const { return heights[static_cast<size_t>(i) * v + j]; }
  int label(int i, int j) const { return labels[static_cast<size_t>(i) * v + j]; }
};

PlaneMap plane_of(const IccModel& model, int own_class) {
  PlaneMap map;
  map.u = model.grid[0];
  map.v = model.grid.size() > 1 ? model.grid[1] : 1;
  const int depth = model.grid.size() > 2 ? model.grid[2] : 1;
  const float* heights = model.maps.row(own_class);
  const int* labels = model.cell_labels.data() + model.maps.cols() * own_class;
  for (int64_t column = 0; column < static_cast<int64_t>(map.u) * map.v; ++column) {
    int64_t best = column * depth;
    for (int64_t k = best; k < (column + 1) * depth; ++k)
      if (heights[k] > heights[best]) best = k;
    map.heights.push_back(heights[best]);
    map.labels.push_back(labels[best]);
    map.largest = std::max(map.largest, std::abs(heights[best]));
  }
  if (map.largest == 0) map.largest = 1;
  return map;
}

// Cell under a pixel of a panel.
std::array<int, 2> cell_under(const PlaneMap& map, int x, int y) {
  const double share_x = x / (kPanel - 1.0), share_y = 1 - y / (kPanel - 1.0);
  return {static_cast<int>(share_x * (map.u - 1) + 0.5),
          static_cast<int>(share_y * (map.v - 1) + 0.5)};
}

template <class ColorOf>
void paint_cells(RasterImage& image, const Panel& panel, const PlaneMap& map, ColorOf&& color_of) {
  for (int y = 0; y < kPanel; ++y)
    for (int x = 0; x < kPanel; ++x) {
      const auto [i, j] = cell_under(map, x, y);
      fill_rectangle(image, panel.left + x, panel.top + y, 1, 1, color_of(i, j));
    }
}

void draw_gradient(RasterImage& image, const Panel& panel, const PlaneMap& map) {
  const auto slope = [&](int i, int j) {
    const int right = std::min(i + 1, map.u - 1), left = std::max(i - 1, 0);
    const int up = std::min(j + 1, map.v - 1), down = std::max(j - 1, 0);
    return std::array<double, 2>{map.height(right, j) - map.height(left, j),
                                 map.height(i, up) - map.height(i, down)};
  };
  double longest = 0;
  for (int i = 0; i < map.u; ++i)
    for (int j = 0; j < map.v; ++j)
      longest = std::max(longest, std::hypot(slope(i, j)[0], slope(i, j)[1]));
  if (longest == 0) return;
  for (int a = 0; a < kArrows; ++a)
    for (int b = 0; b < kArrows; ++b) {
      const double share_x = (a + 0.5) / kArrows, share_y = (b + 0.5) / kArrows;
      const auto [dx, dy] = slope(static_cast<int>(share_x * (map.u - 1) + 0.5),
                                  static_cast<int>(share_y * (map.v - 1) + 0.5));
      const double length = std::hypot(dx, dy) / longest;
      if (length < 1e-3) continue;
      // Square roots, so that weak slopes still show their direction.
      const double reach = 0.9 * kPanel / kArrows * std::sqrt(length);
      const double ux = dx / std::hypot(dx, dy), uy = -dy / std::hypot(dx, dy);
      const double x = panel.x(share_x), y = panel.y(share_y);
      const double tip_x = x + reach * ux, tip_y = y + reach * uy;
      draw_line(image, x, y, tip_x, tip_y, kInk);
      draw_disc(image, tip_x, tip_y, 1.5, kInk);
    }
}

Color subclass_color(int subclass) { return cluster_color(subclass); }

void draw_samples(RasterImage& image, const Panel& panel, const IccPictureInput& input,
                  int own_class, int first_subclass) {
  const IccModel& model = *input.model;
  const double radius = input.places.rows() > 5000 ? 1 : 2;
  for (const bool draws_own : {false, true})
    for (int64_t i = 0; i < input.places.rows(); ++i) {
      const bool is_own = input.classes.empty() || input.classes[i] == own_class;
      if (is_own != draws_own) continue;
      const double x = (input.places(i, 0) - model.low[0]) / (model.high[0] - model.low[0]);
      const double y = model.low.size() > 1
                           ? (input.places(i, 1) - model.low[1]) / (model.high[1] - model.low[1])
                           : 0.5;
      draw_disc(image, panel.x(std::clamp(x, 0.0, 1.0)), panel.y(std::clamp(y, 0.0, 1.0)), radius,
                is_own ? subclass_color(input.labels[i] - first_subclass) : kGrey);
    }
}

void draw_maxima(RasterImage& image, const Panel& panel, const IccModel& model, int first,
                 int last) {
  for (int s = first; s < last; ++s) {
    const double x = (model.maxima(s, 0) - model.low[0]) / (model.high[0] - model.low[0]);
    const double y = model.low.size() > 1
                         ? (model.maxima(s, 1) - model.low[1]) / (model.high[1] - model.low[1])
                         : 0.5;
    draw_cross(image, panel.x(x), panel.y(y), 6, {0, 0, 0});
  }
}

void draw_borders(RasterImage& image, const Panel& panel, const PlaneMap& map) {
  for (int y = 0; y + 1 < kPanel; ++y)
    for (int x = 0; x + 1 < kPanel; ++x) {
      const auto [i, j] = cell_under(map, x, y);
      const auto [right_i, right_j] = cell_under(map, x + 1, y);
      const auto [down_i, down_j] = cell_under(map, x, y + 1);
      const int label = map.label(i, j);
      if (label != map.label(right_i, right_j) || label != map.label(down_i, down_j))
        fill_rectangle(image, panel.left + x, panel.top + y, 2, 2, {0, 0, 0});
    }
}

// Without classes there is no context.
std::string picture_title(const IccPictureInput& input, int own_class) {
  if (input.classes.empty()) return "density";
  const auto c = static_cast<size_t>(own_class);
  const std::string name =
      c < input.class_names.size() ? input.class_names[c] : fmt::format("class {}", own_class);
  return fmt::format("{}: density - context", name.substr(0, kMostNameLetters));
}

}  // namespace

std::string render_icc_class(const IccPictureInput& input, int own_class) {
  const IccModel& model = *input.model;
  int first = 0;
  for (int c = 0; c < own_class; ++c) first += model.subclasses[c];
  const int count = model.subclasses[own_class];
  RasterImage image = blank_picture(3);
  const std::string parts = counted(count, "sub-class", "sub-classes");
  if (model.reach == 0) {
    const PlaneMap map = plane_of(model, own_class);
    const auto height_color = [&](int i, int j) {
      return diverging_color(map.height(i, j) / map.largest);
    };
    paint_cells(image, panel_at(0), map, height_color);
    paint_cells(image, panel_at(1), map,
                [&](int i, int j) { return lighten(height_color(i, j), 0.6); });
    draw_gradient(image, panel_at(1), map);
    paint_cells(image, panel_at(2), map,
                [&](int i, int j) { return lighten(subclass_color(map.label(i, j)), 0.78); });
    draw_borders(image, panel_at(2), map);
    draw_maxima(image, panel_at(0), model, first, first + count);
    draw_maxima(image, panel_at(1), model, first, first + count);
  }
  draw_samples(image, panel_at(2), input, own_class, first);
  draw_maxima(image, panel_at(2), model, first, first + count);
  frame_panel(image, panel_at(0), picture_title(input, own_class));
  frame_panel(image, panel_at(1), "gradient");
  frame_panel(image, panel_at(2), parts);
  return encode_png(image);
}

std::vector<ScatterPanel> icc_projections(FloatView points, std::span<const int> classes,
                                          const IccClassifierOptions& options, Monitor& monitor) {
  std::vector<ScatterPanel> panels;
  const auto add = [&](const char* title, IccSplit split, IccReduce reduce) {
    if (monitor.should_stop()) return;
    IccClassifierOptions own = options;
    own.split = split;
    own.reduce = reduce;
    own.automatic = false;
    own.em_count = "icc";
    own.reduce_dims = static_cast<int>(std::min<int64_t>(2, points.cols()));
    const IccClassifierResult fitted = fit_icc_classifier({points, classes}, own, monitor);
    panels.push_back({title, project(fitted.model, points)});
  };
  add("PCA", IccSplit::None, IccReduce::Pca);
  add("LDA", IccSplit::None, IccReduce::Lda);
  add("EM + LDA", IccSplit::Em, IccReduce::Lda);
  add("ICC + LDA", IccSplit::Icc, IccReduce::Lda);
  return panels;
}

std::string render_scatter_panels(const std::vector<ScatterPanel>& panels,
                                  std::span<const int> classes) {
  require(!panels.empty(), "render_scatter_panels: there is nothing to show");
  RasterImage image = blank_picture(static_cast<int>(panels.size()));
  for (size_t p = 0; p < panels.size(); ++p) {
    const Panel panel = panel_at(static_cast<int>(p));
    const DoubleView places = panels[p].places;
    const double radius = places.rows() > 5000 ? 1 : 2;
    std::array<double, 2> low, high;
    low.fill(std::numeric_limits<double>::infinity());
    high.fill(-std::numeric_limits<double>::infinity());
    const auto value = [&](int64_t i, int a) { return a < places.cols() ? places(i, a) : 0.0; };
    for (int64_t i = 0; i < places.rows(); ++i)
      for (int a = 0; a < 2; ++a) {
        low[a] = std::min(low[a], value(i, a));
        high[a] = std::max(high[a], value(i, a));
      }
    for (int64_t i = 0; i < places.rows(); ++i) {
      std::array<double, 2> share;
      for (int a = 0; a < 2; ++a) {
        const double extent = high[a] - low[a];
        share[a] = extent > 0 ? 0.02 + 0.96 * (value(i, a) - low[a]) / extent : 0.5;
      }
      draw_disc(image, panel.x(share[0]), panel.y(share[1]), radius, cluster_color(classes[i]));
    }
    frame_panel(image, panel, panels[p].title);
  }
  return encode_png(image);
}

}  // namespace milieu
