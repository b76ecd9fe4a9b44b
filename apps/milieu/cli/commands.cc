// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <fmt/format.h>

#include "cli/method_command.h"
#include "milieu/run/methods.h"

namespace milieu::cli {

namespace {

std::vector<Command> tools() {
  return {explore_command(),   export_command(),     features_command(), predict_command(),
          score_command(),     info_command(),       sample_command(),   demo_command(),
          reproduce_command(), completion_command(), manual_command()};
}

// What methods have beside their fit. A method that is not in the table has nothing.
std::vector<Command> subcommands() {
  return {cac_predict_command(), exemplar_learn_command(), icc_classify_command(),
          icc_advise_command(), icc_compare_command()};
}

std::vector<Command> make_table() {
  std::vector<Command> table;
  for (const MethodEntry& method : methods()) {
    Command command{.name = method.name,
                    .summary = method.summary,
                    .example = method.example,
                    .declare = [&method](Flags& flags) { return declare_method(method, flags); },
                    .group = method.group == MethodGroup::Context ? CommandGroup::Context
                                                                  : CommandGroup::Baseline};
    for (Command& sub : subcommands())
      if (sub.name.starts_with(method.name + " ")) command.subcommands.push_back(std::move(sub));
    table.push_back(std::move(command));
  }
  for (Command& tool : tools()) table.push_back(std::move(tool));
  return table;
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> table = make_table();
  return table;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : commands())
    if (command.name == name) return &command;
  return nullptr;
}

CommandWords match_command(const std::vector<std::string>& words) {
  const Command* command = words.empty() ? nullptr : find_command(words[0]);
  if (!command) return {};
  if (words.size() > 1)
    for (const Command& sub : command->subcommands)
      if (sub.name == fmt::format("{} {}", words[0], words[1])) return {&sub, 2};
  return {command, 1};
}

std::string call_of(const Command& command) { return fmt::format("milieu {}", command.name); }

}  // namespace milieu::cli
