// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/hog.h"

extern "C" {
#include <vl/hog.h>
}

#include <algorithm>
#include <memory>
#include <vector>

namespace milieu {
namespace {

constexpr int kDirections = 9;  // unsigned ones

struct DeleteHog {
  void operator()(VlHog* hog) const { vl_hog_delete(hog); }
};

// Numbers of each cell: dimension planes of rows x cols.
struct Cells {
  int rows = 0, cols = 0, dimension = 0;
  std::vector<float> planes;
  float operator()(int y, int x, int t) const {
    return planes[(static_cast<size_t>(t) * rows + y) * cols + x];
  }
};

Cells cells_of(const Matrix<float>& gray, int cell_size) {
  Cells cells;
  cells.rows = static_cast<int>(gray.rows()) / cell_size;
  cells.cols = static_cast<int>(gray.cols()) / cell_size;
  const std::unique_ptr<VlHog, DeleteHog> hog(
      vl_hog_new(VlHogVariantUoctti, kDirections, VL_FALSE));
  cells.dimension = static_cast<int>(vl_hog_get_dimension(hog.get()));
  if (cells.rows < 2 || cells.cols < 2) return cells;
  const int width = cells.cols * cell_size;
  Matrix<float> whole(cells.rows * cell_size, width);
  for (int64_t y = 0; y < whole.rows(); ++y)
    for (int x = 0; x < width; ++x) whole(y, x) = gray(y, x) / 255.0f;
  vl_hog_put_image(hog.get(), whole.data(), static_cast<vl_size>(width),
                   static_cast<vl_size>(whole.rows()), 1, static_cast<vl_size>(cell_size));
  cells.planes.resize(static_cast<size_t>(cells.rows) * cells.cols * cells.dimension);
  vl_hog_extract(hog.get(), cells.planes.data());
  return cells;
}

}  // namespace

LocalDescriptors hog(const Image& image, const HogOptions& options) {
  validate_options(options);
  const Cells cells = cells_of(image.gray(), options.cell_size);
  LocalDescriptors out;
  if (!cells.planes.empty()) {
    out.grid_rows = cells.rows - 1;
    out.grid_cols = cells.cols - 1;
  }
  const int64_t count = static_cast<int64_t>(out.grid_rows) * out.grid_cols;
  out.descriptors = Matrix<float>(count, 4 * cells.dimension);
  out.frames = Matrix<float>(count, 4);
  for (int64_t i = 0; i < count; ++i) {
    const int y = static_cast<int>(i / out.grid_cols);
    const int x = static_cast<int>(i % out.grid_cols);
    float* descriptor = out.descriptors.row(i);
    for (int corner = 0; corner < 4; ++corner)
      for (int t = 0; t < cells.dimension; ++t)
        *descriptor++ = cells(y + corner / 2, x + corner % 2, t);
    const float side = static_cast<float>(options.cell_size);
    const float frame[] = {static_cast<float>(x + 1) * side - 0.5f,
                           static_cast<float>(y + 1) * side - 0.5f, 2 * side, 0};
    std::copy_n(frame, 4, out.frames.row(i));
  }
  return out;
}

}  // namespace milieu
