// SPDX-License-Identifier: Apache-2.0
// A function for zsh's completion system: _arguments does the work, with one list per command.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/completion/completion.h"

namespace milieu::cli {

namespace {

// Text inside a specification of _arguments or _describe, within single quotes.
std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == ':' || c == '[' || c == ']' || c == '\\')
      out += fmt::format("\\{}", c);
    else
      out += c;
  }
  return out;
}

std::string action(const FlagSpec& spec) {
  switch (value_kind(spec)) {
    case ValueKind::Choices:
      return fmt::format("({})", quoted(fmt::format("{}", fmt::join(spec.choices, " "))));
    case ValueKind::File:
      return "_files";
    case ValueKind::Folder:
      return "_files -/";
    case ValueKind::None:
    case ValueKind::Other:
      break;
  }
  return " ";
}

// One name of a flag: '(-k --num-clusters)--num-clusters=[how many clusters]:N: '.
std::string flag_line(const FlagSpec& spec, const std::string& name) {
  const bool is_short = !name.starts_with("--");
  std::string line = spec.is_repeated ? "'*" : fmt::format("'({})", fmt::join(spec.names, " "));
  line += name;
  if (!spec.is_boolean()) line += is_short ? "+" : "=";
  line += fmt::format("[{}]", quoted(short_help(spec.help)));
  if (!spec.is_boolean()) line += fmt::format(":{}:{}", quoted(spec.value), action(spec));
  return line + "'";
}

std::string function_name(std::string name) {
  for (char& c : name)
    if (c == ' ' || c == '-') c = '_';
  return "_milieu_" + name;
}

// The second words of a command with sub-commands, beside the files it takes.
std::string first_word_function(const Command& command) {
  std::string text =
      fmt::format("{}_first() {{\n    local -a names=(\n", function_name(command.name));
  for (const Command& sub : command.subcommands)
    text += fmt::format("        '{}:{}'\n", sub.name.substr(sub.name.rfind(' ') + 1),
                        quoted(sub.summary));
  return text + "    )\n    _describe -t commands command names\n    _files\n}\n";
}

std::string command_function(const Command& command) {
  Flags flags;
  const RunCommand run = command.declare(flags);  // keeps what the flags refer to
  std::string text;
  if (!command.subcommands.empty()) text += first_word_function(command);
  text += fmt::format("{}() {{\n    _arguments -s \\\n", function_name(command.name));
  int position = 0;
  for (const FlagSpec& spec : flags.specs()) {
    if (spec.is_positional()) {
      const bool is_first = ++position == 1 && !command.subcommands.empty();
      const std::string place = spec.is_repeated ? "*" : fmt::format("{}", position);
      text += fmt::format("        '{}:{}:{}' \\\n", place, quoted(spec.names[0]),
                          is_first ? function_name(command.name) + "_first" : action(spec));
    } else if (!spec.group.empty()) {
      for (const std::string& name : spec.names)
        text += fmt::format("        {} \\\n", flag_line(spec, name));
    }
  }
  text += "        '(- *)'{-h,--help}'[show the help]'\n}\n";
  for (const Command& sub : command.subcommands) text += command_function(sub);
  return text;
}

}  // namespace

std::string zsh_completion() {
  std::string text =
      "#compdef milieu\n# zsh completion for milieu, made by `milieu completion zsh`\n";
  for (const Command& command : commands()) text += command_function(command);
  text += "_milieu_names() {\n    local -a names=(\n";
  for (const Command& command : commands())
    text += fmt::format("        '{}:{}'\n", command.name, quoted(command.summary));
  text +=
      "        'help:all flags of a command, with an example'\n"
      "    )\n    _describe -t commands command names\n}\n"
      "_milieu() {\n"
      "    if (( CURRENT == 2 )); then\n"
      "        _milieu_names\n"
      "        compadd -- --help --version\n"
      "        return\n"
      "    fi\n"
      "    local name=${words[2]}\n"
      "    shift words; (( CURRENT-- ))\n"
      "    if (( CURRENT > 2 )); then\n"
      "        case \"$name ${words[2]}\" in\n";
  for (const Command& command : commands())
    for (const Command& sub : command.subcommands)
      text +=
          fmt::format("            '{0}') name='{0}'; shift words; (( CURRENT-- )) ;;\n", sub.name);
  text +=
      "        esac\n"
      "    fi\n"
      "    if [[ $name == help ]]; then _milieu_names; return; fi\n"
      "    local function=_milieu_${name//[ -]/_}\n"
      "    if (( $+functions[$function] )); then $function; fi\n"
      "}\n"
      "# Read as a file of fpath the function is called; sourced, it is registered.\n"
      "if [[ $funcstack[1] == _milieu ]]; then _milieu \"$@\"; else compdef _milieu milieu; fi\n";
  return text;
}

}  // namespace milieu::cli
