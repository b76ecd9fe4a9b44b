// SPDX-License-Identifier: Apache-2.0
// milieu features DIR: from images to numbers, once.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/result_text.h"
#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/job/shard.h"
#include "milieu/base/shell.h"
#include "milieu/data/image_folder.h"
#include "milieu/feature/cache/extract.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/input/codebook.h"
#include "milieu/input/default_network.h"
#include "milieu/input/image_rows.h"
#include "milieu/render/number_text.h"

namespace milieu::cli {

namespace {

struct FeaturesOptions {
  std::string input;
  std::string feature;
  std::string codebook;
  std::string out;
  std::string shard;  // "": all images
  std::string merge;  // a folder of shards; "": none
  ExtractOptions extract;
  bool json = false;
  bool quiet = false;
};

using Json = nlohmann::ordered_json;

// The end of every report: what was skipped, and warnings.
std::string json_text(Json json, const ExtractResult& result) {
  json["skipped"] = Json::array();
  for (const ImageFolder::Skipped& skipped : result.skipped)
    json["skipped"].push_back({{"path", skipped.path}, {"reason", skipped.reason}});
  json["warnings"] = result.warnings;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string features_json(const FeatureFolder& folder, const ExtractResult& result) {
  Json json;
  json["out"] = folder.path;
  json["n"] = folder.images.size();
  json["classes"] = folder.labels.names.size();
  json["computed"] = result.num_computed;
  json["seconds"] = result.seconds;
  json["features"] = Json::object();
  for (const FeatureFolder::Entry& entry : folder.features)
    json["features"][entry.id] = {
        {"spec", entry.spec}, {"columns", entry.cols}, {"patches", entry.has_patches}};
  return json_text(std::move(json), result);
}

std::string computed_text(const ExtractResult& result) {
  if (result.num_computed == 0) return "nothing has changed, nothing was computed";
  return fmt::format("{} computed in {:.1f} s ({:.1f} images/s)", count_text(result.num_computed),
                     result.seconds, static_cast<double>(result.num_computed) / result.seconds);
}

void print_warnings(const ExtractResult& result, Console& console) {
  for (const std::string& warning : result.warnings)
    console.print(fmt::format("{} {}\n", console.paint(Style::Yellow, "warning:"), warning));
}

// `done` says what was done: "12 computed in 3.4 s".
void print_result(const std::string& out, const FeatureFolder& folder, const ExtractResult& result,
                  const std::string& done, Console& console) {
  std::string text = count_text(result.num_images, "image");
  if (!folder.labels.names.empty())
    text += fmt::format(", {}", counted(folder.labels.names.size(), "class", "classes"));
  console.print(text + ": " + done + "\n");
  for (const FeatureFolder::Entry& entry : folder.features)
    console.print(fmt::format("  {}.npy  {}{}\n", entry.id, counted(entry.cols, "column"),
                              entry.has_patches ? ", patches kept" : ""));
  print_warnings(result, console);
  console.print(fmt::format("wrote {0}; next: milieu kmeans {0} --feature {1} -k {2}\n",
                            shell_quoted(out), folder.features.back().id,
                            std::max<size_t>(2, folder.labels.names.size())));
}

// Of --shard: its part of the images is in the folder, which is not finished.
void report_shard(const FeaturesOptions& options, const Shard& shard, const ExtractResult& result,
                  Console& console) {
  if (options.json) {
    Json json = {{"out", options.out},
                 {"shard", shard.text()},
                 {"n", result.num_images},
                 {"computed", result.num_computed},
                 {"seconds", result.seconds}};
    return console.print(json_text(std::move(json), result));
  }
  if (options.quiet) return;
  console.print(fmt::format("shard {}: {}: {}\n", shard.text(),
                            count_text(result.num_images, "image"), computed_text(result)));
  print_warnings(result, console);
  console.print(fmt::format("next: when all {} are complete, milieu features --merge {}\n",
                            counted(shard.count, "shard"), shell_quoted(options.out)));
}

int merge_shards(const FeaturesOptions& options, Session& session) {
  if (!options.input.empty() || !options.feature.empty() || !options.codebook.empty() ||
      !options.out.empty() || !options.shard.empty())
    throw UsageError(
        "--merge takes images and features from the shards: leave out DIR, --feature, --codebook, "
        "--out and --shard");
  ProgressMonitor monitor(session, "features");
  ExtractOptions extract = options.extract;
  extract.read_codebook = read_codebook;
  const ExtractResult result = merge_features(options.merge, extract, monitor);
  monitor.clear();
  const FeatureFolder folder = open_feature_folder(options.merge);
  if (options.json)
    session.console.print(features_json(folder, result));
  else if (!options.quiet)
    print_result(options.merge, folder, result, "all shards merged", session.console);
  return kDone;
}

int run_features(const FeaturesOptions& options, Session& session) {
  Console& console = session.console;
  console.set_quiet(options.quiet);
  session.interrupt.set_quiet(options.quiet);
  if (!options.merge.empty()) return merge_shards(options, session);
  if (options.input.empty())
    throw UsageError("DIR is missing: give the image folder, or --merge and a folder of shards");
  const std::string feature = options.feature.empty() ? default_network_feature() : options.feature;
  if (feature.empty())
    throw UsageError("--feature is missing: say what to compute, such as --feature gist,color");
  if (options.out.empty()) throw UsageError("--out is missing: give a folder for the features");
  ExtractOptions extract = options.extract;
  extract.read_codebook = read_codebook;
  if (!options.shard.empty()) extract.shard = parse_shard(options.shard);
  std::vector<FeatureSpec> specs = parse_feature_list(feature, options.codebook);
  const ImageFolder images = list_images(options.input);

  ProgressMonitor monitor(session, "features");
  monitor.on_stage(RunStage::Describing, options.input);
  const ExtractResult result =
      extract_features(images, std::move(specs), options.out, extract, monitor);
  monitor.clear();
  for (const ImageFolder::Skipped& skipped : images.skipped)
    console.note(fmt::format("skipped {}: {}", skipped.path, skipped.reason));
  report_skipped(images, result, monitor);
  if (extract.shard) {
    report_shard(options, *extract.shard, result, console);
    return kDone;
  }
  const FeatureFolder folder = open_feature_folder(options.out);
  if (options.json)
    console.print(features_json(folder, result));
  else if (!options.quiet)
    print_result(options.out, folder, result, computed_text(result), console);
  return kDone;
}

std::string feature_help() {
  std::string text =
      "what to compute, separated by commas; options follow a colon "
      "(dense-sift:step=4:words=400). There is";
  for (const FeatureEntry& entry : feature_catalog())
    text += fmt::format("{} {}{}", &entry == &feature_catalog().front() ? "" : ",", entry.name,
                        entry.file.empty() ? "" : ":" + entry.file);
  return text;
}

RunCommand declare_features(Flags& flags) {
  auto options = std::make_shared<FeaturesOptions>();
  flags.argument("DIR", options->input, false,
                 "image folder; each sub-folder is a class; symbolic links are followed. Or a .txt "
                 "that names images, one per line");
  flags.text("--feature", options->feature, "LIST", feature_help().c_str(), "Features");
  flags.text(
      "--codebook", options->codebook, "FILE",
      "words of local features, computed elsewhere: a .npy, a run folder or a feature folder",
      "Features");
  for (const Field& field : fields_of(options->extract))
    flags.field(field, "", field.name == "num_threads" ? "Output" : "Features");
  flags.text("--out", options->out, "DIR",
             "folder for the features; one that exists is brought up to date", "Output");
  flags.text(
      "--shard", options->shard, "I/N",
      "describe only part I of N of the images; other machines may add the other parts to the "
      "same folder at the same time. slurm: the part of this task of a job array",
      "Output");
  flags.text("--merge", options->merge, "DIR",
             "finish the feature folder DIR once all of its parts are complete", "Output");
  flags.boolean("--json", options->json, "print what was done as JSON and nothing else", "Output");
  flags.boolean("-q,--quiet", options->quiet, "no progress and no text, only errors", "Output");
  return [options, &flags](Session& session) {
    flags.apply_given();
    return run_features(*options, session);
  };
}

constexpr const char* kExample =
    "  milieu features photos --feature gist,color --out features\n"
    "    leaves gist.npy and color.npy in features/, one row per image; images.csv names them.\n"
    "    Killed or stopped, the same command resumes; a second run computes what has changed.\n"
    "  milieu kmeans features --feature gist -k 8 --out run\n"
    "    clusters the images; milieu kmeans photos --feature gist does both at once.\n"
    "  milieu features photos --feature gist --out features --shard 2/8\n"
    "    describes the second eighth of the images; when all eight are complete, on however many\n"
    "    machines, milieu features --merge features finishes the folder: docs/scale.md.\n"
    "  milieu info --options dense-sift\n"
    "    lists the options of a feature; milieu info --options words those of word histograms.\n";

}  // namespace

Command features_command() {
  return {.name = "features",
          .summary = "turn an image folder into numbers",
          .example = kExample,
          .declare = declare_features};
}

}  // namespace milieu::cli
