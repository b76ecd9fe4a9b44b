// SPDX-License-Identifier: Apache-2.0
// Several descriptions of the same samples, one file each.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/dataset.h"
#include "milieu/input/image_rows.h"

namespace MILIEU_API milieu {

// `text` cut at every `separator`; always one part more than there are separators.
std::vector<std::string> split_text(const std::string& text, char separator);

// True for "A.npy,B.npy" where no such file exists.
bool is_list_of_files(const std::string& path);
// The files of such a list; any other path is a list of one.
std::vector<std::string> files_of(const std::string& paths);

struct Views {
  Dataset data;                      // side by side; labels and names are those of the first file
  std::vector<Points> points;        // each view by itself
  std::vector<ColumnRange> columns;  // of `data`, named after the files
};

// Views of the same rows; `load` (selection included) applies to all, a label column to the first.
// Throws DataError when their numbers of rows differ.
Views load_views(const std::vector<std::string>& paths, const LoadOptions& load = {});

}  // namespace milieu
