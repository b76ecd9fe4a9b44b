// SPDX-License-Identifier: Apache-2.0
// Patches of pictures through the feature cache.
#pragma once

#include <string>

#include "patch_images.h"

namespace milieu::cli {

// `path` is a folder of pictures, or a folder of features made with --patches.
PatchImages patches_of_pictures(const std::string& path, const PatchOptions& options,
                                int num_threads, uint64_t seed);

}  // namespace milieu::cli
