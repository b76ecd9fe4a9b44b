// SPDX-License-Identifier: Apache-2.0
// Image vectors on their principal components.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/dlgmm/dlgmm_steps.h"
#include "milieu/linalg/pca.h"
#include "milieu/neighbors/check_points.h"

namespace milieu::internal {

namespace {

constexpr int64_t kImagesPerFactor = 5;

}  // namespace

int64_t usable_factors(int num_factors, int64_t num_images, int64_t width) {
  const int64_t most = std::min(width, std::max<int64_t>(1, num_images / kImagesPerFactor));
  return std::min<int64_t>(num_factors, most);
}

Matrix<float> fit_image_projection(FloatView vectors, int num_factors) {
  const int64_t count = usable_factors(num_factors, vectors.rows(), vectors.cols());
  const Pca pca = fit_pca(vectors, static_cast<int>(count));
  double variance = 0;
  for (const double x : pca.explained_variance) variance += x / static_cast<double>(count);
  const double scale = variance > 0 ? 1 / std::sqrt(variance) : 1;
  Matrix<float> projection(1 + count, vectors.cols());
  for (int64_t c = 0; c < vectors.cols(); ++c) {
    projection(0, c) = static_cast<float>(pca.mean[c]);
    for (int64_t p = 0; p < count; ++p)
      projection(p + 1, c) = static_cast<float>(scale * pca.components(p, c));
  }
  return projection;
}

Matrix<double> project_images(const Matrix<float>& projection, FloatView vectors) {
  const int64_t count = projection.rows() - 1;
  Matrix<double> out(vectors.rows(), count);
  for (int64_t d = 0; d < vectors.rows(); ++d)
    for (int64_t p = 0; p < count; ++p) {
      double sum = 0;
      for (int64_t c = 0; c < vectors.cols(); ++c)
        sum += static_cast<double>(projection(p + 1, c)) *
               (static_cast<double>(vectors(d, c)) - static_cast<double>(projection(0, c)));
      out(d, p) = sum;
    }
  return out;
}

Matrix<double> project_vectors(const DlgmmModel& model, const DlgmmImages& images) {
  const FloatView vectors = images.vectors;
  if (!model.has_image_vectors()) {
    require(vectors.rows() == 0, "images have vectors, but the model was fitted without any");
    return {};
  }
  require(vectors.cols() == model.image_projection.cols() && vectors.rows() == images.num_images(),
          [&] {
            return fmt::format(
                "vectors is {} x {}, must be {} x {}: the model was fitted on images with vectors",
                vectors.rows(), vectors.cols(), images.num_images(), model.image_projection.cols());
          });
  check_points(vectors, "vectors");
  return project_images(model.image_projection, vectors);
}

}  // namespace milieu::internal
