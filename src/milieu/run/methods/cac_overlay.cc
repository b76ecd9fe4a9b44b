// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/overlay.h"
#include "milieu/run/methods/cac.h"

namespace milieu {

namespace {

RasterImage to_raster(const Image& image) {
  RasterImage raster(image.width, image.height, 3);
  raster.pixels = image.rgb;
  return raster;
}

std::vector<int> pick(const std::vector<int>& labels, const std::vector<int>& rows) {
  std::vector<int> picked;
  for (const int row : rows) picked.push_back(labels[static_cast<size_t>(row)]);
  return picked;
}

}  // namespace

std::string draw_stages(const Image& image, FloatView positions, const std::vector<int>& rows,
                        const CacResult& result) {
  const RasterImage raster = to_raster(image);
  std::vector<RasterImage> stages = {draw_overlay(raster, positions, pick(result.words, rows))};
  for (const CacSnapshot& snapshot : result.snapshots)
    stages.push_back(draw_overlay(raster, positions, pick(snapshot.phrases, rows)));
  return encode_png(stack_pictures(stages));
}

}  // namespace milieu
