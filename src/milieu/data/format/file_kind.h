// SPDX-License-Identifier: Apache-2.0
// Which reader a file belongs to.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

enum class FileKind {
  Npy,   // npy.h
  Idx,   // idx.h, plain or gzip'd
  Text,  // csv.h, and text files of labels and groups
};

// Decided by the first bytes; the extensions .npy, .csv, .tsv, .txt override them, so that a
// damaged file is called damaged rather than something else. Files of kinds that we know but do not
// read
// (.npz, .mat, .parquet, images, gzip'd text, ...) are a DataError with a hint.
FileKind file_kind(const std::string& path, std::span<const std::byte> bytes);

}  // namespace milieu
