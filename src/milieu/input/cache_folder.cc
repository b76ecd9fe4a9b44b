// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/cache_folder.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "milieu/base/error.h"

namespace milieu {

std::string cache_folder() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  if (const std::string folder = variable("MILIEU_CACHE"); !folder.empty()) return folder;
  if (const std::string folder = variable("XDG_CACHE_HOME"); !folder.empty())
    return folder + "/milieu";
  const std::string home = variable("HOME");
  if (home.empty())
    throw InvalidArgument(
        "HOME is not set, so there is no place for the cache: set MILIEU_CACHE, or "
        "use milieu features");
  return home + "/.cache/milieu";
}

std::string cache_place(const std::string& source, const std::string& kind,
                        const Fingerprint& print) {
  constexpr size_t kMostBytes = 100;  // names may have 255
  const std::string name = std::filesystem::path(source).filename().string();
  return fmt::format("{}/{}{}-{}", cache_folder(), name.substr(0, kMostBytes), kind, print.hex());
}

}  // namespace milieu
