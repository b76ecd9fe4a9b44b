// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/vectors/patch_vectors.h"

#include <fmt/format.h>

#include <unordered_map>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/feature/feature_spec.h"
#include "milieu/input/default_network.h"
#include "milieu/input/image_rows.h"

namespace milieu {

namespace {

constexpr const char* kNone = "none";
constexpr const char* kAuto = "auto";

// Whether the patches are those of a network, whose own embedding says more than gist.
bool has_network_patches(const PatchImages& images) {
  return images.feature.starts_with("onnx-patches");
}

// What auto means: the feature of all commands; in a feature folder, if it is there.
std::string auto_feature(const PatchRequest& request, const PatchImages& images) {
  const std::string feature = default_feature();
  if (has_network_patches(images) && feature == "gist") return "";
  if (!is_feature_folder(request.path)) return feature;
  const std::string id = parse_feature(feature).id;
  for (const FeatureFolder::Entry& entry : open_feature_folder(request.path).features)
    if (entry.id == id && !parse_feature(entry.spec).is_local()) return id;
  return "";
}

// The list of features, "" for none.
std::string wanted_feature(const PatchRequest& request, const PatchImages& images) {
  const std::string& asked = request.options.image_feature;
  if (asked == kNone) return "";
  if (asked == kAuto) return images.root.empty() ? "" : auto_feature(request, images);
  if (images.feature.empty())
    throw InvalidArgument(fmt::format(
        "image_feature is {}, but {} is not an image folder: give --image-vectors FILE with one "
        "row per image",
        asked, request.path));
  for (const FeatureSpec& spec : parse_features(asked))
    if (spec.is_local())
      throw InvalidArgument(fmt::format(
          "image_feature is {}, but {} describes patches: name a feature of whole images, such as "
          "gist, or none",
          asked, spec.id));
  return asked;
}

Points read_vectors(const std::string& path, int64_t num_images) {
  const Points points = load_dataset(path).points;
  if (points.rows() != num_images)
    throw DataError(fmt::format("{} has {}, there are {}: they must match", path,
                                counted(points.rows(), "row"), counted(num_images, "image")));
  return points;
}

// The rows of the images by name.
Points match_rows(const Dataset& rows, const PatchImages& images, const std::string& feature) {
  if (rows.sample_names == images.names) return rows.points;
  std::unordered_map<std::string, int64_t> place;
  for (size_t i = 0; i < rows.sample_names.size(); ++i)
    place.emplace(rows.sample_names[i], static_cast<int64_t>(i));
  std::vector<int64_t> order;
  for (const std::string& name : images.names) {
    const auto found = place.find(name);
    if (found == place.end())
      throw DataError(
          fmt::format("{} has patches, but {} does not describe it: the images may "
                      "have changed; run again",
                      name, feature));
    order.push_back(found->second);
  }
  return rows.points.gather(order);
}

}  // namespace

void add_image_vectors(const PatchRequest& request, Monitor& monitor, PatchImages& images) {
  if (request.files.has("image_vectors")) {
    const std::string& asked = request.options.image_feature;
    if (asked != kAuto && asked != kNone)
      throw InvalidArgument("give only one of --image-feature and --image-vectors");
    images.image_vectors = read_vectors(request.files["image_vectors"], images.num_images());
    return;
  }
  const std::string feature = wanted_feature(request, images);
  if (feature.empty()) return;
  ImageOptions options;
  options.feature = feature;
  options.max_side = is_feature_folder(request.path) ? "" : request.max_side;
  LoadOptions plain;
  plain.num_threads = request.load.num_threads;
  const InputRows rows = open_rows(request.path, options, plain, monitor);
  images.image_vectors = match_rows(rows.rows.take(), images, feature);
  images.image_feature = rows.images.feature;
}

}  // namespace milieu
