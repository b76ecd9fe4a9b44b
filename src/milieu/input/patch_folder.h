// SPDX-License-Identifier: Apache-2.0
// Patches of an image folder through the feature cache.
#pragma once

#include <string>

#include "milieu/base/export.h"
#include "milieu/input/patch_images.h"

namespace MILIEU_API milieu {

// `request.path` is an image folder, or a feature folder made with --patches.
PatchImages patches_of_folder(const PatchRequest& request, Monitor& monitor);

// The local feature by which images are described under this request, in full and without the
// options of bags of words. Throws InvalidArgument when step and feature contradict each other.
std::string patch_feature(const PatchRequest& request);

}  // namespace milieu
