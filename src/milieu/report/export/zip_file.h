// SPDX-License-Identifier: Apache-2.0
// A plain .zip archive, written file by file; nothing is compressed, because images are already.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "milieu/base/export.h"
#include "milieu/data/atomic_file.h"

namespace MILIEU_API milieu {

// Appears whole at commit(). The same files give the same bytes: no times are kept. Throws
// InvalidArgument for more than 65,535 files or 4 GB, which plain archives cannot hold.
class ZipFile {
 public:
  explicit ZipFile(const std::string& path) : file_(path) {}

  // `name` has slashes between folders and is UTF-8; each name once.
  void add(const std::string& name, std::span<const uint8_t> content);
  void commit();

 private:
  void write(const std::string& bytes);

  AtomicFile file_;
  std::string directory_;  // the list of all files, which ends the archive
  uint64_t offset_ = 0;
  uint32_t count_ = 0;
};

}  // namespace milieu
