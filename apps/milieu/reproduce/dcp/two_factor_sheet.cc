// SPDX-License-Identifier: Apache-2.0
// What a two-factor set looks like: a row for each of its four kinds, then its contexts.
#include <algorithm>

#include "milieu/render/png.h"
#include "reproduce/dcp/two_factor.h"

namespace milieu::cli {

namespace {

constexpr int kTile = 64, kColumns = 10, kGap = 2;

void place(const Image& image, int row, int column, RasterImage& sheet) {
  const Image small = resize(image, kTile, kTile);
  for (int y = 0; y < kTile; ++y)
    std::copy_n(small.pixel(0, y), 3 * kTile,
                sheet.at(column * (kTile + kGap), row * (kTile + kGap) + y));
}

}  // namespace

std::string draw_two_factors(const TwoFactorImages& images) {
  std::vector<std::vector<const Image*>> rows(4);
  for (size_t i = 0; i < images.set.size(); ++i)
    rows[static_cast<size_t>(2 * images.truth[0][i] + images.truth[1][i])].push_back(
        &images.set[i]);
  for (const std::vector<Image>& context : images.between) {
    rows.emplace_back();
    for (const Image& image : context) rows.back().push_back(&image);
  }
  RasterImage sheet(kColumns * (kTile + kGap), static_cast<int>(rows.size()) * (kTile + kGap), 3);
  std::ranges::fill(sheet.pixels, uint8_t{255});
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t i = 0; i < std::min<size_t>(kColumns, rows[r].size()); ++i)
      place(*rows[r][i], static_cast<int>(r), static_cast<int>(i), sheet);
  return encode_png(sheet);
}

}  // namespace milieu::cli
