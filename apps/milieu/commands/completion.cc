// SPDX-License-Identifier: Apache-2.0
// milieu completion SHELL: a completion script made from the table of commands and their flags.
#include "cli/completion/completion.h"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"

namespace milieu::cli {

namespace {

RunCommand declare_completion(Flags& flags) {
  auto shell = std::make_shared<std::string>();
  flags.add({.names = {"SHELL"},
             .value = "SHELL",
             .help = "the shell to complete for: bash, zsh or fish",
             .group = "Arguments",
             .choices = {"bash", "zsh", "fish"},
             .is_required = true},
            [shell](const std::string& text) { *shell = text; });
  return [shell](Session& session) {
    if (*shell == "bash")
      session.console.print(bash_completion());
    else if (*shell == "zsh")
      session.console.print(zsh_completion());
    else if (*shell == "fish")
      session.console.print(fish_completion());
    else
      throw UsageError(fmt::format("SHELL is '{}', must be bash, zsh or fish", *shell));
    return kDone;
  };
}

constexpr const char* kExample =
    "  source <(milieu completion bash)\n"
    "    completes commands, flags and their values in this shell; zsh likewise.\n"
    "  milieu completion fish | source\n"
    "    the same for fish. An installed Milieu has the scripts where the shells find them by\n"
    "    themselves.\n";

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "print the completion script for bash, zsh or fish",
          .example = kExample,
          .declare = declare_completion};
}

}  // namespace milieu::cli
