// SPDX-License-Identifier: Apache-2.0
// milieu export RUN: a result, with what a person changed in it, for other programs.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "milieu/base/counted.h"
#include "milieu/data/atomic_file.h"
#include "milieu/report/export/export_images.h"
#include "milieu/report/export/export_table.h"

namespace milieu::cli {

namespace {

struct ExportOptions {
  std::string run;
  std::string format = "csv";
  std::string to;
  bool links = false;
  bool original = false;
};

int run_export(const ExportOptions& options, Session& session) {
  const bool is_folders = options.format == "folders", is_zip = options.format == "zip";
  if ((is_folders || is_zip) && options.to.empty())
    throw UsageError(
        fmt::format("--to is missing: it says which {}",
                    is_zip ? "file --format zip writes" : "folder --format folders fills"));
  if (options.links && !is_folders)
    throw UsageError(
        fmt::format("--links goes with --format folders, the format is {}", options.format));
  const ExportTable table = read_export_table(options.run, options.original);
  if (is_folders || is_zip) {
    const ImageExport how = is_zip          ? ImageExport::Zip
                            : options.links ? ImageExport::Link
                                            : ImageExport::Copy;
    const int64_t count = export_images(table, options.to, how, false);
    session.console.print(fmt::format("{} {} into {}\n", counted(count, "image"),
                                      is_zip          ? "zipped"
                                      : options.links ? "linked"
                                                      : "copied",
                                      options.to));
    return kDone;
  }
  const std::string text = options.format == "csv"    ? export_csv(table)
                           : options.format == "json" ? export_json(table)
                                                      : export_coco(table);
  if (options.to.empty()) {
    session.console.print(text);
    return kDone;
  }
  write_file_atomically(options.to, text);
  session.console.print(
      fmt::format("wrote {}: {}\n", options.to, counted(table.samples.size(), "sample")));
  return kDone;
}

RunCommand declare_export(Flags& flags) {
  auto options = std::make_shared<ExportOptions>();
  flags.argument("RUN", options->run, true, "a run folder, of a command or of the explorer");
  FlagSpec format;
  format.names = {"--format"};
  format.value = "FORMAT";
  format.help =
      "csv (the default), json, coco (images as categories of parts), folders of images, or zip: "
      "the same folders in one file";
  format.group = "Output";
  format.choices = {"csv", "json", "coco", "folders", "zip"};
  flags.add(std::move(format), [options](const std::string& text) {
    if (text != "csv" && text != "json" && text != "coco" && text != "folders" && text != "zip")
      throw UsageError(
          fmt::format("--format is '{}', must be csv, json, coco, folders or zip", text));
    options->format = text;
  });
  flags.text("--to", options->to, "PATH",
             "the file or folder to write; a file goes to stdout without it", "Output");
  flags.boolean("--links", options->links, "link images instead of copying them", "Output");
  flags.boolean("--original", options->original,
                "labels as the method left them, without changes by hand", "Output");
  return [options](Session& session) { return run_export(*options, session); };
}

constexpr const char* kExample =
    "  milieu export albums --format folders --to sorted\n"
    "    copies the images of the run folder albums into sorted, one folder per part. What was\n"
    "    moved, named or set aside in the explorer is respected.\n";

}  // namespace

Command export_command() {
  return {.name = "export",
          .summary = "write a result for other programs: CSV, JSON, COCO, images in folders",
          .example = kExample,
          .declare = declare_export};
}

}  // namespace milieu::cli
