// SPDX-License-Identifier: Apache-2.0
// milieu icc classify TRAIN TEST: icc/icc_classifier.h on the command line.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "cli/commands.h"
#include "cli/output_flags.h"
#include "cli/progress.h"
#include "cli/result_text.h"
#include "milieu/base/error.h"
#include "milieu/data/dataset.h"
#include "milieu/icc/icc_classifier.h"
#include "milieu/input/input.h"
#include "milieu/input/training.h"
#include "milieu/report/write_run.h"
#include "milieu/run/methods/icc_run.h"
#include "milieu/run/run_options.h"
#include "milieu/store/json.h"
#include "milieu/store/labels_csv.h"

namespace milieu::cli {

namespace {

struct ClassifyInput {
  InputSpec train;
  std::string test;
  std::string test_labels;
  std::string test_vectors;
  std::string test_vector_names;
};

template <class Visitor>
void visit_test_fields(ClassifyInput& o, Visitor&& v) {
  v("test", o.test, anything(), "samples to classify");
  v("test_labels", o.test_labels, anything(),
    "file with the true class of every row of TEST: adds the accuracy (default: its class "
    "folders, or --label-column)");
  v("test_vectors", o.test_vectors, anything(),
    "with --vectors: those of TEST, one row per image in the order of the sorted names");
  v("test_vector_names", o.test_vector_names, anything(),
    "the image that each row of --test-vectors describes, one name per line");
}

// Says whose rows are meant, where the help of an INPUT speaks of rows.
std::string help_of_train(std::string help) {
  for (const auto& [from, to] : {std::pair("INPUT is", "TRAIN is"),
                                 {"every row", "every row of TRAIN"},
                                 {"the rows", "the rows of TRAIN"},
                                 {".csv or .tsv", ".csv or .tsv TRAIN (and TEST)"}})
    if (const size_t at = help.find(from); at != std::string::npos)
      help.replace(at, std::string_view(from).size(), to);
  return help;
}

// TRAIN as every command reads its INPUT, then TEST. What serves a clustering only is left out.
std::vector<Field> input_fields(ClassifyInput& input) {
  std::vector<Field> fields = fields_of(input.train);
  std::erase_if(fields, [](const Field& field) {
    return field.name == "truth" || field.name == "image_size";
  });
  fields[0].name = "train";
  for (Field& field : fields) field.help = help_of_train(field.help);
  internal::FieldCollector collect(fields);
  visit_test_fields(input, collect);
  return fields;
}

struct ClassifyOptions {
  ClassifyInput input;
  IccClassifierOptions classifier;
  std::string preset;
  bool print_classes = false;  // of every row of TEST, instead of the summary
  OutputFlags output;
};

constexpr int kNoClass = -1;     // the row has no label: it counts nowhere
constexpr int kOtherClass = -2;  // a class that TRAIN does not have: always an error

// Classes of TEST as numbers of TRAIN's classes.
std::vector<int> translate(const Labels& test, const Labels& train) {
  std::vector<int> train_from_test;
  for (const std::string& name : test.names) {
    const auto found = std::ranges::find(train.names, name);
    train_from_test.push_back(
        found == train.names.end() ? kOtherClass : static_cast<int>(found - train.names.begin()));
  }
  std::vector<int> classes;
  for (const int index : test.indices)
    classes.push_back(index < 0 ? kNoClass : train_from_test[index]);
  return classes;
}

// Numbers of classes as users wrote them, where all are whole numbers; else their place in the
// sorted list of names.
std::vector<int> shown_classes(const std::vector<int>& predicted,
                               const std::vector<std::string>& names) {
  std::vector<int> numbers;
  for (const std::string& name : names) {
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size()) return predicted;
    numbers.push_back(number);
  }
  std::vector<int> shown;
  for (const int label : predicted) shown.push_back(numbers[label]);
  return shown;
}

// Rows that have a class.
IccClassifierInput training_rows(const Dataset& train, Points& kept, std::vector<int>& classes) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < train.labels.indices.size(); ++i)
    if (train.labels.indices[i] >= 0) {
      rows.push_back(static_cast<int64_t>(i));
      classes.push_back(train.labels.indices[i]);
    }
  require(!rows.empty(), [&] { return fmt::format("{}: no row has a class", train.source); });
  kept = train.points.gather(rows);
  return {kept.view(), classes};
}

struct Classified {
  IccClassifierResult fitted;
  std::vector<int> predicted;
  std::vector<int> truth;  // empty: unknown
};

Input read_train(InputSpec& spec, int num_threads, Monitor& monitor) {
  Input train = read_rows(spec, num_threads, "", monitor);
  if (train.data.labels.empty())
    throw UsageError("TRAIN has no classes: give --labels or --label-column, or class folders");
  return train;
}

// TEST becomes rows in the way of TRAIN: the same features, with the same visual words.
InputRows open_test(const ClassifyInput& input, const Input& train, int num_threads,
                    Monitor& monitor) {
  const bool is_folder = is_image_folder(input.test);
  if (is_folder && train.images.root.empty())
    throw InvalidArgument(
        fmt::format("TEST is {}, an image folder, but TRAIN is {}, a file of numbers: give both "
                    "in the same form",
                    input.test, input.train.path));
  if (is_folder && !input.train.vectors.empty() && input.test_vectors.empty())
    throw UsageError("TRAIN has --vectors: give those of TEST with --test-vectors FILE");
  if (!input.test_vectors.empty() && input.train.vectors.empty())
    throw UsageError("--test-vectors is given without --vectors: give the vectors of TRAIN too");
  LoadOptions load;
  load.labels_path = input.test_labels;
  if (input.test_labels.empty()) load.label_column = input.train.label_column;
  load.num_threads = num_threads;
  ImageOptions images;
  images.vectors = input.test_vectors;
  images.vector_names = input.test_vector_names;
  return open_rows_like(input.test, train.images, input.train.path, images, load, monitor);
}

void add_test_figures(RunSummary& summary, const Classified& done, int64_t num_test) {
  summary.extra.emplace_back("test_n", num_test);
  if (done.truth.empty()) return;
  int64_t right = 0, known = 0;
  for (size_t i = 0; i < done.truth.size(); ++i) {
    if (done.truth[i] == kNoClass) continue;
    ++known;
    right += done.truth[i] == done.predicted[i];
  }
  summary.extra.emplace_back("test_labelled", known);
  if (known > 0)
    summary.extra.emplace_back("test_accuracy",
                               static_cast<double>(right) / static_cast<double>(known));
}

void write_folder(ClassifyOptions& options, const Classified& done, const Input& train,
                  const Dataset& test) {
  const std::vector<std::string>& names = train.data.labels.names;
  const std::vector<int> labels = shown_classes(done.predicted, names);
  const ResultFile classes{"classes.csv", classes_csv_text(names)};
  ModelFile model = to_model_file(done.fitted.model);
  model.options_json = options_to_json(fields_of(options.classifier));
  add_training(train.images, model);
  write_run_files({.options_json = run_options_to_json("icc classify", input_fields(options.input),
                                                       fields_of(options.classifier)),
                   .summary_json = summary_to_json(done.fitted.summary),
                   .labels = labels,
                   .samples = &test,
                   .model = &model,
                   .files = {&classes, 1},
                   .vocabulary = train.images.vocabulary},
                  options.output.out, options.output.force);
}

void print_classes(const ClassifyOptions& options, const Classified& done, const Dataset& train,
                   const Dataset& test, Console& console) {
  const RunSummary& summary = done.fitted.summary;
  if (options.output.json) {
    console.print(summary_to_json(summary) + "\n");
  } else if (options.print_classes) {
    std::string text;
    for (const int c : done.predicted) text += train.labels.names[c] + "\n";
    console.print(text);
  } else if (!options.output.quiet) {
    console.print(dataset_text(train) + "\n" + dataset_text(test) + "\n");
    console.print(summary_text(summary, console));
    for (const std::string& warning : summary.warnings)
      console.print(fmt::format("{} {}\n", console.paint(Style::Yellow, "warning:"), warning));
    console.print(options.output.out.empty()
                      ? "next: add --out DIR to keep the classes of TEST and the model, or "
                        "--print-classes to print them\n"
                      : fmt::format("wrote {0}: {0}/labels.csv has the classes of {1}\n",
                                    options.output.out, test.source));
  }
}

int run_classify(ClassifyOptions& options, Session& session) {
  options.output.apply(session);
  options.output.probe();
  const int threads = options.classifier.icc.num_threads;
  ProgressMonitor monitor(session, "icc classify");
  monitor.on_stage(RunStage::Reading, options.input.train.path);
  const Input train = read_train(options.input.train, threads, monitor);
  const InputRows opened = open_test(options.input, train, threads, monitor);
  const Dataset test = opened.rows.take();
  const Interrupt::Keeping keeping(session.interrupt);
  Points kept;
  std::vector<int> classes;
  Classified done;
  done.fitted =
      fit_icc_classifier(training_rows(train.data, kept, classes), options.classifier, monitor);
  done.predicted = predict(done.fitted.model, test.points.view(), threads);
  if (!test.labels.empty()) done.truth = translate(test.labels, train.data.labels);
  RunSummary& summary = done.fitted.summary;
  for (const std::vector<std::string>* warnings : {&train.warnings, &opened.warnings})
    summary.warnings.insert(summary.warnings.end(), warnings->begin(), warnings->end());
  add_test_figures(summary, done, test.points.rows());
  if (!options.output.out.empty()) write_folder(options, done, train, test);
  monitor.clear();
  print_classes(options, done, train.data, test, session.console);
  return session.interrupt.was_requested() ? kInterrupted : kDone;
}

RunCommand declare_classify(Flags& flags) {
  auto options = std::make_shared<ClassifyOptions>();
  flags.argument("TRAIN", options->input.train.path, true,
                 "samples to learn from, with classes, as rows: a file of numbers, an image folder "
                 "with one sub-folder per class, or a feature folder");
  flags.argument("TEST", options->input.test, true,
                 "samples to classify, in the same form; images are described as those of TRAIN");
  for (const Field& field : input_fields(options->input))
    if (field.name != "train" && field.name != "test")
      flags.field(field, input_value_name(field), "Input");
  flags.method_fields(fields_of(options->classifier));
  flags.preset({"paper"}, options->preset);
  options->output.declare(
      flags, "folder for labels.csv, model.safetensors, summary.json, options.json, classes.csv",
      false);
  flags.boolean("--print-classes", options->print_classes,
                "print the class of every row of TEST, one per line, instead of the summary",
                "Output");
  return [options, &flags](Session& session) {
    if (!options->preset.empty() && options->preset != "paper")
      throw UsageError(fmt::format("preset is '{}', must be paper", options->preset));
    if (options->preset == "paper") apply_paper_preset(options->classifier);
    flags.apply_given();
    validate_options(options->classifier);
    return run_classify(*options, session);
  };
}

constexpr const char* kExample =
    "  milieu icc classify train.npy test.npy --labels train_labels.npy --auto --out run\n"
    "    splits the classes of train.npy into sub-classes, learns to separate them, and writes\n"
    "    the class of every row of test.npy to run/labels.csv. The same classifier later:\n"
    "  milieu predict run more.npy\n"
    "    Images; the classes are the sub-folders of train_photos:\n"
    "  milieu icc classify train_photos test_photos --feature gist --out run\n";

}  // namespace

Command icc_classify_command() {
  return {.name = "icc classify",
          .summary = "learn classes from TRAIN through sub-classes, classify TEST",
          .example = kExample,
          .declare = declare_classify};
}

}  // namespace milieu::cli
