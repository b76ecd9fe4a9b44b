// SPDX-License-Identifier: Apache-2.0
// Files appear whole or not at all: written beside their place, flushed to disk, then renamed.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// Collects writes in a temporary file beside `path` (temporary.h); commit() makes it `path`.
// Without commit() the temporary is removed and an older `path` stays as it was. Every failure
// (disk full, forbidden) is an IoError that names the path and the system's reason; write() and
// commit() after a failure, or after commit(), fail too.
//
// An older file's permissions are kept. A symbolic link stays a link: what it points to is
// replaced. A path that is not a regular file (a terminal, a pipe, /dev/null) is written directly.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();

 private:
  void check_open() const;
  [[noreturn]] void fail(const char* action);
  void discard();
  void keep_older_permissions();

  std::string path_;       // as the caller named it, for messages
  std::string target_;     // where the file goes: path_ with symbolic links followed
  std::string temporary_;  // empty: target_ is written directly, or the temporary is gone
  std::FILE* file_ = nullptr;
};

// The whole content at once.
void write_file_atomically(const std::string& path, std::string_view content);

}  // namespace milieu
