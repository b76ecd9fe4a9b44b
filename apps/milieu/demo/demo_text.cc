// SPDX-License-Identifier: Apache-2.0
#include "demo/demo_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "milieu/base/shell.h"
#include "milieu/base/summary.h"

namespace milieu::cli {

namespace {

constexpr int kTitleWidth = 52;
constexpr std::string_view kFolderMark = "DEMO/";

size_t column_width(const std::string& heading) { return std::max<size_t>(12, heading.size()); }

std::string table_row(const DemoRun& run, const std::vector<DemoRun>& runs) {
  std::string row = fmt::format("  {:<{}}", run.job().title, kTitleWidth);
  for (const auto& [truth, heading] : run.story().columns)
    row += fmt::format(" {:>{}}", accuracy_cell(run, runs, truth), column_width(heading));
  return row + fmt::format(" {:>8.2f}", run.summary().seconds);
}

std::string table_header(const DemoStory& story) {
  std::string header = fmt::format("  {:<{}}", "accuracy", kTitleWidth);
  for (const auto& [truth, heading] : story.columns)
    header += fmt::format(" {:>{}}", heading, column_width(heading));
  return header + fmt::format(" {:>8}", "seconds");
}

nlohmann::ordered_json json_of(const DemoRun& run) {
  nlohmann::ordered_json json = {
      {"story", run.story().name},         {"title", run.job().title},
      {"method", run.job().method},        {"sees_context", run.job().sees_context},
      {"by_hand", run.job().is_by_hand},   {"data", run.job().set},
      {"clusters", run.summary().clusters}};
  for (const auto& [truth, heading] : run.story().columns)
    if (const Metrics* metrics = run.metrics(truth)) json["accuracy"][truth] = metrics->accuracy;
  json["seconds"] = run.summary().seconds;
  json["folder"] = "runs/" + run.name();
  json["command"] = run.command();
  return json;
}

}  // namespace

std::string accuracy_cell(const DemoRun& run, const std::vector<DemoRun>& runs,
                          const std::string& truth) {
  const Metrics* metrics = run.metrics(truth);
  if (metrics == nullptr) return "";
  const bool is_best = metrics->accuracy >= best_accuracy(runs, run.story(), truth);
  return fmt::format("{}{:.1f} %", is_best ? "best " : "", 100 * metrics->accuracy);
}

std::string images_note(const DemoStories& made) {
  return made.has_garments
             ? "Garments are those of Fashion-MNIST (Debian's dataset-fashion-mnist); everything "
               "else is drawn on the spot."
             : "All images are drawn on the spot. With Debian's package dataset-fashion-mnist two "
               "of the stories show real garments.";
}

std::string demo_table_text(const DemoStories& made, const std::vector<DemoRun>& runs,
                            const Console& console) {
  std::string text;
  for (const DemoStory& story : made.stories) {
    text += fmt::format("\n{}: {}\n", console.paint(Style::Bold, story.name), story.question);
    text += console.paint(Style::Dim, table_header(story)) + "\n";
    for (const DemoRun& run : runs) {
      if (&run.story() != &story) continue;
      const std::string row = table_row(run, runs);
      text += (run.job().sees_context ? console.paint(Style::Green, row) : row) + "\n";
    }
  }
  return text + "\n" + images_note(made) + "\n";
}

std::string demo_json(const DemoStories& made, const std::vector<DemoRun>& runs,
                      const DemoPlace& place) {
  nlohmann::ordered_json json;
  json["version"] = version();
  json["seed"] = place.seed;
  json["out"] = place.out;
  json["garments"] = made.has_garments;
  json["runs"] = nlohmann::ordered_json::array();
  for (const DemoRun& run : runs) json["runs"].push_back(json_of(run));
  return json.dump(2) + "\n";
}

std::string next_command(const DemoStory& story, const std::string& out) {
  std::string command;
  for (size_t at = 0; at < story.next.size();) {
    const size_t end = std::min(story.next.find(' ', at), story.next.size());
    std::string word = story.next.substr(at, end - at);
    bool names_file = false;
    for (size_t mark; (mark = word.find(kFolderMark)) != std::string::npos; names_file = true)
      word.replace(mark, kFolderMark.size(), out + "/");
    command += (command.empty() ? "" : " ") + (names_file ? shell_quoted(word) : word);
    at = end + 1;
  }
  return command;
}

std::string explore_command_text(const std::string& out) {
  return fmt::format("milieu explore {} --labels {} --image-size 24x24",
                     shell_quoted(out + "/bars.npy"), shell_quoted(out + "/bars_direction.csv"));
}

std::string demo_readme(const DemoStories& made, const std::string& out) {
  std::string text =
      "\nThe next `milieu demo` replaces this folder: keep your own files elsewhere.\n\n"
      "  report.html             open it in a browser: five stories and what came out\n"
      "  runs/                   a run folder for each run, as `milieu METHOD ... --out DIR` makes "
      "it\n"
      "  summary.json            the tables of the runs\n";
  for (const DemoStory& story : made.stories)
    for (const DemoSet& set : story.sets) {
      text += fmt::format("  {:<23} {}: {}\n", set.name + (set.is_folder ? "/" : ".npy"),
                          story.name, set.about);
      for (size_t t = set.is_folder; t < set.truths.size(); ++t)
        text += fmt::format("  {:<23} classes by name\n", truth_file(set, set.truths[t]));
    }
  text += "\n" + images_note(made) + "\n\nTo try:\n";
  for (const DemoStory& story : made.stories)
    text += fmt::format("\n  {}\n    {}\n", story.next_meaning, next_command(story, out));
  return text;
}

}  // namespace milieu::cli
