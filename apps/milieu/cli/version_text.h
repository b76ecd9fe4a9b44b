// SPDX-License-Identifier: Apache-2.0
// What `milieu --version` prints: the version, the commit and what this program was built with.
#pragma once

#include <string>

namespace milieu::cli {

std::string version_text();

}  // namespace milieu::cli
