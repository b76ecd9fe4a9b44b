// SPDX-License-Identifier: Apache-2.0
// Vectors computed elsewhere in place of features: one row per image of a folder.
#pragma once

#include "milieu/base/export.h"
#include "milieu/input/image_rows.h"

namespace MILIEU_API milieu {

// The images of `path` that have a row in the file images.vectors. Rows are matched by the names in
// images.vector_names or in the file itself, else by order: row i is the i-th image by sorted name.
// Throws DataError that says what does not match; with names, images without a row are left out
// with a warning.
InputRows open_vector_rows(const std::string& path, const ImageOptions& images,
                           const LoadOptions& load);

}  // namespace milieu
