// SPDX-License-Identifier: Apache-2.0
// milieu exemplar learn TRAIN... --out DIR: exemplar/learn/learn.h on the command line.
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
#include "milieu/base/shell.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/row_names.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/input/training.h"
#include "milieu/input/training_sets.h"
#include "milieu/render/number_text.h"
#include "milieu/report/learn_report.h"
#include "milieu/report/write_run.h"
#include "milieu/run/run_options.h"
#include "milieu/store/json.h"

namespace milieu::cli {

namespace {

// The distances of the paper for images.
constexpr const char* kImageDistances = "chi-squared,squared-euclidean,l1,rbf";

struct LearnFiles {
  std::string train;
  std::string feature, max_side, codebook;
  std::string vectors, vector_names;
  std::string distance;
  std::string label_column;
};

template <class Visitor>
void visit_fields(LearnFiles& o, Visitor&& v) {
  v("train", o.train, anything().repeated(), "example sets");
  v("feature", o.feature, anything(),
    "TRAIN is an image folder: what to compute from the images, such as gist,lbp,sparse-sift "
    "(see milieu help features)");
  v("max_side", o.max_side, anything(),
    "scale images down until no side is longer than this (default 1024; 0: no limit)");
  v("codebook", o.codebook, anything(), "visual words computed elsewhere, for local features");
  v("vectors", o.vectors, anything().repeated(),
    "TRAIN is an image folder: its vectors, computed elsewhere (.npy, .npz, .safetensors), one row "
    "per image in the order of the sorted names; once per TRAIN, in the same order");
  v("vector_names", o.vector_names, anything().repeated(),
    "the image that each row of --vectors describes, one name per line; once per TRAIN");
  v("distance", o.distance, anything(),
    "candidate distances of each feature or view, separated by commas: chi-squared, "
    "squared-euclidean, l1, rbf, euclidean, cosine, intersection (default for images: the "
    "first four); precomputed: TRAIN holds matrices. Without it each column of numbers is a "
    "candidate by its squared difference");
  v("label_column", o.label_column, anything(),
    "column of a .csv or .tsv TRAIN that holds the cluster");
}

struct LearnCommand {
  LearnFiles files;
  ExemplarLearnOptions options;
  std::string preset;
  OutputFlags output;
};

LearnInput make_learn_input(const TrainingInput& train, const LearnCommand& command,
                            std::vector<std::string>& warnings) {
  LearnInput input;
  for (const TrainingSet& set : train.sets) {
    LearnSet& each = input.sets.emplace_back();
    each.points = set.points.view();
    each.labels = set.clusters;
    for (const Points& matrix : set.matrices) each.matrices.push_back(matrix.view());
  }
  if (!train.sets[0].matrices.empty()) {
    for (const ColumnRange& view : train.views) input.names.push_back(view.name);
    return input;
  }
  std::string distances = command.files.distance;
  if (distances.empty() && train.has_images) distances = kImageDistances;
  if (!distances.empty()) {
    input.candidates = make_candidates(train, parse_distances(distances), warnings);
    return input;
  }
  for (const ColumnRange& view : train.views)
    for (int64_t t = 0; t < view.count; ++t)
      input.names.push_back(train.views.size() == 1 ? fmt::format("column {}", t)
                                                    : fmt::format("{} {}", view.name, t));
  return input;
}

// What --classify compares with. Matrices have no samples to keep.
void add_samples(const TrainingInput& train, LearnedDistance& model) {
  if (!train.sets[0].matrices.empty() || model.weights.empty()) return;
  int64_t rows = 0;
  for (const TrainingSet& set : train.sets) rows += set.points.rows();
  model.samples = Matrix<float>(rows, train.sets[0].points.cols());
  int64_t row = 0;
  for (const TrainingSet& set : train.sets) {
    for (int64_t p = 0; p < set.points.rows(); ++p, ++row) {
      const FloatView points = set.points.view();
      std::copy_n(points.row(p), points.cols(), model.samples.row(row));
    }
    model.sample_labels.insert(model.sample_labels.end(), set.classes.begin(), set.classes.end());
  }
  model.class_names = fmt::format("{}", fmt::join(train.class_names, "\n"));
}

// The candidates and, where it has a part, the full metric, whose weight is inside it.
struct Listed {
  std::vector<std::string> names;
  std::vector<double> weights, shares;

  explicit Listed(const ExemplarLearnResult& result)
      : names(packed_names(result.model.names)),
        weights(result.model.weights),
        shares(result.shares) {
    if (result.model.metric.empty()) return;
    names.push_back("full metric");
    weights.push_back(1);
    shares.push_back(result.metric_share);
  }
};

std::string weights_csv(const ExemplarLearnResult& result) {
  CsvWriter table;
  table.row("candidate", "weight", "share");
  const Listed listed(result);
  for (size_t t = 0; t < listed.names.size(); ++t)
    table.row(listed.names[t], listed.weights[t], listed.shares[t]);
  return table.text();
}

std::vector<Field> result_fields(ExemplarLearnOptions& options) {
  std::vector<Field> fields = fields_of(options);
  std::erase_if(fields, [](const Field& field) { return field.name == "num_threads"; });
  return fields;
}

std::string report_of(LearnCommand& command, const ExemplarLearnResult& result,
                      const std::string& source) {
  ExemplarLearnOptions defaults;
  LearnReportInput report;
  report.summary = &result.summary;
  report.options = result_fields(command.options);
  LearnFiles flags = command.files;
  std::string call = "exemplar learn";
  for (const std::string& train : lines_of(flags.train)) call += " " + shell_quoted(train);
  flags.train.clear();
  report.command =
      command_text(call, fields_of(flags), fields_of(command.options), fields_of(defaults));
  report.source = source;
  Listed listed(result);
  report.names = std::move(listed.names);
  report.weights = std::move(listed.weights);
  report.shares = std::move(listed.shares);
  for (const CrfRound& round : result.rounds) {
    report.energy.push_back(round.energy);
    report.bound.push_back(round.bound);
  }
  return render_learn_report(report);
}

std::string source_text(const TrainingInput& train) {
  return train.sets.size() == 1 ? train.sets[0].name
                                : fmt::format("{}, the first {}", counted(train.sets.size(), "set"),
                                              train.sets[0].name);
}

void write_folder(LearnCommand& command, const TrainingInput& train,
                  const ExemplarLearnResult& result) {
  LearnFiles recorded = command.files;
  recorded.feature = train.images.feature;
  recorded.max_side = train.images.max_side;
  ModelFile model = to_model_file(result.model);
  model.options_json = options_to_json(result_fields(command.options));
  add_training(train.images, model);
  const ResultFile weights{"weights.csv", weights_csv(result)};
  write_run_files({.options_json = run_options_to_json("exemplar learn", fields_of(recorded),
                                                       fields_of(command.options)),
                   .summary_json = summary_to_json(result.summary),
                   .model = &model,
                   .files = {&weights, 1},
                   .vocabulary = train.images.vocabulary,
                   .report_html = report_of(command, result, source_text(train))},
                  command.output.out, command.output.force);
}

// The five candidates with the largest shares, and those without weight.
std::string weights_text(const ExemplarLearnResult& result) {
  const Listed listed(result);
  const auto& [names, weights, shares] = listed;
  std::vector<size_t> order(names.size());
  for (size_t t = 0; t < order.size(); ++t) order[t] = t;
  std::stable_sort(order.begin(), order.end(),
                   [&shares = listed.shares](size_t a, size_t b) { return shares[a] > shares[b]; });
  std::string text = "most weight:";
  for (size_t i = 0; i < std::min<size_t>(5, order.size()); ++i)
    text +=
        fmt::format("{} {} ({:.1f} %)", i == 0 ? "" : ",", names[order[i]], 100 * shares[order[i]]);
  text += "\n";
  for (const auto& [name, value] : result.summary.extra) {
    if (name != "switched_off") continue;
    std::vector<std::string> off = std::get<std::vector<std::string>>(value);
    const size_t total = off.size();
    if (total > 8) off.resize(8);
    text += total == 0 ? "no candidate is switched off\n"
                       : fmt::format("switched off, {} of {}: {}{}\n", total, names.size(),
                                     fmt::join(off, ", "), total > 8 ? ", ..." : "");
  }
  return text;
}

// What cross-validation chose; empty without it.
std::string validation_text(const RunSummary& summary) {
  std::string grouping;
  double exemplars = 0, cut = 0;
  for (const auto& [name, value] : summary.extra) {
    if (name == "grouping") grouping = std::get<std::string>(value);
    if (name == "held_out_exemplars") exemplars = std::get<double>(value);
    if (name == "held_out_cut") cut = std::get<double>(value);
  }
  if (grouping.empty()) return "";
  return fmt::format("clusters by {}; on held-out halves: exemplars {:.1f} %, cut {:.1f} %\n",
                     grouping == "cut" ? "normalized cut" : "exemplars", 100 * exemplars,
                     100 * cut);
}

void print_result(const LearnCommand& command, const TrainingInput& train,
                  const ExemplarLearnResult& result, Console& console) {
  const RunSummary& s = result.summary;
  for (const TrainingSet& set : train.sets)
    console.print(fmt::format(
        "read {}: {}, {}\n", set.name, count_text(std::ssize(set.clusters), "sample"),
        counted(1 + *std::max_element(set.clusters.begin(), set.clusters.end()), "cluster")));
  console.print(
      fmt::format("learned from {}: objective {:.5g} after {} ({:.2f} "
                  "s), penalty {:.4g}\n",
                  counted(s.d, "candidate"), s.objective, counted(s.iterations, "round"), s.seconds,
                  result.model.penalty));
  console.print(weights_text(result));
  console.print(validation_text(s));
  for (const std::string& warning : s.warnings)
    console.print(fmt::format("{} {}\n", console.paint(Style::Yellow, "warning:"), warning));
  if (command.output.out.empty())
    return console.print("next: add --out DIR to keep the distance\n");
  console.print(fmt::format("wrote {0}: open {0}/report.html\n", command.output.out));
  console.print(fmt::format("next: milieu exemplar {} --model {} clusters new samples\n",
                            train.has_images ? "FOLDER" : "NEW.npy", command.output.out));
}

int run_learn(LearnCommand& command, Session& session) {
  Console& console = session.console;
  command.output.apply(session);
  command.output.probe();
  ProgressMonitor monitor(session, "exemplar learn");
  TrainingRequest request;
  request.sets = lines_of(command.files.train);
  request.images = {.feature = command.files.feature,
                    .max_side = command.files.max_side,
                    .codebook = command.files.codebook,
                    .vocabulary_folder = {}};
  request.vectors = lines_of(command.files.vectors);
  request.vector_names = lines_of(command.files.vector_names);
  request.label_column = command.files.label_column;
  request.is_precomputed = command.files.distance == "precomputed";
  request.num_threads = command.options.train.num_threads;
  const TrainingInput train = load_training_sets(request, monitor);
  const Interrupt::Keeping keeping(session.interrupt);
  if (command.output.time_limit > 0) monitor.set_time_limit(command.output.time_limit);
  std::vector<std::string> warnings = train.warnings;
  const LearnInput input = make_learn_input(train, command, warnings);
  ExemplarLearnResult result = learn_exemplar_distance(input, command.options, monitor);
  monitor.clear();
  warnings.insert(warnings.begin(), result.summary.warnings.begin(), result.summary.warnings.end());
  result.summary.warnings = warnings;
  if (result.rounds.empty()) {
    console.note("interrupted before the first round: nothing was learned");
    return session.interrupt.was_requested() ? kInterrupted : kFailed;
  }
  add_samples(train, result.model);
  if (!command.output.out.empty()) write_folder(command, train, result);
  if (command.output.json)
    console.print(summary_to_json(result.summary) + "\n");
  else if (!command.output.quiet)
    print_result(command, train, result, console);
  if (!session.interrupt.was_requested()) return kDone;
  console.note(console.paint_err(Style::Yellow, "interrupted: these are the weights so far"));
  return kInterrupted;
}

RunCommand declare_learn(Flags& flags) {
  auto command = std::make_shared<LearnCommand>();
  FlagSpec train{
      .names = {"TRAIN"},
      .value = "TRAIN",
      .help =
          "example sets with their true clusters: folders with one sub-folder per class, or "
          "X.npy:labels.npy; several views or matrices are separated by commas",
      .group = "Arguments",
      .choices = {}};
  train.is_required = true;
  train.is_repeated = true;
  flags.add(train, [command](const std::string& text) { command->files.train = text; });
  const std::vector<Field> inputs = fields_of(command->files);
  for (size_t i = 1; i < inputs.size(); ++i)
    flags.field(inputs[i], inputs[i].name == "distance" ? "LIST" : input_value_name(inputs[i]),
                "Input");
  flags.method_fields(fields_of(command->options));
  flags.preset({"paper"}, command->preset);
  command->output.declare(
      flags, "run folder: model.safetensors, weights.csv, report.html, summary.json, options.json",
      true);
  return [command, &flags](Session& session) {
    if (!command->preset.empty() && command->preset != "paper")
      throw UsageError(fmt::format("preset is '{}', must be paper", command->preset));
    if (command->preset == "paper") apply_paper_preset(command->options);
    flags.apply_given();
    validate_options(command->options);
    command->output.validate();
    return run_learn(*command, session);
  };
}

constexpr const char* kExample =
    "  milieu exemplar learn old.npy:groups.npy older.npy:more.npy --out distance\n"
    "    learns how much each column counts, so that clustering gives the groups shown, and\n"
    "    writes the weights to distance/. On new data, whose number of clusters is found\n"
    "    automatically, or for the class of the nearest training sample:\n"
    "  milieu exemplar new.npy --model distance --out run\n"
    "  milieu exemplar new.npy --model distance --classify\n"
    "    Images, several features with four distances each:\n"
    "  milieu exemplar learn photos --feature sparse-sift,gist,lbp --out distance\n"
    "  milieu exemplar more_photos --model distance --out run\n"
    "    By vectors computed elsewhere, one file per folder:\n"
    "  milieu exemplar learn photos --vectors clip.npy --out distance\n";

}  // namespace

Command exemplar_learn_command() {
  return {.name = "exemplar learn",
          .summary = "learn a distance from example clusterings",
          .example = kExample,
          .declare = declare_learn};
}

}  // namespace milieu::cli
