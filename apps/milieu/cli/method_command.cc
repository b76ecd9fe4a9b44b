// SPDX-License-Identifier: Apache-2.0
// Options (file, then flags) -> Run::read -> Run::fit -> run folder -> result on stdout. Until the
// fit begins nothing is written, so Ctrl-C simply ends the program; from then on it stops the fit
// and what is valid is kept (interrupt.h).
#include "cli/method_command.h"

#include <fmt/format.h>

#include <memory>

#include "cli/output_flags.h"
#include "cli/progress.h"
#include "cli/result_text.h"
#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/job/shard.h"
#include "milieu/report/write_run.h"
#include "milieu/run/predictor.h"
#include "milieu/run/run.h"
#include "milieu/run/shard_files.h"
#include "milieu/store/run_folder.h"

namespace milieu::cli {

namespace {

constexpr const char* kInput = "Input";

class MethodCommand {
 public:
  MethodCommand(const MethodEntry& method, Flags& flags) : flags_(flags), run_(method) {}

  void declare();
  int run(Session& session);

 private:
  void read_options();
  void check_shard_flags(const Session& session) const;
  void read_input(ProgressMonitor& monitor);
  RunOutcome fit(ProgressMonitor& monitor);
  int run_shard(Session& session, ProgressMonitor& monitor);
  void print_result(Console& console, const RunOutcome& outcome) const;
  std::string next_steps(const RunOutcome& outcome) const;

  Flags& flags_;
  Run run_;
  OutputFlags output_;
  std::string preset_;
  std::string options_path_;
  std::string shard_;  // "": the whole fit
  bool merges_ = false;
  bool path_is_recorded_ = false;  // INPUT was read from an options file
};

void MethodCommand::declare() {
  const std::vector<Field> inputs = run_.input_fields();
  flags_.field_argument(
      "INPUT", inputs[0],
      "what to cluster, samples as rows: .npy, .csv, .tsv or idx (.gz too); or an image folder "
      "or a feature folder");
  for (size_t i = 1; i < inputs.size(); ++i)
    flags_.field(inputs[i], input_value_name(inputs[i]), kInput);
  flags_.method_fields(run_.option_fields());
  std::vector<std::string> presets;
  for (const Preset& preset : run_.method().presets()) presets.push_back(preset.name);
  flags_.preset(std::move(presets), preset_);
  flags_.text("--options", options_path_, "FILE",
              "take input and options from the options.json of an earlier run (or its folder); "
              "flags given here override it",
              kInput);
  output_.declare(flags_,
                  "run folder: options.json, summary.json, labels.csv, model.safetensors, "
                  "report.html",
                  true);
  if (run_.method().has_shards()) {
    flags_.text(
        "--shard", shard_, "I/N",
        "do only part I of N and keep it in OUT.shards; other machines may do the other parts "
        "at the same time. slurm: the part of this task of a job array",
        "Output");
    flags_.boolean(
        "--merge", merges_,
        "make the run folder from OUT.shards once all parts are complete; the other flags "
        "are those of the parts",
        "Output");
  }
  output_.declare_progress(flags_);
}

void MethodCommand::read_options() {
  if (!preset_.empty()) {
    flags_.apply_given();  // a preset may depend on which files are given
    run_.apply_preset(preset_);
  }
  if (!options_path_.empty()) run_.read_options(options_path_);
  const std::string recorded = options_path_.empty() ? "" : run_.input().path;
  flags_.apply_given();
  path_is_recorded_ = !recorded.empty() && run_.input().path == recorded;
  if (run_.method().takes_input() && run_.input().path.empty())
    throw UsageError(
        "INPUT is missing: give the file to cluster, or an earlier run with --options");
  run_.validate();
  output_.validate();
}

void MethodCommand::check_shard_flags(const Session& session) const {
  if (shard_.empty() && !merges_) return;
  if (!shard_.empty() && merges_)
    throw UsageError("give only one of --shard and --merge: the merge takes all shards");
  if (session.ranks.size() > 1)
    throw UsageError(
        "--shard and --merge work alone, this is one of several ranks: leave out mpirun");
  if (output_.out.empty())
    throw UsageError(fmt::format("--out is missing: {} uses the folder OUT.shards beside it",
                                 merges_ ? "--merge" : "--shard"));
}

void MethodCommand::read_input(ProgressMonitor& monitor) {
  try {
    run_.read(monitor);
  } catch (const IoError& error) {
    if (!path_is_recorded_) throw;
    throw IoError(
        fmt::format("{} (named in {}: give INPUT if it has moved)", error.what(), options_path_));
  }
}

int MethodCommand::run(Session& session) {
  Console& console = session.console;
  output_.apply(session);
  read_options();
  check_shard_flags(session);
  run_.set_ranks(session.ranks);
  const bool is_first = session.ranks.rank() == 0;
  if (is_first) output_.probe();
  ProgressMonitor monitor(session, run_.entry().name, output_.progress_style());
  read_input(monitor);
  const Interrupt::Keeping keeping(session.interrupt);
  if (output_.time_limit > 0) monitor.set_time_limit(output_.time_limit);
  if (!shard_.empty()) return run_shard(session, monitor);
  const RunOutcome outcome = fit(monitor);
  monitor.clear();
  if (!is_first) return session.interrupt.was_requested() ? kInterrupted : kDone;
  for (const std::string& note : flags_.notes()) console.note(note);
  if (!output_.out.empty()) write_run(outcome, output_.out, output_.force);
  if (!session.interrupt.was_requested()) run_.method().on_saved();
  monitor.clear();
  if (output_.json)
    console.print(outcome.summary_json() + "\n");
  else if (!output_.quiet)
    print_result(console, outcome);
  if (!session.interrupt.was_requested()) return kDone;
  console.note(console.paint_err(Style::Yellow, "interrupted: this is the result so far"));
  return kInterrupted;
}

RunOutcome MethodCommand::fit(ProgressMonitor& monitor) {
  return merges_ ? run_.merge(shard_folder(output_.out), monitor) : run_.fit(monitor);
}

int MethodCommand::run_shard(Session& session, ProgressMonitor& monitor) {
  const Shard shard = parse_shard(shard_);
  const ShardProgress progress = run_.fit_shard(shard, shard_folder(output_.out), monitor);
  monitor.clear();
  if (output_.json)
    session.console.print(fmt::format("{{\"shard\": \"{}\", \"done\": {}, \"total\": {}}}\n",
                                      shard.text(), progress.done, progress.total));
  else if (!output_.quiet)
    session.console.print(fmt::format(
        "shard {}: {} of {} done\nnext: {}\n", shard.text(), progress.done,
        counted(progress.total, progress.item),
        progress.done < progress.total
            ? "the same command does the rest"
            : fmt::format("when all {} are complete, the same command with --merge in place of "
                          "--shard",
                          counted(shard.count, "shard"))));
  return session.interrupt.was_requested() ? kInterrupted : kDone;
}

void MethodCommand::print_result(Console& console, const RunOutcome& outcome) const {
  const RunSummary& summary = outcome.summary;
  console.print(dataset_text(outcome.input.data, outcome.input.images.feature) + "\n");
  console.print(summary_text(summary, console));
  console.print(outcome.text);
  if (outcome.shows_truth && outcome.truth_metrics)
    console.print(metrics_line(*outcome.truth_metrics) + "\n");
  for (const NamedMetrics& named : outcome.metrics)
    for (const Metrics& more : named.metrics)
      console.print(fmt::format("{}: {}\n", named.name, metrics_line(more)));
  if (summary.termination != Termination::Converged && !summary.message.empty())
    console.print(summary.message + "\n");
  for (const std::string& warning : summary.warnings)
    console.print(fmt::format("{} {}\n", console.paint(Style::Yellow, "warning:"), warning));
  console.print(next_steps(outcome));
}

std::string MethodCommand::next_steps(const RunOutcome& outcome) const {
  if (output_.out.empty()) return "next: add --out DIR to keep labels, model and a report\n";
  std::string text = fmt::format("wrote {0}: open {0}/report.html\n", output_.out);
  if (outcome.model && predicts(outcome.model->kind))
    text += fmt::format("next: milieu predict {} {} labels new samples\n", output_.out,
                        outcome.new_input);
  return text;
}

}  // namespace

RunCommand declare_method(const MethodEntry& method, Flags& flags) {
  auto command = std::make_shared<MethodCommand>(method, flags);
  command->declare();
  return [command](Session& session) { return command->run(session); };
}

}  // namespace milieu::cli
