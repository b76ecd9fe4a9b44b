// SPDX-License-Identifier: Apache-2.0
// Figures of papers as PNGs: panels of dots and lines side by side.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "milieu/linalg/matrix.h"
#include "milieu/render/color.h"

namespace milieu::cli {

struct PanelDots {
  std::vector<double> x, y;
  Color color;
  double radius = 2;  // pixels
};

struct PanelLine {
  std::vector<double> x, y;
  Color color;
};

// Its axes hold everything in it; the second one runs up.
struct Panel {
  std::string title;
  std::vector<PanelDots> dots;
  std::vector<PanelLine> lines;
};

inline constexpr Color kPanelGrey{170, 170, 170};

// The first two columns of points, a colour for each label; -1 is grey.
Panel scatter_panel(const std::string& title, FloatView points, std::span<const int> labels);
// Adds points in grey below the others.
void add_context(FloatView points, Panel& panel);

// The bytes of a PNG: rows of this many panels, each `side` pixels wide and high.
std::string draw_panels(const std::vector<Panel>& panels, int columns, int side = 360);

}  // namespace milieu::cli
