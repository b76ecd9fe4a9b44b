// SPDX-License-Identifier: Apache-2.0
// milieu manual [COMMAND]: the manual page of a command, or all pages as files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/manual.h"
#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"

namespace milieu::cli {

namespace {

struct ManualOptions {
  std::string command;
  std::string out;
};

std::string page_of(std::string name) {
  if (name.empty()) return manual_overview();
  std::replace(name.begin(), name.end(), '-', ' ');
  for (const Command& command : commands()) {
    if (command.name == name) return manual_page(command);
    for (const Command& sub : command.subcommands)
      if (sub.name == name) return manual_page(sub);
  }
  std::replace(name.begin(), name.end(), ' ', '-');
  throw UsageError(
      fmt::format("COMMAND is '{}', must be a command, such as dcp or icc-classify", name));
}

void write_page(const std::string& folder, const std::string& name, const std::string& text) {
  write_file_atomically(fmt::format("{}/{}.1", folder, name), text);
}

int write_pages(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(fmt::format("cannot create {}: {}", folder, error.message()));
  write_page(folder, "milieu", manual_overview());
  int count = 1;
  for (const Command& command : commands()) {
    write_page(folder, manual_name(command), manual_page(command));
    for (const Command& sub : command.subcommands)
      write_page(folder, manual_name(sub), manual_page(sub));
    count += 1 + static_cast<int>(command.subcommands.size());
  }
  return count;
}

RunCommand declare_manual(Flags& flags) {
  auto options = std::make_shared<ManualOptions>();
  flags.argument("COMMAND", options->command, false,
                 "the command, such as dcp or icc-classify; without it the page of milieu itself");
  flags.text("--out", options->out, "DIR",
             "write all pages to this folder instead: milieu.1, milieu-dcp.1, ...", "Output");
  return [options](Session& session) {
    if (options->out.empty()) {
      session.console.print(page_of(options->command));
      return kDone;
    }
    if (!options->command.empty()) throw UsageError("give only one of COMMAND and --out");
    session.console.print(
        fmt::format("wrote {}: {} manual pages\n", options->out, write_pages(options->out)));
    return kDone;
  };
}

constexpr const char* kExample =
    "  milieu manual dcp | man -l -\n"
    "    shows the page of a command. An installed Milieu has them all: man milieu-dcp.\n";

}  // namespace

Command manual_command() {
  return {.name = "manual",
          .summary = "print the manual page of a command, for man",
          .example = kExample,
          .declare = declare_manual};
}

}  // namespace milieu::cli
