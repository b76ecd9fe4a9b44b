// SPDX-License-Identifier: Apache-2.0
// Completion scripts, made from the table of commands and their flags. What a script does not know
// (file names) it leaves to the shell.
#pragma once

#include <string>
#include <string_view>

#include "cli/flags.h"

namespace milieu::cli {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

// What a flag or an argument is completed with, by the placeholder of its value.
enum class ValueKind { None, Choices, File, Folder, Other };
ValueKind value_kind(const FlagSpec& spec);

// The part of a help text up to the first colon, semicolon or bracket: shells show it in one line.
std::string_view short_help(std::string_view help);

}  // namespace milieu::cli
