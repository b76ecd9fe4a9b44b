// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/patch_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/file/file_lock.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/image_folder.h"
#include "milieu/feature/cache/extract.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/feature/feature_spec.h"
#include "milieu/input/cache_folder.h"
#include "milieu/input/default_network.h"
#include "milieu/input/image_rows.h"
#include "milieu/input/patch_projection.h"

namespace milieu {

namespace fs = std::filesystem;

namespace {

constexpr int kDefaultStep = 8;  // pixels between the patches of dense SIFT

// One local feature of the list, in full and without the options of bags of words.
std::string local_text(const std::string& list) {
  std::vector<FeatureSpec> specs = parse_features(list);
  if (specs.size() != 1 || !specs[0].is_local())
    throw InvalidArgument(
        fmt::format("feature is '{}', must be one local feature, such as dense-sift, because "
                    "patches are needed",
                    list));
  specs[0].words = WordOptions();
  return to_text(specs[0]);
}

// The feature folder with the patches of the image folder, brought up to date.
std::string extract_patches(const PatchRequest& request, const std::string& feature,
                            Monitor& monitor, std::vector<std::string>& warnings) {
  const std::string canonical = fs::canonical(request.path).string();
  std::vector<FeatureSpec> specs = parse_features(feature);
  specs[0].words.num_words = 2;  // not used
  ExtractOptions options;
  options.patches = true;
  options.num_threads = request.load.num_threads;
  options.decode.max_side = parse_max_side(request.max_side);
  options.waits = true;  // another command on the same images may be filling the cache
  const std::string place = cache_place(canonical, "-patches",
                                        Fingerprint("image-patches")
                                            .text(canonical)
                                            .text(to_text(specs[0]))
                                            .number(options.decode.max_side));
  const ImageFolder images = list_image_folder(request.path);
  monitor.on_stage(RunStage::Describing, request.path);
  const ExtractResult result = extract_features(images, std::move(specs), place, options, monitor);
  monitor.on_stage(RunStage::Reading, request.path);
  if (!result.skipped.empty()) warnings.push_back(skipped_text(images, result));
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
    throw InvalidArgument(fmt::format("{} has patches of {}: choose one with --feature",
                                      folder.path, fmt::join(names, ", ")));
  throw InvalidArgument(
      fmt::format("{} has patches of {}, not of {}", folder.path, fmt::join(names, ", "), asked));
}

void write_projected(const std::string& path, FloatView patches, const Matrix<float>& projection) {
  constexpr int64_t kRows = 65536;
  const Pca pca = pca_of(projection);
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
    throw DataError(fmt::format(
        "the projection of training is {} x {}, but descriptors of {} have {}: "
        "they must be the same feature",
        projection.rows(), projection.cols(), folder, counted(patches.cols(), "number")));
}

// Nothing where both files are there.
void make_projected(FloatView patches, const PatchRequest& request, const std::string& path,
                    const std::string& projection_path) {
  if (fs::exists(path)) return;
  const Matrix<float> projection =
      request.projection.empty()
          ? fit_projection(patches, request.options.num_components, request.seed)
          : request.projection;
  write_npy(projection_path, projection.view());
  write_projected(path, patches, projection);
}

// The patches on the components of `projection`, or on their own principal components, kept in a
// file that is mapped: memory does not grow with the number of patches.
void project_patches(const Points& patches, const std::string& folder, const PatchRequest& request,
                     const Monitor& monitor, PatchImages& images) {
  const Matrix<float>& given = request.projection;
  const int num_components = request.options.num_components;
  const FloatView view = patches.view();
  images.patches = patches;
  if (given.empty() && (num_components == 0 || num_components >= view.cols() || view.rows() == 0))
    return;
  if (!given.empty()) check_projection(given, view, folder);
  Fingerprint print("projected-patches");
  print.version().rows(view, request.load.num_threads).rows(given.view());
  print.number(given.empty() ? num_components : 0).number(static_cast<int64_t>(request.seed));
  const std::string base = fmt::format("{}/pca-{}", cache_folder(), print.hex());
  const std::string path = base + ".npy", projection_path = base + ".projection.npy";
  if (!fs::exists(path)) {
    FileLock lock(base + ".lock", LockKind::Exclusive);
    lock.wait(monitor);  // a file that others have mapped is not made again
    make_projected(view, request, path, projection_path);
  }
  images.watched.push_back(path);
  images.projection = Matrix<float>(to_points(open_npy(projection_path)).view());
  images.patches = to_points(open_npy(path));
}

}  // namespace

std::string patch_feature(const PatchRequest& request) {
  const int step = request.options.step;
  if (step > 0 && !request.feature.empty())
    throw InvalidArgument(fmt::format(
        "step is {}, but feature is {}: write the step into the feature, dense-sift:step={}", step,
        request.feature, step));
  if (!request.feature.empty()) return local_text(request.feature);
  const std::string network = step > 0 ? "" : default_network_feature(true);
  if (!network.empty()) return local_text(network);
  return local_text(fmt::format("dense-sift:step={}", step > 0 ? step : kDefaultStep));
}

PatchImages patches_of_folder(const PatchRequest& request, Monitor& monitor) {
  PatchImages images;
  const std::string& path = request.path;
  const std::string feature = is_feature_folder(path) ? request.feature : patch_feature(request);
  const std::string place =
      is_feature_folder(path) ? path : extract_patches(request, feature, monitor, images.warnings);
  const FeatureFolder folder = open_feature_folder(place);
  if (!request.max_side.empty() && parse_max_side(request.max_side) != folder.max_side)
    throw InvalidArgument(fmt::format("max_side is {}, but {} was made with {}", request.max_side,
                                      folder.path, folder.max_side));
  const FeatureFolder::Entry& entry = chosen_patches(folder, feature);
  const PatchSet set = folder.patches(entry.id);
  images.feature = local_text(entry.spec);
  images.max_side = folder.max_side;
  images.watched = {place + "/features.json", set.file};
  project_patches(set.descriptors, place, request, monitor, images);
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

}  // namespace milieu
