// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/cache_folder.h"

#include <cstdlib>

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

}  // namespace milieu
