// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/contact_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/render/number_text.h"
#include "milieu/render/page.h"

namespace milieu {
namespace {

constexpr int kMaxCellSide = 96;
constexpr int kEnlargedSide = 48;  // small images are enlarged to about this
constexpr int kColumns = 6;
constexpr int kImageSide = 72;  // cell of a coloured image
constexpr int kImageGap = 4;

// How images become cells: reduced by `reduce`, then enlarged by `enlarge`.
struct CellScale {
  int reduce = 1;
  int enlarge = 1;
  int width = 0;  // of the cell
  int height = 0;
  int gap = 0;
};

CellScale choose_scale(const ImageRows& images) {
  const int side = std::max(images.width, images.height);
  CellScale scale;
  scale.reduce = (side + kMaxCellSide - 1) / kMaxCellSide;
  scale.enlarge = std::clamp(kEnlargedSide / side, 1, 8);
  scale.width = (images.width + scale.reduce - 1) / scale.reduce * scale.enlarge;
  scale.height = (images.height + scale.reduce - 1) / scale.reduce * scale.enlarge;
  scale.gap = std::max(2, std::max(scale.width, scale.height) / 18);
  return scale;
}

uint8_t to_gray(double value, GrayRange range) {
  if (!std::isfinite(value)) return 0;
  const double share = (value - range.black) / (static_cast<double>(range.white) - range.black);
  return static_cast<uint8_t>(std::lround(255 * std::clamp(share, 0.0, 1.0)));
}

// Mean of the block of pixels that begins at (x, y), cut off at the border.
double block_mean(const ImageRows& images, int64_t row, int x, int y, int side) {
  double sum = 0;
  int count = 0;
  for (int j = y; j < std::min(y + side, images.height); ++j)
    for (int i = x; i < std::min(x + side, images.width); ++i, ++count)
      sum += images.images(row, static_cast<int64_t>(j) * images.width + i);
  return sum / count;
}

void draw_cell(const ImageRows& images, int64_t row, const CellScale& scale, GrayRange range,
               int left, int top, RasterImage& sheet) {
  for (int y = 0; y < scale.height; y += scale.enlarge)
    for (int x = 0; x < scale.width; x += scale.enlarge) {
      const uint8_t gray = to_gray(block_mean(images, row, x / scale.enlarge * scale.reduce,
                                              y / scale.enlarge * scale.reduce, scale.reduce),
                                   range);
      for (int j = 0; j < scale.enlarge; ++j)
        for (int i = 0; i < scale.enlarge; ++i) {
          uint8_t* pixel = sheet.at(left + x + i, top + y + j);
          pixel[0] = gray;
          pixel[1] = 255;
        }
    }
}

void check_images(const ImageRows& images) {
  require(images.width >= 1 && images.height >= 1 &&
              static_cast<int64_t>(images.width) * images.height == images.images.cols(),
          [&] {
            return fmt::format("images are {} x {}, their rows have {}: they must match",
                               images.width, images.height, counted(images.images.cols(), "value"));
          });
}

using MakeSheet = std::function<RasterImage(std::span<const int64_t> rows)>;

void add_strip(Markup& page, const MakeSheet& make_sheet, const SheetStrip& strip) {
  if (strip.rows.empty()) return;
  page.element("p", {{"class", "small"}}, strip.caption);
  const RasterImage sheet = make_sheet(strip.rows);
  page.leaf("img", {{"class", "sheet"},
                    {"src", png_data_uri(encode_png(sheet))},
                    {"width", std::to_string(sheet.width)},
                    {"height", std::to_string(sheet.height)},
                    {"alt", strip.alt}});
}

std::string render_figures(const MakeSheet& make_sheet, const std::vector<SheetFigure>& figures) {
  Markup page;
  page.open("div", {{"class", "sheets"}});
  for (const SheetFigure& figure : figures) {
    page.open("figure").open("h3");
    page.element("span", {{"class", "of"}}, count_text(figure.size, "sample"));
    add_swatch(page, figure.color);
    page.text(figure.title).close("h3");
    for (const SheetStrip& strip : figure.strips) add_strip(page, make_sheet, strip);
    page.close("figure");
  }
  return std::move(page.close("div")).finish();
}

// Copies an RGB image into the RGBA sheet, its middle at the middle of the cell.
void draw_image(const RasterImage& image, int left, int top, RasterImage& sheet) {
  left += (kImageSide - image.width) / 2;
  top += (kImageSide - image.height) / 2;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      std::copy_n(image.at(x, y), 3, sheet.at(left + x, top + y));
      sheet.at(left + x, top + y)[3] = 255;
    }
}

}  // namespace

GrayRange find_gray_range(const ImageRows& images, std::span<const int64_t> rows) {
  float low = INFINITY, high = -INFINITY;
  for (int64_t row : rows)
    for (float value : images.images.row_span(row)) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (low > high || (low >= 0 && high <= 1)) return {0, 1};
  if (low >= 0 && high <= 255) return {0, 255};
  return {low, low < high ? high : std::nextafter(low, INFINITY)};
}

RasterImage make_contact_sheet(const ImageRows& images, std::span<const int64_t> rows, int columns,
                               GrayRange range) {
  check_images(images);
  require(!rows.empty() && columns >= 1, "a contact sheet needs at least one image and one column");
  const CellScale scale = choose_scale(images);
  const int num_rows = (static_cast<int>(rows.size()) + columns - 1) / columns;
  RasterImage sheet(columns * (scale.width + scale.gap) - scale.gap,
                    num_rows * (scale.height + scale.gap) - scale.gap, 2);
  for (int i = 0; i < static_cast<int>(rows.size()); ++i)
    draw_cell(images, rows[i], scale, range, i % columns * (scale.width + scale.gap),
              i / columns * (scale.height + scale.gap), sheet);
  return sheet;
}

std::string render_sheets(const ImageRows& images, const std::vector<SheetFigure>& figures) {
  std::vector<int64_t> all_rows;
  for (const SheetFigure& figure : figures)
    for (const SheetStrip& strip : figure.strips)
      all_rows.insert(all_rows.end(), strip.rows.begin(), strip.rows.end());
  const GrayRange range = find_gray_range(images, all_rows);
  return render_figures(
      [&](std::span<const int64_t> rows) {
        return make_contact_sheet(images, rows, kColumns, range);
      },
      figures);
}

RasterImage make_image_sheet(const MakeImage& make_image, std::span<const int64_t> rows,
                             int columns) {
  require(!rows.empty() && columns >= 1, "a contact sheet needs at least one image and one column");
  const int num_rows = (static_cast<int>(rows.size()) + columns - 1) / columns;
  const int pitch = kImageSide + kImageGap;
  RasterImage sheet(columns * pitch - kImageGap, num_rows * pitch - kImageGap, 4);
  std::vector<RasterImage> images(rows.size());
  parallel_for(static_cast<int64_t>(rows.size()), 1, 0, [&](const Block& block) {
    images[block.index] = make_image(rows[block.index], kImageSide);
  });
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    require(images[i].width <= kImageSide && images[i].height <= kImageSide &&
                (images[i].pixels.empty() || images[i].channels == 3),
            "a small image must be RGB and fit its cell");
    draw_image(images[i], i % columns * pitch, i / columns * pitch, sheet);
  }
  return sheet;
}

std::string render_sheets(const MakeImage& make_image, const std::vector<SheetFigure>& figures) {
  return render_figures(
      [&](std::span<const int64_t> rows) { return make_image_sheet(make_image, rows, kColumns); },
      figures);
}

std::vector<SheetFigure> make_cluster_figures(const std::vector<ClusterSamples>& samples,
                                              const std::vector<std::string>& names,
                                              bool by_margin) {
  std::vector<SheetFigure> figures;
  for (const ClusterSamples& s : samples) {
    const bool has_name = s.cluster < static_cast<int>(names.size());
    SheetFigure figure;
    figure.title = has_name ? names[s.cluster] : fmt::format("Cluster {}", s.cluster);
    figure.color = s.cluster;
    figure.size = s.size;
    figure.strips = {
        {by_margin ? "most certain" : "most typical",
         fmt::format("{} {} of: {}", count_text(s.typical.size(), "image"),
                     by_margin ? "with the largest margins" : "nearest to the mean", figure.title),
         s.typical},
        {"least certain",
         fmt::format("{} that nearly fell elsewhere, of: {}",
                     count_text(s.least_sure.size(), "image"), figure.title),
         s.least_sure}};
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace milieu
