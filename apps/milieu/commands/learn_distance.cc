// SPDX-License-Identifier: Apache-2.0
#include "commands/learn_distance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/shell.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/row_names.h"
#include "milieu/input/training.h"
#include "milieu/report/learn_report.h"
#include "milieu/report/write_run.h"
#include "milieu/run/run_options.h"
#include "milieu/store/json.h"

namespace milieu::cli {

namespace {

// The distances of the paper for images.
constexpr const char* kImageDistances = "chi-squared,squared-euclidean,l1,rbf";

std::vector<int64_t> column_numbers(const std::string& list) {
  std::vector<int64_t> columns;
  for (const std::string& text :
       list.empty() ? std::vector<std::string>() : split_text(list, ',')) {
    int64_t column = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), column);
    if (error != std::errc() || end != text.data() + text.size() || column < 0)
      throw InvalidArgument(fmt::format(
          "exemplar_columns is {}, must be columns of TRAIN, counted from 0: 4,7", list));
    columns.push_back(column);
  }
  return columns;
}

// Files of features of exemplars, read; they must outlive the input.
std::vector<Points> add_exemplar_features(const TrainingInput& train, const LearnFiles& files,
                                          LearnInput& input) {
  input.exemplar_columns = column_numbers(files.exemplar_columns);
  const std::vector<std::string> paths = lines_of(files.exemplar_features);
  if (!paths.empty() && paths.size() != train.sets.size())
    throw InvalidArgument(fmt::format(
        "--exemplar-features is given {} for {}: give it once per TRAIN, in the same order",
        counted(paths.size(), "time"), counted(train.sets.size(), "training set")));
  std::vector<Points> features;
  for (size_t k = 0; k < paths.size(); ++k) {
    features.push_back(load_exemplar_features(paths[k], train.sets[k]));
    input.sets[k].exemplar_features = features.back().view();
  }
  return features;
}

LearnInput make_learn_input(const TrainingInput& train, const LearnJob& command,
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
    DistanceList list = parse_distance_list(distances);
    if (list.common.empty() && train.has_images)
      list.common = parse_distance_list(kImageDistances).common;
    input.candidates = make_candidates(train, list, warnings);
    return input;
  }
  for (const ColumnRange& view : train.views)
    for (int64_t t = 0; t < view.count; ++t)
      input.names.push_back(train.views.size() == 1 ? fmt::format("column {}", t)
                                                    : fmt::format("{} {}", view.name, t));
  return input;
}

// What --classify compares with. Matrices have no samples to keep, only their classes.
void add_samples(const TrainingInput& train, LearnedDistance& model) {
  if (model.weights.empty()) return;
  for (const TrainingSet& set : train.sets)
    model.sample_labels.insert(model.sample_labels.end(), set.classes.begin(), set.classes.end());
  model.class_names = fmt::format("{}", fmt::join(train.class_names, "\n"));
  if (!train.sets[0].matrices.empty()) return;
  int64_t rows = 0;
  for (const TrainingSet& set : train.sets) rows += set.points.rows();
  model.samples = Matrix<float>(rows, train.sets[0].points.cols());
  int64_t row = 0;
  for (const TrainingSet& set : train.sets) {
    for (int64_t p = 0; p < set.points.rows(); ++p, ++row) {
      const FloatView points = set.points.view();
      std::copy_n(points.row(p), points.cols(), model.samples.row(row));
    }
  }
}

std::string weights_csv(const ExemplarLearnResult& result) {
  CsvWriter table;
  table.row("candidate", "weight", "share");
  const Listed listed(result);
  for (size_t t = 0; t < listed.names.size(); ++t)
    table.row(listed.names[t], listed.weights[t], listed.shares[t]);
  const std::vector<std::string> own = packed_names(result.model.exemplar_names);
  for (size_t s = 0; s < own.size(); ++s)
    table.row("cost of an exemplar: " + own[s], result.model.exemplar_weights[s], "");
  return table.text();
}

std::vector<Field> result_fields(ExemplarLearnOptions& options) {
  std::vector<Field> fields = fields_of(options);
  std::erase_if(fields, [](const Field& field) { return field.name == "num_threads"; });
  return fields;
}

std::string report_of(LearnJob& command, const ExemplarLearnResult& result,
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

}  // namespace

Listed::Listed(const ExemplarLearnResult& result)
    : names(packed_names(result.model.names)),
      weights(result.model.weights),
      shares(result.shares) {
  if (result.model.metric.empty()) return;
  names.push_back("full metric");
  weights.push_back(1);
  shares.push_back(result.metric_share);
}

void take_distances(LearnFiles& files) {
  if (!files.feature.empty()) files.feature = milieu::take_distances(files.feature, files.distance);
}

TrainingInput read_training(const LearnJob& job, Monitor& monitor) {
  TrainingRequest request;
  request.sets = lines_of(job.files.train);
  request.images = {.feature = job.files.feature,
                    .max_side = job.files.max_side,
                    .codebook = job.files.codebook,
                    .vocabulary_folder = {}};
  request.vectors = lines_of(job.files.vectors);
  request.vector_names = lines_of(job.files.vector_names);
  request.label_column = job.files.label_column;
  request.is_kernel = job.files.distance == "kernel";
  request.is_precomputed = request.is_kernel || job.files.distance == "precomputed";
  request.num_threads = job.options.train.num_threads;
  return load_training_sets(request, monitor);
}

LearnedJob learn_distance(TrainingInput train, const LearnJob& job, Monitor& monitor) {
  std::vector<std::string> warnings = train.warnings;
  LearnInput input = make_learn_input(train, job, warnings);
  const std::vector<Points> features = add_exemplar_features(train, job.files, input);
  ExemplarLearnResult result = learn_exemplar_distance(input, job.options, monitor);
  warnings.insert(warnings.begin(), result.summary.warnings.begin(), result.summary.warnings.end());
  result.summary.warnings = warnings;
  if (!result.rounds.empty()) add_samples(train, result.model);
  if (job.files.distance == "kernel") result.model.matrix_kind = "kernel";
  return {std::move(train), std::move(result)};
}

void write_learned(LearnJob& command, const LearnedJob& learned, const std::string& folder,
                   bool force) {
  const auto& [train, result] = learned;
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
                  folder, force);
}

}  // namespace milieu::cli
