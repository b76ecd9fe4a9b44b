// SPDX-License-Identifier: Apache-2.0
// Files that say something about every row of INPUT: classes, weights. They have one entry a row of
// the file as it stands; after --select only the entries of the kept rows remain.
#pragma once

#include <string>
#include <vector>

#include "milieu/data/dataset.h"

namespace milieu::cli {

// Classes of the kept rows of `data`. Throws DataError when `path` has another number of rows.
Labels load_row_labels(const std::string& path, const Dataset& data);

// Numbers of the kept rows of `data`: a file of one column. Throws DataError likewise.
std::vector<double> load_row_weights(const std::string& path, const Dataset& data);

// The run folder `path` may be written later: throws as RunFolder does, writes nothing.
void check_run_folder(const std::string& path, bool force);

struct ImageSize {
  int width = 0;  // 0: rows are not images
  int height = 0;
};

// From "16x16" (width x height); "" means none. Throws InvalidArgument for anything else.
ImageSize parse_image_size(const std::string& text);

}  // namespace milieu::cli
