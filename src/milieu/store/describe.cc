// SPDX-License-Identifier: Apache-2.0
#include "milieu/store/describe.h"

#include <cstring>
#include <filesystem>

#include "milieu/data/mapped_file.h"
#include "milieu/store/describe_internal.h"
#include "milieu/store/model_format_internal.h"

namespace milieu {

namespace {

namespace fs = std::filesystem;

// Starts with the length of a header that fits into the file, and an opening brace.
bool looks_like_model(const std::string& path) {
  const auto file = MappedFile::open(path);
  const std::string_view text = file->text();
  if (text.size() <= internal::kLengthBytes || text[internal::kLengthBytes] != '{') return false;
  uint64_t length = 0;
  std::memcpy(&length, text.data(), sizeof(length));
  return length <= text.size() - internal::kLengthBytes;
}

}  // namespace

std::string describe_file(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return fs::exists(fs::path(path) / "summary.json", error)
               ? internal::describe_run_folder(path)
               : internal::describe_image_folder(path);
  if (path.ends_with(".safetensors") || looks_like_model(path))
    return internal::describe_model(path);
  if (path.ends_with(".json")) return internal::describe_json(path);
  return internal::describe_data_file(path);
}

}  // namespace milieu
