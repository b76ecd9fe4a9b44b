// SPDX-License-Identifier: Apache-2.0
// milieu score LABELS TRUTH: how well a clustering agrees with the truth.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/result_text.h"
#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/dataset.h"
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

int run_score(const ScoreOptions& options, Session& session) {
  namespace fs = std::filesystem;
  const std::string labels_path = fs::is_directory(options.labels_path)
                                      ? (fs::path(options.labels_path) / "labels.csv").string()
                                      : options.labels_path;
  const Labels labels = load_labels(labels_path);
  const Labels truth = load_labels(options.truth_path);
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
  flags.argument("TRUTH", options->truth_path, true, "true classes, in the same formats");
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
