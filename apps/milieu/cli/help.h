// SPDX-License-Identifier: Apache-2.0
// Help texts, made from the table of commands and the declared flags. The same width everywhere, so
// that they can be compared with golden files.
#pragma once

#include <string>

#include "cli/commands.h"

namespace milieu::cli {

// What `milieu` alone prints: the commands and three lines to begin with.
std::string overview_text(const Console& console);

// What `milieu COMMAND --help` prints: usage, arguments, flags by group, a worked example.
std::string help_text(const Command& command, const Flags& flags, const Console& console);

}  // namespace milieu::cli
