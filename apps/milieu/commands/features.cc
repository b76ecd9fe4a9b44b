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
#include "milieu/base/shell.h"
#include "milieu/data/image_folder.h"
#include "milieu/feature/cache/extract.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/input/codebook.h"
#include "milieu/input/image_rows.h"
#include "milieu/render/number_text.h"

namespace milieu::cli {

namespace {

struct FeaturesOptions {
  std::string input;
  std::string feature;
  std::string codebook;
  std::string out;
  ExtractOptions extract;
  bool json = false;
  bool quiet = false;
};

std::string features_json(const FeatureFolder& folder, const ExtractResult& result) {
  nlohmann::ordered_json json;
  json["out"] = folder.path;
  json["n"] = folder.images.size();
  json["classes"] = folder.labels.names.size();
  json["computed"] = result.num_computed;
  json["seconds"] = result.seconds;
  json["features"] = nlohmann::ordered_json::object();
  for (const FeatureFolder::Entry& entry : folder.features)
    json["features"][entry.id] = {
        {"spec", entry.spec}, {"columns", entry.cols}, {"patches", entry.has_patches}};
  json["skipped"] = nlohmann::ordered_json::array();
  for (const ImageFolder::Skipped& skipped : result.skipped)
    json["skipped"].push_back({{"path", skipped.path}, {"reason", skipped.reason}});
  json["warnings"] = result.warnings;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void print_result(const FeaturesOptions& options, const FeatureFolder& folder,
                  const ExtractResult& result, Console& console) {
  std::string text = count_text(result.num_images, "image");
  if (!folder.labels.names.empty())
    text += fmt::format(", {}", counted(folder.labels.names.size(), "class", "classes"));
  if (result.num_computed == 0)
    text += ": nothing has changed, nothing was computed";
  else
    text +=
        fmt::format(": {} computed in {:.1f} s ({:.1f} images/s)", count_text(result.num_computed),
                    result.seconds, static_cast<double>(result.num_computed) / result.seconds);
  console.print(text + "\n");
  for (const FeatureFolder::Entry& entry : folder.features)
    console.print(fmt::format("  {}.npy  {}{}\n", entry.id, counted(entry.cols, "column"),
                              entry.has_patches ? ", patches kept" : ""));
  for (const std::string& warning : result.warnings)
    console.print(fmt::format("{} {}\n", console.paint(Style::Yellow, "warning:"), warning));
  console.print(fmt::format("wrote {0}; next: milieu kmeans {0} --feature {1} -k {2}\n",
                            shell_quoted(options.out), folder.features.back().id,
                            std::max<size_t>(2, folder.labels.names.size())));
}

int run_features(const FeaturesOptions& options, Session& session) {
  Console& console = session.console;
  console.set_quiet(options.quiet);
  session.interrupt.set_quiet(options.quiet);
  if (options.feature.empty())
    throw UsageError("--feature is missing: say what to compute, such as --feature gist,color");
  if (options.out.empty()) throw UsageError("--out is missing: give a folder for the features");
  ExtractOptions extract = options.extract;
  extract.read_codebook = read_codebook;
  std::vector<FeatureSpec> specs = parse_feature_list(options.feature, options.codebook);
  const ImageFolder images = list_images(options.input);

  ProgressMonitor monitor(session, "features");
  monitor.on_stage(RunStage::Describing, options.input);
  const ExtractResult result =
      extract_features(images, std::move(specs), options.out, extract, monitor);
  monitor.clear();
  for (const ImageFolder::Skipped& skipped : images.skipped)
    console.note(fmt::format("skipped {}: {}", skipped.path, skipped.reason));
  report_skipped(images, result, monitor);
  const FeatureFolder folder = open_feature_folder(options.out);
  if (options.json)
    console.print(features_json(folder, result));
  else if (!options.quiet)
    print_result(options, folder, result, console);
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
  flags.argument("DIR", options->input, true,
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
