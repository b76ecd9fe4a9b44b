// SPDX-License-Identifier: Apache-2.0
// Checks of images, and the cut into blocks.
#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/dlgmm/dlgmm_steps.h"

namespace milieu::internal {

namespace {

constexpr int64_t kPatchesPerBlock = 4096;

void check_offsets(const DlgmmImages& images) {
  const std::span<const int64_t> offsets = images.offsets;
  if (offsets.empty()) return;
  require(offsets.size() >= 2, "offsets has one entry, must have one more than there are images");
  if (offsets.front() != 0)
    throw DataError(fmt::format("offsets begins with {}, must begin with 0", offsets.front()));
  for (size_t d = 1; d < offsets.size(); ++d)
    if (offsets[d] < offsets[d - 1])
      throw DataError(
          fmt::format("offsets decreases from {} to {} at entry {}, must never decrease",
                      offsets[d - 1], offsets[d], d));
  if (offsets.back() != images.patches.rows())
    throw DataError(fmt::format("offsets ends with {}, there are {}: they must match",
                                offsets.back(),
                                counted(images.patches.rows(), "patch", "patches")));
}

void check_grid(const ImageTable& table) {
  const MatrixView<const int32_t> grid = table.images.grid;
  if (grid.rows() == 0) return;
  require(grid.rows() == table.num_images && grid.cols() == 2, [&] {
    return fmt::format("grid is {} x {}, must be {} x 2: rows and columns of each image",
                       grid.rows(), grid.cols(), table.num_images);
  });
  for (int64_t d = 0; d < table.num_images; ++d)
    if (grid(d, 0) < 0 || grid(d, 1) < 0 ||
        int64_t{grid(d, 0)} * grid(d, 1) != table.num_patches(d))
      throw DataError(fmt::format("the grid of image {} is {} x {}, but it has {}", d, grid(d, 0),
                                  grid(d, 1), counted(table.num_patches(d), "patch", "patches")));
}

void check_bands(const ImageTable& table) {
  const std::span<const uint8_t> bands = table.images.bands;
  require(table.num_bands == 1 || !bands.empty() || table.images.grid.rows() > 0, [&] {
    return fmt::format(
        "num_bands is {}, but the positions of the patches are unknown: give a grid or positions, "
        "or use num_bands 1",
        table.num_bands);
  });
  if (bands.empty()) return;
  require(static_cast<int64_t>(bands.size()) == table.images.patches.rows(), [&] {
    return fmt::format("bands has {}, there are {}: they must match",
                       counted(bands.size(), "entry", "entries"),
                       counted(table.images.patches.rows(), "patch", "patches"));
  });
  for (size_t i = 0; i < bands.size(); ++i)
    if (bands[i] >= table.num_bands)
      throw DataError(fmt::format("band of patch {} is {}, must be below num_bands = {}", i,
                                  bands[i], table.num_bands));
}

// The graph of the edges: every pair once in each direction.
void add_edges(ImageTable& table) {
  const int64_t n = table.images.patches.rows();
  std::vector<int64_t> image(static_cast<size_t>(n));
  for (int64_t d = 0; d < table.num_images; ++d)
    std::fill(image.begin() + table.begin(d), image.begin() + table.end(d), d);
  std::vector<std::pair<int64_t, int64_t>> both;
  for (const auto& [a, b] : table.images.edges) {
    if (a < 0 || b < 0 || a >= n || b >= n || a == b)
      throw DataError(fmt::format(
          "edges joins patches {} and {}, must join two different ones between 0 and {}", a, b,
          n - 1));
    if (image[a] != image[b])
      throw DataError(fmt::format(
          "edges joins patch {} of image {} with patch {} of image {}: neighbours must be of one "
          "image",
          a, image[a], b, image[b]));
    both.emplace_back(a, b);
    both.emplace_back(b, a);
  }
  std::sort(both.begin(), both.end());
  both.erase(std::unique(both.begin(), both.end()), both.end());
  table.near_first.assign(static_cast<size_t>(n) + 1, 0);
  for (const auto& [a, b] : both) {
    ++table.near_first[a + 1];
    table.near_list.push_back(b - table.begin(image[b]));
  }
  for (int64_t i = 0; i < n; ++i) {
    table.most_neighbors = std::max(table.most_neighbors, table.near_first[i + 1]);
    table.near_first[i + 1] += table.near_first[i];
  }
}

void share_images(const Team& team, ImageTable& table) {
  table.team = &team;
  const Rows blocks = team.rows(table.num_blocks(), 1);
  const Rows layer = team.rows(table.num_images, kLayerBlock);
  for (int r = 0; r < blocks.ranks().size(); ++r) {
    table.pass_borders.push_back(table.block_begin[blocks.stretch_of(r).first]);
    table.layer_borders.push_back(layer.stretch_of(r).first);
  }
  table.pass_borders.push_back(table.num_images);
  table.layer_borders.push_back(table.num_images);
}

}  // namespace

Neighborhood neighborhood_of(const ImageTable& table, int64_t d, int64_t begin) {
  Neighborhood hood{begin};
  if (table.near_first.empty()) {
    hood.rows = table.images.grid(d, 0);
    hood.cols = table.images.grid(d, 1);
    return hood;
  }
  hood.first = std::span(table.near_first)
                   .subspan(static_cast<size_t>(table.begin(d)),
                            static_cast<size_t>(table.num_patches(d)) + 1);
  hood.list = table.near_list;
  return hood;
}

int ImageTable::band(int64_t d, int64_t i) const {
  if (num_bands == 1) return 0;
  if (!images.bands.empty()) return images.bands[begin(d) + i];
  const int64_t row = i / images.grid(d, 1);
  return static_cast<int>(row * num_bands / images.grid(d, 0));
}

Matrix<double> move_matrix(const Team& team, DoubleView rows, std::span<const int64_t> from,
                           std::span<const int64_t> to) {
  const std::span<const double> own(rows.data(), static_cast<size_t>(rows.rows() * rows.cols()));
  const std::vector<double> moved = team.move_rows(own, rows.cols(), from, to);
  Matrix<double> out(to[team.rank() + 1] - to[team.rank()], rows.cols());
  std::ranges::copy(moved, out.data());
  return out;
}

Matrix<double> ImageTable::to_pass(DoubleView kept) const {
  return move_matrix(*team, kept, layer_borders, pass_borders);
}

Matrix<double> ImageTable::to_layer(DoubleView found) const {
  return move_matrix(*team, found, pass_borders, layer_borders);
}

ImageTable make_image_table(const DlgmmImages& images, int num_bands, double gamma,
                            const Team& team) {
  ImageTable table;
  table.images = images;
  table.num_bands = std::max(num_bands, 1);
  check_offsets(images);
  table.num_images = images.num_images();
  check_grid(table);
  check_bands(table);
  if (!images.edges.empty()) add_edges(table);
  require(gamma == 0 || images.grid.rows() > 0 || !images.edges.empty(), [&] {
    return fmt::format(
        "gamma is {}, but the patches have no grid, so neighbours are unknown: give a grid, edges "
        "or positions with position_neighbors, or use gamma 0",
        gamma < 0 ? "learn" : fmt::format("{}", gamma));
  });
  int64_t patches = kPatchesPerBlock;
  for (int64_t d = 0; d < table.num_images; ++d) {
    if (patches >= kPatchesPerBlock) {
      table.block_begin.push_back(d);
      patches = 0;
    }
    patches += table.num_patches(d);
    table.num_without_patches += table.num_patches(d) == 0;
  }
  table.block_begin.push_back(table.num_images);
  share_images(team, table);
  return table;
}

}  // namespace milieu::internal
