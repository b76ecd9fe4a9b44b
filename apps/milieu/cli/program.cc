// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <fmt/format.h>

#include <malloc.h>
#include <unistd.h>
#include <filesystem>

#include <csignal>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/suggest.h"
#include "cli/version_text.h"
#include "milieu/base/error.h"
#include "milieu/base/shell.h"
#include "milieu/linalg/isa.h"

namespace milieu::cli {

namespace {

[[noreturn]] void throw_unknown_command(const std::string& name) {
  std::error_code error;
  if (std::filesystem::is_directory(name, error))
    throw UsageError(fmt::format("'{}' is a folder, not a command: see it with milieu explore {}",
                                 name, shell_quoted(name)));
  std::vector<std::string> known = {"help"};
  for (const Command& command : commands()) known.emplace_back(command.name);
  const std::string nearest = nearest_word(name, known);
  if (!nearest.empty())
    throw UsageError(fmt::format("unknown command '{}': did you mean {}?", name, nearest));
  throw UsageError(fmt::format("unknown command '{}'", name));
}

CommandWords require_command(const std::vector<std::string>& words) {
  const CommandWords match = match_command(words);
  if (!match.command) throw_unknown_command(words[0]);
  return match;
}

int print_help(const Command& command, Session& session) {
  Flags flags;
  const RunCommand run = command.declare(flags);  // keeps what the flags refer to
  session.console.print(help_text(command, flags, session.console));
  return kDone;
}

int run_command(const Command& command, const std::vector<std::string>& arguments,
                Session& session) {
  Flags flags;
  const RunCommand run = command.declare(flags);
  if (flags.parse(arguments) == Flags::Outcome::HelpWanted) {
    session.console.print(help_text(command, flags, session.console));
    return kDone;
  }
  return run(session);
}

// The library ignores a value that it cannot follow; whoever sets one wants to know.
void check_isa() {
  const char* asked = std::getenv("MILIEU_ISA");
  if (!asked || *asked == '\0') return;
  const std::string name = asked;
  const Isa best = best_isa();
  if (name != "baseline" && name != "v3" && name != "v4")
    throw InvalidArgument(fmt::format("MILIEU_ISA is {}, must be baseline, v3 or v4", name));
  if ((name == "v4" && best < Isa::V4) || (name == "v3" && best < Isa::V3))
    throw InvalidArgument(fmt::format("MILIEU_ISA is {}, but this CPU has {}: take a lower one",
                                      name, to_string(best)));
}

int dispatch(const std::vector<std::string>& words, Session& session) {
  const std::string first = words.empty() ? "help" : words[0];
  if (first == "--version" || first == "-V") {
    session.console.print(version_text());
    return kDone;
  }
  if (first == "help" || first == "--help" || first == "-h") {
    if (words.size() > 1)
      return print_help(*require_command({words.begin() + 1, words.end()}).command, session);
    session.console.print(overview_text(session.console));
    return kDone;
  }
  if (first[0] == '-') throw UsageError(fmt::format("expected a command, got '{}'", first));
  const CommandWords match = require_command(words);
  check_isa();
  if (session.ranks.size() > 1 && match.command->group == CommandGroup::Tool)
    throw UsageError(
        fmt::format("{} is not for several ranks: milieu-mpi runs methods", match.command->name));
  return run_command(*match.command, {words.begin() + static_cast<int>(match.count), words.end()},
                     session);
}

void report(Console& console, std::string_view message) {
  console.error(fmt::format("{} {}", console.paint_err(Style::Red, "milieu:"), message));
}

constexpr std::string_view kNoThread =
    "the system refuses to start a thread: allow more processes or memory (see `ulimit -a`)";

// Whether the error means so; oneTBB throws one of its own.
bool is_refused_thread(const std::exception& error) {
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  return (system && system->code() == std::errc::resource_unavailable_try_again) ||
         std::string_view(error.what()).starts_with("pthread_create has failed");
}

// Which error ends with which code is part of the interface: docs/command_line.md.
int run_and_report(const std::vector<std::string>& words, Session& session) {
  Console& console = session.console;
  try {
    const int code = dispatch(words, session);
    console.flush();
    return code;
  } catch (const UsageError& error) {
    report(console, error.what());
    const Command* command = match_command(words).command;
    console.error(
        fmt::format("see `milieu help{}`", command ? fmt::format(" {}", command->name) : ""));
    return kWrongUsage;
  } catch (const InvalidArgument& error) {
    report(console, error.what());
    return kWrongUsage;
  } catch (const Error& error) {
    report(console, error.what());
  } catch (const OutputClosed&) {
    // whoever reads our output has seen enough
  } catch (const std::bad_alloc&) {
    report(console, "out of memory: use fewer rows, or a machine with more");
  } catch (const std::exception& error) {
    report(console, is_refused_thread(error)
                        ? std::string(kNoThread)
                        : fmt::format("internal error: {} (please report it)", error.what()));
  }
  return kFailed;
}

// A mapped file that is truncated loses its pages: what was read of it is not a result.
void on_lost_pages(int) {
  constexpr std::string_view kText =
      "milieu: an input file was truncated while it was being read: run again when it is "
      "complete\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
  _exit(kFailed);
}

}  // namespace

void prepare_process() {
  // Scratch memory of one step serves the next instead of going back to the system and being
  // cleared again: up to 64 MB, in blocks of up to 32 MB.
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  // A closed pipe and a file that outgrows its limit are errors of the write, handled where it
  // fails.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGBUS, on_lost_pages);
}

// The watcher of Ctrl-C is a thread: where none can be had, nothing else would work either.
ProgramEnd run_program(const std::vector<std::string>& words, Communicator& ranks) {
  Console console;
  console.set_silent(ranks.rank() > 0);
  std::optional<Interrupt> interrupt;
  try {
    interrupt.emplace();
  } catch (const std::system_error&) {
    report(console, kNoThread);
    return {kFailed, console.kept_error()};
  }
  Session session{console, *interrupt, ranks};
  const int code = run_and_report(words, session);
  return {code, console.kept_error()};
}

}  // namespace milieu::cli
