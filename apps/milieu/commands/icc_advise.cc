// SPDX-License-Identifier: Apache-2.0
// milieu icc advise INPUT: icc/advise/icc_advise.h on the command line. Should a class be split?
#include "milieu/icc/advise/icc_advise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/output_flags.h"
#include "cli/progress.h"
#include "cli/result_text.h"
#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/csv_text.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/input/input.h"
#include "milieu/render/html.h"
#include "milieu/render/page.h"
#include "milieu/report/static_report.h"
#include "milieu/report/write_run.h"
#include "milieu/run/run_options.h"
#include "milieu/store/json.h"

namespace milieu::cli {

namespace {

struct AdviseCommand {
  InputSpec input;
  IccAdviseOptions options, defaults;
  OutputFlags output;
};

// What makes no sense for a judgement of classes.
std::vector<Field> input_fields(InputSpec& input) {
  std::vector<Field> fields = fields_of(input);
  std::erase_if(fields, [](const Field& field) { return field.name == "truth"; });
  return fields;
}

// Rows that have a class, and the classes that have rows.
struct Judged {
  std::vector<int64_t> rows;
  std::vector<int> classes;
  std::vector<std::string> names;
};

Judged judged_rows(const Dataset& data) {
  Judged judged;
  std::vector<int> number(data.labels.names.size(), -1);
  for (const int c : data.labels.indices)
    if (c >= 0) number[c] = 0;
  for (size_t c = 0; c < number.size(); ++c) {
    if (number[c] < 0) continue;
    number[c] = static_cast<int>(judged.names.size());
    judged.names.push_back(data.labels.names[c]);
  }
  for (size_t i = 0; i < data.labels.indices.size(); ++i) {
    if (data.labels.indices[i] < 0) continue;
    judged.rows.push_back(static_cast<int64_t>(i));
    judged.classes.push_back(number[data.labels.indices[i]]);
  }
  require(!judged.rows.empty(), [&] { return fmt::format("{}: no row has a class", data.source); });
  return judged;
}

// The numbers of the parts of each class.
std::vector<std::vector<int>> parts_of(const IccAdvice& advice) {
  std::vector<std::vector<int>> parts(advice.classes.size());
  for (size_t p = 0; p < advice.class_from_part.size(); ++p)
    parts[advice.class_from_part[p]].push_back(static_cast<int>(p));
  return parts;
}

std::string context_of(const IccClassAdvice& own, const Judged& judged) {
  return own.context < 0 ? "" : judged.names[own.context];
}

std::string advice_csv(const IccAdvice& advice, const Judged& judged) {
  CsvWriter csv;
  csv.row("class", "samples", "verdict", "parts", "gap_p", "stability", "gain", "gain_p", "context",
          "ended_confusions");
  const std::vector<std::vector<int>> parts = parts_of(advice);
  for (size_t c = 0; c < advice.classes.size(); ++c) {
    const IccClassAdvice& own = advice.classes[c];
    csv.row(judged.names[c], own.size, to_string(own.verdict),
            fmt::format("{}", fmt::join(parts[c], " ")), own.gap_p, own.stability, own.gain,
            own.gain_p, context_of(own, judged), own.ended_confusions);
  }
  return csv.text();
}

// The verdicts as a card of the report; its clusters are the parts.
std::string advice_card(const IccAdvice& advice, const Judged& judged) {
  Markup card;
  open_card(
      card, CardWidth::Full, "Verdicts",
      "clusters: the parts, as numbered below; p of gap: how often a class with one mode shows "
      "such a gap; stability: samples that land in the same part when the cut is learned "
      "without them; gain: held-out accuracy with the class split, minus without; context: the "
      "class with which most confusions end");
  Table table;
  table.caption = "Verdict and evidence of every class";
  table.columns = {{"class"},
                   {"samples", ColumnKind::Number},
                   {"verdict"},
                   {"clusters"},
                   {"p of gap", ColumnKind::Number},
                   {"stability", ColumnKind::Number},
                   {"gain", ColumnKind::Number},
                   {"context"}};
  const std::vector<std::vector<int>> parts = parts_of(advice);
  for (size_t c = 0; c < advice.classes.size(); ++c) {
    const IccClassAdvice& own = advice.classes[c];
    const bool is_split = own.part_sizes.size() > 1;
    table.rows.push_back({judged.names[c], fmt::format("{}", own.size), to_string(own.verdict),
                          fmt::format("{}", fmt::join(parts[c], ", ")),
                          fmt::format("{:.4f}", own.gap_p),
                          is_split ? fmt::format("{:.2f}", own.stability) : "",
                          is_split ? fmt::format("{:+.2f} %", 100 * own.gain) : "",
                          is_split ? context_of(own, judged) : ""});
  }
  add_table(card, table);
  close_card(card);
  return std::move(card).finish();
}

// "2 of 24 classes should be split: cars, ships."
std::string answer_text(const IccAdvice& advice, const std::vector<std::string>& names) {
  std::vector<std::string> split;
  for (size_t c = 0; c < advice.classes.size(); ++c)
    if (advice.classes[c].part_sizes.size() > 1) split.push_back(names[c]);
  const int64_t count = std::ssize(split);
  if (count == 0) return "No class should be split.";
  return fmt::format("{} of {} should be split: {}.", count,
                     counted(std::ssize(names), "class", "classes"), fmt::join(split, ", "));
}

// Small images; none where a file is gone or cannot be read.
MakeImage image_maker(const std::string& root, const std::vector<std::string>& names) {
  if (root.empty()) return {};
  return [root, &names](int64_t row, int max_side) {
    RasterImage raster;
    try {
      const Image image =
          load_image(root + "/" + names.at(static_cast<size_t>(row)), {.max_side = max_side});
      raster = RasterImage(image.width, image.height, 3);
      raster.pixels = image.rgb;
    } catch (const Error&) {
      // the report is worth more than this image
    }
    return raster;
  };
}

void write_folder(AdviseCommand& command, const Input& input, const Judged& judged,
                  const Dataset& samples, const IccAdvice& advice) {
  std::vector<int> truth = judged.classes;
  ReportInput report;
  report.summary = &advice.summary;
  report.options = fields_of(command.options);
  report.points = samples.points.view();
  report.labels = advice.labels;
  report.command = command_text("icc advise", input_fields(command.input),
                                fields_of(command.options), fields_of(command.defaults));
  report.source = samples.source;
  report.title = "Should a class be split?";
  report.answer = answer_text(advice, judged.names);
  report.first_cards = advice_card(advice, judged);
  report.truth = truth;
  report.class_names = judged.names;
  report.make_image = image_maker(input.images.root, samples.sample_names);
  const ImageSize size = image_size_of(input.data, command.input.image_size);
  report.image_width = size.width;
  report.image_height = size.height;
  const ResultFile file{"advice.csv", advice_csv(advice, judged)};
  write_run_files({.options_json = run_options_to_json("icc advise", input_fields(command.input),
                                                       fields_of(command.options)),
                   .summary_json = summary_to_json(advice.summary),
                   .labels = advice.labels,
                   .samples = &samples,
                   .files = {&file, 1},
                   .report_html = render_report(report)},
                  command.output.out, command.output.force);
}

// The rows that are judged, with their names.
Dataset samples_of(const Input& input, const Judged& judged) {
  if (judged.rows.size() == input.data.labels.indices.size()) return input.data;
  Dataset samples = input.data;
  samples.points = input.data.points.gather(judged.rows);
  samples.rows.clear();
  samples.sample_names.clear();
  for (const int64_t row : judged.rows) {
    samples.rows.push_back(input.data.rows.empty() ? row : input.data.rows[row]);
    if (!input.data.sample_names.empty())
      samples.sample_names.push_back(input.data.sample_names[row]);
  }
  return samples;
}

int run_advise(AdviseCommand& command, Session& session) {
  Console& console = session.console;
  command.output.apply(session);
  command.output.probe();
  ProgressMonitor monitor(session, "icc advise", command.output.progress_style());
  const Input input = read_rows(command.input, command.options.num_threads, "", monitor);
  if (input.data.labels.empty())
    throw UsageError("INPUT has no classes: give --labels or --label-column, or class folders");
  const Judged judged = judged_rows(input.data);
  const Dataset samples = samples_of(input, judged);
  const Interrupt::Keeping keeping(session.interrupt);
  if (command.output.time_limit > 0) monitor.set_time_limit(command.output.time_limit);
  monitor.on_stage(RunStage::Fitting, "icc advise");
  IccAdvice advice = advise_icc({samples.points.view(), judged.classes}, command.options, monitor);
  advice.summary.extra.emplace_back("classes", judged.names);
  advice.summary.warnings.insert(advice.summary.warnings.end(), input.warnings.begin(),
                                 input.warnings.end());
  if (!command.output.out.empty()) write_folder(command, input, judged, samples, advice);
  monitor.clear();
  if (command.output.json) {
    console.print(summary_to_json(advice.summary) + "\n");
  } else if (!command.output.quiet) {
    console.print(dataset_text(input.data) + "\n" + advice_text(advice, judged.names));
    for (const std::string& warning : advice.summary.warnings)
      console.note(console.paint_err(Style::Yellow, "warning: " + warning));
    console.print(command.output.out.empty()
                      ? "next: add --out DIR for a report with the parts of every class\n"
                      : fmt::format("wrote {0}: open {0}/report.html\n", command.output.out));
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
  command->output.declare_progress(flags);
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
