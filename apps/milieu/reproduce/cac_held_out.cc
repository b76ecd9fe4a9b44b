// SPDX-License-Identifier: Apache-2.0
// cac with default options beside the strongest baselines, on problems that did not choose them
// (and on those that did, marked).
#include "reproduce/cac_held_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "milieu/cac/cac.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/ncut/ncut.h"
#include "milieu/data/format/npy.h"
#include "milieu/metrics/metrics.h"
#include "milieu/metrics/paired_test.h"
#include "reproduce/cac.h"
#include "reproduce/deep/deep.h"

namespace milieu::cli {

namespace {

constexpr int kSeeds = 3;

int num_classes(const std::vector<int>& classes) {
  return 1 + *std::max_element(classes.begin(), classes.end());
}

std::vector<int> kmeans_labels(const ReproduceRun& run, FloatView points, int k, uint64_t seed) {
  KMeansOptions options;
  options.num_clusters = k;
  options.seed = seed;
  options.num_threads = run.options().num_threads;
  KMeansInput input;
  input.points = points;
  return fit_kmeans(input, options, run.monitor()).labels;
}

std::vector<int> ncut_labels(const ReproduceRun& run, FloatView points, int k, uint64_t seed,
                             int num_neighbors) {
  NcutOptions options;
  options.num_clusters = k;
  options.num_neighbors = num_neighbors;
  options.seed = seed;
  options.num_threads = run.options().num_threads;
  return fit_ncut({points}, options, run.monitor()).labels;
}

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
  const int k = num_classes(problem.classes), seeds = run.num_runs(kSeeds);
  std::vector<double> figures;
  const auto add = [&](const auto& labels_of) {
    double error = 0;
    const double begin = cpu_seconds();
    for (int s = 0; s < seeds && !run.is_stopped(); ++s)
      error +=
          compute_metrics(labels_of(run.options().seed + static_cast<uint64_t>(s)), problem.classes)
              .error /
          seeds;
    figures.push_back(error);
    figures.push_back((cpu_seconds() - begin) / seeds);
  };
  add([&](uint64_t seed) { return kmeans_labels(run, joined, k, seed); });
  for (const int neighbors : {10, 15, 20})
    add([&](uint64_t seed) { return ncut_labels(run, joined, k, seed, neighbors); });
  add([&](uint64_t seed) { return cac_labels(run, problem, k, seed); });
  return figures;
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

ErrorTable::ErrorTable(std::string name, std::string title, std::vector<std::string> methods)
    : name_(std::move(name)), title_(std::move(title)), methods_(std::move(methods)) {}

void ErrorTable::add(const std::string& name, bool has_chosen, const std::vector<double>& figures) {
  names_.push_back(name);
  has_chosen_.push_back(has_chosen);
  errors_.emplace_back();
  seconds_.emplace_back();
  for (size_t i = 0; i + 1 < figures.size(); i += 2) {
    errors_.back().push_back(figures[i]);
    seconds_.back().push_back(figures[i + 1]);
  }
}

// Mean, largest lag of the last method, paired test and seconds over some of the problems.
std::vector<std::vector<std::string>> ErrorTable::summary_rows(bool has_chosen) const {
  std::vector<std::vector<double>> errors(methods_.size()), seconds(methods_.size());
  for (size_t p = 0; p < names_.size(); ++p)
    for (size_t m = 0; m < methods_.size() && has_chosen_[p] == has_chosen; ++m) {
      errors[m].push_back(errors_[p][m]);
      seconds[m].push_back(seconds_[p][m]);
    }
  if (errors[0].size() < 2) return {};
  const char* used = has_chosen ? "yes" : "no";
  std::vector<std::vector<std::string>> rows = {{fmt::format("mean of {}", errors[0].size()), used},
                                                {"cac behind it by at most (points)", used},
                                                {"p of the paired difference from cac", used},
                                                {"CPU seconds", used}};
  for (size_t m = 0; m < methods_.size(); ++m) {
    const bool is_cac = m + 1 == methods_.size();
    double behind = -1;
    for (size_t p = 0; p < errors[m].size(); ++p)
      behind = std::max(behind, errors.back()[p] - errors[m][p]);
    const double p_value = paired_t_test(errors[m], errors.back()).p_value;
    rows[0].push_back(percent_text(mean_of(errors[m])));
    rows[1].push_back(is_cac ? "-" : percent_text(behind));
    rows[2].push_back(is_cac ? "-" : fmt::format("{:.2g}", p_value));
    rows[3].push_back(fmt::format("{:.2f}", mean_of(seconds[m])));
  }
  return rows;
}

void ErrorTable::show(const ReproduceRun& run, std::vector<std::string> notes) const {
  ResultTable table{name_, title_, {"problem", "used for the choice"}, {}, std::move(notes)};
  table.columns.insert(table.columns.end(), methods_.begin(), methods_.end());
  for (size_t p = 0; p < names_.size(); ++p) {
    table.rows.push_back({names_[p], has_chosen_[p] ? "yes" : "no"});
    for (const double error : errors_[p]) table.rows.back().push_back(percent_text(error));
  }
  for (const bool has_chosen : {true, false})
    for (auto& row : summary_rows(has_chosen)) table.rows.push_back(std::move(row));
  run.show(table);
}

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
                               run.num_runs(kSeeds))});
}

}  // namespace milieu::cli
