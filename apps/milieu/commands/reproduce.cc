// SPDX-License-Identifier: Apache-2.0
// milieu reproduce METHOD [EXPERIMENT]: the published experiments, run here (reproduce.h).
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/progress.h"
#include "milieu/base/error.h"
#include "milieu/base/job/shard.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

namespace {

struct ReproduceCommand {
  std::string method;
  std::string experiment;
  ReproduceOptions options;
  std::string shard;  // "": all experiments
  bool quiet = false;
};

std::string list_text() {
  std::string text = "Experiments, as METHOD EXPERIMENT:\n";
  for (const Reproduction& entry : reproductions())
    text +=
        fmt::format("  {:<24} {}\n", fmt::format("{} {}", entry.method, entry.name), entry.summary);
  return text;
}

std::vector<const Reproduction*> chosen(const ReproduceCommand& command) {
  std::vector<const Reproduction*> found;
  for (const Reproduction& entry : reproductions())
    if (entry.method == command.method &&
        (command.experiment.empty() || entry.name == command.experiment))
      found.push_back(&entry);
  if (found.empty())
    throw UsageError(fmt::format(
        "there is no experiment '{}{}{}': `milieu reproduce` without arguments lists them",
        command.method, command.experiment.empty() ? "" : " ", command.experiment));
  if (command.shard.empty()) return found;
  if (!command.options.resume.empty())
    throw UsageError(
        "give only one of --shard and --resume: with --shard, finished pieces are kept in --out");
  const Shard shard = parse_shard(command.shard);
  return {found.begin() + shard.begin(std::ssize(found)),
          found.begin() + shard.end(std::ssize(found))};
}

void make_folder(const std::string& out) {
  if (out.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) throw IoError(fmt::format("--out {}: {}", out, error.message()));
}

int run_reproduce(const ReproduceCommand& command, Session& session) {
  Console& console = session.console;
  console.set_quiet(command.quiet);
  session.interrupt.set_quiet(command.quiet);
  if (command.method.empty()) {
    console.print(list_text());
    return kDone;
  }
  const std::vector<const Reproduction*> entries = chosen(command);
  make_folder(command.options.out);
  const Interrupt::Keeping keeping(session.interrupt);
  Monitor monitor(session.interrupt.token());
  ReproduceRun run(command.options, find_data_folder(command.options.data),
                   find_models_folder(command.options.models), console, monitor);
  int num_skipped = 0;
  for (const Reproduction* entry : entries) {
    if (session.interrupt.was_requested()) break;
    console.note(fmt::format("{} {}: {}", entry->method, entry->name, entry->summary));
    try {
      run.begin();
      entry->run(run);
    } catch (const MissingData& missing) {
      ++num_skipped;
      console.error(fmt::format("skipped {} {}: {}", entry->method, entry->name, missing.what()));
    }
  }
  if (session.interrupt.was_requested()) {
    console.note("interrupted: what was shown is complete, the rest was not run");
    return kInterrupted;
  }
  const bool is_nothing_done = num_skipped > 0 && num_skipped == static_cast<int>(entries.size());
  return is_nothing_done ? kFailed : kDone;
}

RunCommand declare_reproduce(Flags& flags) {
  auto command = std::make_shared<ReproduceCommand>();
  flags.argument("METHOD", command->method, false,
                 "method whose paper to reproduce, or deep; leave it out to list the experiments");
  flags.argument("EXPERIMENT", command->experiment, false, "only this one");
  flags.text("--data", command->options.data, "DIR",
             "folder of the data sets (default: MILIEU_DATA, or shared/data found by itself)",
             "Input");
  flags.text(
      "--models", command->options.models, "DIR",
      "folder of the networks, for `deep` (default: MILIEU_MODELS, or shared/models found by "
      "itself)",
      "Input");
  for (const Field& field : fields_of(command->options)) flags.field(field, "", "Method");
  flags.text("--out", command->options.out, "DIR",
             "folder for tables (.csv) and pictures; made if missing, files of the same name are "
             "replaced",
             "Output");
  flags.text("--resume", command->options.resume, "FILE",
             "file that keeps finished pieces of long experiments: a stopped run resumes from it",
             "Output");
  flags.text("--shard", command->shard, "I/N",
             "run only part I of N of the experiments; other machines may run the other parts with "
             "the same --out. slurm: the part of this task of a job array",
             "Output");
  flags.boolean("-q,--quiet", command->quiet, "no progress, only tables and errors", "Output");
  return [command, &flags](Session& session) {
    flags.apply_given();
    validate_options(command->options);
    return run_reproduce(*command, session);
  };
}

constexpr const char* kExample =
    "  milieu reproduce dcp --data data --out figures\n"
    "    runs the experiments of the method's paper on the data sets in data/, prints each table\n"
    "    beside the published figures, and leaves tables and pictures in figures/.\n";

}  // namespace

Command reproduce_command() {
  return {.name = "reproduce",
          .summary = "run a paper's experiments beside its figures",
          .example = kExample,
          .declare = declare_reproduce};
}

}  // namespace milieu::cli
