// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/codebook.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/dataset.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/input/patch_projection.h"
#include "milieu/store/model_file.h"
#include "milieu/store/run_folder.h"

namespace milieu {

namespace fs = std::filesystem;

namespace {

// The words of a dlgmm model as descriptors.
Matrix<float> codebook_of_dlgmm(const ModelFile& file, const std::string& path) {
  const DlgmmModel model = from_model_file<DlgmmModel>(file, path);
  const Matrix<float> projection = projection_of_model(model, path);
  if (!projection.empty()) return unproject(projection, model.words.view());
  Matrix<float> words(model.words.rows(), model.words.cols());
  for (int64_t i = 0; i < words.size(); ++i)
    words.data()[i] = static_cast<float>(model.words.data()[i]);
  return words;
}

Matrix<float> codebook_of_model(const std::string& path) {
  const ModelFile model = read_model_file(path);
  if (model.kind == DlgmmModel::kKind) return codebook_of_dlgmm(model, path);
  std::vector<std::string> names;
  for (const char* name : {"codebook", "words", "centers", "means"})
    for (const auto& [key, array] : model.arrays) {
      if (key != name || array.shape.size() != 2) continue;
      if (array.dtype != "F32" && array.dtype != "F64")
        throw DataError(
            fmt::format("{}: {} has entries of type {}, must be F32 or F64: give another "
                        "codebook",
                        path, key, array.dtype));
      Matrix<float> words(array.shape[0], array.shape[1]);
      for (int64_t i = 0; i < words.size(); ++i) {
        double wide = 0;
        if (array.dtype == "F64") std::memcpy(&wide, array.bytes.data() + 8 * i, 8);
        if (array.dtype == "F32") std::memcpy(words.data() + i, array.bytes.data() + 4 * i, 4);
        if (array.dtype == "F64") words.data()[i] = static_cast<float>(wide);
      }
      return words;
    }
  for (const auto& [key, array] : model.arrays) names.push_back(key);
  throw DataError(
      fmt::format("{} is a model of {} without words or centres (it has {}): give "
                  "another codebook",
                  path, model.kind, fmt::join(names, ", ")));
}

std::string codebook_in_folder(const std::string& path) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    if (entry.path().string().ends_with(".codebook.npy")) found.push_back(entry.path().string());
  if (found.size() != 1)
    throw InvalidArgument(
        fmt::format("{} has {}, must have one: give the file "
                    "NAME.codebook.npy",
                    path, counted(found.size(), "codebook")));
  return found[0];
}

}  // namespace

Matrix<float> read_codebook(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (is_feature_folder(path)) return read_codebook(codebook_in_folder(path));
    return codebook_of_model(resolve_model_path(path));
  }
  if (path.ends_with(".safetensors")) return codebook_of_model(path);
  return Matrix<float>(load_dataset(path).points.view());
}

}  // namespace milieu
