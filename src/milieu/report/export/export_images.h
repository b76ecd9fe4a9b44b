// SPDX-License-Identifier: Apache-2.0
// Images in folders, one per part, on the disk or in a .zip file.
#pragma once

#include <cstdint>
#include <string>

#include "milieu/base/export.h"
#include "milieu/report/export/export_table.h"

namespace MILIEU_API milieu {

enum class ImageExport { Copy, Link, Zip };

// Fills `target`, a folder or with Zip a file, which must not exist (or be an earlier export of the
// explorer's, with `replace`); it appears whole or not at all. Samples in no part are left out.
// Returns the number of images. Throws InvalidArgument where the samples are not image files,
// IoError when the disk is full.
int64_t export_images(const ExportTable& table, const std::string& target, ImageExport how,
                      bool replace);

}  // namespace milieu
