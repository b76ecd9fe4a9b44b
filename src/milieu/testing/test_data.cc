// SPDX-License-Identifier: Apache-2.0
#include "milieu/testing/test_data.h"

#include <cstdlib>
#include <filesystem>

namespace milieu {

namespace {

std::optional<std::filesystem::path> data_root() {
  if (const char* given = std::getenv("MILIEU_DATA"); given && *given) return given;
  if (const char* source = std::getenv("MILIEU_SOURCE_DIR"); source && *source)
    return std::filesystem::path(source) / ".." / "shared" / "data";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_data(std::string_view name) {
  const auto root = data_root();
  if (!root) return std::nullopt;
  std::error_code ignored;
  const std::filesystem::path folder = (*root / name).lexically_normal();
  if (!std::filesystem::is_directory(folder, ignored)) return std::nullopt;
  return folder.string();
}

std::string no_data_message(std::string_view name) {
  return "data set " + std::string(name) +
         " not found: set MILIEU_DATA to the folder that holds it";
}

}  // namespace milieu
