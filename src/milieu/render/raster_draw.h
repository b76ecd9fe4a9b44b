// SPDX-License-Identifier: Apache-2.0
// Drawing on RGB pictures: dots, lines, crosses, small capitals. Everything is clipped to the
// picture.
#pragma once

#include <string_view>

#include "milieu/base/export.h"
#include "milieu/render/color.h"
#include "milieu/render/png.h"

namespace MILIEU_API milieu {

// `image` has 3 channels throughout.
void fill_rectangle(RasterImage& image, int x, int y, int width, int height, Color color);
void draw_disc(RasterImage& image, double x, double y, double radius, Color color);
void draw_line(RasterImage& image, double x0, double y0, double x1, double y1, Color color);
// Two strokes, `size` to each side, with a light edge so that it shows on any ground.
void draw_cross(RasterImage& image, double x, double y, double size, Color color);
// Letters 5 x 7, one column apart, drawn `scale` times larger; small letters become capitals, what
// the alphabet lacks becomes a blank.
void draw_text(RasterImage& image, int x, int y, std::string_view text, Color color, int scale = 2);

// White at 0, blue below, red above; `share` in [-1, 1].
Color diverging_color(double share);
// `share` of the way from `color` to white.
Color lighten(Color color, double share);

}  // namespace milieu
