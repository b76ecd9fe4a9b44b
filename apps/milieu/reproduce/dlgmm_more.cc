// SPDX-License-Identifier: Apache-2.0
// What [Xie15] reports besides its tables: gamma tuned, eleven million patches, a better codebook,
// joint learning.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/classify/lda.h"
#include "milieu/classify/nearest.h"
#include "reproduce/dlgmm.h"
#include "reproduce/dlgmm_rows.h"

namespace milieu::cli {

namespace {

constexpr int kWords = 100;
constexpr int kOwnRuns = 2;

// Square roots of frequencies, whose distances are Hellinger's.
Matrix<float> root_histograms(const Matrix<float>& counts) {
  Matrix<float> points = counts;
  for (int64_t d = 0; d < points.rows(); ++d) {
    float total = 0;
    for (const float n : points.row_span(d)) total += n;
    for (float& n : points.row_span(d)) n = std::sqrt(n / std::max(total, 1.0f));
  }
  return points;
}

// {1-NN, linear}: shares of test images that are right; every second image of the folder trains.
std::vector<double> classify(ScenePatches& patches, const Matrix<float>& words) {
  const Matrix<float> points =
      root_histograms(count_words(patches.images(), words, 1, patches.run().options().num_threads));
  const std::vector<int>& classes = patches.images().labels.indices;
  const int64_t half = points.rows() / 2;
  Matrix<float> train(points.rows() - half, points.cols()), test(half, points.cols());
  std::vector<int> train_labels, test_labels;
  for (int64_t d = 0; d < points.rows(); ++d) {
    std::copy_n(points.row(d), points.cols(), d % 2 == 0 ? train.row(d / 2) : test.row(d / 2));
    (d % 2 == 0 ? train_labels : test_labels).push_back(classes[d]);
  }
  const auto share_right = [&](const std::vector<int>& found) {
    double right = 0;
    for (size_t i = 0; i < found.size(); ++i) right += found[i] == test_labels[i] ? 1 : 0;
    return right / static_cast<double>(found.size());
  };
  const auto wide = [](const Matrix<float>& m) {
    Matrix<double> out(m.rows(), m.cols());
    std::copy_n(m.data(), m.size(), out.data());
    return out;
  };
  const double nearest = share_right(predict(fit_nearest(train.view(), train_labels), test.view()));
  LdaOptions options;
  options.ridge = 1e-3;
  const double linear =
      share_right(predict(fit_lda(wide(train).view(), train_labels, options), wide(test).view()));
  return {nearest, linear};
}

Matrix<float> to_float(const Matrix<double>& words) {
  Matrix<float> out(words.rows(), words.cols());
  for (int64_t i = 0; i < out.size(); ++i) out.data()[i] = static_cast<float>(words.data()[i]);
  return out;
}

// Rows of two figures each, over seeds; false if stopped.
bool add_row(
    const ReproduceRun& run, DoneCells& done, const std::string& name,
    const std::function<std::vector<double>(uint64_t seed, const std::string& key)>& compute,
    const std::string& published, ResultTable& table) {
  std::vector<double> first, second;
  for (int i = 0; i < run.num_runs(kOwnRuns); ++i) {
    const uint64_t seed = run.options().seed + static_cast<uint64_t>(i);
    const std::string key = fmt::format("{} {} {}", table.name, name, seed);
    const auto figures = done.get(key, [&] { return compute(seed, key); });
    if (!figures) return false;
    first.push_back((*figures)[0]), second.push_back((*figures)[1]);
  }
  table.rows.push_back({name, published, interval_text(first), interval_text(second)});
  return true;
}

}  // namespace

void reproduce_dlgmm_gamma(ReproduceRun& run) {
  ScenePatches patches(run, "scenes15", {16, 0});
  DoneCells done(run, "dlgmm_gamma");
  ResultTable table{"dlgmm_gamma",
                    "SC-DLGMM on 15-Scenes against gamma, V = 100, in %",
                    {"gamma", "paper AC/NMI", "AC", "NMI (max)"},
                    {},
                    {}};
  for (const double gamma : {0.0, 0.25, 0.5, 1.0, 2.0}) {
    const bool is_done = add_row(
        run, done, fmt::format("{}", gamma),
        [&](uint64_t seed, const std::string& key) {
          DlgmmOptions options = paper_options();
          options.gamma = gamma;
          return figures_of(patches, fit_resumable(patches, options, kWords, seed, key).labels);
        },
        gamma == 0 ? "34.7/32.2" : "34.2/31.5 (the best gamma)", table);
    if (!is_done) return;
  }
  table.notes = {"mean field, LDA start, step 16, whole SIFT, as in the paper",
                 "choosing gamma by these figures would be tuning with the true labels: the paper "
                 "did so (\"tuned to produce the best possible clustering performance\")"};
  run.show(table);
}

void reproduce_dlgmm_dense(ReproduceRun& run) {
  ScenePatches patches(run, "scenes15", {5, 0});
  DoneCells done(run, "dlgmm_dense");
  ResultTable table{"dlgmm_dense",
                    "15-Scenes with patches at step 5, V = 100, in %",
                    {"method", "paper AC/NMI", "AC", "NMI (max)"},
                    {},
                    {}};
  using Cluster = std::function<std::vector<int>(uint64_t seed, const std::string& key)>;
  const std::vector<std::pair<std::string, std::pair<std::string, Cluster>>> rows = {
      {"k-means, tf-idf",
       {"27.0/25.5",
        [&](uint64_t seed, const std::string&) { return cluster_tfidf(patches, kWords, seed); }}},
      {"LDA topics",
       {"34.1/31.5",
        [&](uint64_t seed, const std::string&) { return cluster_topics(patches, kWords, seed); }}},
      {"k-means of log counts",
       {"", [&](uint64_t seed,
                const std::string&) { return cluster_log_counts(patches, kWords, 1, seed); }}},
      {"DLGMM, mean field, LDA start",
       {"34.7/32.2", [&](uint64_t seed, const std::string& key) {
          return fit_resumable(patches, paper_options(), kWords, seed, key).labels;
        }}}};
  for (const auto& [name, row] : rows)
    if (!add_row(
            run, done, name,
            [&](uint64_t seed, const std::string& key) {
              return figures_of(patches, row.second(seed, key));
            },
            row.first, table))
      return;
  table.notes = {
      fmt::format("{} here; the paper mentions step 16 and 11 million patches, "
                  "which no step but 5 gives for its 4485 images",
                  counted(patches.images().patches.rows(), "patch", "patches"))};
  run.show(table);
}

void reproduce_dlgmm_codebook(ReproduceRun& run) {
  ScenePatches patches(run, "scenes15", {8, 64});
  DoneCells done(run, "dlgmm_codebook");
  ResultTable table{
      "dlgmm_codebook",
      "Classes of 15-Scenes from histograms of words, V = 100, test images right in %",
      {"codebook", "paper", "1-NN", "linear (LDA)"},
      {},
      {}};
  const auto learned = [&](DlgmmOptions options, uint64_t seed, const std::string& key) {
    return classify(patches,
                    to_float(fit_resumable(patches, options, kWords, seed, key).model.words));
  };
  DlgmmOptions softer;
  softer.beta = 0.25;
  const bool is_done =
      add_row(
          run, done, "k-means",
          [&](uint64_t seed, const std::string&) {
            return classify(patches, patches.codebook(kWords, seed));
          },
          "", table) &&
      add_row(
          run, done, "DLGMM, structured",
          [&](uint64_t seed, const std::string& key) { return learned({}, seed, key); }, "",
          table) &&
      add_row(
          run, done, "DLGMM, structured, beta 0.25",
          [&](uint64_t seed, const std::string& key) { return learned(softer, seed, key); }, "",
          table);
  if (!is_done) return;
  table.notes = {"every second image trains; hard counts of one bag, square roots of frequencies",
                 "the paper claims a better codebook without such figures"};
  run.show(table);
}

void reproduce_dlgmm_joint(ReproduceRun& run) {
  struct Setting {
    int num_components;
    double beta;
  };
  DoneCells done(run, "dlgmm_joint");
  ResultTable table{"dlgmm_joint",
                    "Words learned with the clusters of 15-Scenes or before them, V = 100, in %",
                    {"patches and words", "paper", "AC", "NMI (max)"},
                    {},
                    {}};
  for (const Setting& setting :
       {Setting{64, 1}, Setting{64, 0.25}, Setting{16, 1}, Setting{8, 1}}) {
    ScenePatches patches(run, "scenes15", {8, setting.num_components});
    for (const DlgmmFix fix : {DlgmmFix::Codebook, DlgmmFix::None}) {
      const bool is_done = add_row(
          run, done,
          fmt::format("{}, beta {}, {}", counted(setting.num_components, "component"), setting.beta,
                      fix == DlgmmFix::None ? "joint" : "k-means words that stay"),
          [&](uint64_t seed, const std::string& key) {
            DlgmmOptions options;
            options.num_bands = 3, options.beta = setting.beta, options.fix = fix;
            return figures_of(patches, fit_resumable(patches, options, kWords, seed, key).labels);
          },
          "", table);
      if (!is_done) return;
    }
  }
  table.notes = {
      "structured posterior, 3 bands, step 8; few components and a low beta make words "
      "overlap, so that the clusters influence the words of patches"};
  run.show(table);
}

}  // namespace milieu::cli
