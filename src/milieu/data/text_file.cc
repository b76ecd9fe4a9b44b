// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "milieu/base/error.h"

namespace milieu {

namespace {

constexpr size_t kMostOfDevice = size_t{1} << 26;  // one such as /dev/zero never ends

}  // namespace

// Not MappedFile: these files may be replaced while they are read.
std::optional<std::string> try_read_text_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::error_code ignored;
  const bool is_file = std::filesystem::is_regular_file(path, ignored);
  std::string text;
  std::vector<char> chunk(1 << 16);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
    text.append(chunk.data(), static_cast<size_t>(file.gcount()));
    if (!is_file && text.size() > kMostOfDevice) {
      errno = EFBIG;
      return std::nullopt;
    }
  }
  if (file.bad()) return std::nullopt;
  return text;
}

std::string read_text_file(const std::string& path) {
  std::optional<std::string> text = try_read_text_file(path);
  if (text) return std::move(*text);
  const int code = errno;
  std::error_code ignored;
  if (code == ENOENT) throw IoError(fmt::format("{} does not exist: check the path", path));
  if (code == EFBIG) throw IoError(fmt::format("{} does not end, must be a file of text", path));
  if (std::filesystem::is_directory(path, ignored))
    throw IoError(fmt::format("{} is a folder, must be a file", path));
  throw IoError(fmt::format("{} cannot be read: {}", path,
                            code != 0 ? std::strerror(code) : "it is not a file"));
}

}  // namespace milieu
