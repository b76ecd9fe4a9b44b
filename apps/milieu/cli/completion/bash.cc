// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/completion/completion.h"

namespace milieu::cli {

namespace {

constexpr const char* kHead = R"(# bash completion for milieu, made by `milieu completion bash`
_milieu() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=""
    # bash splits --flag=value at the equals sign
    if [[ $word == "=" ]]; then word=""; fi
    if [[ $previous == "=" ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
    COMPREPLY=()
)";

constexpr const char* kTail =
    R"(    if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); fi
}
complete -o bashdefault -o default -F _milieu milieu
)";

std::string command_names() {
  std::string names;
  for (const Command& command : commands()) names += fmt::format("{} ", command.name);
  return names + "help";
}

// The cases of one command: values after a flag, else flags after a dash, else values of a
// positional argument (or file names).
std::string command_case(const Command& command) {
  Flags flags;
  const RunCommand run = command.declare(flags);
  std::string text = fmt::format("        \"{}\")\n            case $previous in\n", command.name);
  std::string all = "--help";
  std::string positional;
  for (const FlagSpec& spec : flags.specs()) {
    if (spec.is_positional()) {
      positional = fmt::format("{}", fmt::join(spec.choices, " "));
      continue;
    }
    if (spec.group.empty()) continue;  // hidden
    for (const std::string& name : spec.names) all += " " + name;
    if (!spec.is_boolean())
      text += fmt::format("                {}) words=\"{}\"; value=1 ;;\n",
                          fmt::join(spec.names, "|"), fmt::join(spec.choices, " "));
  }
  for (const Command& sub : command.subcommands)
    positional += fmt::format("{} ", sub.name.substr(sub.name.rfind(' ') + 1));
  text += "            esac\n";
  text += fmt::format("            flags=\"{}\"\n", all);
  if (!positional.empty()) text += fmt::format("            arguments=\"{}\"\n", positional);
  text += "            ;;\n";
  for (const Command& sub : command.subcommands) text += command_case(sub);
  return text;
}

// Which two words are one command.
std::string subcommand_cases() {
  std::string text;
  for (const Command& command : commands())
    for (const Command& sub : command.subcommands)
      text += fmt::format("        \"{0}\") command=\"{0}\" ;;\n", sub.name);
  return text;
}

}  // namespace

std::string bash_completion() {
  std::string text = kHead;
  text += fmt::format(
      "    if [[ $COMP_CWORD -eq 1 ]]; then\n"
      "        COMPREPLY=($(compgen -W \"{0} --help --version\" -- \"$word\"))\n"
      "        return\n"
      "    fi\n"
      "    local flags=\"\" arguments=\"\" value=0 command=${{COMP_WORDS[1]}}\n"
      "    case \"$command ${{COMP_WORDS[2]}}\" in\n"
      "{1}"
      "    esac\n"
      "    case $command in\n"
      "        help) arguments=\"{0}\" ;;\n",
      command_names(), subcommand_cases());
  for (const Command& command : commands()) text += command_case(command);
  text +=
      "    esac\n"
      "    if [[ $value -eq 0 ]]; then\n"
      "        if [[ $word == -* ]]; then words=$flags; else words=$arguments; fi\n"
      "    fi\n";
  return text + kTail;
}

}  // namespace milieu::cli
