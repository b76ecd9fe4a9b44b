// SPDX-License-Identifier: Apache-2.0
// exemplar learn with deep and classical candidate distances, beside the deep ones alone: half of
// each class for training, the other half clustered and classified by the nearest training sample,
// as in [Komodakis11, section 6]. The baselines cluster the embedding of the same test half.
#include <fmt/format.h>

#include <array>

#include "milieu/exemplar/learn/learn.h"
#include "milieu/metrics/metrics.h"
#include "reproduce/deep/deep.h"
#include "reproduce/exemplar_load.h"
#include "reproduce/exemplar_steps.h"

namespace milieu::cli {

namespace {

constexpr const char* kClassical = "gist,lbp,rot-lbp,dense-sift,color";
constexpr int kRounds = 600;  // as for textures in `reproduce exemplar`

constexpr std::array kRows = {"learned from deep and classical distances",
                              "the same, told the number of clusters",
                              "learned from deep distances",
                              "the same, told the number",
                              "average of all distances, told the number",
                              "embedding's distance alone, told the number",
                              "k-means, embedding, told the number",
                              "normalized cut, embedding, told the number",
                              "Ward, embedding, told the number"};

struct Learned {
  double accuracy = 0, told = 0, nearest = 0, clusters = 0, seconds = 0;
};

// Candidates of the first `num_columns` columns; 0: all.
std::vector<CandidateDistance> candidates_within(const ImageSet& set, int64_t num_columns) {
  std::vector<CandidateDistance> chosen;
  for (const CandidateDistance& c : set.candidates)
    if (num_columns == 0 || c.first_column + c.num_columns <= num_columns) chosen.push_back(c);
  return chosen;
}

Learned learn(const ImageSet& set, const Half& train, const Half& test, int64_t num_columns,
              ReproduceRun& run) {
  ExemplarLearnOptions options;
  options.learn_penalty = true;
  options.train.max_iterations = kRounds;
  options.train.num_threads = run.options().num_threads;
  const double before = cpu_seconds();
  const ExemplarLearnResult result = learn_exemplar_distance(
      {{{train.points, train.classes}}, candidates_within(set, num_columns)}, options,
      run.monitor());
  Learned learned;
  learned.seconds = cpu_seconds() - before;
  if (run.is_stopped()) return learned;
  const auto cluster = [&](int num_clusters) {
    ExemplarOptions use;
    use.rel_gap = 1e-3;
    use.num_clusters = num_clusters;
    use.num_threads = run.options().num_threads;
    const auto found = fit_learned_exemplar(result.model, test.points, use, run.monitor());
    return compute_metrics(found.labels, test.classes);
  };
  const Metrics found = cluster(0);
  learned.accuracy = found.accuracy, learned.clusters = found.num_clusters;
  learned.told = cluster(set.num_classes).accuracy;
  learned.nearest =
      nearest_accuracy(learned_costs(classifying_distance(result.model), test.points, train.points,
                                     run.options().num_threads, run.monitor()),
                       test.classes, train.classes);
  return learned;
}

// Weights that give every candidate the same mean.
std::vector<double> even_weights(const std::vector<Matrix<float>>& distances) {
  std::vector<double> weights;
  for (const Matrix<float>& each : distances) {
    double sum = 0;
    for (int64_t i = 0; i < each.size(); ++i) sum += each.data()[i];
    weights.push_back(sum > 0 ? static_cast<double>(each.size()) / sum : 0);
  }
  return weights;
}

// Of one split: accuracies of kRows; nearest neighbours of learned, learned deep, average,
// embedding; clusters found by both learned; CPU seconds of both.
std::vector<double> split_figures(const ImageSet& set, int64_t embedding_columns,
                                  int64_t deep_columns, uint64_t seed, ReproduceRun& run) {
  const auto [train, test] = split_images(set, seed);
  const Learned all = learn(set, train, test, 0, run);
  const Learned deep = learn(set, train, test, deep_columns, run);
  if (run.is_stopped()) return {};
  const auto across = all_distances(set.candidates, test.points, train.points);
  const auto within = all_distances(set.candidates, test.points, test.points);
  const std::vector<double> even = even_weights(across);
  const auto told = [&](const Matrix<float>& costs) {
    return cluster_exemplars(costs, test.classes, 0, set.num_classes, run).accuracy;
  };
  const FloatView embedding(test.points.data(), test.points.rows(), embedding_columns,
                            test.points.view().stride());
  std::vector<double> figures = {
      all.accuracy,   all.told, deep.accuracy, deep.told, told(weighted_sum(within, even)),
      told(within[0])};
  for (const Baseline& baseline : deep_baselines(run))
    if (baseline.name == "k-means" || baseline.name == "normalized cut" || baseline.name == "Ward")
      figures.push_back(
          compute_metrics(baseline.labels(embedding, set.num_classes, seed), test.classes)
              .accuracy);
  const auto nearest = [&](const Matrix<float>& distances) {
    return nearest_accuracy(distances, test.classes, train.classes);
  };
  figures.insert(figures.end(),
                 {all.nearest, deep.nearest, nearest(weighted_sum(across, even)),
                  nearest(across[0]), all.clusters, deep.clusters, all.seconds, deep.seconds});
  return figures;
}

// Figures of one set, one vector per split; empty if stopped.
std::vector<std::vector<double>> run_set(const DeepSet& deep, int max_per_class,
                                         ReproduceRun& run) {
  ImageSetting setting;
  setting.set = deep.name();
  setting.max_per_class = max_per_class;
  setting.features = fmt::format("{}:words=200,{}", map_feature(run), kClassical);
  ImageSet set;
  int64_t embedding_columns = 0, deep_columns = 0;
  std::vector<std::vector<double>> splits;
  for (int i = 0; i < run.num_runs(kDeepRuns); ++i) {
    const uint64_t seed = run.options().seed + static_cast<uint64_t>(i);
    const std::string key = fmt::format("deep exemplar, {}, split {}", deep.name(), seed);
    splits.push_back(run.piece(key, [&]() -> std::vector<double> {
      if (set.points.empty()) {
        ImageSetting first = setting;
        first.features = embedding_feature(run);
        ImageSet embedding;
        if (!load_images(first, run, embedding)) return {};
        embedding_columns = embedding.points.cols();
        setting.features = first.features + "," + setting.features;
        if (!load_images(setting, run, set)) return {};
        deep_columns = 0;
        for (const CandidateDistance& c : set.candidates)
          if (c.name.starts_with("onnx"))
            deep_columns = std::max(deep_columns, c.first_column + c.num_columns);
      }
      run.say(key);
      return split_figures(set, embedding_columns, deep_columns, seed, run);
    }));
    if (run.is_stopped()) return {};
  }
  return splits;
}

std::vector<double> column_of(const std::vector<std::vector<double>>& splits, size_t f) {
  std::vector<double> column;
  for (const std::vector<double>& split : splits) column.push_back(split.at(f));
  return column;
}

}  // namespace

void reproduce_deep_exemplar(ReproduceRun& run) {
  const std::vector<DeepSet> sets = deep_sets(run);
  run.keep_progress("deep");
  ResultTable clusters{
      "deep_exemplar", "Clustering of the test half, accuracy in %", {"method"}, {}, {}};
  for (const char* row : kRows) clusters.rows.push_back({row});
  ResultTable nearest{"deep_exemplar_nn",
                      "Nearest neighbour in the training half, accuracy in %, and cost",
                      {"method"},
                      {{"learned from deep and classical distances"},
                       {"learned from deep distances"},
                       {"average of all distances"},
                       {"embedding's distance alone"},
                       {"clusters found, deep and classical"},
                       {"clusters found, deep"},
                       {"CPU s of learning, deep and classical"},
                       {"CPU s of learning, deep"}},
                      {}};
  for (const DeepSet& set : sets) {
    const bool is_scenes = set.name() == "scenes15";
    const auto splits = run_set(set, is_scenes ? 80 : 0, run);
    if (run.is_stopped()) return;
    const std::string title = is_scenes ? set.name() + " (80 per class)" : set.name();
    clusters.columns.push_back(title), nearest.columns.push_back(title);
    for (size_t f = 0; f < kRows.size(); ++f)
      clusters.rows[f].push_back(interval_text(column_of(splits, f)));
    for (size_t f = 0; f < nearest.rows.size(); ++f) {
      const std::vector<double> column = column_of(splits, kRows.size() + f);
      nearest.rows[f].push_back(f < 4 ? interval_text(column)
                                      : fmt::format("{:.1f}", mean_of(column)));
    }
  }
  clusters.notes = {
      fmt::format("{} splits in halves; mean and 95 % interval", run.num_runs(kDeepRuns)),
      "deep: embedding and bag of 200 words of the last map; classical: gist, lbp, rot-lbp, "
      "dense-sift, color; each by chi-squared (histograms), l2, l1 and RBF",
      "paper on 15 scenes: clustering 63, NN 70.2"};
  run.show(clusters);
  run.show(nearest);
}

}  // namespace milieu::cli
