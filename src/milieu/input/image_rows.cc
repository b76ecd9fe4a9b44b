// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/image_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/format/npy_folder.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/input/cache_folder.h"
#include "milieu/input/codebook.h"
#include "milieu/input/default_network.h"
#include "milieu/input/vectors/vector_rows.h"

namespace milieu {

namespace fs = std::filesystem;

namespace {

// One feature folder of the cache per image folder, feature and parameters: other parameters never
// replace it.
std::string place_of(const std::string& root, const std::string& spec, int max_side,
                     const std::string& vocabulary_folder) {
  std::error_code error;
  const std::string canonical = fs::canonical(root, error).string();
  Fingerprint print("image-features");
  print.text(canonical).text(spec).number(max_side);
  if (!vocabulary_folder.empty()) print.text(fs::canonical(vocabulary_folder, error).string());
  return cache_place(canonical, "", print);
}

// Vectors in place of features: only for images, and only one of both.
InputRows open_given_vectors(const std::string& path, const ImageOptions& images,
                             const LoadOptions& load) {
  if (!images.feature.empty() || !images.codebook.empty())
    throw InvalidArgument("give only one of --vectors and --feature (or --codebook)");
  if (!is_image_folder(path) && !path.ends_with(".txt"))
    throw InvalidArgument(fmt::format(
        "vectors is {}, but {} is not an image folder: give the vectors themselves as INPUT",
        images.vectors, path));
  return open_vector_rows(path, images, load);
}

// The features of the folder that the list names; its only one when there is no list.
std::vector<std::string> chosen_ids(const FeatureFolder& folder, const std::string& list) {
  if (list.empty()) {
    if (folder.features.size() == 1) return {folder.features[0].id};
    std::vector<std::string> ids;
    for (const auto& entry : folder.features) ids.push_back(entry.id);
    throw InvalidArgument(fmt::format("{} has the features {}: choose one with --feature",
                                      folder.path, fmt::join(ids, ", ")));
  }
  std::vector<std::string> ids;
  for (FeatureSpec& spec : parse_features(list)) {
    const FeatureFolder::Entry& entry = folder.find(spec.id);
    const std::string asked = to_text(spec);
    const bool is_plain = asked == spec.entry->name || asked == spec.entry->name + ":" + spec.file;
    if (!is_plain && asked != entry.spec)
      throw InvalidArgument(
          fmt::format("{} has {}, not {}: run milieu features again, or ask for {}", folder.path,
                      entry.spec, asked, spec.id));
    ids.push_back(spec.id);
  }
  return ids;
}

// Feature after feature, side by side.
struct FeatureTable {
  Points points;
  ImageOrigin images;

  void add(const FeatureFolder& folder, const std::string& id) {
    const int64_t first = points.cols();
    points = join_columns(points, folder.points(id));
    images.columns.push_back({id, first, points.cols() - first});
    for (const std::string& name : folder.vocabulary(id))
      images.vocabulary.push_back({name, folder.path + "/" + name});
    images.feature += (images.feature.empty() ? "" : ",") + folder.find(id).spec;
  }
};

InputRows open_feature_rows(const std::string& path, const ImageOptions& images,
                            const LoadOptions& load) {
  const FeatureFolder folder = open_feature_folder(path);
  FeatureTable table;
  table.images.root = folder.found_source();
  if (folder.max_side != DecodeOptions().max_side)
    table.images.max_side = std::to_string(folder.max_side);
  for (const std::string& id : chosen_ids(folder, images.feature)) table.add(folder, id);
  return {RowSource::of(std::move(table.points), folder.labels, folder.images, path, load),
          std::move(table.images),
          {}};
}

// The features of an image folder, each in a feature folder of the cache.
class CachedFeatures {
 public:
  CachedFeatures(const std::string& path, const ImageOptions& images, int num_threads,
                 Monitor& monitor)
      : path_(path),
        vocabulary_folder_(images.vocabulary_folder),
        images_(list_images(path)),
        monitor_(monitor) {
    extract_.decode.max_side = parse_max_side(images.max_side);
    extract_.num_threads = num_threads;
    extract_.vocabulary_folder = images.vocabulary_folder;
    extract_.read_codebook = read_codebook;
    extract_.waits = true;  // another command on the same images may be filling the cache
  }

  FeatureFolder compute(FeatureSpec spec) {
    const std::string place =
        place_of(path_, to_text(spec), extract_.decode.max_side, vocabulary_folder_);
    std::vector<FeatureSpec> one;
    one.push_back(std::move(spec));
    const ExtractResult result =
        extract_features(images_, std::move(one), place, extract_, monitor_);
    if (warnings_.empty()) {
      const std::string skipped = report_skipped(images_, result, monitor_);
      if (!skipped.empty()) warnings_.push_back(skipped);
    }
    warnings_.insert(warnings_.end(), result.warnings.begin(), result.warnings.end());
    return open_feature_folder(place);
  }

  const std::string& root() const { return images_.root; }
  std::vector<std::string> take_warnings() { return std::move(warnings_); }

 private:
  std::string path_, vocabulary_folder_;
  ImageFolder images_;
  ExtractOptions extract_;
  Monitor& monitor_;
  std::vector<std::string> warnings_;
};

InputRows open_image_rows(const std::string& path, const ImageOptions& images,
                          const LoadOptions& load, Monitor& monitor) {
  std::vector<FeatureSpec> specs = parse_feature_list(
      images.feature.empty() ? default_feature() : images.feature, images.codebook);
  CachedFeatures cached(path, images, load.num_threads, monitor);
  monitor.on_stage(RunStage::Describing, path);
  FeatureTable table;
  table.images.root = cached.root();
  FeatureFolder folder;
  for (FeatureSpec& spec : specs) {
    const std::string id = spec.id;
    folder = cached.compute(std::move(spec));
    table.add(folder, id);
  }
  monitor.on_stage(RunStage::Reading, path);
  return {RowSource::of(std::move(table.points), folder.labels, folder.images, path, load),
          std::move(table.images), cached.take_warnings()};
}

}  // namespace

ImageFolder list_images(const std::string& path) {
  std::error_code error;
  return path.ends_with(".txt") && !fs::is_directory(path, error) ? list_images_in(path)
                                                                  : list_image_folder(path);
}

std::vector<FeatureSpec> parse_feature_list(const std::string& list, const std::string& codebook) {
  std::vector<FeatureSpec> specs = parse_features(list);
  bool is_used = codebook.empty();
  for (FeatureSpec& spec : specs) {
    if (!spec.is_local() || !spec.words.codebook.empty()) continue;
    spec.words.codebook = codebook;
    is_used = true;
  }
  if (!is_used)
    throw InvalidArgument(
        fmt::format("codebook is {}, but no feature of '{}' is made of words", codebook, list));
  return specs;
}

std::string counting_features(const std::string& list) {
  if (list.find(":norm=") != std::string::npos) return list;
  std::vector<std::string> texts;
  for (FeatureSpec& spec : parse_features(list)) {
    if (spec.is_local()) spec.words.norm = WordNorm::None;
    texts.push_back(to_text(spec));
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

int parse_max_side(const std::string& text) {
  DecodeOptions decode;
  for (const Field& field : fields_of(decode))
    if (field.name == "max_side" && !text.empty()) {
      field.set_from_text(text);
      field.validate();
    }
  return decode.max_side;
}

std::string skipped_text(const ImageFolder& images, const ExtractResult& result) {
  if (result.skipped.empty()) return "";
  return fmt::format("{} of {} images could not be read and {} skipped, the first: {}",
                     result.skipped.size(), images.paths.size(),
                     by_number(std::ssize(result.skipped), "was", "were"),
                     result.skipped.front().reason);
}

std::string report_skipped(const ImageFolder& images, const ExtractResult& result,
                           Monitor& monitor) {
  for (const ImageFolder::Skipped& skipped : result.skipped)
    monitor.on_note(fmt::format("skipped {}: {}", skipped.path, skipped.reason));
  return skipped_text(images, result);
}

bool is_feature_input(const std::string& path) {
  std::error_code error;
  return is_feature_folder(path) || fs::is_directory(path + "/.milieu", error);
}

bool is_image_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error) && !is_feature_input(path) && !is_npy_folder(path);
}

InputRows open_rows(const std::string& path, const ImageOptions& images, const LoadOptions& load,
                    Monitor& monitor) {
  if (!images.vectors.empty()) return open_given_vectors(path, images, load);
  if (!images.vector_names.empty())
    throw InvalidArgument(fmt::format(
        "vector_names is {}, but there are no --vectors FILE that it names", images.vector_names));
  if (is_feature_input(path)) return open_feature_rows(path, images, load);
  if (is_image_folder(path) || (!images.feature.empty() && path.ends_with(".txt")))
    return open_image_rows(path, images, load, monitor);
  if (!images.feature.empty())
    throw InvalidArgument(
        fmt::format("feature is {}, but {} is not an image folder", images.feature, path));
  return {RowSource::open(path, load), {}, {}};
}

}  // namespace milieu
