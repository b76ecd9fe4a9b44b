// SPDX-License-Identifier: Apache-2.0
// The methods of [Xie15, Tables 1 to 4] and ours on one set of images, and the cells of a table:
// finished ones are kept (ReproduceRun::piece) and not computed again.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "milieu/dlgmm/dlgmm.h"
#include "milieu/input/patch_images.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

// How images become patches: the paper's way, or our default.
struct PatchSetting {
  int step = 16;
  int num_components = 0;
};

// Images of one set under one setting, read when first needed.
class ScenePatches {
 public:
  // Throws MissingData.
  ScenePatches(const ReproduceRun& run, const std::string& set, PatchSetting setting)
      : run_(run), path_(run.data_file(set)), setting_(setting) {}
  // Of any image folder, in the setting of dlgmm's defaults, with the images' vectors.
  ScenePatches(const ReproduceRun& run, std::string path)
      : run_(run), path_(std::move(path)), setting_{8, 64}, has_vectors_(true) {}
  const PatchImages& images();
  int num_classes() { return static_cast<int>(images().labels.names.size()); }
  // The k-means codebook of V words.
  const Matrix<float>& codebook(int num_words, uint64_t seed);
  // Hard counts in bands under that codebook: images x (bands V).
  const Matrix<float>& counts(int num_words, int num_bands, uint64_t seed);
  const ReproduceRun& run() const { return run_; }

 private:
  const ReproduceRun& run_;
  std::string path_;
  PatchSetting setting_;
  bool has_vectors_ = false;
  std::optional<PatchImages> images_;
  std::map<std::pair<int, uint64_t>, Matrix<float>> codebooks_;
  std::map<std::pair<std::pair<int, int>, uint64_t>, Matrix<float>> counts_;
};

// Counts of words, each patch counting for its nearest one.
Matrix<float> count_words(const PatchImages& images, const Matrix<float>& words, int num_bands,
                          int num_threads);

// Labels of all images; empty if the run was stopped.
std::vector<int> cluster_tfidf(ScenePatches& patches, int num_words, uint64_t seed);
std::vector<int> cluster_ncut(ScenePatches& patches, int num_words, uint64_t seed);
std::vector<int> cluster_topics(ScenePatches& patches, int num_words, uint64_t seed);
std::vector<int> cluster_multinomials(ScenePatches& patches, int num_words, uint64_t seed);
std::vector<int> cluster_jsom(ScenePatches& patches, int num_words, uint64_t seed);
std::vector<int> cluster_log_counts(ScenePatches& patches, int num_words, int num_bands,
                                    uint64_t seed);

// The paper's model: mean field from LDA topics, one variance per word.
DlgmmOptions paper_options();
// A fit on these patches that resumes from its state in --out if an earlier one was killed. `key`
// names the state.
DlgmmResult fit_resumable(ScenePatches& patches, DlgmmOptions options, int num_words, uint64_t seed,
                          const std::string& key);

// The numbers of a cell, kept ones or those of `compute`; nothing if the run was stopped.
std::optional<std::vector<double>> cell_figures(
    const ReproduceRun& run, const std::string& key,
    const std::function<std::vector<double>()>& compute);

// {accuracy, NMI (max)} of labels; empty for empty labels.
std::vector<double> figures_of(ScenePatches& patches, const std::vector<int>& labels);

}  // namespace milieu::cli
