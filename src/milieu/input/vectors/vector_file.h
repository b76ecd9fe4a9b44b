// SPDX-License-Identifier: Apache-2.0
// Vectors that another program computed: .npy, .npz or safetensors, perhaps with the names of what
// they describe.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/points.h"

namespace MILIEU_API milieu {

struct VectorFile {
  Points points;
  std::vector<std::string> names;  // one per row; empty: the file has none
};

// The only matrix of the file, or the one called vectors, embeddings, features, X or arr_0. Names
// come from a text array of a .npz called names, paths, files or filenames, or from the entry
// `names` of a safetensors file's metadata, one per line. Throws IoError or DataError; numbers that
// are not finite are named by row and column.
VectorFile read_vector_file(const std::string& path, int num_threads = 0);

}  // namespace milieu
