// SPDX-License-Identifier: Apache-2.0
// The life of a run: options (file, then flags) -> input -> fit -> run folder -> result on stdout.
// Until the fit begins nothing is written, so Ctrl-C simply ends the program; from then on it stops
// the fit and what is valid is kept (interrupt.h).
#include "cli/cluster_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "explorer_report.h"
#include "method.h"
#include "milieu/base/error.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/selection.h"
#include "milieu/metrics/metrics.h"
#include "milieu/render/report.h"
#include "milieu/store/json.h"
#include "milieu/store/predictors.h"
#include "milieu/store/run_folder.h"
#include "picture_input.h"
#include "cli/progress.h"
#include "cli/result_text.h"
#include "rows.h"
#include "cli/run_options.h"

namespace milieu::cli {

namespace {

constexpr const char* kInput = "Input";
constexpr const char* kOutput = "Output";

// Flags that say what happens to the result; they are no part of options.json.
struct OutputOptions {
  std::string preset;
  std::string options_path;
  std::string out;
  bool force = false;
  bool json = false;
  bool quiet = false;
  bool progress_json = false;
  double time_limit = 0;
};

// Only what has a range; the others are declared by hand.
template <class Visitor>
void visit_fields(OutputOptions& o, Visitor&& v) {
  v("time_limit", o.time_limit, at_least(0),
    "stop after this many seconds and keep the result so far; 0 means no limit");
}

class ClusterCommand {
 public:
  ClusterCommand(const Command& command, Flags& flags)
      : name_(command.name), command_(command), flags_(flags), method_(command.make_method()) {}

  void declare();
  int run(Session& session);

 private:
  std::vector<Field> input_fields();
  std::vector<Field> result_option_fields();
  int num_threads();
  void apply_preset();
  void read_options();
  void load(ProgressMonitor& monitor, Session& session);
  PictureInput load_rows(const LoadOptions& options, ProgressMonitor& monitor,
                         Session& session) const;
  MethodResult fit(const Dataset& data, ProgressMonitor& monitor);
  void write_run_folder(const MethodResult& result, const Dataset& data, const Metrics* metrics);
  std::string render(const MethodResult& result, const Dataset& data, const Metrics* metrics);
  void print_result(Console& console, const MethodResult& result, const Dataset& data,
                    const Metrics* metrics) const;
  std::string next_steps(const MethodResult& result) const;

  std::string name_;
  const Command& command_;
  Flags& flags_;
  std::unique_ptr<Method> method_;
  InputOptions input_;
  OutputOptions output_;
  PictureInput loaded_;
  Labels truth_;  // of the kept rows; empty: unknown
  ImageSize image_size_;
  bool path_is_recorded_ = false;  // INPUT was read from an options file
};

void ClusterCommand::declare() {
  const std::vector<Field> inputs = input_fields();
  flags_.field_argument(
      "INPUT", inputs[0],
      "what to cluster, samples as rows: .npy, .csv, .tsv or idx (.gz too); or a folder "
      "of pictures or of features");
  for (size_t i = 1; i < inputs.size(); ++i)
    flags_.field(inputs[i], input_value_name(inputs[i]), kInput);
  flags_.method_fields(method_->option_fields());
  std::vector<std::string> presets;
  for (const Preset& preset : method_->presets()) presets.push_back(preset.name);
  flags_.preset(std::move(presets), output_.preset);
  flags_.text("--options", output_.options_path, "FILE",
              "take input and options from the options.json of an earlier run (or its folder); "
              "flags given here win",
              kInput);
  flags_.text("--out", output_.out, "DIR",
              "run folder: options.json, summary.json, labels.csv, model.safetensors, report.html",
              kOutput);
  flags_.boolean("--force", output_.force, "replace the run folder DIR if it exists", kOutput);
  flags_.boolean("--json", output_.json, "print the summary as JSON and nothing else", kOutput);
  flags_.boolean("-q,--quiet", output_.quiet, "no progress and no text, only errors", kOutput);
  flags_.field(fields_of(output_)[0], "SECONDS", kOutput);
  flags_.boolean("--progress-json", output_.progress_json,
                 "progress as JSON on stderr, one object a line", "");
}

void ClusterCommand::apply_preset() {
  if (output_.preset.empty()) return;
  flags_.apply_given();  // a preset may depend on which files are given
  input_ = {};
  std::string known;
  for (const Preset& preset : method_->presets()) {
    if (preset.name == output_.preset) return preset.apply();
    known += (known.empty() ? "" : " or ") + preset.name;
  }
  throw UsageError(fmt::format("preset is '{}', must be {}", output_.preset, known));
}

// The shared input fields (the path first), then the method's own files.
std::vector<Field> ClusterCommand::input_fields() {
  std::vector<Field> fields = fields_of(input_);
  for (Field& field : method_->file_fields()) fields.push_back(std::move(field));
  return fields;
}

// The options that the result depends on: all but the number of threads.
std::vector<Field> ClusterCommand::result_option_fields() {
  std::vector<Field> fields = method_->option_fields();
  std::erase_if(fields, [](const Field& field) { return field.name == "num_threads"; });
  return fields;
}

int ClusterCommand::num_threads() {
  for (const Field& field : method_->option_fields())
    if (field.name == "num_threads") return static_cast<int>(std::get<int64_t>(field.get()));
  return 0;
}

void ClusterCommand::read_options() {
  apply_preset();
  if (!output_.options_path.empty())
    read_run_options(output_.options_path, name_, input_fields(), method_->option_fields());
  const std::string recorded = input_.path;
  flags_.apply_given();
  path_is_recorded_ = !recorded.empty() && input_.path == recorded;
  if (method_->takes_input() && input_.path.empty())
    throw UsageError("INPUT is missing: name the file to cluster, or an earlier run by --options");
  if (!method_->takes_input() && !input_.path.empty())
    throw UsageError(fmt::format(
        "INPUT is {}, but another flag already says what to cluster: leave one of them out",
        input_.path));
  validate_fields(method_->option_fields());
  validate_fields(fields_of(output_));
  parse_image_size(input_.image_size);
}

int ClusterCommand::run(Session& session) {
  Console& console = session.console;
  console.set_quiet(output_.quiet);
  session.interrupt.set_quiet(output_.quiet);
  read_options();
  if (!output_.out.empty()) {
    const RunFolder probe(output_.out, output_.force);  // refused now or never, and gone again
  }

  ProgressMonitor monitor(console, session.interrupt.token(), name_,
                          output_.progress_json ? ProgressStyle::Json : ProgressStyle::Text);
  monitor.announce(input_.path.empty() ? "reading" : "reading " + input_.path);
  load(monitor, session);
  const Dataset& data = loaded_.data;

  const Interrupt::Keeping keeping(session.interrupt);
  const MethodResult result = fit(data, monitor);
  std::optional<Metrics> metrics;
  if (!truth_.empty()) metrics = compute_metrics(result.labels, truth_.indices);
  const Metrics* metrics_or_null = metrics ? &*metrics : nullptr;
  if (!output_.out.empty()) write_run_folder(result, data, metrics_or_null);
  if (!session.interrupt.was_requested()) method_->on_saved();
  monitor.clear();

  if (output_.json)
    console.print(summary_to_json(result.summary, metrics_or_null, result.metrics) + "\n");
  else if (!output_.quiet)
    print_result(console, result, data, metrics_or_null);
  if (!session.interrupt.was_requested()) return kDone;
  console.note(console.paint_err(Style::Yellow, "interrupted: this is the result so far"));
  return kInterrupted;
}

PictureInput ClusterCommand::load_rows(const LoadOptions& options, ProgressMonitor& monitor,
                                       Session& session) const {
  const PictureOptions pictures{.feature = input_.feature,
                                .max_side = input_.max_side,
                                .codebook = input_.codebook,
                                .vocabulary_folder = {}};
  try {
    const std::string model = method_->model_of_input();
    if (model.empty()) return load_input(input_.path, pictures, options, monitor, session);
    return load_input_like_training(input_.path, model, pictures, options, monitor, session);
  } catch (const IoError& error) {
    if (!path_is_recorded_) throw;
    throw IoError(fmt::format("{} (so named in {}: give INPUT if it is elsewhere)", error.what(),
                              output_.options_path));
  }
}

// Everything is read before the fit, so that a wrong file is found before an hour of work.
void ClusterCommand::load(ProgressMonitor& monitor, Session& session) {
  LoadOptions options;
  options.labels_path = input_.labels;
  options.label_column = input_.label_column;
  options.select = input_.select;
  if (!input_.rows.empty()) options.rows = load_row_numbers(input_.rows);
  options.num_threads = num_threads();
  const bool is_own = input_.feature.empty() || !method_->takes_features();
  OwnInput own{input_.feature, input_.max_side, input_.codebook, {}, &monitor};
  if (auto data = is_own ? method_->load_own_input(input_.path, options, own) : std::nullopt) {
    loaded_.data = std::move(*data);
    loaded_.warnings = std::move(own.warnings);
    input_.feature = own.feature, input_.max_side = own.max_side;
  } else {
    if (method_->wants_counts() && !input_.feature.empty() && !is_feature_input(input_.path))
      input_.feature = counting_features(input_.feature);
    loaded_ = load_rows(options, monitor, session);
    if (input_.feature.empty()) input_.feature = loaded_.feature;  // chosen by itself
    if (input_.max_side.empty()) input_.max_side = loaded_.max_side;
  }
  const Dataset& data = loaded_.data;
  RowFiles rows(data.source, data, options,
                [&](const LoadOptions& other) { return load_rows(other, monitor, session).data; });
  method_->load_files(rows);
  truth_ = method_->load_truth(rows, input_.truth);
  image_size_ = image_size_of(data, input_.image_size);
}

MethodResult ClusterCommand::fit(const Dataset& data, ProgressMonitor& monitor) {
  monitor.announce("running");
  if (output_.time_limit > 0) monitor.set_time_limit(output_.time_limit);
  MethodResult result = method_->fit(data, monitor);
  if (result.model) result.model->options_json = options_to_json(result_option_fields());
  std::vector<std::string>& warnings = result.summary.warnings;
  warnings.insert(warnings.end(), loaded_.warnings.begin(), loaded_.warnings.end());
  return result;
}

void ClusterCommand::write_run_folder(const MethodResult& result, const Dataset& data,
                                      const Metrics* metrics) {
  RunFolder folder(output_.out, output_.force);
  folder.write_text("options.json",
                    run_options_to_json(name_, input_fields(), method_->option_fields()));
  folder.write_text("summary.json",
                    summary_to_json(result.summary, metrics, result.metrics) + "\n");
  const Dataset& units = result.units ? *result.units : data;
  folder.write_labels(result.labels, units.sample_names, units.rows);
  if (result.model) folder.write_model(*result.model);
  for (const ResultFile& file : result.files) folder.write_file(file.name, file.content);
  for (const auto& [name, path] : loaded_.vocabulary)
    folder.write_file(name, MappedFile::open(path)->text());
  folder.write_text("report.html", render(result, data, metrics));
  folder.commit();
}

std::string ClusterCommand::render(const MethodResult& result, const Dataset& data,
                                   const Metrics* metrics) {
  const std::unique_ptr<Method> defaults = command_.make_method();
  ReportInput report;
  report.summary = &result.summary;
  report.options = result_option_fields();
  const Dataset& units = result.units ? *result.units : data;
  report.points = units.points.view();
  report.labels = result.labels;
  report.metrics = metrics;
  report.command =
      command_text(name_, input_fields(), method_->option_fields(), defaults->option_fields());
  report.source = units.source;
  report.margins = result.margins;
  report.cards = result.cards;
  report.truth = truth_.indices;
  report.class_names = truth_.names;
  ExplorerReport explorer{.data = &units,
                          .labels = result.labels,
                          .truth = &truth_,
                          .model = result.model ? &*result.model : nullptr,
                          .root = {},
                          .feature = {},
                          .image_size = {},
                          .method = name_,
                          .command = report.command,
                          .summary_json = summary_to_json(result.summary, metrics, result.metrics),
                          .files = {}};
  for (const ResultFile& file : result.files) explorer.files.emplace_back(file.name, file.content);
  explorer.root = result.units ? result.units_root : loaded_.root;
  if (!explorer.root.empty())
    report.make_picture = picture_maker(explorer.root, units.sample_names);
  if (!result.units) {
    report.image_width = image_size_.width;
    report.image_height = image_size_.height;
    explorer.feature = loaded_.feature;
    explorer.image_size = image_size_;
  }
  return with_explorer(render_report(report), explorer);
}

void ClusterCommand::print_result(Console& console, const MethodResult& result, const Dataset& data,
                                  const Metrics* metrics) const {
  const RunSummary& summary = result.summary;
  console.print(dataset_text(data) + "\n");
  console.print(summary_text(summary, console));
  console.print(result.text);
  if (metrics) console.print(metrics_line(*metrics) + "\n");
  for (const NamedMetrics& named : result.metrics)
    for (const Metrics& more : named.metrics)
      console.print(fmt::format("{}: {}\n", named.name, metrics_line(more)));
  if (summary.termination != Termination::Converged && !summary.message.empty())
    console.print(summary.message + "\n");
  for (const std::string& warning : summary.warnings)
    console.print(fmt::format("{} {}\n", console.paint(Style::Yellow, "warning:"), warning));
  console.print(next_steps(result));
}

std::string ClusterCommand::next_steps(const MethodResult& result) const {
  if (output_.out.empty()) return "next: add --out DIR to keep labels, model and a report\n";
  std::string text = fmt::format("wrote {0}: open {0}/report.html\n", output_.out);
  const std::vector<std::string> kinds = predicting_kinds();
  if (result.model && std::find(kinds.begin(), kinds.end(), result.model->kind) != kinds.end())
    text += fmt::format("next: milieu predict {} {} labels new samples\n", output_.out,
                        loaded_.root.empty() ? method_->new_input_text() : "FOLDER");
  return text;
}

}  // namespace

Run declare_clustering(const Command& command, Flags& flags) {
  auto runner = std::make_shared<ClusterCommand>(command, flags);
  runner->declare();
  return [runner](Session& session) { return runner->run(session); };
}

}  // namespace milieu::cli
