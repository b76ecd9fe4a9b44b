// SPDX-License-Identifier: Apache-2.0
#include "demo/demo_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "milieu/base/counted.h"
#include "milieu/base/shell.h"
#include "milieu/base/summary.h"
#include "milieu/data/builtin.h"

namespace milieu::cli {

namespace {

std::string table_row(const DemoRun& run) {
  const Metrics& m = run.metrics();
  return fmt::format("  {:<14} {:<24} {:>8} {:>8.1f} % {:>7.3f} {:>7.3f} {:>8.2f}", run.method(),
                     run.set().description, run.summary().clusters, 100 * m.accuracy, m.nmi, m.ari,
                     run.summary().seconds);
}

}  // namespace

std::string demo_table_text(const std::vector<DemoFamily>& families,
                            const std::vector<DemoRun>& runs, const Console& console) {
  std::string text;
  for (const DemoFamily& family : families) {
    const DemoRun* best = best_demo_run(runs, family);
    text += fmt::format("\n{}: {} in {} ({})\n", console.paint(Style::Bold, family.title),
                        counted(family.labels().indices.size(), "sample"),
                        counted(family.labels().names.size(), "class", "classes"),
                        family.sets[0].data.source);
    text += console.paint(
        Style::Dim, fmt::format("  {:<14} {:<24} {:>8} {:>10} {:>7} {:>7} {:>8}", "method", "data",
                                "clusters", "accuracy", "NMI", "ARI", "seconds"));
    text += "\n";
    for (const DemoRun& run : runs) {
      if (&run.family() != &family) continue;
      text +=
          &run == best ? console.paint(Style::Green, table_row(run) + "  best") : table_row(run);
      text += "\n";
    }
  }
  return text;
}

std::string demo_json(const std::vector<DemoRun>& runs, const std::string& out, uint64_t seed) {
  nlohmann::ordered_json json;
  json["version"] = version();
  json["seed"] = seed;
  json["out"] = out;
  json["runs"] = nlohmann::ordered_json::array();
  for (const DemoRun& run : runs) {
    const Metrics& m = run.metrics();
    json["runs"].push_back({{"method", run.method()},
                            {"data", run.set().name},
                            {"clusters", run.summary().clusters},
                            {"accuracy", m.accuracy},
                            {"nmi", m.nmi},
                            {"ari", m.ari},
                            {"seconds", run.summary().seconds},
                            {"folder", "runs/" + run.name()},
                            {"command", run.command()}});
  }
  return json.dump(2) + "\n";
}

std::vector<NextCommand> next_commands(const std::string& out) {
  const auto file = [&](const char* name) { return shell_quoted(out + "/" + name); };
  return {
      {fmt::format("milieu kmeans {} -k 12 --labels {} --image-size {}x{} --out my-run",
                   file("shapes.npy"), file("labels.csv"), kBuiltinImageSide, kBuiltinImageSide),
       "More clusters than shapes, with a report of your own in my-run/report.html:"},
      {fmt::format("milieu ncut {} -k 4 --bandwidth 0.5 --labels {}", file("rings.npy"),
                   file("rings_labels.csv")),
       "How far does a neighbour reach? When too far, the rings flow together:"},
      {fmt::format("milieu predict {} {} --labels {} --out predicted.csv",
                   file("runs/kmeans-shapes"), file("shapes.npy"), file("labels.csv")),
       "Labels from a saved model; any new images of the same size would do:"},
  };
}

std::string explore_command_text(const std::string& out) {
  return fmt::format("milieu explore {} --labels {} --image-size {}x{}",
                     shell_quoted(out + "/shapes.npy"), shell_quoted(out + "/labels.csv"),
                     kBuiltinImageSide, kBuiltinImageSide);
}

std::string demo_readme(const std::vector<DemoFamily>& families, const std::string& out) {
  std::string text =
      "\nThe next `milieu demo` replaces this folder: keep your own files elsewhere.\n\n"
      "  report.html       open it in a browser: what was run and what came out\n"
      "  runs/             a run folder for each run, as `milieu METHOD ... --out DIR` makes it\n"
      "  summary.json      the table of the runs\n";
  for (const DemoFamily& family : families) {
    for (const DemoSet& set : family.sets)
      text += fmt::format("  {:<17} {} x {}: {}\n", set.name + ".npy", set.data.points.rows(),
                          set.data.points.cols(), set.description);
    text += fmt::format("  {:<17} classes by name\n", family.labels_file);
    text += fmt::format("  {:<17} classes by number\n", family.numbers_file);
  }
  text += "\nTo try:\n";
  for (const NextCommand& next : next_commands(out))
    text += fmt::format("\n  {}\n    {}\n", next.meaning, next.command);
  return text;
}

}  // namespace milieu::cli
