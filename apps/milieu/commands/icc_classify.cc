// SPDX-License-Identifier: Apache-2.0
// milieu icc classify TRAIN TEST: icc/icc_classifier.h on the command line.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/output_flags.h"
#include "cli/progress.h"
#include "cli/result_text.h"
#include "milieu/base/error.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/dataset.h"
#include "milieu/icc/icc_classifier.h"
#include "milieu/run/methods/icc_run.h"
#include "milieu/run/run_options.h"
#include "milieu/store/json.h"
#include "milieu/store/run_folder.h"

namespace milieu::cli {

namespace {

struct ClassifyInput {
  std::string train;
  std::string test;
  std::string labels;
  std::string label_column;
  std::string test_labels;
};

template <class Visitor>
void visit_fields(ClassifyInput& o, Visitor&& v) {
  v("train", o.train, anything(), "samples to learn from");
  v("test", o.test, anything(), "samples to classify");
  v("labels", o.labels, anything(), "file with the class of every row of TRAIN");
  v("label_column", o.label_column, anything(),
    "column of a .csv or .tsv TRAIN (and TEST) that holds the class");
  v("test_labels", o.test_labels, anything(),
    "file with the true class of every row of TEST: adds the accuracy");
}

struct ClassifyOptions {
  ClassifyInput input;
  IccClassifierOptions classifier;
  std::string preset;
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

Dataset load_train(const ClassifyInput& input, int num_threads) {
  LoadOptions load;
  load.labels_path = input.labels;
  load.label_column = input.label_column;
  load.num_threads = num_threads;
  Dataset train = load_dataset(input.train, load);
  if (train.labels.empty())
    throw UsageError("TRAIN has no classes: give --labels or --label-column");
  return train;
}

Dataset load_test(const ClassifyInput& input, int num_threads) {
  LoadOptions load;
  load.labels_path = input.test_labels;
  if (input.test_labels.empty()) load.label_column = input.label_column;
  load.num_threads = num_threads;
  return load_dataset(input.test, load);
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

void write_folder(ClassifyOptions& options, const Classified& done, const Dataset& train,
                  const Dataset& test) {
  RunFolder folder(options.output.out, options.output.force);
  folder.write_text("options.json", run_options_to_json("icc classify", fields_of(options.input),
                                                        fields_of(options.classifier)));
  folder.write_text("summary.json", summary_to_json(done.fitted.summary) + "\n");
  folder.write_labels(shown_classes(done.predicted, train.labels.names), test.sample_names,
                      test.rows);
  ModelFile model = to_model_file(done.fitted.model);
  model.options_json = options_to_json(fields_of(options.classifier));
  folder.write_model(model);
  std::string names = "class,name\n";
  for (size_t c = 0; c < train.labels.names.size(); ++c)
    names += fmt::format("{},{}\n", c, csv_cell(train.labels.names[c]));
  folder.write_text("classes.csv", names);
  folder.commit();
}

int run_classify(ClassifyOptions& options, Session& session) {
  Console& console = session.console;
  options.output.apply(session);
  options.output.probe();
  const int threads = options.classifier.icc.num_threads;
  const Dataset train = load_train(options.input, threads);
  const Dataset test = load_test(options.input, threads);
  ProgressMonitor monitor(session, "icc classify");
  const Interrupt::Keeping keeping(session.interrupt);
  Points kept;
  std::vector<int> classes;
  Classified done;
  done.fitted =
      fit_icc_classifier(training_rows(train, kept, classes), options.classifier, monitor);
  done.predicted = predict(done.fitted.model, test.points.view(), threads);
  if (!test.labels.empty()) done.truth = translate(test.labels, train.labels);
  add_test_figures(done.fitted.summary, done, test.points.rows());
  if (!options.output.out.empty()) write_folder(options, done, train, test);
  monitor.clear();
  if (options.output.json) {
    console.print(summary_to_json(done.fitted.summary) + "\n");
  } else if (options.output.out.empty() && !options.output.quiet) {
    std::string text;
    for (const int c : done.predicted) text += train.labels.names[c] + "\n";
    console.print(text);
    if (!done.truth.empty()) console.note(summary_text(done.fitted.summary, console));
  } else if (!options.output.quiet) {
    console.print(dataset_text(train) + "\n" + dataset_text(test) + "\n");
    console.print(summary_text(done.fitted.summary, console));
    console.print(fmt::format("wrote {0}: {0}/labels.csv has the classes of {1}\n",
                              options.output.out, test.source));
  }
  return session.interrupt.was_requested() ? kInterrupted : kDone;
}

RunCommand declare_classify(Flags& flags) {
  auto options = std::make_shared<ClassifyOptions>();
  const std::vector<Field> inputs = fields_of(options->input);
  flags.argument("TRAIN", options->input.train, true, "samples to learn from, with classes");
  flags.argument("TEST", options->input.test, true, "samples to classify, the same columns");
  for (size_t i = 2; i < inputs.size(); ++i)
    flags.field(inputs[i], inputs[i].name == "label_column" ? "NAME" : "FILE", "Input");
  flags.method_fields(fields_of(options->classifier));
  flags.preset({"paper"}, options->preset);
  options->output.declare(
      flags, "folder for labels.csv, model.safetensors, summary.json, options.json, classes.csv",
      false);
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
    "  milieu predict run more.npy\n";

}  // namespace

Command icc_classify_command() {
  return {.name = "icc classify",
          .summary = "learn classes from TRAIN through sub-classes, classify TEST",
          .example = kExample,
          .declare = declare_classify};
}

}  // namespace milieu::cli
