// SPDX-License-Identifier: Apache-2.0
// Pictures for `milieu cac`: keypoints with their descriptors and places, and overlays of the
// result as [Yuan08, Fig. 2].
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "method.h"
#include "milieu/cac/cac.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/feature/image.h"
#include "milieu/feature/descriptor/sparse_sift.h"

namespace milieu::cli {

// Keypoints as [Yuan08, Sec. 3.2] takes them: SIFT at scales 1 to 2; at most 2,000 a picture.
SparseSiftOptions texton_keypoints();

// The keypoints of all pictures of a folder. A picture without any is left out.
struct KeypointSet {
  Dataset data;                    // descriptors; names are PATH:X,Y, classes those of the pictures
  Matrix<float> positions;         // one row a keypoint
  std::vector<int> images;         // the picture of each keypoint, an index into paths
  std::vector<std::string> paths;  // below root
  std::string root;                // the folder of pictures
  std::vector<std::string> skipped;         // pictures that cannot be read, with the reason
  int max_side = DecodeOptions{}.max_side;  // how pictures were scaled down; 0: not at all
};
// `options` may keep some of the pictures, by class or by number.
KeypointSet load_keypoints(const std::string& folder, int num_threads,
                           const LoadOptions& options = {});

// The local descriptors that a folder of features has kept (`milieu features --patches`); nothing
// when it has none. Throws InvalidArgument when it has those of several features.
std::optional<KeypointSet> keypoints_of_features(const std::string& folder,
                                                 const LoadOptions& options = {});

// From top to bottom: words at the end, phrases at the start, after the first round and at the end.
// `rows` are the samples in this picture, `positions` theirs in the same order.
std::string draw_stages(const Image& picture, FloatView positions, const std::vector<int>& rows,
                        const CacResult& result);

}  // namespace milieu::cli
