// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "milieu/base/assert.h"
#include "milieu/render/number_text.h"

namespace milieu {
namespace {

// Room for tick labels and axis titles, in view box units; enough for the larger text of phones.
constexpr double kLeft = 58, kRight = 14, kTop = 30, kBottom = 50;
constexpr double kHiddenMargin = 14;  // on the side of a hidden axis

// A y axis has its title above it, in the top margin.
double top_margin(const PlotSpec& spec) { return spec.y.is_hidden ? kHiddenMargin : kTop; }
double left_margin(const PlotSpec& spec) { return spec.y.is_hidden ? kHiddenMargin : kLeft; }
double bottom_margin(const PlotSpec& spec) { return spec.x.is_hidden ? kHiddenMargin : kBottom; }

double share_of(const Axis& axis, double value) {
  // Halves, because high - low may overflow.
  return (value / 2 - axis.low / 2) / (axis.high / 2 - axis.low / 2);
}

bool is_point(double x, double y) { return std::isfinite(x) && std::isfinite(y); }

std::string axis_title(const Axis& axis, const Ticks& ticks) {
  if (ticks.exponent == 0) return axis.label;
  return axis.label + " (" + power_of_ten_text(ticks.exponent) + ")";
}

}  // namespace

std::string coordinate_text(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

Axis fit_axis(Axis axis, std::span<const double> values, double margin) {
  double low = INFINITY, high = -INFINITY;
  for (double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) low = 0, high = 1;
  double room = margin * (high / 2 - low / 2) * 2;
  const double largest = std::max(std::abs(low), std::abs(high));
  // Below this width doubles cannot distinguish the ticks.
  if (high / 2 - low / 2 <= 1e-12 * largest) room = largest < 1e-290 ? 0.5 : 0.05 * largest;
  const double limit = std::numeric_limits<double>::max();
  axis.low = std::max(-limit, low - room);
  axis.high = std::min(limit, high + room);
  return axis;
}

Plot::Plot(PlotSpec spec) : spec_(std::move(spec)) {
  MILIEU_ASSERT(spec_.x.low < spec_.x.high && spec_.y.low < spec_.y.high);
  const std::string title_id = spec_.id + "-title", description_id = spec_.id + "-desc";
  svg_.open("svg", {{"class", "plot"},
                    {"id", spec_.id},
                    {"viewBox", fmt::format("0 0 {} {}", spec_.width, spec_.height)},
                    {"style", fmt::format("max-width:{}px", spec_.width * 5 / 4)},
                    {"role", "img"},
                    {"aria-labelledby", title_id + " " + description_id}});
  svg_.element("title", {{"id", title_id}}, spec_.title);
  svg_.element("desc", {{"id", description_id}}, spec_.description);
  if (!spec_.y.is_hidden)
    add_y_axis(nice_ticks(spec_.y.low, spec_.y.high, spec_.y.max_ticks, spec_.y.whole_numbers));
  if (!spec_.x.is_hidden)
    add_x_axis(nice_ticks(spec_.x.low, spec_.x.high, spec_.x.max_ticks, spec_.x.whole_numbers));
}

double Plot::to_view_x(double x) const {
  const double left = left_margin(spec_);
  return left + share_of(spec_.x, x) * (spec_.width - kRight - left);
}

double Plot::to_view_y(double y) const {
  const double bottom = spec_.height - bottom_margin(spec_);
  return bottom - share_of(spec_.y, y) * (bottom - top_margin(spec_));
}

void Plot::add_x_axis(const Ticks& ticks) {
  const double bottom = spec_.height - bottom_margin(spec_), left = left_margin(spec_);
  const double right = spec_.width - kRight;
  svg_.open("g", {{"class", "axis x-axis"}});
  svg_.leaf("path", {{"class", "axis-line"},
                     {"d", fmt::format("M{} {}H{}", coordinate_text(left), coordinate_text(bottom),
                                       coordinate_text(right))}});
  for (const Tick& tick : ticks.ticks) {
    const std::string x = coordinate_text(to_view_x(tick.value));
    const double from = spec_.x.has_grid ? top_margin(spec_) : bottom;
    svg_.leaf(
        "path",
        {{"class", spec_.x.has_grid ? "grid" : "axis-line"},
         {"d", fmt::format("M{} {}V{}", x, coordinate_text(from), coordinate_text(bottom + 4))}});
    svg_.element("text", {{"class", "tick"}, {"x", x}, {"y", coordinate_text(bottom + 19)}},
                 tick.label);
  }
  svg_.element("text",
               {{"class", "axis-title"},
                {"x", coordinate_text((left + right) / 2)},
                {"y", coordinate_text(spec_.height - 8)}},
               axis_title(spec_.x, ticks));
  svg_.close("g");
}

void Plot::add_y_axis(const Ticks& ticks) {
  const double bottom = spec_.height - bottom_margin(spec_);
  svg_.open("g", {{"class", "axis y-axis"}});
  for (const Tick& tick : ticks.ticks) {
    const double y = to_view_y(tick.value);
    const double right = spec_.y.has_grid ? spec_.width - kRight : kLeft;
    svg_.leaf("path",
              {{"class", spec_.y.has_grid ? "grid" : "axis-line"},
               {"d", fmt::format("M{} {}H{}", coordinate_text(spec_.y.has_grid ? kLeft : kLeft - 4),
                                 coordinate_text(y), coordinate_text(right))}});
    svg_.element("text",
                 {{"class", "tick"},
                  {"x", coordinate_text(kLeft - 7)},
                  {"y", coordinate_text(y)},
                  {"dy", "0.32em"}},
                 tick.label);
  }
  if (!spec_.y.has_grid)
    svg_.leaf("path", {{"class", "axis-line"},
                       {"d", fmt::format("M{} {}V{}", coordinate_text(kLeft), coordinate_text(kTop),
                                         coordinate_text(bottom))}});
  svg_.element("text", {{"class", "axis-title"}, {"x", "2"}, {"y", coordinate_text(kTop - 16)}},
               axis_title(spec_.y, ticks));
  svg_.close("g");
}

void Plot::add_line(std::span<const double> x, std::span<const double> y,
                    std::optional<Color> color) {
  MILIEU_ASSERT(x.size() == y.size());
  std::string path;
  bool is_joined = false;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool has_point = is_point(x[i], y[i]);
    if (has_point)
      path += fmt::format("{}{} {}", is_joined ? "L" : "M", coordinate_text(to_view_x(x[i])),
                          coordinate_text(to_view_y(y[i])));
    is_joined = has_point;
  }
  if (path.empty()) return;
  if (color)
    svg_.leaf("path", {{"class", "line own"}, {"stroke", to_hex(*color)}, {"d", path}});
  else
    svg_.leaf("path", {{"class", "line"}, {"d", path}});
}

void Plot::add_markers(std::span<const double> x, std::span<const double> y,
                       std::span<const std::string> titles, bool are_visible) {
  MILIEU_ASSERT(x.size() == y.size() && x.size() == titles.size());
  svg_.open("g", {{"class", are_visible ? "markers" : "hover-markers"}});
  for (size_t i = 0; i < x.size(); ++i) {
    if (!is_point(x[i], y[i])) continue;
    svg_.open("circle", {{"cx", coordinate_text(to_view_x(x[i]))},
                         {"cy", coordinate_text(to_view_y(y[i]))},
                         {"r", are_visible ? "3.5" : "8"}});
    svg_.element("title", titles[i]).close("circle");
  }
  svg_.close("g");
}

void Plot::add_bars(std::span<const Bar> bars) {
  svg_.open("g", {{"class", "bars"}});
  for (const Bar& bar : bars) {
    if (!std::isfinite(bar.value)) continue;
    const double top = to_view_y(std::max(0.0, bar.value));
    const double bottom = to_view_y(std::min(0.0, bar.value));
    const double left = to_view_x(bar.low), right = to_view_x(bar.high);
    svg_.open("rect", {{"x", coordinate_text(left)},
                       {"y", coordinate_text(top)},
                       {"width", coordinate_text(right - left)},
                       {"height", coordinate_text(bottom - top)},
                       {"fill", to_hex(bar.color)}});
    svg_.element("title", bar.title).close("rect");
  }
  svg_.close("g");
}

void Plot::add_dots(const Dots& dots) {
  MILIEU_ASSERT(dots.x.size() == dots.y.size());
  // A segment of no length with a round or square cap is a dot: the shortest way to write many.
  std::string path;
  for (size_t i = 0; i < dots.x.size(); ++i)
    if (is_point(dots.x[i], dots.y[i]))
      path += fmt::format("M{:.1f} {:.1f}h0", to_view_x(dots.x[i]), to_view_y(dots.y[i]));
  if (path.empty()) return;
  const std::string class_name = dots.class_name.empty() ? "dots" : "dots " + dots.class_name;
  svg_.open("path", {{"class", class_name},
                     {"stroke", to_hex(dots.color)},
                     {"stroke-width", coordinate_text(dots.diameter)},
                     {"stroke-linecap", dots.is_square ? "square" : "round"},
                     {"d", path}});
  if (!dots.title.empty()) svg_.element("title", dots.title);
  svg_.close("path");
}

void Plot::add_label(double x, double y, std::string_view text) {
  svg_.element("text",
               {{"class", "label"},
                {"x", coordinate_text(to_view_x(x))},
                {"y", coordinate_text(to_view_y(y))},
                {"dy", "0.35em"}},
               text);
}

std::string Plot::finish() && {
  svg_.close("svg");
  return std::move(svg_).finish();
}

}  // namespace milieu
