// SPDX-License-Identifier: Apache-2.0
// A file's bytes without a copy: a regular file is mapped into memory, so opening takes the same
// few microseconds for a kilobyte and for a terabyte; a pipe is read to its end instead.
//
// The size is taken once, at open. Another program that shortens the file while Milieu reads it
// removes pages that are in use, and the system then ends the process (SIGBUS): replace files
// that are in use by renaming, as Milieu's own writers do (atomic_file.h), never by writing over
// them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

class MappedFile {
 public:
  // Throws IoError that names the path and the reason: missing, forbidden, a folder.
  static std::shared_ptr<const MappedFile> open(const std::string& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  // False when the content had to be copied (a pipe) or there is none (an empty file).
  bool is_mapped() const { return is_mapped_; }

 private:
  MappedFile() = default;

  std::span<const std::byte> bytes_;
  std::vector<std::byte> copy_;
  bool is_mapped_ = false;
};

}  // namespace milieu
