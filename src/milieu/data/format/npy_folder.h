// SPDX-License-Identifier: Apache-2.0
// A folder of .npy shards: one array whose rows are cut into files, such as rows-000.npy,
// rows-001.npy, ... Files are numbered without a gap from 0 or 1 and have one type and width.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/format/raw_array.h"

namespace MILIEU_API milieu {

struct NpyFolder {
  std::string path;
  std::vector<RawArray> shards;  // mapped, in the order of their numbers
  int64_t num_rows = 0;          // of all
  int64_t num_cols = 0;
  std::string manifest;  // names, shapes, first and last row of every shard, as a hash
};

// A folder that holds .npy files, and nothing else that is not hidden.
bool is_npy_folder(const std::string& path);

// Reads headers only. Throws DataError for a number that is missing, for shards of another type or
// width and for text.
NpyFolder open_npy_folder(const std::string& path);

// All rows, of which [begin, end) are read; the others take no memory and must not be looked at.
Points load_rows(const NpyFolder& folder, int64_t begin, int64_t end, int num_threads);

}  // namespace milieu
