// SPDX-License-Identifier: Apache-2.0
// cac with default options beside the strongest baselines, on problems that did not choose them
// (and on those that did, marked).
#include "reproduce/cac/held_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "milieu/cac/cac.h"
#include "milieu/data/format/npy.h"
#include "reproduce/cac/baselines.h"
#include "reproduce/cac/cac.h"
#include "reproduce/cac/error_table.h"
#include "reproduce/deep/deep.h"

namespace milieu::cli {

namespace {

std::vector<int> cac_labels(const ReproduceRun& run, const ViewProblem& problem, int k,
                            uint64_t seed) {
  CacInput input;
  for (const Matrix<float>& view : problem.views) input.views.push_back(view);
  CacOptions options;
  options.num_phrases = k;
  options.seed = seed;
  options.num_threads = run.options().num_threads;
  return fit_cac(input, options, run.monitor()).labels;
}

// Errors and CPU seconds of k-means, three cuts and cac, means of the seeds.
std::vector<double> figures_of(const ReproduceRun& run, const ViewProblem& problem) {
  std::vector<FloatView> views(problem.views.begin(), problem.views.end());
  const Matrix<float> joined = join_views(views);
  const int k = 1 + *std::max_element(problem.classes.begin(), problem.classes.end());
  SeedFigures figures(run, problem.classes);
  figures.add([&](uint64_t seed) { return kmeans_labels(run, joined, k, seed); });
  for (const int neighbors : {10, 15, 20})
    figures.add([&](uint64_t seed) { return ncut_labels(run, joined, k, seed, neighbors); });
  figures.add([&](uint64_t seed) { return cac_labels(run, problem, k, seed); });
  return figures.values();
}

// For bench/quality/cac_rivals.py.
void export_problem(const ReproduceRun& run, const std::string& name, const ViewProblem& problem) {
  if (run.options().out.empty()) return;
  const std::string folder = fmt::format("{}/cac_problems/{}", run.options().out, name);
  std::filesystem::create_directories(folder);
  for (size_t v = 0; v < problem.views.size(); ++v)
    write_npy(fmt::format("{}/view{}.npy", folder, v), problem.views[v].view());
  write_npy(folder + "/classes.npy", std::span<const int32_t>(problem.classes));
}

}  // namespace

void reproduce_cac_held_out(ReproduceRun& run) {
  const std::vector<NamedProblem> problems = view_problems(run);
  run.keep_progress("cac_held_out");
  ErrorTable table("cac_views", "Several views, error in %",
                   {"k-means, scaled views", "cut, 10 neighbours", "cut, 15 neighbours",
                    "cut, 20 neighbours", "cac"});
  for (const NamedProblem& named : problems) {
    run.say(named.name);
    const auto figures = run.piece("views " + named.name, [&] {
      const ViewProblem problem = named.load();
      if (run.is_stopped()) return std::vector<double>();
      export_problem(run, named.name, problem);
      return figures_of(run, problem);
    });
    if (run.is_stopped()) return;
    table.add(named.name, named.has_chosen, figures);
  }
  table.show(run, {fmt::format("Means of {} seeds. cut: normalized cut, self-tuned, of the scaled "
                               "views side by side. All options default.",
                               run.num_runs(kCacSeeds))});
}

}  // namespace milieu::cli
