// SPDX-License-Identifier: Apache-2.0
// Files appear whole or not at all: written beside their place, flushed to disk, then renamed.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace milieu {

// Collects writes in `path`.tmp-PID-N; commit() makes it `path`. Without commit() the temporary is
// removed and an older `path` stays as it was. Every failure (disk full, forbidden) is an IoError
// that names the path and the system's reason.
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
  [[noreturn]] void fail(const char* action);

  std::string path_;
  std::string temporary_;
  std::FILE* file_ = nullptr;
};

// The whole content at once.
void write_file_atomically(const std::string& path, std::string_view content);

}  // namespace milieu
