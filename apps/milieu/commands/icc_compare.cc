// SPDX-License-Identifier: Apache-2.0
// milieu icc compare INPUT: icc/icc_compare.h on the command line. Do sub-classes help a
// classifier?
#include "milieu/icc/icc_compare.h"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/output_flags.h"
#include "cli/progress.h"
#include "cli/result_text.h"
#include "milieu/base/error.h"
#include "milieu/input/input.h"
#include "milieu/input/row_files.h"
#include "milieu/report/write_run.h"
#include "milieu/run/methods/icc_run.h"
#include "milieu/run/run_options.h"
#include "milieu/store/json.h"

namespace milieu::cli {

namespace {

struct CompareInput {
  InputSpec input;
  std::string groups;
};

template <class Visitor>
void visit_fields(CompareInput& o, Visitor&& v) {
  visit_fields(o.input, v);
  v("groups", o.groups, anything(), "file with the group of every row: groups are tested together");
}

struct CompareCommand {
  CompareInput input;
  IccCompareOptions options;
  std::string preset;
  OutputFlags output;
};

// What makes no sense for a comparison of classifiers.
std::vector<Field> input_fields(CompareInput& input) {
  std::vector<Field> fields = fields_of(input);
  std::erase_if(fields, [](const Field& field) {
    return field.name == "truth" || field.name == "image_size";
  });
  return fields;
}

RunSummary summarize(const CompareCommand& command, const Dataset& data, const IccComparison& table,
                     double seconds) {
  RunSummary summary;
  summary.method = "icc compare";
  summary.version = version();
  summary.seed = command.options.classifier.icc.seed;
  summary.n = data.points.rows();
  summary.d = data.points.cols();
  summary.seconds = seconds;
  add_comparison(table, summary);
  return summary;
}

void write_folder(CompareCommand& command, const IccComparison& table, const RunSummary& summary) {
  const ResultFile file{"comparison.csv", comparison_csv(table)};
  write_run_files({.options_json = run_options_to_json("icc compare", input_fields(command.input),
                                                       fields_of(command.options)),
                   .summary_json = summary_to_json(summary),
                   .files = {&file, 1}},
                  command.output.out, command.output.force);
}

int run_compare(CompareCommand& command, Session& session) {
  Console& console = session.console;
  command.output.apply(session);
  command.output.probe();
  ProgressMonitor monitor(session, "icc compare");
  const Input input =
      read_rows(command.input.input, command.options.classifier.icc.num_threads, "", monitor);
  if (input.data.labels.empty())
    throw UsageError("INPUT has no classes: give --labels or --label-column");
  std::vector<int> groups;
  if (!command.input.groups.empty())
    groups = RowFiles(input.data.source, input.data).labels(command.input.groups).indices;
  const Interrupt::Keeping keeping(session.interrupt);
  if (command.output.time_limit > 0) monitor.set_time_limit(command.output.time_limit);
  monitor.on_stage(RunStage::Fitting, "icc compare");
  const Stopwatch watch;
  const IccComparison table = compare_labelled(input.data.points.view(), input.data.labels.indices,
                                               groups, command.options, monitor);
  const RunSummary summary = summarize(command, input.data, table, watch.seconds());
  if (!command.output.out.empty()) write_folder(command, table, summary);
  monitor.clear();
  if (command.output.json) {
    console.print(summary_to_json(summary) + "\n");
  } else if (!command.output.quiet) {
    console.print(dataset_text(input.data) + "\n" + comparison_text(table));
    for (const std::string& warning : summary.warnings)
      console.note(console.paint_err(Style::Yellow, "warning: " + warning));
    if (!command.output.out.empty())
      console.print(
          fmt::format("wrote {0}: {0}/comparison.csv has the table\n", command.output.out));
  }
  if (!session.interrupt.was_requested()) return kDone;
  console.note(console.paint_err(Style::Yellow, "interrupted: these are the trials so far"));
  return kInterrupted;
}

RunCommand declare_compare(Flags& flags) {
  auto command = std::make_shared<CompareCommand>();
  const std::vector<Field> inputs = input_fields(command->input);
  flags.field_argument("INPUT", inputs[0],
                       "samples with classes, as rows: a file of numbers, an image folder with one "
                       "sub-folder per class, or a feature folder");
  for (size_t i = 1; i < inputs.size(); ++i)
    flags.field(inputs[i], input_value_name(inputs[i]), "Input");
  flags.method_fields(fields_of(command->options));
  flags.preset({"paper"}, command->preset);
  command->output.declare(flags, "folder for comparison.csv, summary.json, options.json", true);
  return [command, &flags](Session& session) {
    if (!command->preset.empty() && command->preset != "paper")
      throw UsageError(fmt::format("preset is '{}', must be paper", command->preset));
    if (command->preset == "paper") apply_paper_preset(command->options.classifier);
    flags.apply_given();
    if (command->input.input.path.empty())
      throw UsageError("INPUT is missing: give samples with classes");
    validate_options(command->options);
    command->output.validate();
    return run_compare(*command, session);
  };
}

constexpr const char* kExample =
    "  milieu icc compare vowels.npy --labels vowel_names.npy --auto --holdout 0.1 --repeat 20\n"
    "    tests classifiers with and without sub-classes on 20 random tenths of the rows and "
    "prints\n"
    "    mean accuracies with a paired test. By cross-validation instead:\n"
    "  milieu icc compare vowels.npy --labels vowel_names.npy --cv 5 --repeat 4\n";

}  // namespace

Command icc_compare_command() {
  return {.name = "icc compare",
          .summary = "compare classifiers with and without sub-classes",
          .example = kExample,
          .declare = declare_compare};
}

}  // namespace milieu::cli
