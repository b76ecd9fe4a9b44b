// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/patch_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/identity/file_stamp.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/selection.h"
#include "milieu/input/patch_folder.h"
#include "milieu/input/vectors/patch_vectors.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu {

namespace fs = std::filesystem;

namespace {

constexpr float kLargestExact = 16777216;  // floats count in ones up to here

std::vector<int64_t> read_offsets(const std::string& path, int64_t num_patches) {
  std::vector<int64_t> offsets = to_integers(open_npy(path));
  if (offsets.size() < 2)
    throw DataError(fmt::format("{} has {}, must have one more than there are images", path,
                                counted(offsets.size(), "entry", "entries")));
  if (offsets.front() != 0)
    throw DataError(fmt::format("{} begins with {}, must begin with 0", path, offsets.front()));
  if (const auto fall = std::is_sorted_until(offsets.begin(), offsets.end()); fall != offsets.end())
    throw DataError(
        fmt::format("{} decreases from {} to {} at entry {} (counted from 0), must never decrease",
                    path, *(fall - 1), *fall, fall - offsets.begin()));
  if (offsets.back() != num_patches)
    throw DataError(fmt::format("{} ends with {}, there are {}: they must match", path,
                                offsets.back(), counted(num_patches, "patch", "patches")));
  return offsets;
}

Matrix<int32_t> read_grid(const std::string& path, int64_t num_images) {
  const Points points = load_dataset(path).points;
  if (points.rows() != num_images || points.cols() != 2)
    throw DataError(fmt::format("{} is {} x {}, must be {} x 2: rows and columns of each image",
                                path, points.rows(), points.cols(), num_images));
  Matrix<int32_t> grid(num_images, 2);
  for (int64_t i = 0; i < grid.size(); ++i) {
    const float value = points.view()(i / 2, i % 2);
    grid.data()[i] = static_cast<int32_t>(std::clamp(value, 0.0f, 1e6f));
    if (static_cast<float>(grid.data()[i]) != value)
      throw DataError(fmt::format(
          "{}: row {}, column {} (counted from 0) is {}, must be a whole number between "
          "0 and 1000000",
          path, i / 2, i % 2, value));
  }
  return grid;
}

std::vector<std::pair<int64_t, int64_t>> read_edges(const std::string& path, int64_t num_patches) {
  const Points points = load_dataset(path).points;
  if (points.cols() != 2)
    throw DataError(fmt::format("{} has {}, must have 2: pairs of neighbouring patches", path,
                                counted(points.cols(), "column")));
  std::vector<std::pair<int64_t, int64_t>> edges;
  for (int64_t i = 0; i < points.rows(); ++i) {
    std::array<int64_t, 2> ends{};
    for (int64_t k = 0; k < 2; ++k) {
      const float value = points.view()(i, k);
      ends[k] = static_cast<int64_t>(value);
      if (!(value >= 0) || value >= kLargestExact || static_cast<float>(ends[k]) != value ||
          ends[k] >= num_patches)
        throw DataError(fmt::format(
            "{}: row {}, column {} (counted from 0) is {}, must be a patch: a whole number between "
            "0 and {}",
            path, i, k, value, num_patches - 1));
    }
    edges.emplace_back(ends[0], ends[1]);
  }
  return edges;
}

// The edges of kept patches, by their new numbers; `patches` are their old ones, ascending.
std::vector<std::pair<int64_t, int64_t>> kept_edges(
    const std::vector<std::pair<int64_t, int64_t>>& edges, const std::vector<int64_t>& patches) {
  std::vector<std::pair<int64_t, int64_t>> kept;
  const auto place = [&](int64_t patch) {
    const auto found = std::lower_bound(patches.begin(), patches.end(), patch);
    return found != patches.end() && *found == patch ? found - patches.begin() : int64_t{-1};
  };
  for (const auto& [a, b] : edges)
    if (place(a) >= 0 && place(b) >= 0) kept.emplace_back(place(a), place(b));
  return kept;
}

// Keeps the images of `rows`; their patches are copied unless they lie in one stretch.
void keep_images(PatchImages& images, const std::vector<int64_t>& rows) {
  std::vector<int64_t> patches;
  std::vector<int64_t> offsets = {0};
  Matrix<int32_t> grid(images.grid.rows() > 0 ? static_cast<int64_t>(rows.size()) : 0, 2);
  std::vector<std::string> names;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t d = rows[i];
    for (int64_t p = images.offsets[d]; p < images.offsets[d + 1]; ++p) patches.push_back(p);
    offsets.push_back(static_cast<int64_t>(patches.size()));
    if (grid.rows() > 0) std::copy_n(images.grid.row(d), 2, grid.row(static_cast<int64_t>(i)));
    if (!images.names.empty()) names.push_back(images.names[d]);
  }
  images.patches = images.patches.gather(patches);
  if (images.positions.rows() > 0) images.positions = images.positions.gather(patches);
  images.edges = kept_edges(images.edges, patches);
  if (images.image_vectors.rows() > 0) images.image_vectors = images.image_vectors.gather(rows);
  images.offsets = std::move(offsets);
  images.grid = std::move(grid);
  images.names = std::move(names);
  if (!images.labels.empty()) images.labels = gather_labels(images.labels, rows);
  images.rows = rows;
}

void join_labels(PatchImages& images, const LoadOptions& load) {
  if (!load.labels_path.empty()) {
    images.labels = load_labels(load.labels_path);
    if (static_cast<int64_t>(images.labels.indices.size()) != images.num_images())
      throw DataError(fmt::format("{} has {}, there are {}: they must match", load.labels_path,
                                  counted(images.labels.indices.size(), "row"),
                                  counted(images.num_images(), "image")));
  }
  images.total_images = images.num_images();
  if (!load.rows.empty()) {
    if (!load.select.empty())
      throw InvalidArgument("select and rows are both given: give only one");
    if (load.rows.back() >= images.num_images())
      throw DataError(fmt::format("rows names row {}, but there are {} (counted from 0)",
                                  load.rows.back(), counted(images.num_images(), "image")));
    return keep_images(images, load.rows);
  }
  if (load.select.empty()) return;
  if (images.labels.empty())
    throw InvalidArgument(
        "--select needs classes: give --labels with the class of every image, or a folder whose "
        "sub-folders are classes");
  keep_images(images,
              kept_rows(images.labels, kept_classes(load.select, images.labels, images.source)));
}

PatchImages from_file(const PatchRequest& request) {
  const std::string& path = request.path;
  const InputFiles& files = request.files;
  MappedFile::open(path);  // a missing file is reported first
  if (!files.has("offsets"))
    throw InvalidArgument(
        fmt::format("{} is not an image folder, so it must hold patches: give --offsets FILE with "
                    "the row where "
                    "each image begins (images + 1 whole numbers)",
                    path));
  PatchImages images;
  LoadOptions plain;
  plain.num_threads = request.load.num_threads;
  images.patches = load_dataset(path, plain).points;
  images.offsets = read_offsets(files["offsets"], images.patches.rows());
  if (files.has("grid")) images.grid = read_grid(files["grid"], images.num_images());
  if (files.has("edges")) images.edges = read_edges(files["edges"], images.patches.rows());
  if (files.has("positions")) {
    images.positions = load_dataset(files["positions"]).points;
    if (images.positions.rows() != images.patches.rows() || images.positions.cols() < 2)
      throw DataError(fmt::format("{} is {} x {}, must be {} x 2 or more: x and y of each patch",
                                  files["positions"], images.positions.rows(),
                                  images.positions.cols(), images.patches.rows()));
  }
  images.source = path;
  images.watched = {path, files["offsets"]};
  return images;
}

}  // namespace

DlgmmImages PatchImages::view() const {
  return {patches.view(), offsets, grid.rows() > 0 ? grid.view() : MatrixView<const int32_t>(),
          bands,          edges,   image_vectors.view()};
}

void PatchImages::set_neighbors(int count) {
  if (count == 0) return;
  if (positions.rows() == 0)
    throw InvalidArgument(fmt::format(
        "position_neighbors is {}, but the positions of the patches are unknown: give --positions",
        count));
  for (int64_t d = 0; d < num_images(); ++d) {
    const int64_t begin = offsets[d], size = offsets[d + 1] - begin;
    if (size < 2) continue;
    const FloatView all = positions.view();
    const FloatView place(all.row(begin), size, 2, all.stride());
    NeighborOptions options;
    options.exclude_self = true;
    const NeighborLists near = nearest_neighbors(place, place, count, options);
    for (int64_t i = 0; i < size; ++i)
      for (int64_t k = 0; k < near.indices.cols(); ++k)
        edges.emplace_back(begin + i, begin + near.indices(i, k));
  }
}

void PatchImages::set_bands(int num_bands) {
  bands.clear();
  if (num_bands <= 1 || grid.rows() > 0 || positions.rows() == 0) return;
  bands.resize(positions.rows());
  for (int64_t d = 0; d < num_images(); ++d) {
    float low = 0, high = 0;
    for (int64_t i = offsets[d]; i < offsets[d + 1]; ++i) {
      const float y = positions.view()(i, 1);
      low = i == offsets[d] ? y : std::min(low, y);
      high = i == offsets[d] ? y : std::max(high, y);
    }
    for (int64_t i = offsets[d]; i < offsets[d + 1]; ++i) {
      const float share = high > low ? (positions.view()(i, 1) - low) / (high - low) : 0.0f;
      bands[i] = static_cast<uint8_t>(
          std::min(num_bands - 1, static_cast<int>(share * static_cast<float>(num_bands))));
    }
  }
}

PatchImages load_patch_images(const PatchRequest& request, Monitor& monitor) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(request.path, ignored);
  for (const auto& [name, value] :
       {std::pair("feature", request.feature), std::pair("max_side", request.max_side)})
    if (!is_folder && !value.empty())
      throw InvalidArgument(
          fmt::format("{} is {}, but {} is not an image folder", name, value, request.path));
  PatchImages images = is_folder ? patches_of_folder(request, monitor) : from_file(request);
  add_image_vectors(request, monitor, images);
  join_labels(images, request.load);
  images.set_neighbors(request.options.position_neighbors);
  return images;
}

Dataset image_dataset(const PatchImages& images) {
  Dataset data;
  Matrix<float> counts(images.num_images(), 1);
  for (int64_t d = 0; d < images.num_images(); ++d)
    counts(d, 0) = static_cast<float>(images.offsets[d + 1] - images.offsets[d]);
  data.points = Points(std::move(counts));
  data.labels = images.labels;
  data.sample_names = images.names;
  data.rows = images.rows;
  data.sample_shape = {1};
  data.total_rows = images.total_images;
  data.source = images.source;
  return data;
}

std::string watch_state(const PatchImages& images) {
  std::string state;
  for (const std::string& path : images.watched) {
    state += to_text(stamp_of(path)) + ";";
  }
  return state;
}

}  // namespace milieu
