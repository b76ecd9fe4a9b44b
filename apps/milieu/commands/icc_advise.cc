// SPDX-License-Identifier: Apache-2.0
// milieu icc advise INPUT: icc/icc_advise.h on the command line. Should a class be split?
#include "milieu/icc/icc_advise.h"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/output_flags.h"
#include "cli/progress.h"
#include "cli/result_text.h"
#include "milieu/base/error.h"
#include "milieu/input/input.h"
#include "milieu/report/write_run.h"
#include "milieu/run/run_options.h"
#include "milieu/store/json.h"

namespace milieu::cli {

namespace {

struct AdviseCommand {
  InputSpec input;
  IccAdviseOptions options;
  OutputFlags output;
};

// What makes no sense for a judgement of classes.
std::vector<Field> input_fields(InputSpec& input) {
  std::vector<Field> fields = fields_of(input);
  std::erase_if(fields, [](const Field& field) { return field.name == "truth"; });
  return fields;
}

int run_advise(AdviseCommand& command, Session& session) {
  Console& console = session.console;
  command.output.apply(session);
  command.output.probe();
  ProgressMonitor monitor(session, "icc advise");
  const Input input = read_rows(command.input, command.options.num_threads, "", monitor);
  if (input.data.labels.empty())
    throw UsageError("INPUT has no classes: give --labels or --label-column, or class folders");
  const Interrupt::Keeping keeping(session.interrupt);
  if (command.output.time_limit > 0) monitor.set_time_limit(command.output.time_limit);
  monitor.on_stage(RunStage::Fitting, "icc advise");
  const IccAdvice advice =
      advise_icc({input.data.points.view(), input.data.labels.indices}, command.options, monitor);
  monitor.clear();
  if (command.output.json) {
    console.print(summary_to_json(advice.summary) + "\n");
  } else if (!command.output.quiet) {
    console.print(dataset_text(input.data) + "\n" +
                  advice_text(advice, input.data.labels.names));
  }
  return session.interrupt.was_requested() ? kInterrupted : kDone;
}

RunCommand declare_advise(Flags& flags) {
  auto command = std::make_shared<AdviseCommand>();
  const std::vector<Field> inputs = input_fields(command->input);
  flags.field_argument("INPUT", inputs[0],
                       "samples with classes, as rows: a file of numbers, an image folder with one "
                       "sub-folder per class, or a feature folder");
  for (size_t i = 1; i < inputs.size(); ++i)
    flags.field(inputs[i], input_value_name(inputs[i]), "Input");
  flags.method_fields(fields_of(command->options));
  command->output.declare(
      flags, "folder for report.html, advice.csv, labels.csv, summary.json, options.json", true);
  return [command, &flags](Session& session) {
    flags.apply_given();
    if (command->input.path.empty())
      throw UsageError("INPUT is missing: give samples with classes");
    validate_options(command->options);
    command->output.validate();
    return run_advise(*command, session);
  };
}

constexpr const char* kExample =
    "  milieu icc advise photos --out advice\n"
    "    judges every sub-folder of photos: keep it as one class, or split it, with the evidence;\n"
    "    advice/report.html shows images of the parts.\n";

}  // namespace

Command icc_advise_command() {
  return {.name = "icc advise",
          .summary = "judge for every class whether it should be split",
          .example = kExample,
          .declare = declare_advise};
}

}  // namespace milieu::cli
