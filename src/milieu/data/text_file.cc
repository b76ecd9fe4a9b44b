// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "milieu/base/error.h"

namespace milieu {

std::optional<std::string> try_read_text_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad() || (text.fail() && file.peek() != std::ifstream::traits_type::eof()))
    return std::nullopt;
  return std::move(text).str();
}

std::string read_text_file(const std::string& path) {
  std::optional<std::string> text = try_read_text_file(path);
  if (!text)
    throw IoError(fmt::format("{} cannot be read: {}", path,
                              errno != 0 ? std::strerror(errno) : "it is not a file"));
  return std::move(*text);
}

}  // namespace milieu
