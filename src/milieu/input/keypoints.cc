// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/keypoints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/data/image_folder.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/feature/decode/decode.h"

namespace milieu {

namespace {

// One row per keypoint, image after image.
KeypointSet join_images(const std::vector<FloatView>& descriptors,
                        const std::vector<FloatView>& frames, const std::vector<std::string>& paths,
                        const Labels& labels, const std::string& source) {
  KeypointSet set;
  set.paths = paths;
  int64_t n = 0, d = 0;
  for (const FloatView& local : descriptors) {
    n += local.rows();
    if (local.rows() > 0) d = local.cols();
  }
  if (n == 0)
    throw DataError(fmt::format(
        "{} has no image with a keypoint: cluster whole images by --feature, with their "
        "context as --groups, --positions or --links",
        source));
  Matrix<float> points(n, d);
  set.positions = Matrix<float>(n, 2);
  set.data.labels.names = labels.names;
  int64_t row = 0;
  for (size_t image = 0; image < paths.size(); ++image)
    for (int64_t i = 0; i < descriptors[image].rows(); ++i, ++row) {
      std::copy_n(descriptors[image].row(i), d, points.row(row));
      std::copy_n(frames[image].row(i), 2, set.positions.row(row));
      set.images.push_back(static_cast<int>(image));
      set.data.sample_names.push_back(fmt::format("{}:{:.1f},{:.1f}", paths[image],
                                                  set.positions(row, 0), set.positions(row, 1)));
      if (!labels.empty()) set.data.labels.indices.push_back(labels.indices[image]);
    }
  set.data.points = Points(std::move(points));
  set.data.sample_shape = {d};
  set.data.source = source;
  set.data.total_rows = n;
  return set;
}

// The images that a selection keeps, ascending.
std::vector<int64_t> kept_images(int64_t count, const Labels& labels, const std::string& source,
                                 const LoadOptions& options) {
  LoadOptions selection;
  selection.select = options.select;
  selection.rows = options.rows;
  const Dataset kept = make_dataset(Points(Matrix<float>(count, 1)), labels, {}, source, selection);
  std::vector<int64_t> rows = kept.rows;
  if (rows.empty())
    for (int64_t i = 0; i < count; ++i) rows.push_back(i);
  return rows;
}

// Paths and classes of some images.
ImageFolder pick_images(const std::vector<std::string>& paths, const Labels& labels,
                        const std::vector<int64_t>& rows) {
  ImageFolder picked;
  picked.labels.names = labels.names;
  for (const int64_t row : rows) {
    picked.paths.push_back(paths[static_cast<size_t>(row)]);
    if (!labels.empty()) picked.labels.indices.push_back(labels.indices[static_cast<size_t>(row)]);
  }
  return picked;
}

}  // namespace

SparseSiftOptions texton_keypoints() {
  SparseSiftOptions options;
  options.min_scale = 1;
  options.max_scale = 2;
  options.max_num_keypoints = 2000;
  options.contrast_threshold = 0.01;  // textures have little contrast
  return options;
}

KeypointSet load_keypoints(const std::string& folder, const LoadOptions& options) {
  const ImageFolder all = list_image_folder(folder);
  std::vector<LocalDescriptors> found(all.paths.size());
  std::vector<std::string> reasons(all.paths.size());
  // Rows are counted among the images that can be read, as everywhere: all must be tried.
  LoadOptions by_class = options;
  by_class.rows.clear();
  const auto count = static_cast<int64_t>(all.paths.size());
  const std::vector<int64_t> tried = kept_images(count, all.labels, folder, by_class);
  parallel_for(std::ssize(tried), 1, options.num_threads, [&](const Block& block) {
    const auto image = static_cast<size_t>(tried[static_cast<size_t>(block.begin)]);
    try {
      found[image] = sparse_sift(load_image(folder + "/" + all.paths[image]), texton_keypoints());
    } catch (const DataError& error) {
      reasons[image] = error.what();
    }
  });
  std::vector<int64_t> readable;
  for (const int64_t image : tried)
    if (reasons[static_cast<size_t>(image)].empty()) readable.push_back(image);
  if (readable.empty()) throw DataError(fmt::format("{} has no image that can be read", folder));
  const ImageFolder usable = pick_images(all.paths, all.labels, readable);
  LoadOptions by_row = options;
  by_row.select.clear();
  const std::vector<int64_t> kept =
      kept_images(std::ssize(readable), usable.labels, folder, by_row);
  std::vector<FloatView> descriptors, frames;
  for (const int64_t place : kept) {
    const auto image = static_cast<size_t>(readable[static_cast<size_t>(place)]);
    descriptors.push_back(found[image].descriptors);
    frames.push_back(found[image].frames);
  }
  const ImageFolder chosen = pick_images(usable.paths, usable.labels, kept);
  KeypointSet set = join_images(descriptors, frames, chosen.paths, chosen.labels, folder);
  for (size_t image = 0; image < reasons.size(); ++image)
    if (!reasons[image].empty())
      set.skipped.push_back(fmt::format("skipped {}: {}", all.paths[image], reasons[image]));
  set.root = folder;
  return set;
}

std::optional<KeypointSet> keypoints_of_features(const std::string& path,
                                                 const LoadOptions& options) {
  const FeatureFolder folder = open_feature_folder(path);
  std::vector<std::string> ids;
  for (const FeatureFolder::Entry& entry : folder.features)
    if (entry.has_patches) ids.push_back(entry.id);
  if (ids.empty()) return std::nullopt;
  require(ids.size() == 1, [&] {
    return fmt::format("{} has local descriptors of {}: make a folder with those of one feature",
                       path, fmt::join(ids, ", "));
  });
  const PatchSet patches = folder.patches(ids[0]);
  std::vector<FloatView> descriptors, frames;
  const std::vector<int64_t> rows = kept_images(patches.num_images(), folder.labels, path, options);
  for (const int64_t i : rows) {
    descriptors.push_back(patches.descriptors_of(i));
    frames.push_back(patches.frames_of(i));
  }
  const ImageFolder images = pick_images(folder.images, folder.labels, rows);
  KeypointSet set = join_images(descriptors, frames, images.paths, images.labels, path);
  set.root = folder.found_source();
  set.max_side = folder.max_side;
  return set;
}

}  // namespace milieu
