// SPDX-License-Identifier: Apache-2.0
#include "image_predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "dlgmm_pictures.h"
#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/format/npy.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/store/json.h"
#include "patch_pictures.h"
#include "picture_input.h"

namespace milieu::cli {

namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& model_path) {
  std::error_code error;
  if (fs::is_directory(model_path, error)) return model_path;
  const std::string parent = fs::path(model_path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// The projection that the run folder keeps; empty when there is none.
Matrix<float> read_projection(const std::string& model_path) {
  const std::string path = folder_of(model_path) + "/" + kProjectionName;
  if (!fs::exists(path)) return {};
  return Matrix<float>(load_dataset(path).points.view());
}

// How training turned pictures into patches.
PatchOptions read_patch_options(const ModelFile& file, const std::string& model_path) {
  DlgmmOptions method;
  PatchOptions pictures;
  std::vector<Field> fields = fields_of(method);
  for (Field& field : fields_of(pictures)) fields.push_back(std::move(field));
  if (!file.options_json.empty()) options_from_json(file.options_json, fields, model_path);
  return pictures;
}

// The same for new input: a folder must have, or gets, the feature of training.
PatchOptions patches_of_training(const ModelFile& file, const std::string& model_path,
                                 const std::string& input, const Matrix<float>& projection) {
  PatchOptions pictures = read_patch_options(file, model_path);
  if (projection.empty()) pictures.num_components = 0;
  std::error_code error;
  if (!fs::is_directory(input, error)) return pictures;
  const Training training = read_training(model_path);
  pictures.feature = training.feature;
  pictures.max_side = training.max_side;
  if (training.offsets.empty()) pictures.feature = patch_feature(pictures);
  return pictures;
}

void check_projection(const DlgmmModel& model, const Matrix<float>& projection,
                      const std::string& model_path) {
  if (projection.empty() || projection.rows() - 1 == model.words.cols()) return;
  throw DataError(fmt::format(
      "{}/{} has {} components, the model was fitted on {}: they must match", folder_of(model_path),
      kProjectionName, projection.rows() - 1, model.words.cols()));
}

void write_word_map(const std::string& path, const DlgmmModel& model, const PatchImages& images,
                    const DlgmmPrediction& prediction, int num_threads) {
  const std::vector<int> words =
      word_map(model, images.view(), prediction.alpha.view(), num_threads);
  if (path.ends_with(".npy")) return write_npy(path, std::span<const int32_t>(words));
  write_file_atomically(path, draw_word_maps(images, words));
}

void check_images(const DlgmmModel& model, const std::string& model_path,
                  const ImagePredictOptions& options, const PatchImages& images) {
  if (!images.root.empty() && images.projection.empty() &&
      images.patches.cols() != model.words.cols())
    throw InvalidArgument(fmt::format(
        "the model was fitted on {} numbers a patch, the patches of {} have {}: {} is not "
        "beside {}, or the model is of other patches",
        model.words.cols(), images.source, images.patches.cols(), kProjectionName, model_path));
  const std::string& maps = options.word_map;
  if (maps.ends_with(".png") && (images.root.empty() || images.grid.rows() == 0))
    throw InvalidArgument(fmt::format(
        "word_map is {}, but {} has no pictures with a grid of patches to draw on: take a .npy",
        maps, images.source));
}

}  // namespace

ImagePrediction predict_images(const ModelFile& file, const std::string& model_path,
                               const std::string& input, const ImagePredictOptions& options,
                               const LoadOptions& load, Monitor& monitor) {
  const DlgmmModel model = from_model_file<DlgmmModel>(file, model_path);
  const Matrix<float> projection = read_projection(model_path);
  check_projection(model, projection, model_path);
  const PatchOptions pictures = patches_of_training(file, model_path, input, projection);
  PatchImages images =
      load_patch_images(input, options.files, pictures, load, 0, monitor, projection);
  images.set_bands(model.num_bands);
  check_images(model, model_path, options, images);
  const DlgmmPrediction prediction = infer_images(model, images.view(), load.num_threads, monitor);
  ImagePrediction out;
  out.data = image_dataset(images);
  out.labels = prediction.labels;
  if (monitor.should_stop()) return out;
  if (!options.probabilities.empty()) {
    write_npy(options.probabilities, prediction.probabilities.view());
    out.notes.push_back(fmt::format("wrote {}: probabilities of {} clusters", options.probabilities,
                                    model.num_clusters()));
  }
  if (!options.word_map.empty()) {
    write_word_map(options.word_map, model, images, prediction, load.num_threads);
    out.notes.push_back(options.word_map.ends_with(".png")
                            ? fmt::format("wrote {}: words of {} of {} images", options.word_map,
                                          drawn_word_maps(images).size(), images.num_images())
                            : fmt::format("wrote {}: words of {} patches", options.word_map,
                                          images.patches.rows()));
  }
  return out;
}

Matrix<float> codebook_of_images(const ModelFile& file, const std::string& model_path) {
  const DlgmmModel model = from_model_file<DlgmmModel>(file, model_path);
  const Matrix<float> projection = read_projection(model_path);
  check_projection(model, projection, model_path);
  if (!projection.empty()) return unproject(projection, model.words.view());
  Matrix<float> words(model.words.rows(), model.words.cols());
  for (int64_t i = 0; i < words.size(); ++i)
    words.data()[i] = static_cast<float>(model.words.data()[i]);
  return words;
}

}  // namespace milieu::cli
