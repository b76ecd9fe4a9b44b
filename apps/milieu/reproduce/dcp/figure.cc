// SPDX-License-Identifier: Apache-2.0
// The picture of [Lampert08, Figure 5]: six grey matrices, one row per mixture, black for no
// error and white for one half.
#include <algorithm>
#include <cmath>

#include "milieu/render/raster_draw.h"
#include "reproduce/dcp/dcp.h"

namespace milieu::cli {

namespace {

constexpr int kCell = 22;  // pixels of one pair
constexpr int kSide = 10 * kCell;
constexpr int kMargin = 34;  // around and between the matrices, with room for digits and titles
constexpr Color kInk{40, 40, 40};
constexpr Color kGround{255, 255, 255};

// The diagonal, which has no pair, is blue.
void draw_matrix(const std::vector<DigitPair>& pairs, std::vector<double> DigitPair::*errors,
                 int left, int top, RasterImage& image) {
  const auto fill = [&](int row, int column, Color color) {
    fill_rectangle(image, left + column * kCell, top + row * kCell, kCell, kCell, color);
  };
  for (int digit = 0; digit < 10; ++digit) {
    fill(digit, digit, Color{176, 196, 222});
    const char text[2] = {static_cast<char>('0' + digit), '\0'};
    draw_text(image, left + digit * kCell + 9, top - 10, text, kInk, 1);
    draw_text(image, left - 10, top + digit * kCell + 8, text, kInk, 1);
  }
  for (const DigitPair& pair : pairs) {
    const double share = std::clamp(mean_of(pair.*errors) / 0.5, 0.0, 1.0);
    const auto grey = static_cast<uint8_t>(std::lround(share * 255));
    fill(pair.first, pair.second, {grey, grey, grey});
    fill(pair.second, pair.first, {grey, grey, grey});
  }
  const int right = left + kSide, bottom = top + kSide;
  draw_line(image, left - 1, top - 1, right, top - 1, kInk);
  draw_line(image, left - 1, bottom, right, bottom, kInk);
  draw_line(image, left - 1, top - 1, left - 1, bottom, kInk);
  draw_line(image, right, top - 1, right, bottom, kInk);
}

}  // namespace

std::string draw_pairs(const std::vector<DigitPair>& balanced,
                       const std::vector<DigitPair>& unbalanced) {
  RasterImage image(3 * kSide + 4 * kMargin, 2 * kSide + 3 * kMargin, 3);
  fill_rectangle(image, 0, 0, image.width, image.height, kGround);
  const struct {
    const char* name;
    std::vector<double> DigitPair::*errors;
  } columns[] = {{"K-means", &DigitPair::kmeans},
                 {"DCP average", &DigitPair::average},
                 {"DCP best", &DigitPair::best}};
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 3; ++column) {
      const int left = kMargin + column * (kSide + kMargin);
      const int top = kMargin + row * (kSide + kMargin);
      draw_text(image, left, top - 26,
                std::string(columns[column].name) + (row == 0 ? ", 1:1" : ", 1:10"), kInk, 1);
      draw_matrix(row == 0 ? balanced : unbalanced, columns[column].errors, left, top, image);
    }
  return encode_png(image);
}

}  // namespace milieu::cli
