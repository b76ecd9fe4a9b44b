// SPDX-License-Identifier: Apache-2.0
// exemplar learn with default options on sets that chose none of them, beside the paper's preset
// and clusterings of the standardised columns: half of the drawn samples of each class to learn
// from, the others to be clustered, and classified by the nearest training sample.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "milieu/base/random.h"
#include "milieu/classic/agglomerative/agglomerative.h"
#include "milieu/data/dataset.h"
#include "milieu/data/format/npy.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/metrics/metrics.h"
#include "milieu/metrics/paired_test.h"
#include "reproduce/cac/baselines.h"
#include "reproduce/deep/deep.h"
#include "reproduce/exemplar.h"
#include "reproduce/exemplar_steps.h"

namespace milieu::cli {

namespace {

constexpr int kOwnRuns = 5;
constexpr size_t kPerClass = 20;  // in each half

// One split, in this order. "told" is given the true number of clusters.
constexpr std::array kColumns = {"learned",       "clusters",   "paper's",       "clusters",
                                 "learned, told", "cut, told",  "paper's, told", "k-means, told",
                                 "Ward, told",    "NN learned", "NN Euclidean"};
constexpr std::array kCounts = {1, 3};  // columns that count clusters
constexpr size_t kReference = 4;        // what the others are tested against

struct Samples {
  Matrix<float> points;
  std::vector<int> classes;
};

// Every column with the mean 0 and the deviation 1 of `reference`.
Matrix<float> standardised(const Matrix<float>& points, const Matrix<float>& reference) {
  Matrix<float> out(points.rows(), points.cols());
  for (int64_t t = 0; t < points.cols(); ++t) {
    double sum = 0, squares = 0;
    const auto n = static_cast<double>(reference.rows());
    for (int64_t i = 0; i < reference.rows(); ++i) sum += reference(i, t);
    for (int64_t i = 0; i < reference.rows(); ++i)
      squares += std::pow(reference(i, t) - sum / n, 2) / n;
    const double scale = squares > 0 ? 1 / std::sqrt(squares) : 1.0;
    for (int64_t i = 0; i < points.rows(); ++i)
      out(i, t) = static_cast<float>(scale * (points(i, t) - sum / n));
  }
  return out;
}

// Twelve classes that differ in six of thirty columns of different noise.
Samples make_samples() {
  constexpr int kClasses = 12, kGood = 6, kAll = 30, kRows = 1200;
  Random random(28);
  Matrix<double> centers(kClasses, kGood);
  for (int64_t i = 0; i < centers.size(); ++i) centers.data()[i] = 2 * random.normal();
  std::array<double, kAll> spread{};
  for (double& each : spread) each = 0.5 + 2.5 * random.uniform();
  Samples made{Matrix<float>(kRows, kAll), {}};
  for (int p = 0; p < kRows; ++p) {
    made.classes.push_back(p % kClasses);
    for (int t = 0; t < kAll; ++t)
      made.points(p, t) = static_cast<float>((t < kGood ? centers(p % kClasses, t) : 0.0) +
                                             spread[static_cast<size_t>(t)] * random.normal());
  }
  return made;
}

struct HeldOutSet {
  std::string name;
  std::string points, labels;  // files; empty: made
  std::string batches;         // the rows of batch 1 only
};

HeldOutSet file_set(const ReproduceRun& run, const char* name, const char* points,
                    const char* labels, const char* batches = nullptr) {
  return {name, run.data_file(points), run.data_file(labels),
          batches != nullptr ? run.data_file(batches) : std::string()};
}

Samples load(const HeldOutSet& set) {
  if (set.points.empty()) return make_samples();
  const Dataset data = load_dataset(set.points);
  const FloatView all = data.points.view();
  const std::vector<int> classes = load_labels(set.labels).indices;
  std::vector<int64_t> batches, rows;
  if (!set.batches.empty()) batches = to_integers(open_npy(set.batches));
  for (int64_t i = 0; i < all.rows(); ++i)
    if (batches.empty() || batches[static_cast<size_t>(i)] == 1) rows.push_back(i);
  Samples taken{Matrix<float>(std::ssize(rows), all.cols()), {}};
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(all.row(rows[i]), all.cols(), taken.points.row(static_cast<int64_t>(i)));
    taken.classes.push_back(classes[static_cast<size_t>(rows[i])]);
  }
  return taken;
}

Samples take(const Samples& all, std::vector<int64_t> rows) {
  std::sort(rows.begin(), rows.end());
  Samples taken{Matrix<float>(std::ssize(rows), all.points.cols()), {}};
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(all.points.row(rows[i]), all.points.cols(),
                taken.points.row(static_cast<int64_t>(i)));
    taken.classes.push_back(all.classes[static_cast<size_t>(rows[i])]);
  }
  return taken;
}

// Up to kPerClass samples of every class for each half, drawn at random.
std::array<Samples, 2> draw_halves(const Samples& all, uint64_t seed) {
  std::vector<std::vector<int64_t>> members(
      1 + static_cast<size_t>(*std::max_element(all.classes.begin(), all.classes.end())));
  for (size_t i = 0; i < all.classes.size(); ++i)
    members[static_cast<size_t>(all.classes[i])].push_back(static_cast<int64_t>(i));
  Random random = Random(seed).child(28);
  std::array<std::vector<int64_t>, 2> rows;
  for (std::vector<int64_t>& each : members) {
    random.shuffle(std::span(each));
    const size_t half = std::min(kPerClass, each.size() / 2);
    for (size_t i = 0; i < 2 * half; ++i) rows[i < half ? 0 : 1].push_back(each[i]);
  }
  return {take(all, rows[0]), take(all, rows[1])};
}

struct LearnedFigures {
  double accuracy = 0, clusters = 0, told = 0, nearest = 0;
};

LearnedFigures learned_figures(const ReproduceRun& run, const Samples& train, const Samples& test,
                               bool is_paper, int k) {
  ExemplarLearnOptions options;
  if (is_paper) apply_paper_preset(options);
  options.train.num_threads = run.options().num_threads;
  const LearnedDistance model =
      learn_exemplar_distance({{{train.points, train.classes, {}}}}, options, run.monitor()).model;
  if (run.is_stopped()) return {};
  const auto cluster = [&](int count) {
    ExemplarOptions use;
    use.num_clusters = count;
    use.num_threads = run.options().num_threads;
    return compute_metrics(fit_learned_exemplar(model, test.points, use, run.monitor()).labels,
                           test.classes);
  };
  const Metrics found = cluster(0);
  const Matrix<float> costs = learned_costs(classifying_distance(model), test.points, train.points,
                                            run.options().num_threads, run.monitor());
  return {found.accuracy, static_cast<double>(found.num_clusters), cluster(k).accuracy,
          nearest_accuracy(costs, test.classes, train.classes)};
}

// In the order of kColumns.
std::vector<double> figures_of(const ReproduceRun& run, const Samples& train, const Samples& test,
                               uint64_t seed) {
  const int k = 1 + *std::max_element(test.classes.begin(), test.classes.end());
  const LearnedFigures ours = learned_figures(run, train, test, false, k);
  const LearnedFigures paper = learned_figures(run, train, test, true, k);
  const Matrix<float> from = standardised(train.points, train.points);
  const Matrix<float> rows = standardised(test.points, train.points);
  const auto accuracy = [&](const std::vector<int>& labels) {
    return compute_metrics(labels, test.classes).accuracy;
  };
  AgglomerativeOptions ward;
  ward.num_clusters = k;
  ward.linkage = Linkage::Ward;
  Matrix<float> plain(rows.rows(), from.rows());
  pair_distances(Distance::SquaredEuclidean, rows, from, plain);
  return {ours.accuracy,
          ours.clusters,
          paper.accuracy,
          paper.clusters,
          ours.told,
          accuracy(ncut_labels(run, rows, k, seed, 10)),
          paper.told,
          accuracy(kmeans_labels(run, rows, k, seed)),
          accuracy(fit_agglomerative({rows}, ward, run.monitor()).labels),
          ours.nearest,
          nearest_accuracy(plain, test.classes, train.classes)};
}

// For bench/quality/exemplar_learn_rivals.py.
void export_split(const ReproduceRun& run, const std::string& name, const Samples& train,
                  const Samples& test, const std::vector<double>& figures) {
  if (run.options().out.empty() || run.is_stopped()) return;
  const std::string folder = fmt::format("{}/exemplar_problems/{}", run.options().out, name);
  std::filesystem::create_directories(folder);
  write_npy(folder + "/train.npy", train.points.view());
  write_npy(folder + "/train_classes.npy", std::span<const int32_t>(train.classes));
  write_npy(folder + "/test.npy", test.points.view());
  write_npy(folder + "/test_classes.npy", std::span<const int32_t>(test.classes));
  write_npy(folder + "/figures.npy", std::span<const double>(figures));
}

std::string cell(size_t column, double value) {
  return std::ranges::count(kCounts, static_cast<int>(column)) > 0 ? fmt::format("{:.1f}", value)
                                                                   : percent_text(value);
}

// All splits of all sets.
class HeldOutTable {
 public:
  void add(const std::string& name, const std::vector<std::vector<double>>& splits) {
    std::vector<std::string> row = {name};
    for (size_t c = 0; c < kColumns.size(); ++c) {
      std::vector<double> values;
      for (const std::vector<double>& figures : splits) values.push_back(figures.at(c));
      row.push_back(cell(c, mean_of(values)));
      all_[c].insert(all_[c].end(), values.begin(), values.end());
    }
    rows_.push_back(std::move(row));
  }

  void show(const ReproduceRun& run, int num_runs) const {
    ResultTable table{"exemplar_held_out",
                      "Learned distances on sets that chose nothing, accuracy in %",
                      {"set"},
                      rows_,
                      {fmt::format("Means of {} splits, up to {} samples per class in each half; "
                                   "standardised columns for what is not learned.",
                                   num_runs, kPerClass)}};
    table.columns.insert(table.columns.end(), kColumns.begin(), kColumns.end());
    std::vector<std::string> mean = {"mean"}, test = {"p of the paired difference"};
    for (size_t c = 0; c < kColumns.size(); ++c) {
      mean.push_back(cell(c, mean_of(all_[c])));
      const bool is_told = c >= kReference && c + 2 < kColumns.size();
      test.push_back(is_told && c != kReference && all_[c].size() > 1
                         ? fmt::format("{:.2g}", paired_t_test(all_[c], all_[kReference]).p_value)
                         : "-");
    }
    table.rows.push_back(std::move(mean));
    table.rows.push_back(std::move(test));
    run.show(table);
  }

 private:
  std::vector<std::vector<std::string>> rows_;
  std::array<std::vector<double>, kColumns.size()> all_;
};

}  // namespace

void reproduce_exemplar_held_out(ReproduceRun& run) {
  const std::vector<HeldOutSet> sets = {
      file_set(run, "USPS", "usps_esl/X_train.npy", "usps_esl/labels_train.npy"),
      file_set(run, "gas", "gas_drift/X.npy", "gas_drift/labels.npy", "gas_drift/batch.npy"),
      file_set(run, "Deterding", "vowel_deterding/X.npy", "vowel_deterding/labels.npy"),
      file_set(run, "Peterson-Barney", "peterson_barney/X.npy", "peterson_barney/labels.npy"),
      file_set(run, "Hillenbrand", "hillenbrand/X15.npy", "hillenbrand/labels.npy"),
      {"made", "", "", ""}};
  run.keep_progress("exemplar_held_out");
  const int num_runs = run.num_runs(kOwnRuns);
  HeldOutTable table;
  for (const HeldOutSet& set : sets) {
    const Samples all = load(set);
    std::vector<std::vector<double>> splits;
    for (int i = 0; i < num_runs; ++i) {
      const uint64_t seed = run.options().seed + static_cast<uint64_t>(i);
      const std::string name = fmt::format("{} split {}", set.name, seed);
      splits.push_back(run.piece("held-out " + name, [&] {
        run.say(name);
        const auto [train, test] = draw_halves(all, seed);
        std::vector<double> figures = figures_of(run, train, test, seed);
        export_split(run, name, train, test, figures);
        return figures;
      }));
      if (run.is_stopped()) return;
    }
    table.add(set.name, splits);
  }
  table.show(run, num_runs);
}

}  // namespace milieu::cli
