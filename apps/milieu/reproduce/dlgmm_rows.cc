// SPDX-License-Identifier: Apache-2.0
#include "reproduce/dlgmm_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "milieu/base/random.h"
#include "milieu/classic/counts/bags.h"
#include "milieu/classic/counts/jsom.h"
#include "milieu/classic/counts/multinomials.h"
#include "milieu/classic/counts/topics.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/ncut/ncut.h"
#include "milieu/metrics/metrics.h"
#include "milieu/store/model_file.h"

namespace milieu::cli {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kCodebookPatches = 200000;
constexpr int kOwnRestarts = 5;
// Labels hardly move after the first passes; with many words fits take long, so few passes are
// made.
constexpr int kManyWords = 300, kFewPasses = 20;

// Numbers that a baseline takes from the run.
template <class Options>
Options options_for(ScenePatches& patches, uint64_t seed, int num_restarts) {
  Options options;
  options.num_clusters = patches.num_classes();
  options.num_restarts = patches.run().num_restarts(num_restarts);
  options.seed = seed;
  options.num_threads = patches.run().options().num_threads;
  return options;
}

}  // namespace

const PatchImages& ScenePatches::images() {
  if (!images_) {
    PatchRequest request;
    request.path = path_;
    request.feature = "dense-sift:step=" + std::to_string(setting_.step);
    request.options.num_components = setting_.num_components;
    request.options.image_feature = has_vectors_ ? "gist" : "none";
    request.load.num_threads = run_.options().num_threads;
    request.seed = run_.options().seed;
    images_ = load_patch_images(request, run_.monitor());
  }
  return *images_;
}

const Matrix<float>& ScenePatches::codebook(int num_words, uint64_t seed) {
  const auto key = std::make_pair(num_words, seed);
  if (const auto found = codebooks_.find(key); found != codebooks_.end()) return found->second;
  const FloatView patches = images().patches.view();
  std::vector<int64_t> rows = Random(seed).child(11).sample_without_replacement(
      patches.rows(), std::min(kCodebookPatches, patches.rows()));
  std::sort(rows.begin(), rows.end());
  Matrix<float> drawn(static_cast<int64_t>(rows.size()), patches.cols());
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy_n(patches.row(rows[i]), patches.cols(), drawn.row(static_cast<int64_t>(i)));
  KMeansOptions options;
  options.num_clusters = num_words, options.num_restarts = 1, options.max_iterations = 30;
  options.seed = seed, options.num_threads = run_.options().num_threads;
  return codebooks_[key] =
             fit_kmeans({drawn.view(), {}, {}}, options, run_.monitor()).model.centers;
}

const Matrix<float>& ScenePatches::counts(int num_words, int num_bands, uint64_t seed) {
  const auto key = std::make_pair(std::make_pair(num_words, num_bands), seed);
  if (const auto found = counts_.find(key); found != counts_.end()) return found->second;
  return counts_[key] = count_words(images(), codebook(num_words, seed), num_bands,
                                    run_.options().num_threads);
}

Matrix<float> count_words(const PatchImages& images, const Matrix<float>& words, int num_bands,
                          int num_threads) {
  const std::vector<int> nearest = predict(KMeansModel{words}, images.patches.view(), num_threads);
  Matrix<float> counts(images.num_images(), num_bands * words.rows());
  for (int64_t d = 0; d < images.num_images(); ++d)
    for (int64_t i = images.offsets[d]; i < images.offsets[d + 1]; ++i) {
      const int64_t row = (i - images.offsets[d]) / images.grid(d, 1);
      const int64_t band = row * num_bands / images.grid(d, 0);
      counts(d, band * words.rows() + nearest[i]) += 1;
    }
  return counts;
}

std::vector<int> cluster_tfidf(ScenePatches& patches, int num_words, uint64_t seed) {
  auto options = options_for<BagsOptions>(patches, seed, kOwnRestarts);
  options.weighting = BagWeighting::TfIdf;
  return fit_bags({patches.counts(num_words, 1, seed).view()}, options, patches.run().monitor())
      .labels;
}

std::vector<int> cluster_log_counts(ScenePatches& patches, int num_words, int num_bands,
                                    uint64_t seed) {
  auto options = options_for<BagsOptions>(patches, seed, kOwnRestarts);
  options.num_bands = num_bands;
  return fit_bags({patches.counts(num_words, num_bands, seed).view()}, options,
                  patches.run().monitor())
      .labels;
}

// As the paper: tf-idf on the sphere, a Gaussian of bandwidth 1, all pairs joined.
std::vector<int> cluster_ncut(ScenePatches& patches, int num_words, uint64_t seed) {
  BagsOptions weighting;
  weighting.num_clusters = 1, weighting.num_restarts = 1;
  weighting.weighting = BagWeighting::TfIdf;
  const Matrix<float>& counts = patches.counts(num_words, 1, seed);
  const BagsModel model = fit_bags({counts.view()}, weighting, patches.run().monitor()).model;
  const Matrix<float> points = weighted_counts(model, counts);
  auto options = options_for<NcutOptions>(patches, seed, kOwnRestarts);
  options.bandwidth = 1, options.num_neighbors = 0;
  return fit_ncut({points.view()}, options, patches.run().monitor()).labels;
}

std::vector<int> cluster_topics(ScenePatches& patches, int num_words, uint64_t seed) {
  const auto options = options_for<TopicsOptions>(patches, seed, 1);
  return fit_topics({patches.counts(num_words, 1, seed).view()}, options, patches.run().monitor())
      .labels;
}

std::vector<int> cluster_multinomials(ScenePatches& patches, int num_words, uint64_t seed) {
  const auto options = options_for<MultinomialsOptions>(patches, seed, kOwnRestarts);
  return fit_multinomials({patches.counts(num_words, 1, seed).view()}, options,
                          patches.run().monitor())
      .labels;
}

std::vector<int> cluster_jsom(ScenePatches& patches, int num_words, uint64_t seed) {
  const auto options = options_for<JsomOptions>(patches, seed, 1);
  return fit_jsom({patches.counts(num_words, 1, seed).view()}, options, patches.run().monitor())
      .labels;
}

DlgmmOptions paper_options() {
  DlgmmOptions options;
  options.posterior = DlgmmPosterior::MeanField;
  options.init = DlgmmInit::Lda;
  options.tie_words = false;
  options.num_restarts = 1;
  return options;
}

DlgmmResult fit_resumable(ScenePatches& patches, DlgmmOptions options, int num_words, uint64_t seed,
                          const std::string& key) {
  const ReproduceRun& run = patches.run();
  options.num_words = num_words, options.num_clusters = patches.num_classes();
  options.num_bands = std::max(options.num_bands, 1);
  if (num_words > kManyWords) options.max_iterations = kFewPasses;
  options.seed = seed, options.num_threads = run.options().num_threads;
  DlgmmInput input;
  input.images = patches.images().view();
  std::string name = key + ".state";
  std::ranges::replace_if(
      name, [](char c) { return c == ' ' || c == ',' || c == '/'; }, '_');
  const std::string path = run.options().out.empty() ? "" : run.options().out + "/" + name;
  std::optional<DlgmmState> state;
  if (!path.empty() && fs::exists(path)) state = load_model<DlgmmState>(path);
  input.resume = state ? &*state : nullptr;
  input.on_pass = [&](const DlgmmState& now) {
    if (!path.empty()) save_model(path, now);
  };
  DlgmmResult result = fit_dlgmm(input, options, run.monitor());
  if (!run.is_stopped() && !path.empty()) fs::remove(path);
  return result;
}

std::optional<std::vector<double>> cell_figures(
    const ReproduceRun& run, const std::string& key,
    const std::function<std::vector<double>()>& compute) {
  std::vector<double> values = run.piece(key, [&] {
    run.say(key);
    return compute();
  });
  if (run.is_stopped()) return std::nullopt;
  return values;
}

std::vector<double> figures_of(ScenePatches& patches, const std::vector<int>& labels) {
  const Metrics metrics = compute_metrics(labels, patches.images().labels.indices);
  return {metrics.accuracy, metrics.nmi_max};
}

}  // namespace milieu::cli
