// SPDX-License-Identifier: Apache-2.0
#include "patch_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/image_folder.h"
#include "milieu/data/npy.h"
#include "milieu/feature/extract.h"
#include "milieu/feature/feature_spec.h"
#include "milieu/feature/feature_store.h"
#include "milieu/linalg/pca.h"
#include "picture_input.h"

namespace milieu::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFeature = "dense-sift";

uint64_t hash_of(const std::string& text) {
  uint64_t hash = 14695981039346656037u;
  for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

// The folder of features with the patches of the pictures in `root`, brought up to date.
std::string extract_patches(const std::string& root, int step, int num_threads) {
  const std::string canonical = fs::canonical(root).string();
  const std::string spec = fmt::format("{}:step={}:words=2", kFeature, step);
  const std::string place =
      fmt::format("{}/{}-patches-{:016x}", cache_folder(), fs::path(canonical).filename().string(),
                  hash_of(canonical + "\n" + spec));
  ExtractOptions options;
  options.patches = true;
  options.num_threads = num_threads;
  extract_features(list_image_folder(root), parse_features(spec), place, options);
  return place;
}

// At most 100,000 rows, drawn by the seed.
Pca fit_patch_pca(FloatView patches, int num_components, uint64_t seed) {
  constexpr int64_t kEnough = 100000;
  std::vector<int64_t> rows = Random(seed).child(7).sample_without_replacement(
      patches.rows(), std::min(kEnough, patches.rows()));
  std::sort(rows.begin(), rows.end());
  Matrix<float> drawn(static_cast<int64_t>(rows.size()), patches.cols());
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy_n(patches.row(rows[i]), patches.cols(), drawn.row(static_cast<int64_t>(i)));
  return fit_pca(
      drawn, std::min<int>(num_components, static_cast<int>(std::min(drawn.rows(), drawn.cols()))));
}

// The patches on their principal components, kept in a file that is mapped: memory does not grow
// with the number of patches.
Points project_patches(const Points& patches, const std::string& folder, int num_components,
                       uint64_t seed) {
  const FloatView view = patches.view();
  if (num_components == 0 || num_components >= view.cols() || view.rows() == 0) return patches;
  const auto time = fs::last_write_time(folder + "/features.json").time_since_epoch().count();
  const std::string path = fmt::format(
      "{}/pca-{:016x}.npy", cache_folder(),
      hash_of(fmt::format("{} {} {} {} {}", folder, time, view.rows(), num_components, seed)));
  if (!fs::exists(path)) {
    constexpr int64_t kRows = 65536;
    const Pca pca = fit_patch_pca(view, num_components, seed);
    AtomicFile file(path);
    const int64_t shape[] = {view.rows(), pca.components.rows()};
    file.write(npy_float_header(shape));
    for (int64_t begin = 0; begin < view.rows(); begin += kRows) {
      const Matrix<float> rows =
          project(pca, view.rows_between(begin, std::min(begin + kRows, view.rows())));
      file.write(rows.data(), static_cast<size_t>(rows.size()) * sizeof(float));
    }
    file.commit();
  }
  return to_points(open_npy(path));
}

}  // namespace

PatchImages patches_of_pictures(const std::string& path, const PatchOptions& options,
                                int num_threads, uint64_t seed) {
  const std::string place =
      is_feature_folder(path) ? path : extract_patches(path, options.step, num_threads);
  const FeatureFolder folder = open_feature_folder(place);
  std::string id = kFeature;
  for (const FeatureFolder::Entry& entry : folder.features)
    if (entry.has_patches) id = entry.id;
  const PatchSet set = folder.patches(id);
  PatchImages images;
  images.patches = project_patches(set.descriptors, place, options.num_components, seed);
  images.offsets = set.offsets;
  images.positions = set.frames;
  const bool has_grid = std::ranges::all_of(
      set.grids, [](const PatchSet::Grid& grid) { return grid.rows >= 0 && grid.cols >= 0; });
  if (has_grid) {
    images.grid = Matrix<int32_t>(set.num_images(), 2);
    for (int64_t d = 0; d < set.num_images(); ++d) {
      images.grid(d, 0) = set.grids[d].rows;
      images.grid(d, 1) = set.grids[d].cols;
      if (int64_t{set.grids[d].rows} * set.grids[d].cols != set.offsets[d + 1] - set.offsets[d]) {
        images.grid = Matrix<int32_t>();  // keypoints: there is no grid
        break;
      }
    }
  }
  images.names = folder.images;
  images.labels = folder.labels;
  images.root = folder.source;
  images.source = path;
  images.watched = {place + "/features.json"};
  return images;
}

}  // namespace milieu::cli
