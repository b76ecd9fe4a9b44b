// SPDX-License-Identifier: Apache-2.0
// The keypoints of images as samples, each with its position and image: what cac clusters when
// INPUT is a folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/dataset.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/feature/descriptor/sparse_sift.h"

namespace MILIEU_API milieu {

// Keypoints as [Yuan08, Sec. 3.2] takes them: SIFT at scales 1 to 2; at most 2,000 per image.
SparseSiftOptions texton_keypoints();

// The keypoints of all images of a folder. An image without any is left out.
struct KeypointSet {
  Dataset data;                      // descriptors; names are PATH:X,Y, classes those of the images
  Matrix<float> positions;           // one row per keypoint
  std::vector<int> images;           // the image of each keypoint, an index into paths
  std::vector<std::string> paths;    // below root
  std::string root;                  // the image folder
  std::vector<std::string> skipped;  // images that cannot be read, with the reason
  int max_side = DecodeOptions{}.max_side;  // how images were scaled down; 0: not at all
};

// `options` may keep some of the images, by class or by number.
KeypointSet load_keypoints(const std::string& folder, const LoadOptions& options = {});

// The local descriptors that a feature folder has kept (`milieu features --patches`); nothing when
// it has none. Throws InvalidArgument when it has those of several features.
std::optional<KeypointSet> keypoints_of_features(const std::string& folder,
                                                 const LoadOptions& options = {});

}  // namespace milieu
