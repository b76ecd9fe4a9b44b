// SPDX-License-Identifier: Apache-2.0
// Features of new pictures for a model: the same parameters and the same words as in training.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "milieu/base/error.h"
#include "milieu/data/mapped_file.h"
#include "milieu/feature/cache/feature_store.h"
#include "picture_input.h"

namespace milieu::cli {

namespace {

namespace fs = std::filesystem;

bool has_codebook(const std::string& folder, const std::string& id) {
  return fs::exists(folder + "/" + id + ".codebook.npy");
}

// Word histograms mean something only with the codebook of training.
void check_codebooks(const std::vector<FeatureSpec>& specs, const Training& training,
                     const std::string& codebook) {
  for (const FeatureSpec& spec : specs)
    if (spec.is_local() && spec.words.codebook.empty() && codebook.empty() &&
        !has_codebook(training.folder, spec.id))
      throw InvalidArgument(fmt::format(
          "the model was trained with words of {}, but {}/{}.codebook.npy is not there: name the "
          "run folder, or the codebook of training by --codebook",
          spec.id, training.folder, spec.id));
}

// A folder of features must have the words of training.
void check_same_words(const PictureInput& input, const Training& training) {
  for (const auto& [name, path] : input.vocabulary) {
    const std::string ours = training.folder + "/" + name;
    if (fs::exists(ours) && MappedFile::open(ours)->text() == MappedFile::open(path)->text())
      continue;
    throw InvalidArgument(fmt::format(
        "{} is not the {} of training: predict from the folder of pictures, or make the features "
        "with --codebook {}",
        path, name, training.folder + "/" + name));
  }
}

// Another list of features has other columns, even where their number is the same. In a folder of
// features (`by_name`) they are called by their names alone; its words are looked at later.
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
        fmt::format("feature is {}, but the model was learned on {} ({}): leave "
                    "--feature out",
                    given, training.feature, model));
}

}  // namespace

Training read_training(const std::string& model) {
  Training training;
  std::error_code error;
  training.folder = fs::is_directory(model, error) ? model : fs::path(model).parent_path().string();
  if (training.folder.empty()) training.folder = ".";
  const std::string path = training.folder + "/options.json";
  if (!fs::exists(path, error)) return training;
  const auto json = nlohmann::json::parse(MappedFile::open(path)->text(), nullptr, false);
  if (!json.is_object() || !json.contains("input") || !json["input"].is_object()) return training;
  const auto text = [&](const char* name) -> std::string {
    const auto& input = json["input"];
    return input.contains(name) && input[name].is_string() ? input[name].get<std::string>() : "";
  };
  training.feature = text("feature");
  training.max_side = text("max_side");
  training.offsets = text("offsets");
  return training;
}

PictureInput load_input_like_training(const std::string& path, const std::string& model,
                                      PictureOptions pictures, const LoadOptions& options,
                                      ProgressMonitor& monitor, Session& session) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return load_input(path, pictures, options, monitor, session);
  const Training training = read_training(model);
  check_same_features(pictures.feature, training, model, is_feature_folder(path));
  if (pictures.feature.empty()) pictures.feature = training.feature;
  pictures.max_side = training.max_side;
  if (is_feature_folder(path)) {
    PictureInput input = load_input(path, pictures, options, monitor, session);
    check_same_words(input, training);
    return input;
  }
  if (pictures.feature.empty())
    throw InvalidArgument(fmt::format(
        "{} is a folder of pictures, but {} does not tell what the model was trained on: name the "
        "run folder, or the feature by --feature",
        path, model));
  std::vector<FeatureSpec> specs = parse_features(pictures.feature);
  check_codebooks(specs, training, pictures.codebook);
  bool has_words = false;
  for (const FeatureSpec& spec : specs)
    has_words = has_words || has_codebook(training.folder, spec.id);
  if (has_words && pictures.codebook.empty()) pictures.vocabulary_folder = training.folder;
  return load_input(path, pictures, options, monitor, session);
}

}  // namespace milieu::cli
