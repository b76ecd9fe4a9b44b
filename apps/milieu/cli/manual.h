// SPDX-License-Identifier: Apache-2.0
// Manual pages in the language of man(7), made from the declarations that the help is made from.
#pragma once

#include <string>

#include "cli/commands.h"

namespace milieu::cli {

// milieu(1): the commands, the environment, the exit codes.
std::string manual_overview();

// milieu-COMMAND(1).
std::string manual_page(const Command& command);

// "milieu-icc-classify": what the page is called.
std::string manual_name(const Command& command);

}  // namespace milieu::cli
