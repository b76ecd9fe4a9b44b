// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "milieu/base/summary.h"

namespace milieu::cli {

namespace {

// Plain text for roff: dashes stay dashes that can be copied, and no line begins with a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool begins_line = out.empty() || out.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    switch (c) {
      case '\\':
        out += "\\(rs";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::string head(const std::string& name, std::string_view summary) {
  return fmt::format(
      ".\\\" Made by `milieu manual` from the program's declarations: do not edit.\n"
      ".TH {} 1 \"\" \"Milieu {}\" \"User Commands\"\n"
      ".SH NAME\n{} \\- {}\n",
      roff(upper_case(name)), version(), roff(name), roff(summary));
}

std::string item(const std::string& title, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", title, roff(text));
}

std::string flag_title(const FlagSpec& spec) {
  if (spec.is_positional()) return italic(spec.names[0]);
  std::string title;
  for (const std::string& name : spec.names) title += (title.empty() ? "" : ", ") + bold(name);
  return spec.value.empty() ? title : title + " " + italic(spec.value);
}

std::string synopsis(const Command& command, const Flags& flags) {
  std::string text = ".SH SYNOPSIS\n" + bold(call_of(command));
  for (const FlagSpec& spec : flags.specs()) {
    if (!spec.is_positional()) continue;
    const std::string name = italic(spec.names[0]) + (spec.is_repeated ? "..." : "");
    text += spec.is_required ? " " + name : " [" + name + "]";
  }
  return text + " [" + italic("flags") + "]\n";
}

std::string groups_of_flags(const Flags& flags) {
  std::vector<std::string> groups;
  for (const FlagSpec& spec : flags.specs())
    if (!spec.group.empty() && std::find(groups.begin(), groups.end(), spec.group) == groups.end())
      groups.push_back(spec.group);
  std::string text;
  for (const std::string& group : groups) {
    text += fmt::format(".SH {}\n", roff(upper_case(group)));
    for (const FlagSpec& spec : flags.specs())
      if (spec.group == group) text += item(flag_title(spec), spec.help);
  }
  if (groups.empty()) text += ".SH FLAGS\n";
  return text + item(bold("-h") + ", " + bold("--help"), "print this as plain text");
}

// Lines of an example that are commands begin with two blanks, explanations with four.
std::string example_text(const std::string& example) {
  return ".SH EXAMPLE\n.EX\n" + roff(example) + (example.ends_with('\n') ? "" : "\n") + ".EE\n";
}

std::string exit_status() {
  return ".SH EXIT STATUS\n" + item("0", "done, also if an iteration or time limit ended the fit") +
         item("1", "failed: a missing or damaged file, a full disk, out of memory") +
         item("2", "wrong usage: an unknown flag, a value out of range, an existing run folder") +
         item("130", "interrupted; what was finished is valid");
}

std::string see_also(const std::vector<std::string>& names) {
  std::string text = ".SH SEE ALSO\n";
  for (size_t i = 0; i < names.size(); ++i)
    text += fmt::format(".BR {} (1){}\n", roff(names[i]), i + 1 < names.size() ? "," : "");
  return text;
}

std::string environment() {
  return ".SH ENVIRONMENT\n" +
         item(bold("MILIEU_CACHE"), "folder for image features; it may be deleted at any time") +
         item(bold("MILIEU_ISA"),
              "baseline, v3 or v4: use a lower instruction set than the processor supports") +
         item(bold("NO_COLOR"), "no colours");
}

}  // namespace

std::string manual_name(const Command& command) {
  std::string name = call_of(command);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string manual_page(const Command& command) {
  Flags flags;
  const RunCommand run = command.declare(flags);  // keeps what the flags refer to
  std::string text = head(manual_name(command), command.summary) + synopsis(command, flags);
  text += groups_of_flags(flags);
  std::vector<std::string> others = {"milieu"};
  if (const size_t space = command.name.find(' '); space != std::string::npos)
    others.push_back("milieu-" + command.name.substr(0, space));
  for (const Command& sub : command.subcommands) others.push_back(manual_name(sub));
  return text + example_text(command.example) + exit_status() + see_also(others);
}

std::string manual_overview() {
  std::string text = head("milieu", "cluster images and feature vectors by their context");
  text += ".SH SYNOPSIS\n" + bold("milieu") + " " + italic("COMMAND") + " [" + italic("INPUT") +
          "] [" + italic("flags") + "]\n.SH DESCRIPTION\n" +
          roff(
              "Milieu groups images, or any feature vectors, by their context: what appears beside "
              "them, "
              "what they must be separated from, which examples of good clusterings exist. Every "
              "command "
              "has a page of its own, such as") +
          "\n.BR milieu\\-dcp (1).\n";
  std::vector<std::string> names;
  for (const auto& [group, title] :
       {std::pair(CommandGroup::Context, "CONTEXT METHODS"),
        std::pair(CommandGroup::Baseline, "BASELINES"), std::pair(CommandGroup::Tool, "TOOLS")}) {
    text += fmt::format(".SH {}\n", title);
    for (const Command& command : commands()) {
      if (command.group != group) continue;
      text += item(bold(command.name), command.summary);
      names.push_back(manual_name(command));
      for (const Command& sub : command.subcommands) {
        text += item(bold(sub.name), sub.summary);
        names.push_back(manual_name(sub));
      }
    }
  }
  text += ".SH FLAGS\n" + item(bold("-h") + ", " + bold("--help"), "list the commands") +
          item(bold("-V") + ", " + bold("--version"), "print version, commit and build options");
  text += example_text(
      "  milieu demo\n  milieu dcp photos --select beach --context-select forest --out run\n");
  return text + environment() + exit_status() + see_also(names);
}

}  // namespace milieu::cli
