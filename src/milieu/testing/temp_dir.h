// SPDX-License-Identifier: Apache-2.0
// A temporary folder for one test, removed with all it holds at the end.
#pragma once

#include <string>
#include <string_view>

namespace milieu {

class TempDir {
 public:
  TempDir();   // a fresh, empty folder under the system's temporary folder
  ~TempDir();  // removes it; never throws
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  // The path of `name` inside the folder; nothing is created.
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  // Writes `content` (any bytes) to `name` and returns its path.
  std::string write(std::string_view name, std::string_view content) const;

 private:
  std::string path_;
};

// The bytes of a file; throws IoError when it cannot be read.
std::string read_bytes(const std::string& path);

}  // namespace milieu
