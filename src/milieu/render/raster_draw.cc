// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/raster_draw.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <string>

namespace milieu {

namespace {

void set_pixel(RasterImage& image, int x, int y, Color color) {
  if (x < 0 || y < 0 || x >= image.width || y >= image.height) return;
  uint8_t* pixel = image.at(x, y);
  pixel[0] = color.r;
  pixel[1] = color.g;
  pixel[2] = color.b;
}

// Seven rows of five cells, top first.
using Glyph = std::array<std::string_view, 7>;

struct Letter {
  char name;
  Glyph rows;
};

// clang-format off
constexpr Letter kAlphabet[] = {
    {'A', {" ### ", "#   #", "#   #", "#####", "#   #", "#   #", "#   #"}},
    {'B', {"#### ", "#   #", "#   #", "#### ", "#   #", "#   #", "#### "}},
    {'C', {" ####", "#    ", "#    ", "#    ", "#    ", "#    ", " ####"}},
    {'D', {"#### ", "#   #", "#   #", "#   #", "#   #", "#   #", "#### "}},
    {'E', {"#####", "#    ", "#    ", "#### ", "#    ", "#    ", "#####"}},
    {'F', {"#####", "#    ", "#    ", "#### ", "#    ", "#    ", "#    "}},
    {'G', {" ####", "#    ", "#    ", "#  ##", "#   #", "#   #", " ####"}},
    {'H', {"#   #", "#   #", "#   #", "#####", "#   #", "#   #", "#   #"}},
    {'I', {" ### ", "  #  ", "  #  ", "  #  ", "  #  ", "  #  ", " ### "}},
    {'J', {"    #", "    #", "    #", "    #", "#   #", "#   #", " ### "}},
    {'K', {"#   #", "#  # ", "# #  ", "##   ", "# #  ", "#  # ", "#   #"}},
    {'L', {"#    ", "#    ", "#    ", "#    ", "#    ", "#    ", "#####"}},
    {'M', {"#   #", "## ##", "# # #", "# # #", "#   #", "#   #", "#   #"}},
    {'N', {"#   #", "##  #", "# # #", "#  ##", "#   #", "#   #", "#   #"}},
    {'O', {" ### ", "#   #", "#   #", "#   #", "#   #", "#   #", " ### "}},
    {'P', {"#### ", "#   #", "#   #", "#### ", "#    ", "#    ", "#    "}},
    {'Q', {" ### ", "#   #", "#   #", "#   #", "# # #", "#  # ", " ## #"}},
    {'R', {"#### ", "#   #", "#   #", "#### ", "# #  ", "#  # ", "#   #"}},
    {'S', {" ####", "#    ", "#    ", " ### ", "    #", "    #", "#### "}},
    {'T', {"#####", "  #  ", "  #  ", "  #  ", "  #  ", "  #  ", "  #  "}},
    {'U', {"#   #", "#   #", "#   #", "#   #", "#   #", "#   #", " ### "}},
    {'V', {"#   #", "#   #", "#   #", "#   #", "#   #", " # # ", "  #  "}},
    {'W', {"#   #", "#   #", "#   #", "# # #", "# # #", "## ##", "#   #"}},
    {'X', {"#   #", "#   #", " # # ", "  #  ", " # # ", "#   #", "#   #"}},
    {'Y', {"#   #", "#   #", " # # ", "  #  ", "  #  ", "  #  ", "  #  "}},
    {'Z', {"#####", "    #", "   # ", "  #  ", " #   ", "#    ", "#####"}},
    {'0', {" ### ", "#   #", "#  ##", "# # #", "##  #", "#   #", " ### "}},
    {'1', {"  #  ", " ##  ", "  #  ", "  #  ", "  #  ", "  #  ", " ### "}},
    {'2', {" ### ", "#   #", "    #", "   # ", "  #  ", " #   ", "#####"}},
    {'3', {"#### ", "    #", "    #", " ### ", "    #", "    #", "#### "}},
    {'4', {"#   #", "#   #", "#   #", "#####", "    #", "    #", "    #"}},
    {'5', {"#####", "#    ", "#    ", "#### ", "    #", "    #", "#### "}},
    {'6', {" ### ", "#    ", "#    ", "#### ", "#   #", "#   #", " ### "}},
    {'7', {"#####", "    #", "   # ", "  #  ", "  #  ", " #   ", " #   "}},
    {'8', {" ### ", "#   #", "#   #", " ### ", "#   #", "#   #", " ### "}},
    {'9', {" ### ", "#   #", "#   #", " ####", "    #", "    #", " ### "}},
    {'+', {"     ", "  #  ", "  #  ", "#####", "  #  ", "  #  ", "     "}},
    {'-', {"     ", "     ", "     ", "#####", "     ", "     ", "     "}},
    {'.', {"     ", "     ", "     ", "     ", "     ", " ##  ", " ##  "}},
    {',', {"     ", "     ", "     ", "     ", " ##  ", "  #  ", " #   "}},
    {':', {"     ", " ##  ", " ##  ", "     ", " ##  ", " ##  ", "     "}},
};
// clang-format on

const Glyph* glyph_of(char c) {
  const char capital = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const Letter& letter : kAlphabet)
    if (letter.name == capital) return &letter.rows;
  return nullptr;
}

uint8_t mix(int from, int to, double share) {
  return static_cast<uint8_t>(std::lround(from + (to - from) * share));
}

}  // namespace

void fill_rectangle(RasterImage& image, int x, int y, int width, int height, Color color) {
  for (int j = std::max(0, y); j < std::min(image.height, y + height); ++j)
    for (int i = std::max(0, x); i < std::min(image.width, x + width); ++i)
      set_pixel(image, i, j, color);
}

void draw_disc(RasterImage& image, double x, double y, double radius, Color color) {
  for (int j = static_cast<int>(std::floor(y - radius)); j <= y + radius; ++j)
    for (int i = static_cast<int>(std::floor(x - radius)); i <= x + radius; ++i)
      if ((i - x) * (i - x) + (j - y) * (j - y) <= radius * radius) set_pixel(image, i, j, color);
}

void draw_line(RasterImage& image, double x0, double y0, double x1, double y1, Color color) {
  const int steps = static_cast<int>(std::ceil(std::max(std::abs(x1 - x0), std::abs(y1 - y0)))) + 1;
  for (int s = 0; s <= steps; ++s)
    set_pixel(image, static_cast<int>(std::lround(x0 + (x1 - x0) * s / steps)),
              static_cast<int>(std::lround(y0 + (y1 - y0) * s / steps)), color);
}

void draw_cross(RasterImage& image, double x, double y, double size, Color color) {
  const Color edge{255, 255, 255};
  for (const int shift : {-1, 1, 2}) {
    draw_line(image, x - size, y - size + shift, x + size, y + size + shift, edge);
    draw_line(image, x - size, y + size + shift, x + size, y - size + shift, edge);
  }
  for (const int shift : {0, 1}) {
    draw_line(image, x - size, y - size + shift, x + size, y + size + shift, color);
    draw_line(image, x - size, y + size + shift, x + size, y - size + shift, color);
  }
}

void draw_text(RasterImage& image, int x, int y, std::string_view text, Color color, int scale) {
  for (const char c : text) {
    if (const Glyph* glyph = glyph_of(c))
      for (int row = 0; row < 7; ++row)
        for (int column = 0; column < 5; ++column)
          if ((*glyph)[row][column] == '#')
            fill_rectangle(image, x + column * scale, y + row * scale, scale, scale, color);
    x += 6 * scale;
  }
}

Color diverging_color(double share) {
  const double s = std::clamp(std::abs(share), 0.0, 1.0);
  return share >= 0 ? Color{mix(255, 178, s), mix(255, 24, s), mix(255, 43, s)}
                    : Color{mix(255, 33, s), mix(255, 102, s), mix(255, 172, s)};
}

Color lighten(Color color, double share) {
  return {mix(color.r, 255, share), mix(color.g, 255, share), mix(color.b, 255, share)};
}

}  // namespace milieu
