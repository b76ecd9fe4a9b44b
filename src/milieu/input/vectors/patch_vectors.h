// SPDX-License-Identifier: Apache-2.0
// What describes whole images beside their patches: a feature of the same images, through the
// cache, or a file.
#pragma once

#include "milieu/base/export.h"
#include "milieu/input/patch_images.h"

namespace MILIEU_API milieu {

// The vectors that the request asks for, into images.image_vectors; `images` are all of the input.
// Throws IoError, DataError or InvalidArgument that name the file or feature.
void add_image_vectors(const PatchRequest& request, Monitor& monitor, PatchImages& images);

}  // namespace milieu
