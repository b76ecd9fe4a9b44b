// SPDX-License-Identifier: Apache-2.0
// The table of commands. A command is one file, cmd_NAME.cc, that makes its row of the table: it
// declares its arguments and flags on a Flags object and returns the function that runs once they
// have been parsed. Help, completion and the overview come from the same declarations.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/interrupt.h"

namespace milieu::cli {

class Method;  // method.h

// What the outside gives to every command.
struct Session {
  Console& console;
  Interrupt& interrupt;
};

// The documented exit codes (docs/command_line.md).
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kInterrupted = 130;

// Runs a parsed command and returns its exit code. Errors are exceptions.
using Run = std::function<int(Session&)>;

struct Command {
  std::string_view name;
  std::string_view summary;  // one line, for the overview and the head of the help
  std::string_view example;  // worked example, last part of the help
  // One of the two is set: clustering methods share one runner (cluster_command.h) ...
  std::function<std::unique_ptr<Method>()> make_method = nullptr;
  // ... everything else declares itself.
  std::function<Run(Flags&)> declare = nullptr;
  // Commands called by a second word: `milieu icc classify`. Their names hold both words.
  std::vector<Command> subcommands = {};
};

// All commands, in the order of the overview.
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

// Declares `command` on `flags`; what it returns refers to `flags` and must not outlive it.
Run declare_command(const Command& command, Flags& flags);

// "milieu kmeans": how the command is called, for usage lines.
std::string call_of(const Command& command);

// The rows of the table, each from its own file.
Command cac_command();
Command cac_predict_command();
Command kmeans_command();
Command kmodes_command();
Command gmm_command();
Command ncut_command();
Command meanshift_command();
Command agglomerative_command();
Command dcp_command();
Command bags_command();
Command multinomials_command();
Command jsom_command();
Command topics_command();
Command dlgmm_command();
Command exemplar_command();
Command exemplar_learn_command();
Command icc_command();
Command icc_classify_command();
Command kmedoids_command();
Command features_command();
Command predict_command();
Command score_command();
Command info_command();
Command demo_command();
Command explore_command();
Command reproduce_command();
Command completion_command();

}  // namespace milieu::cli
