// SPDX-License-Identifier: Apache-2.0
// The idx files of MNIST and its relatives, plain or gzip'd: two zero bytes, a type byte (0x08
// uint8, 0x09 int8, 0x0B int16, 0x0C int32, 0x0D float32, 0x0E float64), the number of extents, the
// extents as 32-bit big-endian numbers, then the elements, big-endian. n images of h x w pixels
// become n rows of h * w numbers.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "milieu/base/export.h"
#include "milieu/data/format/raw_array.h"
#include "milieu/data/mapped_file.h"

namespace MILIEU_API milieu {

// Starts like a plain idx file.
bool looks_like_idx(std::span<const std::byte> file);

// Parses a whole file in memory. A plain file's data point into `file`; a gzip'd one is inflated
// into memory that the array owns, exactly as much as its header promises. Throws DataError.
RawArray parse_idx(std::span<const std::byte> file, const std::string& source);

// The same of a file on disk, kept open by the array.
RawArray open_idx(const std::string& path);
RawArray open_idx(std::shared_ptr<const MappedFile> file, const std::string& source);

}  // namespace milieu
