// SPDX-License-Identifier: Apache-2.0
// Vectors computed elsewhere (CLIP, DINO, ...) as a feature: rows of a .npy file, joined to images
// by file name. The names are in a text file, one per line in the order of the rows: paths relative
// to the image folder, or bare file names where those are unique.
#pragma once

#include <memory>
#include <string>

#include "milieu/base/export.h"
#include "milieu/feature/catalog.h"

namespace MILIEU_API milieu {

// Option `names`: the list of names; by default the file beside the .npy that ends in .txt.
std::unique_ptr<Feature> make_npy_rows(const std::string& path);

}  // namespace milieu
