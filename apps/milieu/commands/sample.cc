// SPDX-License-Identifier: Apache-2.0
// milieu sample METHOD: data drawn from the generative process of a method.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/output_flags.h"
#include "cli/progress.h"
#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/format/npy.h"
#include "milieu/dlgmm/dlgmm_sample.h"
#include "milieu/run/run_options.h"
#include "milieu/store/json.h"
#include "milieu/store/run_folder.h"

namespace milieu::cli {

namespace {

struct SampleCommand {
  std::string method;
  std::string model;  // of an earlier run; empty: made from `make`
  DlgmmMakeOptions make, default_make;
  DlgmmSampleOptions sample;
  OutputFlags output;
};

std::vector<Field> option_fields(SampleCommand& command) {
  std::vector<Field> fields = fields_of(command.make);
  for (Field& field : fields_of(command.sample)) fields.push_back(std::move(field));
  return fields;
}

// The model says what these options do: they must be the defaults beside it.
void refuse_make_options(SampleCommand& command) {
  const std::vector<Field> given = fields_of(command.make), own = fields_of(command.default_make);
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i].get() != own[i].get())
      throw UsageError(fmt::format("{} is {}, but --model {} has its own: leave {} out",
                                   given[i].name, to_text(given[i].get()), command.model,
                                   given[i].flag()));
}

DlgmmModel model_of(SampleCommand& command) {
  if (!command.model.empty()) return load_model<DlgmmModel>(resolve_model_path(command.model));
  command.make.seed = command.sample.seed;
  return make_dlgmm_model(command.make);
}

RunSummary summarize(const DlgmmSample& drawn, const DlgmmModel& model, uint64_t seed) {
  RunSummary summary;
  summary.method = "sample dlgmm";
  summary.version = version();
  summary.seed = seed;
  summary.n = static_cast<int64_t>(drawn.labels.size());
  summary.d = drawn.patches.cols();
  set_sizes(summary, drawn.labels, model.num_clusters());
  summary.extra.emplace_back("patches", drawn.patches.rows());
  summary.extra.emplace_back("num_words", model.num_words());
  summary.extra.emplace_back("gamma", model.gamma);
  return summary;
}

Matrix<float> codebook_of(const DlgmmModel& model) {
  Matrix<float> words(model.words.rows(), model.words.cols());
  std::copy_n(model.words.data(), words.size(), words.data());
  return words;
}

void write_folder(SampleCommand& command, const DlgmmSample& drawn, const DlgmmModel& model,
                  const RunSummary& summary) {
  RunFolder folder(command.output.out, command.output.force);
  const auto save = [&](const char* name, const auto& values) {
    folder.write(name, [&](const std::string& path) { write_npy(path, values); });
  };
  save("patches.npy", drawn.patches.view());
  save("offsets.npy", std::span<const int64_t>(drawn.offsets));
  save("grid.npy", MatrixView<const int32_t>(drawn.grid.view()));
  save("theta.npy", drawn.theta.view());
  save("patch_words.npy", std::span<const int32_t>(drawn.words));
  save("codebook.npy", codebook_of(model).view());
  folder.write_labels(drawn.labels, {}, {});
  folder.write_model(to_model_file(model));
  folder.write_text("options.json",
                    run_options_to_json("sample dlgmm", {}, option_fields(command)));
  folder.write_text("summary.json", summary_to_json(summary));
  folder.commit();
}

int run_sample(SampleCommand& command, Session& session) {
  if (command.method != "dlgmm")
    throw UsageError(
        fmt::format("METHOD is '{}', must be dlgmm: the only method with a generative "
                    "process to draw from",
                    command.method));
  if (command.output.out.empty()) throw UsageError("--out is missing: give the folder to write");
  if (!command.model.empty()) refuse_make_options(command);
  validate_fields(option_fields(command));
  command.output.apply(session);
  command.output.probe();
  ProgressMonitor monitor(session, "sample dlgmm");
  const DlgmmModel model = model_of(command);
  const DlgmmSample drawn = sample_dlgmm(model, command.sample, monitor);
  monitor.clear();
  if (session.interrupt.was_requested()) {
    session.console.note("interrupted: nothing was written");
    return kInterrupted;
  }
  const RunSummary summary = summarize(drawn, model, command.sample.seed);
  write_folder(command, drawn, model, summary);
  const std::string& out = command.output.out;
  if (command.output.json) {
    session.console.print(summary_to_json(summary) + "\n");
  } else if (!command.output.quiet) {
    session.console.print(fmt::format(
        "wrote {0}: {1} of {2} x {3} patches, {4} numbers each, in {5}\n"
        "next: milieu dlgmm {0}/patches.npy --offsets {0}/offsets.npy --grid {0}/grid.npy -k {6} "
        "--words {7} --truth {0}/labels.csv\n",
        out, counted(summary.n, "image"), command.sample.grid_rows, command.sample.grid_columns,
        summary.d, counted(model.num_clusters(), "cluster"), model.num_clusters(),
        model.num_words()));
  }
  return kDone;
}

RunCommand declare_sample(Flags& flags) {
  auto command = std::make_shared<SampleCommand>();
  flags.argument("METHOD", command->method, true, "method whose generative process to use: dlgmm");
  flags.text("--model", command->model, "RUN",
             "run folder or model file to draw from, in place of a random model", "Input");
  flags.method_fields(option_fields(*command));
  command->output.declare(flags,
                          "folder for patches.npy, offsets.npy, grid.npy, labels.csv (the true "
                          "clusters), theta.npy, patch_words.npy, codebook.npy and the model",
                          false);
  return [command, &flags](Session& session) {
    flags.apply_given();
    return run_sample(*command, session);
  };
}

constexpr const char* kExample =
    "  milieu sample dlgmm --images 300 --clusters 5 --words 20 --separation 1.5 --out made\n"
    "    draws 300 images of 8 x 8 patches from five clusters with overlapping words. Are so many\n"
    "    images enough to find them?\n"
    "  milieu dlgmm made/patches.npy --offsets made/offsets.npy -k 5 --words 20 --truth "
    "made/labels.csv\n"
    "    Neighbouring patches share words with --gamma 0.5; --model run draws images like those "
    "of\n"
    "    an earlier run of milieu dlgmm.\n";

}  // namespace

Command sample_command() {
  return {.name = "sample",
          .summary = "draw data from the model behind a method",
          .example = kExample,
          .declare = declare_sample};
}

}  // namespace milieu::cli
