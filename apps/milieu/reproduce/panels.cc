// SPDX-License-Identifier: Apache-2.0
#include "reproduce/panels.h"

#include <algorithm>

#include "milieu/render/raster_draw.h"

namespace milieu::cli {

namespace {

constexpr int kGap = 12, kTitle = 24;
constexpr Color kInk{40, 40, 40}, kGround{255, 255, 255};

// A range of one axis and where it is drawn.
struct Scale {
  double low = 0, high = 1;

  void hold(const std::vector<double>& values, bool& is_empty) {
    for (const double value : values) {
      low = is_empty ? value : std::min(low, value);
      high = is_empty ? value : std::max(high, value);
      is_empty = false;
    }
  }
  double place(double value, int side) const {
    const double share = high > low ? (value - low) / (high - low) : 0.5;
    return (0.03 + 0.94 * share) * side;
  }
};

void draw_frame(int left, int top, int side, RasterImage& image) {
  const int right = left + side, bottom = top + side;
  draw_line(image, left, top, right, top, kInk);
  draw_line(image, left, bottom, right, bottom, kInk);
  draw_line(image, left, top, left, bottom, kInk);
  draw_line(image, right, top, right, bottom, kInk);
}

void draw_panel(const Panel& panel, int left, int top, int side, RasterImage& image) {
  Scale x, y;
  bool no_x = true, no_y = true;
  for (const PanelDots& dots : panel.dots) x.hold(dots.x, no_x), y.hold(dots.y, no_y);
  for (const PanelLine& line : panel.lines) x.hold(line.x, no_x), y.hold(line.y, no_y);
  const auto at_x = [&](double value) { return left + x.place(value, side); };
  const auto at_y = [&](double value) { return top + side - y.place(value, side); };
  for (const PanelDots& dots : panel.dots)
    for (size_t i = 0; i < dots.x.size(); ++i)
      draw_disc(image, at_x(dots.x[i]), at_y(dots.y[i]), dots.radius, dots.color);
  for (const PanelLine& line : panel.lines)
    for (size_t i = 1; i < line.x.size(); ++i)
      draw_line(image, at_x(line.x[i - 1]), at_y(line.y[i - 1]), at_x(line.x[i]), at_y(line.y[i]),
                line.color);
  draw_frame(left, top, side, image);
  draw_text(image, left + 2, top - 14, panel.title, kInk, 1);
}

}  // namespace

Panel scatter_panel(const std::string& title, FloatView points, std::span<const int> labels) {
  Panel panel{title, {}, {}};
  const int highest = labels.empty() ? -1 : *std::max_element(labels.begin(), labels.end());
  for (int label = -1; label <= highest; ++label) {
    PanelDots dots;
    dots.color = label < 0 ? kPanelGrey : cluster_color(label);
    for (int64_t i = 0; i < points.rows(); ++i)
      if (labels[i] == label) {
        dots.x.push_back(points(i, 0));
        dots.y.push_back(points(i, 1));
      }
    panel.dots.push_back(std::move(dots));
  }
  return panel;
}

void add_context(FloatView points, Panel& panel) {
  PanelDots dots;
  dots.color = kPanelGrey;
  for (int64_t i = 0; i < points.rows(); ++i) {
    dots.x.push_back(points(i, 0));
    dots.y.push_back(points(i, 1));
  }
  panel.dots.insert(panel.dots.begin(), std::move(dots));
}

std::string draw_panels(const std::vector<Panel>& panels, int columns, int side) {
  const int count = static_cast<int>(panels.size()), rows = (count + columns - 1) / columns;
  RasterImage image(columns * (side + kGap) + kGap, rows * (side + kGap + kTitle) + kGap, 3);
  fill_rectangle(image, 0, 0, image.width, image.height, kGround);
  for (int i = 0; i < count; ++i)
    draw_panel(panels[i], kGap + i % columns * (side + kGap),
               kGap + kTitle + i / columns * (side + kGap + kTitle), side, image);
  return encode_png(image);
}

}  // namespace milieu::cli
