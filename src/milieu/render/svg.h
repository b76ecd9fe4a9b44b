// SPDX-License-Identifier: Apache-2.0
// Plots as inline SVG: axes with round ticks, lines, bars, dots. Colours of axes and text come from
// the page's style sheet (page.h), so that a plot follows the light or dark theme. The view box is
// fixed; the page scales it to its column, up to 5/4 of its size.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/render/color.h"
#include "milieu/render/html.h"
#include "milieu/render/ticks.h"

namespace MILIEU_API milieu {

struct Axis {
  std::string label;
  double low = 0;
  double high = 1;
  int max_ticks = 6;
  bool whole_numbers = false;  // ticks only at integers
  bool has_grid = false;       // thin lines across the plot at the ticks
  bool is_hidden = false;      // no ticks, no label: the position has no meaning
};

// `axis` with a range that holds all finite values and `margin` of the range more on either side.
// No finite value gives [0, 1]; equal values get room around them.
Axis fit_axis(Axis axis, std::span<const double> values, double margin);

struct PlotSpec {
  std::string id;           // unique on the page; letters, digits, dashes
  std::string title;        // read by screen readers
  std::string description;  // likewise: what the plot shows, in words
  int width = 560;
  int height = 320;
  Axis x;
  Axis y;
};

struct Bar {
  double low = 0;  // edges on the x axis
  double high = 1;
  double value = 0;  // reaches from 0 to here on the y axis
  Color color;
  std::string title;  // shown while the pointer is over it
};

struct Dots {
  std::vector<double> x;
  std::vector<double> y;
  Color color;
  bool is_square = false;
  double diameter = 5;     // in view box units
  std::string title;       // of the whole group
  std::string class_name;  // CSS class; may be empty
};

class Plot {
 public:
  explicit Plot(PlotSpec spec);

  // Joins the points in order; a point that is not finite breaks the line. Without a colour it has
  // the page's accent.
  void add_line(std::span<const double> x, std::span<const double> y,
                std::optional<Color> color = std::nullopt);
  // Circles with a title each; invisible ones only catch the pointer. Non-finite ones are left out.
  void add_markers(std::span<const double> x, std::span<const double> y,
                   std::span<const std::string> titles, bool are_visible);
  void add_bars(std::span<const Bar> bars);
  // One path for all dots of the group; non-finite dots are left out.
  void add_dots(const Dots& dots);
  // Text centred at a point, with a halo in the background's colour.
  void add_label(double x, double y, std::string_view text);

  // Position in the view box.
  double to_view_x(double x) const;
  double to_view_y(double y) const;

  // The <svg> element.
  std::string finish() &&;

 private:
  void add_x_axis(const Ticks& ticks);
  void add_y_axis(const Ticks& ticks);

  PlotSpec spec_;
  Markup svg_;
};

// A view box coordinate with at most two decimals: "12.5".
std::string coordinate_text(double value);

}  // namespace milieu
