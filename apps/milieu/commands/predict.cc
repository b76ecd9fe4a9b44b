// SPDX-License-Identifier: Apache-2.0
// milieu predict MODEL INPUT: clusters of new samples under a saved model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "image_predict.h"
#include "milieu/base/error.h"
#include "milieu/base/summary.h"
#include "milieu/data/dataset.h"
#include "milieu/data/format/npy.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/metrics/metrics.h"
#include "milieu/store/json.h"
#include "milieu/store/predictors.h"
#include "milieu/store/run_folder.h"
#include "picture_input.h"
#include "cli/progress.h"
#include "cli/result_text.h"
#include "rows.h"

namespace milieu::cli {

namespace {

struct PredictOptions {
  std::string model;
  std::string input;
  LoadOptions load;
  PictureOptions pictures;
  ImagePredictOptions images;
  std::string truth;
  std::string out;
  int num_threads = 0;
  bool json = false;
  bool quiet = false;
};

template <class Visitor>
void visit_fields(PredictOptions& o, Visitor&& v) {
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

// Refused before the work begins; "" means none.
void check_name(const char* flag, const std::string& name, const std::string& one,
                const std::string& other) {
  if (name.empty() || name.ends_with(one) || name.ends_with(other)) return;
  throw UsageError(fmt::format("{} is {}, must end in {}", flag, name,
                               one == other ? one : one + " or " + other));
}

void check_out_names(const PredictOptions& options) {
  check_name("--out", options.out, ".csv", ".npy");
  check_name("--probabilities", options.images.probabilities, ".npy", ".npy");
  check_name("--word-map", options.images.word_map, ".npy", ".png");
}

// A .csv has the columns of a run folder's labels.csv.
void write_labels(const std::string& path, const std::vector<int>& labels, const Dataset& data) {
  if (path.ends_with(".npy")) return write_npy(path, std::span<const int32_t>(labels));
  write_labels_csv(path, labels, data.sample_names, data.rows);
}

void print_labels(Console& console, const std::vector<int>& labels) {
  std::string text;
  for (int label : labels) fmt::format_to(std::back_inserter(text), "{}\n", label);
  console.print(text);
}

// The names of a run's summary, as far as a prediction has them; one a line.
std::string prediction_json(const PredictOptions& options, const RunSummary& summary,
                            const Metrics* metrics) {
  nlohmann::ordered_json json;
  json["method"] = summary.method;
  json["version"] = summary.version;
  json["model"] = options.model;
  json["n"] = summary.n;
  json["d"] = summary.d;
  json["clusters"] = summary.clusters;
  json["sizes"] = summary.sizes;
  if (metrics) json["metrics"] = nlohmann::ordered_json::parse(metrics_to_json(*metrics));
  std::vector<std::string> lines;
  for (const auto& [name, value] : json.items())
    lines.push_back(fmt::format("  \"{}\": {}", name, value.dump()));
  return fmt::format("{{\n{}\n}}\n", fmt::join(lines, ",\n"));
}

RunSummary summarize(const std::string& kind, const Dataset& data, const std::vector<int>& labels) {
  RunSummary summary;
  summary.method = kind;
  summary.version = version();
  summary.n = data.points.rows();
  summary.d = data.points.cols();
  const int highest = labels.empty() ? -1 : *std::max_element(labels.begin(), labels.end());
  set_sizes(summary, labels, highest + 1);
  return summary;
}

// Labels of what INPUT holds: rows, or images where the model is of images.
struct Predicted {
  Dataset data;
  std::vector<int> labels;
  std::vector<std::string> notes;
};

Predicted predict_rows(const ModelFile& model, const std::string& path,
                       const PredictOptions& options, const LoadOptions& load,
                       ProgressMonitor& monitor, Session& session) {
  if (options.images.is_given())
    throw UsageError(fmt::format(
        "--offsets, --grid, --positions, --probabilities and --word-map are for models of images "
        "(dlgmm), {} holds a model of kind {}",
        path, model.kind));
  PictureInput input = load_input_like_training(options.input, options.model, options.pictures,
                                                load, monitor, session);
  monitor.clear();
  Predicted out;
  out.labels = predict_with(model, input.data.points.view(), options.num_threads, path);
  out.data = std::move(input.data);
  return out;
}

Predicted predict_any(const ModelFile& model, const std::string& path,
                      const PredictOptions& options, Session& session) {
  LoadOptions load = options.load;
  load.num_threads = options.num_threads;
  ProgressMonitor monitor(session.console, session.interrupt.token(), "predict");
  if (model.kind != DlgmmModel::kKind)
    return predict_rows(model, path, options, load, monitor, session);
  ImagePrediction found =
      predict_images(model, options.model, options.input, options.images, load, monitor);
  monitor.clear();
  return {std::move(found.data), std::move(found.labels), std::move(found.notes)};
}

void print_prediction(const PredictOptions& options, const std::string& kind,
                      const Predicted& predicted, const Metrics* metrics, Console& console) {
  const Dataset& data = predicted.data;
  if (options.json) {
    console.print(prediction_json(options, summarize(kind, data, predicted.labels), metrics));
  } else if (options.out.empty()) {
    print_labels(console, predicted.labels);
    if (metrics) console.note(metrics_line(*metrics));
  } else if (!options.quiet) {
    console.print(dataset_text(data) + "\n");
    if (metrics) console.print(metrics_line(*metrics) + "\n");
    console.print(fmt::format("wrote {}: {} labels by {}\n", options.out,
                              count_text(data.points.rows()), kind));
    for (const std::string& note : predicted.notes) console.print(note + "\n");
  }
}

int run_predict(const PredictOptions& options, Session& session) {
  Console& console = session.console;
  console.set_quiet(options.quiet);
  check_out_names(options);
  const std::string path = resolve_model_path(options.model);
  const ModelFile model = read_model_file(path);
  const Predicted predicted = predict_any(model, path, options, session);
  const Dataset& data = predicted.data;
  const Labels truth =
      options.truth.empty() ? data.labels : RowFiles(options.input, data).labels(options.truth);
  std::optional<Metrics> metrics;
  if (!truth.empty()) metrics = compute_metrics(predicted.labels, truth.indices);
  if (!options.out.empty()) {
    const Interrupt::Keeping keeping(session.interrupt);  // a file half written helps nobody
    write_labels(options.out, predicted.labels, data);
  }
  print_prediction(options, model.kind, predicted, metrics ? &*metrics : nullptr, console);
  return session.interrupt.was_requested() ? kInterrupted : kDone;
}

Run declare_predict(Flags& flags) {
  auto options = std::make_shared<PredictOptions>();
  flags.argument("MODEL", options->model, true, "a model.safetensors, or a run folder");
  flags.argument(
      "INPUT", options->input, true,
      "new samples as rows, with the columns of the training data; or a folder of pictures "
      "or of features, where the model was trained on one");
  flags.text("--labels", options->load.labels_path, "FILE", "file with the class of every row",
             "Input");
  flags.text("--label-column", options->load.label_column, "NAME",
             "column of a .csv or .tsv that holds the class", "Input");
  flags.text("--select", options->load.select, "CLASSES",
             "keep only the rows of these classes, such as 6,0", "Input");
  flags.text("--truth", options->truth, "FILE",
             "file with the true class of every row: adds metrics", "Input");
  flags.text("--feature", options->pictures.feature, "LIST",
             "features of the pictures, where the run folder does not tell", "Input");
  flags.text("--codebook", options->pictures.codebook, "FILE",
             "words of training, where they are not in the run folder", "Input");
  flags.text("--offsets", options->images.files.offsets, "FILE",
             "dlgmm: INPUT holds patches, this file where those of each image begin", "Input");
  flags.text("--grid", options->images.files.grid, "FILE",
             "dlgmm: rows and columns of the patch grid of each image", "Input");
  flags.text("--positions", options->images.files.positions, "FILE", "dlgmm: x and y of each patch",
             "Input");
  flags.text("--out", options->out, "FILE",
             "write the labels to this .csv or .npy instead of stdout", "Output");
  flags.text("--probabilities", options->images.probabilities, "FILE",
             "dlgmm: write the probability of each cluster to this .npy, a row an image", "Output");
  flags.text("--word-map", options->images.word_map, "FILE",
             "dlgmm: write the word of every patch to this .npy, or draw it to this .png",
             "Output");
  flags.boolean("--json", options->json,
                "print a summary as JSON and nothing else (labels go to --out only)", "Output");
  flags.boolean("-q,--quiet", options->quiet, "no text, only labels and errors", "Output");
  flags.field(fields_of(*options)[0], "", "Output");
  return [options, &flags](Session& session) {
    flags.apply_given();
    validate_options(*options);
    return run_predict(*options, session);
  };
}

constexpr std::string_view kExample =
    "  milieu predict run new_digits.npy --out new_labels.csv\n"
    "    gives each row of new_digits.npy its cluster under the model in run/.\n"
    "  milieu predict run new_digits.npy | sort | uniq -c\n"
    "    counts them.\n"
    "  milieu predict run new_photos --out new.csv --probabilities p.npy --word-map words.png\n"
    "    where run/ is of milieu dlgmm: cluster, probabilities and words of new pictures.\n";

}  // namespace

Command predict_command() {
  return {.name = "predict",
          .summary = "label new samples with a saved model",
          .example = kExample,
          .declare = declare_predict};
}

}  // namespace milieu::cli
