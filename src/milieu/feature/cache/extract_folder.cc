// SPDX-License-Identifier: Apache-2.0
// The folder that an extraction writes to: made, cleared of what killed runs left.
#include <fmt/format.h>

#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/data/file/temporary.h"
#include "milieu/feature/cache/extract_internal.h"

namespace milieu::internal {

namespace fs = std::filesystem;

void make_feature_folder(const std::string& out) {
  std::error_code error;
  const auto is_ours = [&] {
    return fs::exists(out + "/.milieu", error) || fs::exists(out + "/features.json", error);
  };
  if (fs::exists(out, error) && !fs::is_directory(out, error))
    throw InvalidArgument(fmt::format("{} is a file, must be a folder for features", out));
  // Whether it is ours comes last: another shard may be making it.
  if (fs::is_directory(out, error) && !fs::is_empty(out, error) && !is_ours())
    throw InvalidArgument(
        fmt::format("{} holds other files, must be new, empty or a feature folder", out));
  fs::create_directories(out + "/.milieu", error);
  if (error) throw IoError(fmt::format("{} cannot be created: {}", out, error.message()));
}

void remove_leftovers(const std::string& out) {
  for (const std::string& folder : {out, out + "/.milieu"})
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".npy.new") || is_temporary_name(name) ||
          name.find(".tmp-") != std::string::npos)
        fs::remove(entry.path());
    }
}

}  // namespace milieu::internal
