// SPDX-License-Identifier: Apache-2.0
// The tables of deep features, and the baselines in them.
#include <fmt/format.h>

#include <algorithm>

#include "milieu/classic/agglomerative/agglomerative.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/ncut/ncut.h"
#include "milieu/metrics/metrics.h"
#include "reproduce/deep/deep.h"

namespace milieu::cli {

std::vector<Baseline> deep_baselines(const ReproduceRun& run) {
  const auto kmeans = [&run](KMeansDistance distance) {
    return [&run, distance](FloatView points, int k, uint64_t seed) {
      KMeansOptions options;
      options.num_clusters = k;
      options.num_restarts = run.num_restarts(options.num_restarts);
      options.distance = distance;
      options.seed = seed;
      options.num_threads = run.options().num_threads;
      return fit_kmeans({points, {}, {}}, options, run.monitor()).labels;
    };
  };
  const auto ncut = [&run](FloatView points, int k, uint64_t seed) {
    NcutOptions options;
    options.num_clusters = k;
    options.num_neighbors = std::min(options.num_neighbors, static_cast<int>(points.rows()) - 1);
    options.scale_neighbor = std::min(options.scale_neighbor, options.num_neighbors);
    options.num_restarts = run.num_restarts(options.num_restarts);
    options.seed = seed;
    options.num_threads = run.options().num_threads;
    return fit_ncut({points}, options, run.monitor()).labels;
  };
  const auto tree = [&run](Linkage linkage) {
    return [&run, linkage](FloatView points, int k, uint64_t) {
      AgglomerativeOptions options;
      options.num_clusters = k;
      options.linkage = linkage;
      options.num_threads = run.options().num_threads;
      return fit_agglomerative({points}, options, run.monitor()).labels;
    };
  };
  return {{"k-means", true, kmeans(KMeansDistance::Euclidean)},
          {"spherical k-means", true, kmeans(KMeansDistance::Cosine)},
          {"normalized cut", true, ncut},
          {"Ward", false, tree(Linkage::Ward)},
          {"average linkage", false, tree(Linkage::Average)}};
}

DeepTable::DeepTable(ReproduceRun& run, std::string name, std::string title,
                     std::vector<std::string> sets)
    : run_(run), name_(std::move(name)), title_(std::move(title)), sets_(std::move(sets)) {}

bool DeepTable::add(const std::string& row, const DeepSet& set, const Task& task) {
  if (std::ranges::find(rows_, row) == rows_.end()) rows_.push_back(row);
  Cell& cell = cells_[{row, set.name()}];
  for (int i = 0; i < (task.is_random ? run_.num_runs(kDeepRuns) : 1); ++i) {
    const uint64_t seed = run_.options().seed + static_cast<uint64_t>(i);
    const std::string key = fmt::format("deep {}, {}, seed {}", row, set.name(), seed);
    const std::vector<double> figures = run_.piece(key, [&] {
      run_.say(key);
      task.prepare();
      if (run_.is_stopped()) return std::vector<double>(3);
      const double before = cpu_seconds();
      const std::vector<int> labels = task.labels(seed);
      const double seconds = cpu_seconds() - before;
      if (run_.is_stopped()) return std::vector<double>(3);
      const Metrics metrics = compute_metrics(labels, set.classes());
      return std::vector<double>{metrics.accuracy, metrics.nmi, seconds};
    });
    if (run_.is_stopped()) return false;
    cell.accuracy.push_back(figures.at(0));
    cell.nmi.push_back(figures.at(1));
    cell.seconds.push_back(figures.at(2));
  }
  return true;
}

bool DeepTable::add_baselines(const std::string& what, DeepSet& set,
                              const std::function<const Matrix<float>&()>& points) {
  for (const Baseline& baseline : deep_baselines(run_)) {
    const Task task{
        [&] { points(); },
        [&](uint64_t seed) { return baseline.labels(points(), set.num_classes(), seed); },
        baseline.is_random};
    if (!add(fmt::format("{}, {}", baseline.name, what), set, task)) return false;
  }
  return true;
}

void DeepTable::show_one(const std::string& name, const std::string& title,
                         const std::function<std::string(const Cell&)>& text,
                         const std::vector<std::string>& notes) const {
  ResultTable table{name, title, {"method"}, {}, notes};
  table.columns.insert(table.columns.end(), sets_.begin(), sets_.end());
  for (const std::string& row : rows_) {
    std::vector<std::string> cells = {row};
    for (const std::string& set : sets_) {
      const auto found = cells_.find({row, set});
      cells.push_back(found == cells_.end() ? "-" : text(found->second));
    }
    table.rows.push_back(std::move(cells));
  }
  run_.show(table);
}

void DeepTable::show(const std::vector<std::string>& notes) const {
  std::vector<std::string> all = notes;
  all.push_back(fmt::format("mean and 95 % interval of {} seeds; no interval: no random part",
                            run_.num_runs(kDeepRuns)));
  show_one(
      name_ + "_accuracy", title_ + ": accuracy in %",
      [](const Cell& cell) { return interval_text(cell.accuracy); }, all);
  show_one(name_ + "_nmi", title_ + ": NMI (arithmetic) in %",
           [](const Cell& cell) { return interval_text(cell.nmi); }, {});
  show_one(name_ + "_seconds", title_ + ": CPU seconds, features excluded",
           [](const Cell& cell) { return fmt::format("{:.2f}", mean_of(cell.seconds)); }, {});
}

void reproduce_deep_baselines(ReproduceRun& run) {
  std::vector<DeepSet> sets = deep_sets(run);
  run.keep_progress("deep");
  DeepTable table(run, "deep_baselines", "MobileNetV2's embedding, rows of norm 1", names_of(sets));
  for (DeepSet& set : sets) {
    const auto embedding = [&]() -> const Matrix<float>& { return set.embedding(); };
    if (!table.add_baselines("embedding", set, embedding)) return;
  }
  table.show(
      {"the number of clusters is that of the classes; normalized cut: 20 neighbours, "
       "self-tuned"});
}

}  // namespace milieu::cli
