// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/summary.h"

namespace milieu::cli {

namespace {

constexpr size_t kWidth = 98;
constexpr size_t kHelpColumn = 30;

// `text` broken at spaces into lines of at most `width` characters.
std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (text.size() > width) {
    size_t cut = text.rfind(' ', width);
    if (cut == std::string_view::npos || cut == 0) cut = text.find(' ', width);
    if (cut == std::string_view::npos) break;
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut + 1);
  }
  lines.emplace_back(text);
  return lines;
}

// Two columns; a title that is too long for its column gets a line of its own.
std::string entry(const std::string& title, std::string_view help) {
  std::string text = "  " + title;
  if (text.size() + 2 > kHelpColumn) text += "\n";
  size_t column = text.back() == '\n' ? 0 : text.size();
  for (const std::string& line : wrap(help, kWidth - kHelpColumn)) {
    text += std::string(kHelpColumn - column, ' ') + line + "\n";
    column = 0;
  }
  return text;
}

std::string usage_of(const Command& command, const Flags& flags) {
  std::string usage = call_of(command);
  for (const FlagSpec& spec : flags.specs())
    if (spec.is_positional()) {
      const std::string name = spec.names[0] + (spec.is_repeated ? "..." : "");
      usage += spec.is_required ? " " + name : " [" + name + "]";
    }
  return usage + " [flags]";
}

}  // namespace

std::string overview_text(const Console& console) {
  std::string text = fmt::format(
      "{} {}: clusters images and feature vectors by their context\n\n"
      "usage: milieu COMMAND [INPUT] [flags]\n",
      console.paint(Style::Bold, "milieu"), version());
  for (const auto& [group, title] :
       {std::pair(CommandGroup::Context, "Context methods"),
        std::pair(CommandGroup::Baseline, "Baselines"), std::pair(CommandGroup::Tool, "Tools")}) {
    text += fmt::format("\n{}\n", console.paint(Style::Bold, title));
    for (const Command& command : commands())
      if (command.group == group)
        text += fmt::format("  {:<15} {}\n", command.name, command.summary);
  }
  text += fmt::format(
      "\n{}\n"
      "  milieu demo                         a first look: built-in data, no files needed\n"
      "  milieu explore photos               split an image folder in a browser\n"
      "  milieu dcp photos --select beach --context-select forest --out run\n"
      "                                      split one class of a folder by another\n"
      "  milieu help dcp                     all flags of a command, with an example\n",
      console.paint(Style::Bold, "To begin"));
  return text;
}

std::string help_text(const Command& command, const Flags& flags, const Console& console) {
  std::string text =
      fmt::format("{}: {}\n\nusage: {}\n", console.paint(Style::Bold, call_of(command)),
                  command.summary, usage_of(command, flags));
  std::vector<std::string> groups;
  for (const FlagSpec& spec : flags.specs())
    if (!spec.group.empty() && std::find(groups.begin(), groups.end(), spec.group) == groups.end())
      groups.push_back(spec.group);
  for (const std::string& group : groups) {
    text += fmt::format("\n{}\n", console.paint(Style::Bold, group));
    for (const FlagSpec& spec : flags.specs())
      if (spec.group == group) text += entry(spec.title(), spec.help);
    if (group == groups.back()) text += entry("-h, --help", "this text");
  }
  if (groups.empty()) text += "\n" + entry("-h, --help", "this text");
  if (!command.subcommands.empty())
    text += fmt::format("\n{}\n", console.paint(Style::Bold, "Commands"));
  for (const Command& sub : command.subcommands) text += entry(std::string(sub.name), sub.summary);
  text += fmt::format("\n{}\n{}", console.paint(Style::Bold, "Example"), command.example);
  return text;
}

}  // namespace milieu::cli
