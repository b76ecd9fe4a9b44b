// SPDX-License-Identifier: Apache-2.0
// Patches of pictures through the feature cache.
#pragma once

#include <string>

#include "patch_images.h"

namespace milieu::cli {

// `path` is a folder of pictures, or a folder of features made with --patches. `projection`: that
// of training; empty: principal components of these patches.
PatchImages patches_of_pictures(const std::string& path, const PatchOptions& options,
                                int num_threads, uint64_t seed, Monitor& monitor,
                                const Matrix<float>& projection);

// The local feature that pictures are described by under these options, in full and without the
// options of bags of words.
std::string patch_feature(const PatchOptions& options);

// A run folder keeps the projection of its patches under this name.
inline constexpr const char* kProjectionName = "projection.npy";

// The words of a model fitted on projected descriptors, as descriptors. Distances to them differ
// from those among projections by the same number for all words of a patch.
Matrix<float> unproject(const Matrix<float>& projection, DoubleView words);

}  // namespace milieu::cli
