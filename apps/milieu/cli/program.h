// SPDX-License-Identifier: Apache-2.0
// The program `milieu`: finds the command in the table, parses its flags, runs it, and turns every
// error into one line on stderr and an exit code (docs/command_line.md). milieu-mpi runs it on
// several ranks: the first of them prints and writes.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/communicator.h"

namespace milieu::cli {

// The documented exit codes (docs/command_line.md).
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kInterrupted = 130;

struct ProgramEnd {
  int code = 0;       // docs/command_line.md
  std::string error;  // what a rank other than the first has not printed
};

// Settings of the process: memory, signals. Call it once, first.
void prepare_process();

ProgramEnd run_program(const std::vector<std::string>& words, Communicator& ranks = single_rank());

}  // namespace milieu::cli
