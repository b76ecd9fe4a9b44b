// SPDX-License-Identifier: Apache-2.0
// numpy's .npz files: zip archives of .npy arrays, stored or deflated (savez, savez_compressed).
// Files are not trusted: every place and size is checked before memory is touched.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/format/raw_array.h"

namespace MILIEU_API milieu {

struct NpzMember {
  std::string name;  // without .npy
  RawArray array;    // owns its memory
};

// Starts with the magic bytes of a zip archive.
bool looks_like_npz(std::span<const std::byte> file);

// The arrays, in the order of the archive. Throws DataError, `source` names the file in it: damage,
// encryption, other compression, members that are not arrays.
std::vector<NpzMember> parse_npz(std::span<const std::byte> file, const std::string& source);

}  // namespace milieu
