// SPDX-License-Identifier: Apache-2.0
// milieu score LABELS TRUTH: how well a clustering agrees with the truth.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/result_text.h"
#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/dataset.h"
#include "milieu/data/image_folder.h"
#include "milieu/data/text_file.h"
#include "milieu/input/image_rows.h"
#include "milieu/metrics/metrics.h"
#include "milieu/render/number_text.h"
#include "milieu/store/json.h"

namespace milieu::cli {

namespace {

struct ScoreOptions {
  std::string labels_path;
  std::string truth_path;
  bool json = false;
};

// The classes of an image folder, for the samples of a labels.csv in its order: matched by name.
Labels classes_of_folder(const std::string& labels_path, const std::string& root) {
  const ImageFolder folder = list_image_folder(root);
  if (folder.labels.empty())
    throw DataError(fmt::format("{} has no sub-folders, so that its images have no classes", root));
  std::map<std::string, int> class_of;
  for (size_t i = 0; i < folder.paths.size(); ++i)
    class_of[folder.paths[i]] = folder.labels.indices[i];
  Labels truth;
  truth.names = folder.labels.names;
  const std::optional<std::string> text = try_read_text_file(labels_path);
  for (const std::vector<std::string>& cells : read_csv_records(text.value_or(""))) {
    const auto found = cells.empty() ? class_of.end() : class_of.find(cells[0]);
    if (found == class_of.end())
      throw DataError(
          fmt::format("{} names the sample {}, which is not an image below {}: give the folder "
                      "that the run was "
                      "made from",
                      labels_path, cells.empty() ? "" : cells[0], root));
    truth.indices.push_back(found->second);
  }
  return truth;
}

// The label file itself, or that of a run folder.
std::string labels_file(const std::string& path) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(path)) return path;
  return (fs::path(path) / "labels.csv").string();
}

int run_score(const ScoreOptions& options, Session& session) {
  std::string labels_path = labels_file(options.labels_path);
  const bool is_images = is_image_folder(options.truth_path) &&
                         !std::filesystem::exists(options.truth_path + "/labels.csv");
  const std::string of_rows = options.labels_path + "/row_labels.csv";
  if (is_images && std::filesystem::exists(of_rows)) labels_path = of_rows;
  const Labels labels = load_labels(labels_path);
  const Labels truth = is_images ? classes_of_folder(labels_path, options.truth_path)
                                 : load_labels(options.truth_path);
  if (labels.indices.size() != truth.indices.size())
    throw DataError(fmt::format("{} has {}, {} has {}: they must match", labels_path,
                                counted(labels.indices.size(), "row"), options.truth_path,
                                truth.indices.size()));
  const Metrics metrics = compute_metrics(labels.indices, truth.indices);
  Console& console = session.console;
  if (options.json) {
    console.print(metrics_to_json(metrics) + "\n");
    return kDone;
  }
  console.print(fmt::format("{}, {}, {}\n", count_text(metrics.n, "sample"),
                            counted(metrics.num_clusters, "cluster"),
                            counted(metrics.num_classes, "class", "classes")));
  console.print(metrics_table(metrics));
  return kDone;
}

RunCommand declare_score(Flags& flags) {
  auto options = std::make_shared<ScoreOptions>();
  flags.argument("LABELS", options->labels_path, true,
                 "clusters, one per row: labels.csv, .npy, idx or text; or a run folder");
  flags.argument("TRUTH", options->truth_path, true,
                 "true classes, in the same formats, or an image folder");
  flags.boolean("--json", options->json, "print the metrics as JSON and nothing else", "Output");
  return [options](Session& session) { return run_score(*options, session); };
}

constexpr const char* kExample =
    "  milieu score run digits_labels.npy\n"
    "    compares the labels in run/labels.csv with the truth. A true class of -1 is left out; "
    "what\n"
    "    each figure means is in docs/metrics.md.\n";

}  // namespace

Command score_command() {
  return {.name = "score",
          .summary = "compare labels with the truth",
          .example = kExample,
          .declare = declare_score};
}

}  // namespace milieu::cli
