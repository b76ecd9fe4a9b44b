// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/cache/feature_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/image_folder.h"
#include "milieu/feature/cache/feature_folder_internal.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;

void check_rows(const Points& points, int64_t expected, const std::string& path) {
  if (points.rows() != expected)
    throw DataError(fmt::format("{} has {}, images.csv needs {}: run milieu features again", path,
                                counted(points.rows(), "row"), expected));
}

}  // namespace

bool is_feature_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path + "/features.json", ignored);
}

FeatureFolder open_feature_folder(const std::string& path) {
  std::error_code ignored;
  if (!is_feature_folder(path) && fs::is_directory(path + "/.milieu", ignored))
    throw DataError(
        fmt::format("{} is not complete: run the same milieu features command again", path));
  const internal::FolderRecord record = internal::read_features_json(path + "/features.json");
  const std::vector<internal::ImageRow> rows = internal::read_images_csv(path + "/images.csv");
  if (hash_text(internal::images_csv(rows)) != record.images)
    throw DataError(
        fmt::format("{}/images.csv does not match features.json: run milieu "
                    "features again",
                    path));
  FeatureFolder folder;
  folder.path = path;
  folder.source = record.source;
  folder.absolute_source = record.absolute_source;
  folder.max_side = record.max_side;
  folder.max_pixels = record.max_pixels;
  std::vector<std::string> classes;
  for (const internal::ImageRow& row : rows) {
    folder.images.push_back(row.path);
    folder.widths.push_back(row.width);
    folder.heights.push_back(row.height);
    classes.push_back(row.class_name);
  }
  folder.labels = labels_from_classes(classes);
  for (const internal::FeatureRecord& feature : record.features)
    folder.features.push_back({.id = feature.id,
                               .spec = feature.spec,
                               .is_words = feature.kind == "words",
                               .has_patches = !feature.patches_key.empty(),
                               .cols = feature.cols,
                               .options_json = feature.options_json});
  return folder;
}

const FeatureFolder::Entry& FeatureFolder::find(const std::string& id) const {
  std::vector<std::string> known;
  for (const Entry& entry : features) {
    if (entry.id == id) return entry;
    known.push_back(entry.id);
  }
  throw InvalidArgument(
      fmt::format("{} has no feature '{}': it has {}", path, id, fmt::join(known, ", ")));
}

Points FeatureFolder::points(const std::string& id) const {
  const std::string file = internal::whole_files(path, find(id).id).values;
  Points points = to_points(open_npy(file));
  check_rows(points, static_cast<int64_t>(images.size()), file);
  return points;
}

PatchSet FeatureFolder::patches(const std::string& id) const {
  if (!find(id).has_patches)
    throw InvalidArgument(
        fmt::format("{} has no patches of {}: run milieu features with --patches", path, id));
  const internal::StoreFiles files = internal::patch_files(path, id);
  PatchSet set;
  set.file = files.values;
  set.descriptors = to_points(open_npy(files.values));
  set.frames = to_points(open_npy(files.frames));
  set.offsets = to_integers(open_npy(files.offsets));
  if (set.offsets.size() != images.size() + 1 || set.offsets.front() != 0 ||
      !std::is_sorted(set.offsets.begin(), set.offsets.end()))
    throw DataError(
        fmt::format("{} does not match images.csv: run milieu features again", files.offsets));
  check_rows(set.descriptors, set.offsets.back(), files.values);
  check_rows(set.frames, set.offsets.back(), files.frames);
  const RawArray grids = open_npy(files.grids);
  if (grids.rows() != static_cast<int64_t>(images.size()) || grids.cols() != 2)
    throw DataError(
        fmt::format("{} does not match images.csv: run milieu features again", files.grids));
  for (int64_t i = 0; i < grids.rows(); ++i)
    set.grids.push_back(
        {static_cast<int>(element_at(grids, i, 0)), static_cast<int>(element_at(grids, i, 1))});
  return set;
}

std::string FeatureFolder::found_source() const {
  std::error_code ignored;
  return fs::exists(source + "/" + images.front(), ignored) ? source : absolute_source;
}

std::vector<std::string> vocabulary_files(const std::string& folder, const std::string& id) {
  std::vector<std::string> names;
  for (const char* ending : {".codebook.npy", ".pca.npy", ".idf.npy"})
    if (fs::exists(folder + "/" + id + ending)) names.push_back(id + ending);
  return names;
}

}  // namespace milieu
