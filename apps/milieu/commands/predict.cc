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
#include "cli/output_flags.h"
#include "cli/progress.h"
#include "cli/result_text.h"
#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/summary.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/dataset.h"
#include "milieu/data/format/npy.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/input/row_files.h"
#include "milieu/metrics/metrics.h"
#include "milieu/render/number_text.h"
#include "milieu/run/methods/dlgmm_pictures.h"
#include "milieu/run/predict.h"
#include "milieu/store/json.h"
#include "milieu/store/run_folder.h"

namespace milieu::cli {

namespace {

struct PredictOptions {
  PredictRequest request;
  std::string truth;
  std::string probabilities;
  std::string word_map;
  LabelFlags labels;
};

// Refused before the work begins; "" means none.
void check_name(const char* flag, const std::string& name, const std::string& one,
                const std::string& other) {
  if (name.empty() || name.ends_with(one) || name.ends_with(other)) return;
  throw UsageError(fmt::format("{} is {}, must end in {}", flag, name,
                               one == other ? one : one + " or " + other));
}

void check_out_names(const PredictOptions& options) {
  check_name("--out", options.labels.out, ".csv", ".npy");
  check_name("--probabilities", options.probabilities, ".npy", ".npy");
  check_name("--word-map", options.word_map, ".npy", ".png");
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

// The names of a run's summary, as far as a prediction has them; one per line.
std::string prediction_json(const PredictOptions& options, const RunSummary& summary,
                            const Metrics* metrics) {
  nlohmann::ordered_json json;
  json["method"] = summary.method;
  json["version"] = summary.version;
  json["model"] = options.request.model;
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

void check_image_flags(const PredictOptions& options, const ModelFile& model) {
  const InputFiles& files = options.request.files;
  const bool is_given = files.has("offsets") || files.has("grid") || files.has("positions") ||
                        !options.word_map.empty();
  if (is_given && model.kind != DlgmmModel::kKind)
    throw UsageError(fmt::format(
        "--offsets, --grid, --positions and --word-map are for models of images (dlgmm), {} holds "
        "a model of kind {}",
        options.request.model, model.kind));
}

// The files that models of images write; says what was written.
std::vector<std::string> write_image_files(const PredictOptions& options,
                                           const Prediction& predicted) {
  std::vector<std::string> notes;
  const std::string& maps = options.word_map;
  const PatchImages& images = predicted.patches;
  if (!options.probabilities.empty() && !predicted.probabilities.empty()) {
    write_npy(options.probabilities, predicted.probabilities.view());
    notes.push_back(fmt::format("wrote {}: probabilities of {}", options.probabilities,
                                counted(predicted.probabilities.cols(), "cluster")));
  }
  if (maps.empty() || predicted.words.empty()) return notes;
  if (maps.ends_with(".npy")) {
    write_npy(maps, std::span<const int32_t>(predicted.words));
    notes.push_back(fmt::format("wrote {}: words of {}", maps,
                                counted(images.patches.rows(), "patch", "patches")));
    return notes;
  }
  if (images.root.empty() || images.grid.rows() == 0)
    throw InvalidArgument(fmt::format(
        "word_map is {}, but {} has no images with a grid of patches to draw on: give a .npy", maps,
        images.source));
  write_file_atomically(maps, draw_word_maps(images, predicted.words));
  notes.push_back(fmt::format("wrote {}: words of {} of {} images", maps,
                              drawn_word_maps(images).size(), images.num_images()));
  return notes;
}

void print_prediction(const PredictOptions& options, const Prediction& predicted,
                      const std::vector<std::string>& notes, const Metrics* metrics,
                      Console& console) {
  const Dataset& data = predicted.data;
  if (options.labels.json) {
    console.print(
        prediction_json(options, summarize(predicted.kind, data, predicted.labels), metrics));
  } else if (options.labels.out.empty()) {
    print_labels(console, predicted.labels);
    if (metrics) console.note(metrics_line(*metrics));
  } else if (!options.labels.quiet) {
    console.print(dataset_text(data) + "\n");
    if (metrics) console.print(metrics_line(*metrics) + "\n");
    console.print(fmt::format("wrote {}: {} by {}\n", options.labels.out,
                              count_text(data.points.rows(), "label"), predicted.kind));
    for (const std::string& note : notes) console.print(note + "\n");
  }
}

int run_predict(PredictOptions& options, Session& session) {
  Console& console = session.console;
  console.set_quiet(options.labels.quiet);
  check_out_names(options);
  check_image_flags(options, read_model_file(resolve_model_path(options.request.model)));
  options.request.load.num_threads = options.labels.num_threads;
  options.request.wants_words = !options.word_map.empty();
  options.request.wants_probabilities = !options.probabilities.empty();
  ProgressMonitor monitor(session, "predict");
  const Prediction predicted = predict_input(options.request, monitor);
  const std::vector<std::string> notes = write_image_files(options, predicted);
  monitor.clear();
  const Dataset& data = predicted.data;
  const Labels truth = options.truth.empty()
                           ? data.labels
                           : RowFiles(options.request.input, data).labels(options.truth);
  std::optional<Metrics> metrics;
  if (!truth.empty()) metrics = compute_metrics(predicted.labels, truth.indices);
  if (!options.labels.out.empty()) {
    const Interrupt::Keeping keeping(session.interrupt);  // an incomplete file is of no use
    write_labels(options.labels.out, predicted.labels, data);
  }
  print_prediction(options, predicted, notes, metrics ? &*metrics : nullptr, console);
  return session.interrupt.was_requested() ? kInterrupted : kDone;
}

RunCommand declare_predict(Flags& flags) {
  auto options = std::make_shared<PredictOptions>();
  flags.argument("MODEL", options->request.model, true, "a model.safetensors, or a run folder");
  flags.argument(
      "INPUT", options->request.input, true,
      "new samples as rows, with the columns of the training data; or an image folder or "
      "feature folder, where the model was trained on one");
  flags.text("--labels", options->request.load.labels_path, "FILE",
             "file with the class of every row", "Input");
  flags.text("--label-column", options->request.load.label_column, "NAME",
             "column of a .csv or .tsv that holds the class", "Input");
  flags.text("--select", options->request.load.select, "CLASSES",
             "keep only the rows of these classes, such as 6,0", "Input");
  flags.text("--truth", options->truth, "FILE",
             "file with the true class of every row: adds metrics", "Input");
  flags.text("--feature", options->request.images.feature, "LIST",
             "features of the images, where the model does not say", "Input");
  flags.text("--codebook", options->request.images.codebook, "FILE",
             "visual words of training, where the model does not have them", "Input");
  flags.text("--vectors", options->request.images.vectors, "FILE",
             "vectors of the images, computed elsewhere, for a model that was trained on such",
             "Input");
  flags.text("--vector-names", options->request.images.vector_names, "FILE",
             "the image that each row of --vectors describes, one name per line", "Input");
  for (Field& field : options->request.files.fields()) {
    field.help = "dlgmm: " + field.help;
    flags.field(field, "FILE", "Input");
  }
  flags.text("--probabilities", options->probabilities, "FILE",
             "write the probability of each cluster to this .npy, one row per sample: models of "
             "dlgmm, gmm, multinomials, jsom, topics and icc classify",
             "Output");
  flags.text("--word-map", options->word_map, "FILE",
             "dlgmm: write the word of every patch to this .npy, or draw it to this .png",
             "Output");
  options->labels.declare(flags, "labels");
  return [options, &flags](Session& session) {
    flags.apply_given();
    options->labels.validate();
    return run_predict(*options, session);
  };
}

constexpr const char* kExample =
    "  milieu predict run new_digits.npy --out new_labels.csv\n"
    "    gives each row of new_digits.npy its cluster under the model in run/.\n"
    "  milieu predict run new_digits.npy | sort | uniq -c\n"
    "    counts them.\n"
    "  milieu predict run new_photos --out new.csv --probabilities p.npy --word-map words.png\n"
    "    where run/ is of milieu dlgmm: cluster, probabilities and words of new images.\n";

}  // namespace

Command predict_command() {
  return {.name = "predict",
          .summary = "label new samples with a saved model",
          .example = kExample,
          .declare = declare_predict};
}

}  // namespace milieu::cli
