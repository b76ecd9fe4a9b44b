// SPDX-License-Identifier: Apache-2.0
#include "patch_pictures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/image_folder.h"
#include "milieu/data/format/npy.h"
#include "milieu/feature/cache/extract.h"
#include "milieu/feature/feature_spec.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/linalg/pca.h"
#include "picture_input.h"

namespace milieu::cli {

namespace fs = std::filesystem;

namespace {

uint64_t hash_of(const std::string& text) {
  uint64_t hash = 14695981039346656037u;
  for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

// One local feature of the list, in full and without the options of bags of words.
std::string local_text(const std::string& list) {
  std::vector<FeatureSpec> specs = parse_features(list);
  if (specs.size() != 1 || !specs[0].is_local())
    throw InvalidArgument(fmt::format(
        "feature is '{}', must be one local feature, such as dense-sift: patches are asked for",
        list));
  specs[0].words = WordOptions();
  return to_text(specs[0]);
}

// The folder of features with the patches of the pictures in `root`, brought up to date.
std::string extract_patches(const std::string& root, const PatchOptions& patches, int num_threads,
                            Monitor& monitor, std::vector<std::string>& warnings) {
  const std::string canonical = fs::canonical(root).string();
  std::vector<FeatureSpec> specs = parse_features(patch_feature(patches));
  specs[0].words.num_words = 2;  // nobody looks at them
  ExtractOptions options;
  options.patches = true;
  options.num_threads = num_threads;
  options.decode.max_side = parse_max_side(patches.max_side);
  const std::string place = fmt::format(
      "{}/{}-patches-{:016x}", cache_folder(), fs::path(canonical).filename().string(),
      hash_of(fmt::format("{}\n{}\n{}", canonical, to_text(specs[0]), options.decode.max_side)));
  const ImageFolder pictures = list_image_folder(root);
  const ExtractResult result =
      extract_features(pictures, std::move(specs), place, options, monitor);
  if (!result.skipped.empty()) warnings.push_back(skipped_text(pictures, result));
  warnings.insert(warnings.end(), result.warnings.begin(), result.warnings.end());
  return place;
}

// The feature of the folder whose patches are meant.
const FeatureFolder::Entry& chosen_patches(const FeatureFolder& folder,
                                           const std::string& feature) {
  std::vector<const FeatureFolder::Entry*> found;
  std::vector<std::string> names;
  const std::string asked = feature.empty() ? "" : local_text(feature);
  for (const FeatureFolder::Entry& entry : folder.features) {
    if (!entry.has_patches) continue;
    const std::string text = local_text(entry.spec);
    names.push_back(text);
    if (asked.empty() || asked == text) found.push_back(&entry);
  }
  if (found.size() == 1) return *found[0];
  if (names.empty())
    throw InvalidArgument(
        fmt::format("{} has no patches: run milieu features with --patches", folder.path));
  if (asked.empty())
    throw InvalidArgument(fmt::format("{} has patches of {}: choose by --feature", folder.path,
                                      fmt::join(names, ", ")));
  throw InvalidArgument(
      fmt::format("{} has patches of {}, not of {}", folder.path, fmt::join(names, ", "), asked));
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

// Mean and components in one matrix of floats: what a run folder keeps for new pictures.
Matrix<float> to_projection(const Pca& pca) {
  Matrix<float> projection(1 + pca.components.rows(), pca.components.cols());
  for (int64_t r = 0; r < projection.cols(); ++r) {
    projection(0, r) = static_cast<float>(pca.mean[r]);
    for (int64_t k = 0; k < pca.components.rows(); ++k)
      projection(k + 1, r) = static_cast<float>(pca.components(k, r));
  }
  return projection;
}

Pca from_projection(const Matrix<float>& projection) {
  Pca pca;
  pca.mean.assign(projection.row(0), projection.row(0) + projection.cols());
  pca.components = Matrix<double>(projection.rows() - 1, projection.cols());
  std::copy_n(projection.row(1), pca.components.size(), pca.components.data());
  return pca;
}

void write_projected(const std::string& path, FloatView patches, const Matrix<float>& projection) {
  constexpr int64_t kRows = 65536;
  const Pca pca = from_projection(projection);
  AtomicFile file(path);
  const int64_t shape[] = {patches.rows(), pca.components.rows()};
  file.write(npy_float_header(shape));
  for (int64_t begin = 0; begin < patches.rows(); begin += kRows) {
    const Matrix<float> rows =
        project(pca, patches.rows_between(begin, std::min(begin + kRows, patches.rows())));
    file.write(rows.data(), static_cast<size_t>(rows.size()) * sizeof(float));
  }
  file.commit();
}

void check_projection(const Matrix<float>& projection, FloatView patches,
                      const std::string& folder) {
  if (projection.cols() != patches.cols() || projection.rows() < 2)
    throw DataError(
        fmt::format("the projection of training is {} x {}, but descriptors of {} have {} numbers: "
                    "they must be the same feature",
                    projection.rows(), projection.cols(), folder, patches.cols()));
}

// The patches on the components of `projection`, or on their own principal components, kept in a
// file that is mapped: memory does not grow with the number of patches.
void project_patches(const Points& patches, const std::string& folder, int num_components,
                     uint64_t seed, const Matrix<float>& given, PatchImages& images) {
  const FloatView view = patches.view();
  images.patches = patches;
  if (given.empty() && (num_components == 0 || num_components >= view.cols() || view.rows() == 0))
    return;
  if (!given.empty()) check_projection(given, view, folder);
  const std::string bytes(reinterpret_cast<const char*>(given.data()),
                          static_cast<size_t>(given.size()) * sizeof(float));
  const auto time = fs::last_write_time(folder + "/features.json").time_since_epoch().count();
  const std::string base =
      fmt::format("{}/pca-{:016x}", cache_folder(),
                  hash_of(fmt::format("2 {} {} {} {} {} ", folder, time, view.rows(),
                                      given.empty() ? num_components : 0, seed) +
                          bytes));
  const std::string path = base + ".npy", projection_path = base + ".projection.npy";
  if (!fs::exists(path)) {
    images.projection =
        given.empty() ? to_projection(fit_patch_pca(view, num_components, seed)) : given;
    write_npy(projection_path, images.projection.view());
    write_projected(path, view, images.projection);
  }
  images.watched.push_back(path);
  images.projection = Matrix<float>(to_points(open_npy(projection_path)).view());
  images.patches = to_points(open_npy(path));
}

}  // namespace

std::string patch_feature(const PatchOptions& options) {
  return local_text(options.feature.empty() ? fmt::format("dense-sift:step={}", options.step)
                                            : options.feature);
}

Matrix<float> unproject(const Matrix<float>& projection, DoubleView words) {
  const Pca pca = from_projection(projection);
  Matrix<float> descriptors(words.rows(), projection.cols());
  for (int64_t v = 0; v < words.rows(); ++v)
    for (int64_t r = 0; r < projection.cols(); ++r) {
      double value = pca.mean[r];
      for (int64_t k = 0; k < words.cols(); ++k) value += words(v, k) * pca.components(k, r);
      descriptors(v, r) = static_cast<float>(value);
    }
  return descriptors;
}

PatchImages patches_of_pictures(const std::string& path, const PatchOptions& options,
                                int num_threads, uint64_t seed, Monitor& monitor,
                                const Matrix<float>& projection) {
  PatchImages images;
  const std::string place = is_feature_folder(path) ? path
                                                    : extract_patches(path, options, num_threads,
                                                                      monitor, images.warnings);
  const FeatureFolder folder = open_feature_folder(place);
  if (!options.max_side.empty() && parse_max_side(options.max_side) != folder.max_side)
    throw InvalidArgument(fmt::format("max_side is {}, but {} was made with {}", options.max_side,
                                      folder.path, folder.max_side));
  const FeatureFolder::Entry& entry =
      chosen_patches(folder, place == path ? options.feature : patch_feature(options));
  const PatchSet set = folder.patches(entry.id);
  images.feature = local_text(entry.spec);
  images.max_side = folder.max_side;
  images.watched = {place + "/features.json", set.file};
  project_patches(set.descriptors, place, options.num_components, seed, projection, images);
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
  images.root = folder.found_source();
  images.source = path;
  return images;
}

}  // namespace milieu::cli
