// SPDX-License-Identifier: Apache-2.0
// milieu exemplar learn TRAIN... --out DIR: exemplar/learn/learn.h on the command line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/output_flags.h"
#include "cli/progress.h"
#include "cli/result_text.h"
#include "commands/learn_distance.h"
#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/row_names.h"
#include "milieu/input/input_spec.h"
#include "milieu/render/number_text.h"
#include "milieu/run/run_options.h"
#include "milieu/store/json.h"

namespace milieu::cli {

namespace {

struct LearnCommand {
  LearnJob job;
  std::string preset;
  OutputFlags output;
};

// The five candidates with the largest shares, and those without weight.
std::string weights_text(const ExemplarLearnResult& result) {
  const Listed listed(result);
  const auto& [names, weights, shares] = listed;
  std::vector<size_t> order(names.size());
  for (size_t t = 0; t < order.size(); ++t) order[t] = t;
  std::stable_sort(order.begin(), order.end(),
                   [&shares = listed.shares](size_t a, size_t b) { return shares[a] > shares[b]; });
  std::string text = "most weight:";
  for (size_t i = 0; i < std::min<size_t>(5, order.size()); ++i)
    text +=
        fmt::format("{} {} ({:.1f} %)", i == 0 ? "" : ",", names[order[i]], 100 * shares[order[i]]);
  text += "\n";
  for (const auto& [name, value] : result.summary.extra) {
    if (name != "switched_off") continue;
    std::vector<std::string> off = std::get<std::vector<std::string>>(value);
    const size_t total = off.size();
    if (total > 8) off.resize(8);
    text += total == 0 ? "no candidate is switched off\n"
                       : fmt::format("switched off, {} of {}: {}{}\n", total, names.size(),
                                     fmt::join(off, ", "), total > 8 ? ", ..." : "");
  }
  return text;
}

// What makes exemplars cheap or dear; empty where all cost the same.
std::string exemplar_text(const LearnedDistance& model) {
  const std::vector<std::string> names = packed_names(model.exemplar_names);
  std::string text;
  for (size_t s = 0; s < names.size(); ++s)
    text += fmt::format("{} {} ({:+.3g})", text.empty() ? "an exemplar costs more with" : ",",
                        names[s], model.exemplar_weights[s]);
  return text.empty() ? text : text + "\n";
}

// What cross-validation chose; empty without it.
std::string validation_text(const RunSummary& summary) {
  std::string grouping;
  std::string known;
  double exemplars = 0, cut = 0, known_exemplars = 0, known_cut = 0;
  for (const auto& [name, value] : summary.extra) {
    if (name == "grouping") grouping = std::get<std::string>(value);
    if (name == "held_out_exemplars") exemplars = std::get<double>(value);
    if (name == "held_out_cut") cut = std::get<double>(value);
    if (name == "held_out_known_exemplars") known_exemplars = std::get<double>(value);
    if (name == "held_out_known_cut") known_cut = std::get<double>(value);
    if (name == "known_clusters") known = std::get<std::string>(value);
  }
  if (grouping.empty()) return "";
  std::string text =
      fmt::format("clusters by {}; on held-out halves: exemplars {:.1f} %, cut {:.1f} %\n",
                  grouping == "cut" ? "normalized cut" : "exemplars", 100 * exemplars, 100 * cut);
  if (known_cut > 0)
    text += fmt::format("along the axes of these clusters: exemplars {:.1f} %, cut {:.1f} %{}\n",
                        100 * known_exemplars, 100 * known_cut,
                        known == "clusters" || known == "both"
                            ? "; used for new sets that hold the same clusters"
                            : "");
  return text;
}

void print_result(const LearnCommand& command, const TrainingInput& train,
                  const ExemplarLearnResult& result, Console& console) {
  const RunSummary& s = result.summary;
  for (const TrainingSet& set : train.sets)
    console.print(fmt::format(
        "read {}: {}, {}\n", set.name, count_text(std::ssize(set.clusters), "sample"),
        counted(1 + *std::max_element(set.clusters.begin(), set.clusters.end()), "cluster")));
  console.print(
      fmt::format("learned from {}: objective {:.5g} after {} ({:.2f} "
                  "s), penalty {:.4g}\n",
                  counted(s.d, "candidate"), s.objective, counted(s.iterations, "round"), s.seconds,
                  result.model.penalty));
  console.print(weights_text(result));
  console.print(exemplar_text(result.model));
  console.print(validation_text(s));
  for (const std::string& warning : s.warnings)
    console.print(fmt::format("{} {}\n", console.paint(Style::Yellow, "warning:"), warning));
  if (command.output.out.empty())
    return console.print("next: add --out DIR to keep the distance\n");
  console.print(fmt::format("wrote {0}: open {0}/report.html\n", command.output.out));
  console.print(fmt::format("next: milieu exemplar {} --model {} clusters new samples\n",
                            train.has_images ? "FOLDER" : "NEW.npy", command.output.out));
}

int run_learn(LearnCommand& command, Session& session) {
  Console& console = session.console;
  command.output.apply(session);
  command.output.probe();
  take_distances(command.job.files);
  ProgressMonitor monitor(session, "exemplar learn");
  TrainingInput train = read_training(command.job, monitor);
  const Interrupt::Keeping keeping(session.interrupt);
  if (command.output.time_limit > 0) monitor.set_time_limit(command.output.time_limit);
  const LearnedJob learned = learn_distance(std::move(train), command.job, monitor);
  const ExemplarLearnResult& result = learned.result;
  monitor.clear();
  if (result.rounds.empty()) {
    console.note("interrupted before the first round: nothing was learned");
    return session.interrupt.was_requested() ? kInterrupted : kFailed;
  }
  if (!command.output.out.empty())
    write_learned(command.job, learned, command.output.out, command.output.force);
  if (command.output.json)
    console.print(summary_to_json(result.summary) + "\n");
  else if (!command.output.quiet)
    print_result(command, learned.train, result, console);
  if (!session.interrupt.was_requested()) return kDone;
  console.note(console.paint_err(Style::Yellow, "interrupted: these are the weights so far"));
  return kInterrupted;
}

RunCommand declare_learn(Flags& flags) {
  auto command = std::make_shared<LearnCommand>();
  FlagSpec train{
      .names = {"TRAIN"},
      .value = "TRAIN",
      .help =
          "example sets with their true clusters: folders with one sub-folder per class, or "
          "X.npy:labels.npy; several views or matrices are separated by commas",
      .group = "Arguments",
      .choices = {}};
  train.is_required = true;
  train.is_repeated = true;
  flags.add(train, [command](const std::string& text) { command->job.files.train = text; });
  const std::vector<Field> inputs = fields_of(command->job.files);
  for (size_t i = 1; i < inputs.size(); ++i)
    flags.field(inputs[i],
                inputs[i].name == "distance" || inputs[i].name == "exemplar_columns"
                    ? "LIST"
                    : input_value_name(inputs[i]),
                "Input");
  flags.method_fields(fields_of(command->job.options));
  flags.preset({"paper"}, command->preset);
  command->output.declare(
      flags, "run folder: model.safetensors, weights.csv, report.html, summary.json, options.json",
      true);
  return [command, &flags](Session& session) {
    if (!command->preset.empty() && command->preset != "paper")
      throw UsageError(fmt::format("preset is '{}', must be paper", command->preset));
    if (command->preset == "paper") apply_paper_preset(command->job.options);
    flags.apply_given();
    validate_options(command->job.options);
    command->output.validate();
    return run_learn(*command, session);
  };
}

constexpr const char* kExample =
    "  milieu exemplar learn old.npy:groups.npy older.npy:more.npy --out distance\n"
    "    learns how much each column counts, so that clustering gives the groups shown, and\n"
    "    writes the weights to distance/. On new data, whose number of clusters is found\n"
    "    automatically, or for the class of the nearest training sample:\n"
    "  milieu exemplar new.npy --model distance --out run\n"
    "  milieu exemplar new.npy --model distance --classify\n"
    "    Images, several features with four distances each:\n"
    "  milieu exemplar learn photos --feature sparse-sift,gist,lbp --out distance\n"
    "  milieu exemplar more_photos --model distance --out run\n"
    "    Each feature with distances of its own:\n"
    "  milieu exemplar learn photos --feature gist:distance=l2,lbp:distance=l1+rbf --out distance\n"
    "    A column that says which samples make bad exemplars, and by how much:\n"
    "  milieu exemplar learn old.npy:groups.npy --exemplar-columns 5 --out distance\n"
    "    By vectors computed elsewhere, one file per folder:\n"
    "  milieu exemplar learn photos --vectors clip.npy --out distance\n";

}  // namespace

Command exemplar_learn_command() {
  return {.name = "exemplar learn",
          .summary = "learn a distance from example clusterings",
          .example = kExample,
          .declare = declare_learn};
}

}  // namespace milieu::cli
