// SPDX-License-Identifier: Apache-2.0
#include "milieu/testing/temp_dir.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "milieu/base/error.h"

namespace milieu {

TempDir::TempDir() {
  path_ = (std::filesystem::temp_directory_path() / "milieu-test-XXXXXX").string();
  if (!mkdtemp(path_.data())) throw IoError(path_ + " cannot be created: is the disk full?");
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::write(std::string_view name, std::string_view content) const {
  const std::string target = file(name);
  std::filesystem::create_directories(std::filesystem::path(target).parent_path());
  std::ofstream out(target, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) throw IoError(target + " cannot be written");
  return target;
}

std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw IoError(path + " cannot be opened");
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace milieu
