// SPDX-License-Identifier: Apache-2.0
#include "cac_pictures.h"

#include <fmt/format.h>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/data/image_folder.h"
#include "milieu/feature/decode.h"
#include "milieu/render/overlay.h"

namespace milieu::cli {

namespace {

RasterImage to_raster(const Image& image) {
  RasterImage raster(image.width, image.height, 3);
  raster.pixels = image.rgb;
  return raster;
}

std::vector<int> pick(const std::vector<int>& labels, const std::vector<int>& rows) {
  std::vector<int> picked;
  for (const int row : rows) picked.push_back(labels[row]);
  return picked;
}

}  // namespace

SparseSiftOptions texton_keypoints() {
  SparseSiftOptions options;
  options.min_scale = 1;
  options.max_scale = 2;
  options.max_num_keypoints = 2000;
  options.contrast_threshold = 0.01;  // textures have little contrast
  return options;
}

KeypointSet load_keypoints(const std::string& folder, int num_threads) {
  const ImageFolder pictures = list_image_folder(folder);
  const auto count = static_cast<int64_t>(pictures.paths.size());
  std::vector<LocalDescriptors> found(pictures.paths.size());
  parallel_for(count, 1, num_threads, [&](const Block& block) {
    found[block.begin] =
        sparse_sift(load_image(folder + "/" + pictures.paths[block.begin]), texton_keypoints());
  });
  KeypointSet set;
  set.paths = pictures.paths;
  int64_t n = 0, d = 0;
  for (const LocalDescriptors& local : found) {
    n += local.descriptors.rows();
    d = std::max(d, local.descriptors.cols());
  }
  if (n == 0) throw DataError(fmt::format("{} has no picture with a keypoint", folder));
  Matrix<float> points(n, d);
  set.positions = Matrix<float>(n, 2);
  set.data.labels.names = pictures.labels.names;
  int64_t row = 0;
  for (size_t picture = 0; picture < found.size(); ++picture)
    for (int64_t i = 0; i < found[picture].descriptors.rows(); ++i, ++row) {
      std::copy_n(found[picture].descriptors.row(i), d, points.row(row));
      std::copy_n(found[picture].frames.row(i), 2, set.positions.row(row));
      set.images.push_back(static_cast<int>(picture));
      set.data.sample_names.push_back(fmt::format("{}:{:.1f},{:.1f}", pictures.paths[picture],
                                                  set.positions(row, 0), set.positions(row, 1)));
      if (!pictures.labels.empty())
        set.data.labels.indices.push_back(pictures.labels.indices[picture]);
    }
  set.data.points = Points(std::move(points));
  set.data.sample_shape = {d};
  set.data.source = folder;
  set.data.total_rows = n;
  return set;
}

std::string draw_stages(const Image& picture, FloatView positions, const std::vector<int>& rows,
                        const CacResult& result) {
  const RasterImage raster = to_raster(picture);
  std::vector<RasterImage> stages = {draw_overlay(raster, positions, pick(result.words, rows))};
  for (const CacSnapshot& snapshot : result.snapshots)
    stages.push_back(draw_overlay(raster, positions, pick(snapshot.phrases, rows)));
  return encode_png(stack_pictures(stages));
}

}  // namespace milieu::cli
