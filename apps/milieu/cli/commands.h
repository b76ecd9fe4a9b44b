// SPDX-License-Identifier: Apache-2.0
// The table of commands: one per method of the library's table (run/methods.h), and the tools, each
// in its own file below commands/. A command declares its arguments and flags on a Flags
// object and returns the function that runs once they have been parsed. Help, completion and the
// overview come from the same declarations.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "milieu/base/ranks/communicator.h"

namespace milieu::cli {

// What every command is given from outside.
struct Session {
  Console& console;
  Interrupt& interrupt;
  Communicator& ranks;  // one, but in milieu-mpi
};

// Runs a parsed command and returns its exit code. Errors are exceptions.
using RunCommand = std::function<int(Session&)>;

enum class CommandGroup { Context, Baseline, Tool };

struct Command {
  std::string name;
  std::string summary;  // one line, for the overview and the head of the help
  std::string example;  // worked example, last part of the help
  std::function<RunCommand(Flags&)> declare;
  // Commands called by a second name: `milieu icc classify`. Their names hold both.
  std::vector<Command> subcommands = {};
  CommandGroup group = CommandGroup::Tool;
};

// All commands, in the order of the overview: the methods of the table, then the tools.
const std::vector<Command>& commands();

// Null when there is no such command.
const Command* find_command(std::string_view name);

// The command that `words` begin with, and how many of them name it: 2 for a sub-command, 1 for a
// command, 0 (and null) for neither.
struct CommandWords {
  const Command* command = nullptr;
  size_t count = 0;
};
CommandWords match_command(const std::vector<std::string>& words);

// "milieu kmeans": how the command is called, for usage lines.
std::string call_of(const Command& command);

// Tools and sub-commands, each from its own file.
Command cac_predict_command();
Command completion_command();
Command demo_command();
Command exemplar_learn_command();
Command explore_command();
Command export_command();
Command features_command();
Command icc_classify_command();
Command icc_advise_command();
Command icc_compare_command();
Command info_command();
Command manual_command();
Command predict_command();
Command reproduce_command();
Command sample_command();
Command score_command();

}  // namespace milieu::cli
