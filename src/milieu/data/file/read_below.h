// SPDX-License-Identifier: Apache-2.0
// Files below a folder, and no others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// The bytes of a file below `root`. `name` cannot leave it by any means (.., a symbolic link): the
// system refuses. Throws IoError, also for anything but a regular file of at most `max_bytes`.
std::vector<uint8_t> read_below(const std::string& root, const std::string& name,
                                int64_t max_bytes = int64_t{256} << 20);

// Whether `name` leads out of `root`, so that read_below refuses it.
bool leads_outside(const std::string& root, const std::string& name);

}  // namespace milieu
