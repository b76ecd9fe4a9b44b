// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/predict.h"

#include <fmt/format.h>

#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/cac/cac.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/input/image_rows.h"
#include "milieu/input/patch_folder.h"
#include "milieu/input/patch_projection.h"
#include "milieu/input/training.h"
#include "milieu/run/predictor.h"
#include "milieu/store/json.h"
#include "milieu/store/run_folder.h"

namespace milieu {

namespace {

namespace fs = std::filesystem;

// How training turned images into patches.
PatchOptions read_patch_options(const ModelFile& file, const std::string& model_path) {
  DlgmmOptions method;
  PatchOptions patches;
  std::vector<Field> fields = fields_of(method);
  for (Field& field : fields_of(patches)) fields.push_back(std::move(field));
  if (!file.options_json.empty()) options_from_json(file.options_json, fields, model_path);
  return patches;
}

// New patches must be made as those of training: a folder must have, or gets, its feature.
PatchRequest request_like_training(const PredictRequest& request, const ModelFile& file,
                                   const DlgmmModel& model) {
  PatchRequest patches;
  patches.path = request.input;
  patches.files = request.files;
  patches.options = read_patch_options(file, request.model);
  patches.load = request.load;
  patches.seed = 0;
  patches.projection = projection_of_model(model, request.model);
  if (patches.projection.empty()) patches.options.num_components = 0;
  if (!model.has_image_vectors()) patches.options.image_feature = "none";
  std::error_code error;
  if (!fs::is_directory(request.input, error)) return patches;
  const Training training = read_training(request.model);
  patches.feature = training.feature;
  patches.max_side = training.max_side;
  if (!patches.feature.empty()) patches.options.step = 0;  // the feature has it
  if (training.offsets.empty()) patches.feature = patch_feature(patches);
  patches.options.step = 0;
  return patches;
}

void check_width(const DlgmmModel& model, const std::string& model_path,
                 const PatchImages& images) {
  if (images.root.empty() || !images.projection.empty() ||
      images.patches.cols() == model.words.cols())
    return;
  throw InvalidArgument(fmt::format(
      "the model was fitted on {} per patch, the patches of {} have {}: {} has no "
      "projection for them, or is a model of other patches",
      counted(model.words.cols(), "number"), images.source, images.patches.cols(), model_path));
}

// The vectors of new images are those of training: a feature of the folder, or a file.
void check_vectors(const DlgmmModel& model, const std::string& model_path,
                   const PatchImages& images) {
  if (!model.has_image_vectors() || images.image_vectors.rows() > 0) return;
  throw InvalidArgument(
      fmt::format("the model was fitted on images with vectors of {}, but {} comes without: give "
                  "--image-vectors FILE with one row per image, as in training ({})",
                  counted(model.image_projection.cols(), "number"), images.source, model_path));
}

Prediction predict_images(const PredictRequest& request, const ModelFile& file, Monitor& monitor) {
  const DlgmmModel model = from_model_file<DlgmmModel>(file, request.model);
  Prediction out;
  out.patches = load_patch_images(request_like_training(request, file, model), monitor);
  PatchImages& images = out.patches;
  images.set_bands(model.num_bands);
  if (!model.position_neighbors.empty()) images.set_neighbors(model.position_neighbors[0]);
  check_width(model, request.model, images);
  check_vectors(model, request.model, images);
  DlgmmPrediction prediction =
      infer_images(model, images.view(), request.load.num_threads, monitor);
  out.data = image_dataset(images);
  out.labels = std::move(prediction.labels);
  out.warnings = images.warnings;
  if (monitor.should_stop()) return out;
  if (request.wants_words)
    out.words = word_map(model, images.view(), prediction.alpha.view(), request.load.num_threads);
  out.probabilities = std::move(prediction.probabilities);
  return out;
}

// A model of keypoints does not say how to describe an image: cac predict finds the keypoints.
void refuse_keypoint_model(const PredictRequest& request, const ModelFile& file) {
  if (file.kind != CacModel::kKind || !request.images.feature.empty() ||
      !is_image_folder(request.input) || !read_training(request.model).feature.empty())
    return;
  throw InvalidArgument(
      fmt::format("{1} is an image folder, but {0} holds a cac model of keypoints or rows: label "
                  "images with `milieu cac predict {0} {1}`",
                  request.model, request.input));
}

// Numbers for a model of images may be that feature of other images, or anything else of its width.
std::string doubt_about_columns(const PredictRequest& request, const InputRows& input) {
  if (!input.images.feature.empty() || !request.images.vectors.empty()) return "";
  const std::string feature = read_training(request.model).feature;
  if (feature.empty()) return "";
  return fmt::format(
      "{} was trained on images described by {}: the columns of {} are taken for the same, which "
      "nothing in the file says",
      request.model, feature, request.input);
}

}  // namespace

Prediction predict_input(const PredictRequest& request, Monitor& monitor) {
  const std::string path = resolve_model_path(request.model);
  const ModelFile file = read_model_file(path);
  Prediction out;
  if (file.kind == DlgmmModel::kKind) {
    out = predict_images(request, file, monitor);
  } else {
    refuse_keypoint_model(request, file);
    InputRows input = open_rows_like_training(request.input, request.model, request.images,
                                              request.load, monitor);
    out.data = input.rows.take(request.load.select, request.load.rows);
    out.labels = predict_with(file, out.data.points.view(), request.load.num_threads, path);
    if (request.wants_probabilities)
      out.probabilities =
          probabilities_with(file, out.data.points.view(), request.load.num_threads, path);
    out.warnings = std::move(input.warnings);
    const std::string doubt = doubt_about_columns(request, input);
    if (!doubt.empty()) {
      monitor.on_note(doubt);
      out.warnings.push_back(doubt);
    }
  }
  out.kind = file.kind;
  return out;
}

}  // namespace milieu
