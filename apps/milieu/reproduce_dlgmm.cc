// SPDX-License-Identifier: Apache-2.0
// [Xie15, Tables 1 to 4] at V = 100: accuracy and NMI of the paper's methods, of k-means of log
// counts, and of the structured posterior with bands. Rows that an earlier run has finished are
// taken from --out, so that a run goes on where it stopped.
#include "reproduce_dlgmm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "milieu/base/random.h"
#include "milieu/classic/kmeans.h"
#include "milieu/classic/topics.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/metrics/metrics.h"
#include "patch_images.h"

namespace milieu::cli {

namespace {

constexpr int kWords = 100;
constexpr int kOwnRuns = 1;
constexpr int kOwnRestarts = 5;

// What all rows of one data set share.
struct Setting {
  const ReproduceRun& run;
  const PatchImages& images;
  int num_clusters;
};

// The k-means codebook and hard counts in bands, as a bag of words has them.
struct Bags {
  Matrix<float> words;
  Matrix<float> counts;  // images x (bands V)
};

Bags make_bags(const Setting& s, int num_bands, uint64_t seed) {
  constexpr int64_t kEnough = 200000;
  const FloatView patches = s.images.patches.view();
  std::vector<int64_t> rows = Random(seed).child(11).sample_without_replacement(
      patches.rows(), std::min(kEnough, patches.rows()));
  std::sort(rows.begin(), rows.end());
  Matrix<float> drawn(static_cast<int64_t>(rows.size()), patches.cols());
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy_n(patches.row(rows[i]), patches.cols(), drawn.row(static_cast<int64_t>(i)));
  KMeansOptions options;
  options.num_clusters = kWords, options.num_restarts = 1, options.max_iterations = 30;
  options.seed = seed, options.num_threads = s.run.options().num_threads;
  const KMeansModel codebook = fit_kmeans({drawn.view(), {}, {}}, options, s.run.monitor()).model;
  const std::vector<int> words = predict(codebook, patches, s.run.options().num_threads);
  Bags bags{codebook.centers, Matrix<float>(s.images.num_images(), num_bands * kWords)};
  for (int64_t d = 0; d < s.images.num_images(); ++d)
    for (int64_t i = s.images.offsets[d]; i < s.images.offsets[d + 1]; ++i) {
      const int64_t row = (i - s.images.offsets[d]) / s.images.grid(d, 1);
      const int64_t band = row * num_bands / s.images.grid(d, 0);
      bags.counts(d, band * kWords + words[i]) += 1;
    }
  return bags;
}

std::vector<int> cluster_rows(const Setting& s, FloatView points, uint64_t seed) {
  KMeansOptions options;
  options.num_clusters = s.num_clusters, options.seed = seed;
  options.num_restarts = s.run.num_restarts(kOwnRestarts);
  options.num_threads = s.run.options().num_threads;
  return fit_kmeans({points, {}, {}}, options, s.run.monitor()).labels;
}

// Term frequency times inverse document frequency, rows of length 1.
std::vector<int> run_tfidf(const Setting& s, uint64_t seed) {
  Matrix<float> points = make_bags(s, 1, seed).counts;
  for (int64_t v = 0; v < points.cols(); ++v) {
    double documents = 0;
    for (int64_t d = 0; d < points.rows(); ++d) documents += points(d, v) > 0;
    const double idf = std::log(static_cast<double>(points.rows()) / std::max(documents, 1.0));
    for (int64_t d = 0; d < points.rows(); ++d) points(d, v) *= static_cast<float>(idf);
  }
  for (int64_t d = 0; d < points.rows(); ++d) {
    double norm = 0;
    for (const float x : points.row_span(d))
      norm += static_cast<double>(x) * static_cast<double>(x);
    for (float& x : points.row_span(d)) x /= static_cast<float>(std::sqrt(std::max(norm, 1e-12)));
  }
  return cluster_rows(s, points, seed);
}

std::vector<int> run_log_counts(const Setting& s, int num_bands, uint64_t seed) {
  Matrix<float> points = make_bags(s, num_bands, seed).counts;
  for (int64_t d = 0; d < points.rows(); ++d)
    for (int g = 0; g < num_bands; ++g) {
      const std::span<float> band = points.row_span(d).subspan(g * kWords, kWords);
      float mean = 0;
      for (float& x : band) mean += (x = std::log(x + 0.5f)) / kWords;
      for (float& x : band) x -= mean;
    }
  return cluster_rows(s, points, seed);
}

std::vector<int> run_topics(const Setting& s, uint64_t seed) {
  const Matrix<float> counts = make_bags(s, 1, seed).counts;
  TopicsOptions options;
  options.num_clusters = s.num_clusters, options.num_restarts = 1, options.seed = seed;
  options.num_threads = s.run.options().num_threads;
  return fit_topics({counts.view()}, options, s.run.monitor()).labels;
}

std::vector<int> run_dlgmm(const Setting& s, bool is_paper, int num_bands, uint64_t seed) {
  DlgmmOptions options;
  options.num_words = kWords, options.num_clusters = s.num_clusters, options.num_bands = num_bands;
  options.num_restarts = is_paper ? 1 : s.run.num_restarts(kOwnRestarts);
  options.seed = seed, options.num_threads = s.run.options().num_threads;
  if (is_paper) {
    options.posterior = DlgmmPosterior::MeanField;
    options.start = DlgmmStart::Lda;
    options.tie_words = false;
  }
  DlgmmInput input;
  input.images = s.images.view();
  return fit_dlgmm(input, options, s.run.monitor()).labels;
}

struct Row {
  const char* name;
  std::string published;
  std::function<std::vector<int>(const Setting&, uint64_t seed)> labels;
};

// "name,seed" to "accuracy,nmi" of rows that are done.
std::map<std::string, std::string> read_done(const std::string& path) {
  std::map<std::string, std::string> done;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (const size_t bar = line.find('|'); bar != std::string::npos)
      done[line.substr(0, bar)] = line.substr(bar + 1);
  return done;
}

struct Figures {
  std::vector<double> accuracy, nmi;
};

// The row's runs; those in `done` are not run again. False when it was stopped.
bool run_row(const Setting& s, const Row& row, const std::string& key,
             std::map<std::string, std::string>& done, Figures& figures) {
  for (int i = 0; i < s.run.num_runs(kOwnRuns); ++i) {
    const uint64_t seed = s.run.options().seed + static_cast<uint64_t>(i);
    const std::string name = fmt::format("{} {} {}", key, row.name, seed);
    if (!done.contains(name)) {
      s.run.say(fmt::format("{}, seed {}", row.name, seed));
      const std::vector<int> labels = row.labels(s, seed);
      if (s.run.is_stopped()) return false;
      const Metrics metrics = compute_metrics(labels, s.images.labels.indices);
      done[name] = fmt::format("{} {}", metrics.accuracy, metrics.nmi_max);
      std::string text;
      for (const auto& [each, value] : done) text += fmt::format("{}|{}\n", each, value);
      s.run.write(key + ".progress", text);
    }
    const std::string& value = done[name];
    figures.accuracy.push_back(std::stod(value));
    figures.nmi.push_back(std::stod(value.substr(value.find(' ') + 1)));
  }
  return true;
}

void run_set(ReproduceRun& run, const char* set, const char* key, const char* title,
             const std::vector<Row>& rows) {
  LoadOptions load;
  load.num_threads = run.options().num_threads;
  const PatchImages images =
      load_patch_images(run.data_file(set), {}, PatchOptions{}, load, run.options().seed);
  const Setting setting{run, images, static_cast<int>(images.labels.names.size())};
  std::map<std::string, std::string> done;
  if (!run.options().out.empty()) done = read_done(run.options().out + "/" + key + ".progress");
  ResultTable table{key, title, {"method", "paper AC/NMI", "AC", "NMI (max)", "runs"}, {}, {}};
  for (const Row& row : rows) {
    Figures figures;
    if (!run_row(setting, row, key, done, figures)) return;
    table.rows.push_back({row.name, row.published, interval_text(figures.accuracy),
                          interval_text(figures.nmi), std::to_string(figures.accuracy.size())});
  }
  table.notes = {
      fmt::format("{} of the set's images, {} classes, {} patches; dense SIFT, step 8, 64 "
                  "principal components, V = 100",
                  images.num_images(), setting.num_clusters, images.patches.rows()),
      "the paper: step 16, all images (Caltech-101: half of them, 101 classes)"};
  run.show(table);
}

}  // namespace

void reproduce_dlgmm_scenes(ReproduceRun& run) {
  run_set(run, "scenes15", "dlgmm_scenes",
          "15-Scenes, accuracy and NMI in %, [Xie15, Tables 1 and 3] at V = 100",
          {{"k-means, tf-idf", "27.0/25.5", run_tfidf},
           {"LDA topics", "34.1/31.5", run_topics},
           {"DLGMM, mean field, LDA start", "34.7/32.2",
            [](const Setting& s, uint64_t seed) { return run_dlgmm(s, true, 1, seed); }},
           {"k-means of log counts", "",
            [](const Setting& s, uint64_t seed) { return run_log_counts(s, 1, seed); }},
           {"k-means of log counts, 3 bands", "",
            [](const Setting& s, uint64_t seed) { return run_log_counts(s, 3, seed); }},
           {"DLGMM, structured, 3 bands", "",
            [](const Setting& s, uint64_t seed) { return run_dlgmm(s, false, 3, seed); }}});
}

void reproduce_dlgmm_caltech(ReproduceRun& run) {
  run_set(run, "caltech101", "dlgmm_caltech",
          "Caltech-101 (a subset), accuracy and NMI in %, [Xie15, Tables 2 and 4] at V = 100",
          {{"k-means of log counts, 3 bands", "",
            [](const Setting& s, uint64_t seed) { return run_log_counts(s, 3, seed); }},
           {"DLGMM, structured, 3 bands", "21.4/38.5",
            [](const Setting& s, uint64_t seed) { return run_dlgmm(s, false, 3, seed); }}});
}

}  // namespace milieu::cli
