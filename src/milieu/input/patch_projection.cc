// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/patch_projection.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/data/dataset.h"
#include "milieu/input/training.h"

namespace milieu {

Matrix<float> fit_projection(FloatView patches, int num_components, uint64_t seed) {
  constexpr int64_t kEnough = 100000;
  std::vector<int64_t> rows = Random(seed).child(7).sample_without_replacement(
      patches.rows(), std::min(kEnough, patches.rows()));
  std::sort(rows.begin(), rows.end());
  Matrix<float> drawn(static_cast<int64_t>(rows.size()), patches.cols());
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy_n(patches.row(rows[i]), patches.cols(), drawn.row(static_cast<int64_t>(i)));
  const Pca pca = fit_pca(
      drawn, std::min<int>(num_components, static_cast<int>(std::min(drawn.rows(), drawn.cols()))));
  Matrix<float> projection(1 + pca.components.rows(), pca.components.cols());
  for (int64_t r = 0; r < projection.cols(); ++r) {
    projection(0, r) = static_cast<float>(pca.mean[r]);
    for (int64_t k = 0; k < pca.components.rows(); ++k)
      projection(k + 1, r) = static_cast<float>(pca.components(k, r));
  }
  return projection;
}

Pca pca_of(const Matrix<float>& projection) {
  Pca pca;
  pca.mean.assign(projection.row(0), projection.row(0) + projection.cols());
  pca.components = Matrix<double>(projection.rows() - 1, projection.cols());
  std::copy_n(projection.row(1), pca.components.size(), pca.components.data());
  return pca;
}

Matrix<float> unproject(const Matrix<float>& projection, DoubleView words) {
  const Pca pca = pca_of(projection);
  Matrix<float> descriptors(words.rows(), projection.cols());
  for (int64_t v = 0; v < words.rows(); ++v)
    for (int64_t r = 0; r < projection.cols(); ++r) {
      double value = pca.mean[r];
      for (int64_t k = 0; k < words.cols(); ++k) value += words(v, k) * pca.components(k, r);
      descriptors(v, r) = static_cast<float>(value);
    }
  return descriptors;
}

Matrix<float> projection_of_model(const DlgmmModel& model, const std::string& model_path) {
  Matrix<float> projection = model.projection;
  std::string source = model_path;
  if (projection.empty()) {
    source = folder_of_model(model_path) + "/projection.npy";
    if (!std::filesystem::exists(source)) return {};
    projection = Matrix<float>(load_dataset(source).points.view());
  }
  if (projection.rows() - 1 != model.words.cols())
    throw DataError(
        fmt::format("{} has a projection of {}, the model was fitted on {}: they must "
                    "match",
                    source, counted(projection.rows() - 1, "component"), model.words.cols()));
  return projection;
}

}  // namespace milieu
