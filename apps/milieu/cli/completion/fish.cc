// SPDX-License-Identifier: Apache-2.0
// Lines of `complete` for fish, one per flag, guarded by the command they belong to.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/completion/completion.h"

namespace milieu::cli {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string guard(std::string_view command) {
  return fmt::format("complete -c milieu -n {}", quoted(fmt::format("__milieu_is {}", command)));
}

std::string values(const FlagSpec& spec) {
  switch (value_kind(spec)) {
    case ValueKind::Choices:
      return " -x -a " + quoted(fmt::format("{}", fmt::join(spec.choices, " ")));
    case ValueKind::File:
    case ValueKind::Folder:
      return " -r -F";
    case ValueKind::Other:
      return " -x";
    case ValueKind::None:
      break;
  }
  return "";
}

std::string flag_line(const Command& command, const FlagSpec& spec) {
  std::string line = guard(command.name);
  for (const std::string& name : spec.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return line + values(spec) + " -d " + quoted(short_help(spec.help)) + "\n";
}

std::string command_lines(const Command& command) {
  Flags flags;
  const RunCommand run = command.declare(flags);  // keeps what the flags refer to
  std::string text;
  bool takes_files = false;
  for (const FlagSpec& spec : flags.specs()) {
    if (spec.is_positional()) {
      takes_files = takes_files || value_kind(spec) == ValueKind::File ||
                    value_kind(spec) == ValueKind::Folder;
      if (!spec.choices.empty())
        text += guard(command.name) + " -f -a " +
                quoted(fmt::format("{}", fmt::join(spec.choices, " "))) + "\n";
    } else if (!spec.group.empty()) {
      text += flag_line(command, spec);
    }
  }
  if (!takes_files) text += guard(command.name) + " -f\n";
  text += guard(command.name) + " -s h -l help -d 'show the help'\n";
  for (const Command& sub : command.subcommands)
    text += fmt::format("{} -a {} -d {}\n", guard(command.name),
                        quoted(sub.name.substr(sub.name.rfind(' ') + 1)), quoted(sub.summary));
  for (const Command& sub : command.subcommands) text += command_lines(sub);
  return text;
}

std::string head() {
  std::string subs;
  for (const Command& command : commands())
    for (const Command& sub : command.subcommands) subs += " " + quoted(sub.name);
  return fmt::format(
      "# fish completion for milieu, made by `milieu completion fish`\n"
      "# Whether the line's command, one word or two, is this one.\n"
      "function __milieu_is\n"
      "    set -l words (commandline -opc)\n"
      "    set -l name \"$words[2]\"\n"
      "    if contains -- \"$words[2] $words[3]\"{}\n"
      "        set name \"$words[2] $words[3]\"\n"
      "    end\n"
      "    test \"$name\" = \"$argv\"\n"
      "end\n",
      subs);
}

}  // namespace

std::string fish_completion() {
  std::string text = head();
  std::string names;
  for (const Command& command : commands()) {
    names += command.name + " ";
    text += fmt::format("{} -f -a {} -d {}\n", guard(""), quoted(command.name),
                        quoted(command.summary));
  }
  text += guard("") + " -f -a help -d 'all flags of a command, with an example'\n";
  text += guard("") + " -f -s V -l version -d 'print the version'\n";
  text += guard("") + " -f -s h -l help -d 'list the commands'\n";
  text += guard("help") + " -f -a " + quoted(names) + "\n";
  for (const Command& command : commands()) text += command_lines(command);
  return text;
}

}  // namespace milieu::cli
