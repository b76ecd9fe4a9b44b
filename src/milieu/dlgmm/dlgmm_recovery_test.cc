// SPDX-License-Identifier: Apache-2.0
// Data drawn from the model, with words that overlap: learning both layers together against a
// k-means codebook that stays, and against the true codebook.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/random.h"
#include "milieu/dlgmm/dlgmm_steps.h"

namespace milieu::internal {
namespace {

constexpr int kImages = 200, kPatches = 64, kClusters = 4, kWords = 12, kDim = 4;

struct Drawn {
  Matrix<float> patches{kImages * kPatches, kDim};
  std::vector<int64_t> offsets = {0};
  std::vector<int> labels;
  Matrix<double> words{kWords, kDim};
};

// Patches lie about their word with variance 1, words about 0 with variance `separation`^2.
Drawn draw(double separation, uint64_t seed) {
  Random random(seed);
  Drawn out;
  Matrix<double> means(kClusters, kWords);
  for (int64_t i = 0; i < means.size(); ++i) means.data()[i] = random.normal();
  for (int64_t i = 0; i < out.words.size(); ++i) out.words.data()[i] = separation * random.normal();
  for (int d = 0; d < kImages; ++d) {
    const int j = d % kClusters;
    out.labels.push_back(j);
    std::vector<double> weights(kWords);
    for (int v = 0; v < kWords; ++v) weights[v] = std::exp(means(j, v) + 0.7 * random.normal());
    for (int i = 0; i < kPatches; ++i) {
      const int64_t v = random.weighted_index(weights);
      for (int r = 0; r < kDim; ++r)
        out.patches(d * kPatches + i, r) = static_cast<float>(out.words(v, r) + random.normal());
    }
    out.offsets.push_back(int64_t{d + 1} * kPatches);
  }
  return out;
}

double accuracy_of(const std::vector<int>& labels, const std::vector<int>& truth) {
  std::vector<int> order(kClusters);
  std::iota(order.begin(), order.end(), 0);
  double best = 0;
  do {
    double right = 0;
    for (size_t i = 0; i < labels.size(); ++i) right += order[labels[i]] == truth[i];
    best = std::max(best, right / kImages);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

DlgmmOptions options_for(DlgmmFix fix) {
  DlgmmOptions options;
  options.num_words = kWords, options.num_clusters = kClusters, options.fix = fix;
  options.num_threads = 1, options.num_restarts = 1, options.max_iterations = 30;
  options.rel_tolerance = 1e-5;
  return options;
}

// The true words, which stay; the clusters start from log counts, once, as those of the other fits.
DlgmmResult fit_true_codebook(const Drawn& data, const DlgmmInput& input) {
  const DlgmmOptions options = options_for(DlgmmFix::Codebook);
  DlgmmModel model;
  model.words = data.words;
  model.word_variances = Matrix<double>(1, 1);
  model.word_variances(0, 0) = 1;
  const Matrix<double> flat(kImages, kWords);
  const ImageTable table = make_image_table(input.images, 1, 0);
  const Matrix<double> counts =
      run_data_pass(table, model, flat, {.num_threads = 1}, silent_monitor())->counts;
  start_clusters(counts, start_labels(counts, 1, options, 0, silent_monitor()), options, model);
  DlgmmInput from_true = input;
  from_true.initial_model = &model;
  return fit_dlgmm(from_true, options);
}

// The bound of the images under a model, by mean field from these zeta on.
double mean_field_bound(const DlgmmModel& model, const DlgmmImages& images, DoubleView counts,
                        Matrix<double> zeta) {
  const ImageTable table = make_image_table(images, 1, 0);
  Matrix<double> alpha(counts.rows(), counts.cols());
  double bound = 0;
  for (int round = 0; round < 30; ++round)
    bound = update_images(table, model, counts, zeta, alpha, 1, silent_monitor())->bound.total();
  return bound;
}

TEST(DlgmmRecovery, MeanFieldLabelsBeginWithEveryClustersOwnTheta) {
  const Drawn data = draw(3, 1);
  DlgmmInput input;
  input.images.patches = data.patches, input.images.offsets = data.offsets;
  DlgmmOptions options = options_for(DlgmmFix::Codebook);
  options.posterior = DlgmmPosterior::MeanField, options.init = DlgmmInit::Lda;
  options.max_iterations = 3;
  const DlgmmResult result = fit_dlgmm(input, options);
  const Matrix<double> counts =
      run_data_pass(make_image_table(input.images, 1, 0), result.model, result.prediction.alpha,
                    {.num_threads = 1}, silent_monitor())
          ->counts;
  Matrix<double> weights(counts.rows(), kClusters);
  for (int64_t d = 0; d < weights.rows(); ++d)
    std::ranges::copy(result.model.weights, weights.row(d));
  EXPECT_GT(mean_field_bound(result.model, input.images, counts, result.prediction.probabilities),
            mean_field_bound(result.model, input.images, counts, weights));
}

// k-means leaves two of these words with one centre.
TEST(DlgmmRecovery, WordsMoveToWhereTheBoundIsHigher) {
  const Drawn data = draw(2, 3);
  DlgmmInput input;
  input.images.patches = data.patches, input.images.offsets = data.offsets;
  DlgmmOptions options = options_for(DlgmmFix::None);
  options.word_moves = 0;
  const double still = fit_dlgmm(input, options).summary.objective;
  options.word_moves = 1, options.max_iterations = 1;
  EXPECT_GT(fit_dlgmm(input, options).summary.objective, still);
}

// A batch of four shows most clusters one image or none.
TEST(DlgmmRecovery, SmallBatchesKeepTheClusters) {
  double passes = 0, batches = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Drawn data = draw(3, seed);
    DlgmmInput input;
    input.images.patches = data.patches, input.images.offsets = data.offsets;
    DlgmmOptions options = options_for(DlgmmFix::None);
    options.word_moves = 0;
    passes += accuracy_of(fit_dlgmm(input, options).labels, data.labels) / 4;
    options.batch_images = 4, options.max_iterations = 1;
    batches += accuracy_of(fit_dlgmm(input, options).labels, data.labels) / 4;
  }
  RecordProperty("figures", std::to_string(passes) + " " + std::to_string(batches));
  EXPECT_GE(batches, passes - 0.02);
}

TEST(DlgmmRecovery, JointIsAheadOfSeparateAndNearTheTrueCodebook) {
  constexpr int kSeeds = 6;
  double joint = 0, separate = 0, truth = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Drawn data = draw(1.5, seed);
    DlgmmInput input;
    input.images.patches = data.patches, input.images.offsets = data.offsets;
    const auto accuracy = [&](const DlgmmResult& result) {
      return accuracy_of(result.labels, data.labels) / kSeeds;
    };
    joint += accuracy(fit_dlgmm(input, options_for(DlgmmFix::None)));
    separate += accuracy(fit_dlgmm(input, options_for(DlgmmFix::Codebook)));
    truth += accuracy(fit_true_codebook(data, input));
  }
  RecordProperty("figures", std::to_string(joint) + " " + std::to_string(separate) + " " +
                                std::to_string(truth));
  EXPECT_GT(joint, separate);
  EXPECT_GE(joint, truth - 0.02);
}

}  // namespace
}  // namespace milieu::internal
