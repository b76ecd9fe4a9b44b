// SPDX-License-Identifier: Apache-2.0
// Contact sheets: many small grey images in one PNG, and the choice of the images that say
// most about a cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"
#include "milieu/render/html.h"
#include "milieu/render/png.h"

namespace MILIEU_API milieu {

// Grey images as rows of a matrix: row r, pixel (x, y) is images(r, y * width + x).
struct ImageRows {
  FloatView images;
  int width = 0;
  int height = 0;
};

// The values that become black and white.
struct GrayRange {
  float black = 0;
  float white = 1;
};

// [0, 1] or [0, 255] when all finite values lie in it (the narrower one first), else their range;
// considers the given rows only.
GrayRange find_gray_range(const ImageRows& images, std::span<const int64_t> rows);

// The images of `rows` in a grid of `columns`, left to right, top to bottom; grey + alpha, the gaps
// transparent. Small images are enlarged by a whole factor, large ones reduced by averaging, so
// that no side is over 96 pixels. A value that is not finite is black. Throws InvalidArgument when
// the sizes do not fit the matrix.
RasterImage make_contact_sheet(const ImageRows& images, std::span<const int64_t> rows, int columns,
                               GrayRange range);

// Samples that show what a cluster is.
struct ClusterSamples {
  int cluster = 0;
  int64_t size = 0;                 // samples of the cluster
  std::vector<int64_t> typical;     // nearest to the cluster's mean, nearest first
  std::vector<int64_t> least_sure;  // nearest to another mean compared with their own, first first;
                                    // none of the typical ones
};

struct SampleChoice {
  int max_clusters = 24;  // the largest ones are taken
  int num_typical = 12;
  int num_least_sure = 6;
  // Of larger clusters only this many members are considered, evenly spaced, and fewer where rows
  // are long: bounds the time.
  int64_t max_members = 2000;
};

// In the order of the cluster's numbers. Labels below 0 belong to no cluster. Ties: lower row
// first.
std::vector<ClusterSamples> choose_samples(FloatView points, std::span<const int> labels,
                                           const SampleChoice& choice = {});

// The same by what a method itself says of its labels: `margins` are larger where it is surer. The
// surest first (as `typical`), and the least sure.
std::vector<ClusterSamples> choose_samples_by_margin(std::span<const int> labels,
                                                     std::span<const float> margins,
                                                     const SampleChoice& choice = {});

// One figure of a page of contact sheets: a title with a swatch, then strips of images.
struct SheetStrip {
  std::string caption;  // "most typical"
  std::string alt;      // what the strip shows, for those who cannot see it
  std::vector<int64_t> rows;
};
struct SheetFigure {
  std::string title;
  int color = 0;     // whose colour the swatch has: a cluster or a class
  int64_t size = 0;  // samples that the figure represents
  std::vector<SheetStrip> strips;
};

// A card body: the figures side by side, as many as fit. Strips without images are left out.
std::string render_sheets(const ImageRows& images, const std::vector<SheetFigure>& figures);

// A small image of a sample: RGB, no side longer than `max_side`. Empty (0 x 0) when there is
// none.
using MakeImage = std::function<RasterImage(int64_t row, int max_side)>;

// The same with coloured images of any shape, each in the middle of a square cell.
RasterImage make_image_sheet(const MakeImage& make_image, std::span<const int64_t> rows,
                             int columns);
std::string render_sheets(const MakeImage& make_image, const std::vector<SheetFigure>& figures);

// The figures of chosen samples. `names` are titles by cluster; where there is none: "Cluster 3".
// `by_margin`: the typical ones were chosen by choose_samples_by_margin.
std::vector<SheetFigure> make_cluster_figures(const std::vector<ClusterSamples>& samples,
                                              const std::vector<std::string>& names = {},
                                              bool by_margin = false);

}  // namespace milieu
