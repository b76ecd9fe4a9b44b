// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/training.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/text_file.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/input/cache_folder.h"
#include "milieu/store/run_folder.h"

namespace milieu {

namespace {

namespace fs = std::filesystem;

// Names inside a model file.
constexpr const char* kFeature = "input.feature";
constexpr const char* kMaxSide = "input.max_side";
constexpr std::string_view kFilePrefix = "input.file.";

bool has_codebook(const std::string& folder, const std::string& id) {
  return !folder.empty() && fs::exists(folder + "/" + id + ".codebook.npy");
}

// What the run folder of a model of an earlier version says.
void read_run_folder(Training& training) {
  const std::optional<std::string> options = try_read_text_file(training.folder + "/options.json");
  if (!options) return;
  const auto json = nlohmann::json::parse(*options, nullptr, false);
  if (!json.is_object() || !json.contains("input") || !json["input"].is_object()) return;
  const auto text = [&](const char* name) -> std::string {
    const auto& input = json["input"];
    return input.contains(name) && input[name].is_string() ? input[name].get<std::string>() : "";
  };
  training.feature = text("feature");
  training.max_side = text("max_side");
  training.offsets = text("offsets");
}

// Puts files that a model carries into the cache.
std::string unpack_vocabulary(const ModelFile& model) {
  std::vector<std::pair<std::string, std::string_view>> files;
  for (const auto& [name, array] : model.arrays)
    if (name.starts_with(kFilePrefix))
      files.emplace_back(
          name.substr(kFilePrefix.size()),
          std::string_view(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()));
  if (files.empty()) return "";
  Fingerprint print("training-words");
  for (const auto& [name, content] : files) print.text(name).text(content);
  const std::string folder = fmt::format("{}/words-{}", cache_folder(), print.hex());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw IoError(fmt::format("{}: {}", folder, error.message()));
  for (const auto& [name, content] : files) {
    if (name.find('/') != std::string::npos)
      throw DataError(fmt::format("a model holds a file named '{}', must be a plain name", name));
    if (const std::string place = folder + "/" + name; try_read_text_file(place) != content)
      write_file_atomically(place, content);
  }
  return folder;
}

// Word histograms mean something only with the codebook of training.
void check_codebooks(const std::vector<FeatureSpec>& specs, const Training& training,
                     const std::string& codebook) {
  for (const FeatureSpec& spec : specs)
    if (spec.is_local() && spec.words.codebook.empty() && codebook.empty() &&
        !has_codebook(training.vocabulary_folder, spec.id))
      throw InvalidArgument(fmt::format(
          "the model was trained with words of {}, but {}/{}.codebook.npy is missing: give the "
          "run folder, or the codebook of training with --codebook",
          spec.id, training.folder, spec.id));
}

// A feature folder must have the words of training.
void check_same_words(const InputRows& input, const Training& training) {
  for (const VocabularyFile& file : input.images.vocabulary) {
    const std::string ours = training.vocabulary_folder + "/" + file.name;
    if (fs::exists(ours) && MappedFile::open(ours)->text() == MappedFile::open(file.path)->text())
      continue;
    throw InvalidArgument(fmt::format(
        "{} is not the {} of training: give the image folder instead, or make the features "
        "with --codebook {}",
        file.path, file.name, ours));
  }
}

// Another list of features has other columns, even where their number is the same. A feature folder
// (`by_name`) knows them by name only; its words are compared later.
void check_same_features(const std::string& given, const Training& training,
                         const std::string& model, bool by_name) {
  if (given.empty() || training.feature.empty()) return;
  const auto full = [&](const std::string& list) {
    std::string text;
    for (FeatureSpec& spec : parse_features(list))
      text += (by_name ? spec.id : to_text(spec)) + ",";
    return text;
  };
  if (full(given) != full(training.feature))
    throw InvalidArgument(
        fmt::format("feature is {}, but the model was trained on {} ({}): leave "
                    "--feature out",
                    given, training.feature, model));
}

// Images described as those of training, with its words; `source` is what the user called it.
InputRows open_described(const std::string& path, const Training& training,
                         const std::string& source, ImageOptions images, const LoadOptions& load,
                         Monitor& monitor) {
  check_same_features(images.feature, training, source, is_feature_folder(path));
  if (images.feature.empty()) images.feature = training.feature;
  images.max_side = training.max_side;
  if (is_feature_folder(path)) {
    InputRows input = open_rows(path, images, load, monitor);
    check_same_words(input, training);
    return input;
  }
  if (images.feature.empty())
    throw InvalidArgument(fmt::format(
        "{} is an image folder, but {} does not say what the model was trained on: give the "
        "run folder, the feature with --feature, or the vectors with --vectors",
        path, source));
  std::vector<FeatureSpec> specs = parse_features(images.feature);
  check_codebooks(specs, training, images.codebook);
  bool has_words = false;
  for (const FeatureSpec& spec : specs)
    has_words = has_words || has_codebook(training.vocabulary_folder, spec.id);
  if (has_words && images.codebook.empty()) images.vocabulary_folder = training.vocabulary_folder;
  return open_rows(path, images, load, monitor);
}

}  // namespace

std::string folder_of_model(const std::string& model) {
  std::error_code error;
  if (fs::is_directory(model, error)) return model;
  const std::string parent = fs::path(model).parent_path().string();
  return parent.empty() ? "." : parent;
}

Training read_training(const std::string& model) {
  Training training;
  training.folder = folder_of_model(model);
  read_run_folder(training);
  const ModelFile file = read_model_file(resolve_model_path(model));
  for (const auto& [name, text] : file.scalars) {
    if (name == kFeature) training.feature = text;
    if (name == kMaxSide) training.max_side = text;
  }
  training.vocabulary_folder = unpack_vocabulary(file);
  if (training.vocabulary_folder.empty() && !training.feature.empty())
    training.vocabulary_folder = training.folder;
  return training;
}

void add_training(const ImageOrigin& images, ModelFile& model) {
  if (images.feature.empty()) return;
  model.scalars.emplace_back(kFeature, images.feature);
  model.scalars.emplace_back(kMaxSide, images.max_side);
  for (const VocabularyFile& file : images.vocabulary) {
    const auto mapped = MappedFile::open(file.path);
    const auto* bytes = reinterpret_cast<const std::byte*>(mapped->text().data());
    const auto size = static_cast<int64_t>(mapped->text().size());
    model.arrays.emplace_back(std::string(kFilePrefix) + file.name,
                              StoredArray{"U8", {size}, {bytes, bytes + size}});
  }
}

InputRows open_rows_like_training(const std::string& path, const std::string& model,
                                  ImageOptions images, const LoadOptions& load, Monitor& monitor) {
  std::error_code error;
  if (!fs::is_directory(path, error) || !images.vectors.empty())
    return open_rows(path, images, load, monitor);
  return open_described(path, read_training(model), model, std::move(images), load, monitor);
}

InputRows open_rows_like(const std::string& path, const ImageOrigin& origin,
                         const std::string& source, const ImageOptions& images,
                         const LoadOptions& load, Monitor& monitor) {
  std::error_code error;
  const bool is_images =
      fs::is_directory(path, error) || (path.ends_with(".txt") && !origin.feature.empty());
  if (!is_images || !images.vectors.empty()) return open_rows(path, images, load, monitor);
  Training training;
  training.folder = source;
  training.feature = origin.feature;
  training.max_side = origin.max_side;
  if (!origin.vocabulary.empty()) training.vocabulary_folder = share_vocabulary(origin.vocabulary);
  return open_described(path, training, source, images, load, monitor);
}

std::string share_vocabulary(const std::vector<VocabularyFile>& files) {
  ModelFile carrier;
  add_training({.root = {}, .feature = "words", .max_side = {}, .columns = {}, .vocabulary = files},
               carrier);
  return unpack_vocabulary(carrier);
}

}  // namespace milieu
