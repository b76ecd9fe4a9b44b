// SPDX-License-Identifier: Apache-2.0
// milieu cac predict MODEL INPUT: words and phrases of new samples in new groups, found together.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "cli/commands.h"
#include "cli/output_flags.h"
#include "cli/result_text.h"
#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/cac/cac.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/groups.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/input/keypoints.h"
#include "milieu/input/row_files.h"
#include "milieu/metrics/metrics.h"
#include "milieu/render/number_text.h"
#include "milieu/store/json.h"
#include "milieu/store/model_file.h"
#include "milieu/store/run_folder.h"

namespace milieu::cli {

namespace {

struct CacPredictOptions {
  std::string model;
  std::string input;
  std::string views;  // one path per line
  std::string groups;
  std::string positions;
  std::string images;
  std::string truth;
  std::string words;
  LabelFlags labels;
};

// What a CacInput points into.
struct NewSamples {
  std::vector<Dataset> views;
  std::optional<ContextGroups> groups;
  std::vector<std::string> group_names;
  Points positions;
  std::vector<int> images;

  CacInput input() const {
    CacInput input;
    for (const Dataset& view : views) input.views.push_back(view.points.view());
    if (groups) input.groups = &*groups;
    input.positions = positions.view();
    input.images = images;
    return input;
  }
};

void check_usage(const CacPredictOptions& options) {
  if (options.input.empty() == options.views.empty())
    throw UsageError(options.input.empty() ? "INPUT is missing: give the new samples, or --view"
                                           : "INPUT and --view are both given: give one of them");
  for (const std::string& path : {options.labels.out, options.words})
    if (!path.empty() && !path.ends_with(".csv") && !path.ends_with(".npy"))
      throw UsageError(fmt::format("{} must end in .csv or .npy", path));
  if (!options.groups.empty() && !options.positions.empty())
    throw UsageError("--groups and --positions are both given: give one of them");
  if (!options.images.empty() && options.positions.empty())
    throw UsageError("--images is given without --positions: give the positions too");
}

NewSamples load_samples(const CacPredictOptions& options) {
  NewSamples samples;
  LoadOptions load;
  load.num_threads = options.labels.num_threads;
  if (options.views.empty() && std::filesystem::is_directory(options.input)) {
    std::optional<KeypointSet> set;
    if (is_feature_folder(options.input))
      set = keypoints_of_features(options.input);
    else
      set = load_keypoints(options.input, load);
    if (!set)
      throw DataError(fmt::format(
          "{} has no local descriptors: make it with milieu features --patches", options.input));
    samples.views.push_back(std::move(set->data));
    samples.positions = Points(std::move(set->positions));
    samples.images = std::move(set->images);
    return samples;
  }
  std::istringstream paths(options.views.empty() ? options.input : options.views);
  std::string first;
  for (std::string path; std::getline(paths, path);) {
    samples.views.push_back(load_dataset(path, load));
    if (first.empty()) first = path;
    if (samples.views.back().points.rows() != samples.views[0].points.rows())
      throw DataError(fmt::format("{} has {}, {} has {}: views must match", path,
                                  counted(samples.views.back().points.rows(), "row"), first,
                                  samples.views[0].points.rows()));
  }
  RowFiles rows(first, samples.views[0]);
  if (!options.positions.empty()) samples.positions = rows.matrix(options.positions);
  if (!options.images.empty()) samples.images = rows.labels(options.images).indices;
  if (!options.groups.empty()) {
    const Groups groups = load_groups(options.groups, samples.views[0].points.rows());
    samples.group_names = groups.names;
    samples.groups = context_from_groups(groups);
  }
  return samples;
}

void write_labels(const std::string& path, const std::vector<int>& labels,
                  const std::vector<std::string>& names) {
  if (path.empty()) return;
  if (path.ends_with(".npy")) return write_npy(path, std::span<const int32_t>(labels));
  write_labels_csv(path, labels, names.size() == labels.size() ? names : std::vector<std::string>{},
                   {});
}

std::string prediction_json(const CacPrediction& prediction, const Metrics* metrics) {
  nlohmann::ordered_json json;
  json["method"] = "cac";
  json["version"] = version();
  json["primitives"] = prediction.words.size();
  json["groups"] = prediction.phrases.size();
  const int highest = prediction.labels.empty() ? -1 : *std::ranges::max_element(prediction.labels);
  std::vector<int64_t> sizes(highest + size_t{1}, 0);
  for (const int label : prediction.labels) ++sizes[label];
  json["sizes"] = sizes;
  if (metrics) json["metrics"] = nlohmann::ordered_json::parse(metrics_to_json(*metrics));
  return json.dump(2) + "\n";
}

int run_cac_predict(const CacPredictOptions& options, Session& session) {
  Console& console = session.console;
  console.set_quiet(options.labels.quiet);
  check_usage(options);
  const std::string path = resolve_model_path(options.model);
  const auto model = load_model<CacModel>(path);
  const NewSamples samples = load_samples(options);
  const CacPrediction prediction =
      predict_groups(model, samples.input(), options.labels.num_threads);
  std::optional<Metrics> metrics;
  if (!options.truth.empty()) {
    const Labels truth = load_labels(options.truth);
    if (truth.indices.size() != prediction.labels.size())
      throw DataError(
          fmt::format("{} has {}, there are {} to compare: they must "
                      "match",
                      options.truth, counted(truth.indices.size(), "row"),
                      counted(prediction.labels.size(), "phrase")));
    metrics = compute_metrics(prediction.labels, truth.indices);
  }
  const std::vector<std::string>& row_names = samples.views[0].sample_names;
  write_labels(options.labels.out, prediction.labels,
               samples.groups && samples.views.size() == 1 ? samples.group_names : row_names);
  write_labels(options.words, prediction.words, row_names);
  if (options.labels.json) {
    console.print(prediction_json(prediction, metrics ? &*metrics : nullptr));
  } else if (options.labels.out.empty()) {
    std::string text;
    for (const int label : prediction.labels)
      fmt::format_to(std::back_inserter(text), "{}\n", label);
    console.print(text);
    if (metrics) console.note(metrics_line(*metrics));
  } else if (!options.labels.quiet) {
    if (metrics) console.print(metrics_line(*metrics) + "\n");
    console.print(
        fmt::format("wrote {}: {}\n", options.labels.out,
                    count_text(static_cast<int64_t>(prediction.labels.size()), "phrase")));
  }
  return session.interrupt.was_requested() ? kInterrupted : kDone;
}

RunCommand declare_cac_predict(Flags& flags) {
  auto options = std::make_shared<CacPredictOptions>();
  flags.argument("MODEL", options->model, true, "the run folder of a cac, or its model");
  flags.argument("INPUT", options->input, false,
                 "new samples as rows, or an image folder; not with --view");
  FlagSpec view;
  view.names = {"--view"};
  view.value = "FILE";
  view.help = "a view of the new samples; once for each view of training, in their order";
  view.group = "Input";
  view.is_repeated = true;
  flags.add(view, [options](const std::string& lines) { options->views = lines; });
  flags.text("--groups", options->groups, "FILE", "the new groups: row numbers, one group per line",
             "Input");
  flags.text("--positions", options->positions, "FILE",
             "the position of every row: its neighbours form its group, as in training", "Input");
  flags.text("--images", options->images, "FILE",
             "the image of every row: neighbours are searched within one image", "Input");
  flags.text("--truth", options->truth, "FILE", "the true class of every phrase: adds metrics",
             "Input");
  flags.text("--words-out", options->words, "FILE",
             "write the words to this .csv or .npy, view after view", "Output");
  options->labels.declare(flags, "phrases");
  return [options, &flags](Session& session) {
    flags.apply_given();
    options->labels.validate();
    return run_cac_predict(*options, session);
  };
}

constexpr const char* kExample =
    "  milieu cac predict run new_sift.npy --positions new_places.npy --out phrases.csv\n"
    "    finds the words and phrases of new samples together, each with its new neighbours, under\n"
    "    the words, phrases and lambda of run/. The word of each sample alone:\n"
    "  milieu predict run new_sift.npy\n";

}  // namespace

Command cac_predict_command() {
  return {.name = "cac predict",
          .summary = "words and phrases of new samples in new groups",
          .example = kExample,
          .declare = declare_cac_predict};
}

}  // namespace milieu::cli
