// SPDX-License-Identifier: Apache-2.0
// Text as a POSIX shell reads it back.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// `text` itself, or in single quotes where a shell would change it.
std::string shell_quoted(const std::string& text);

// The arguments separated by blanks, each quoted where needed.
std::string shell_line(const std::vector<std::string>& arguments);

}  // namespace milieu
