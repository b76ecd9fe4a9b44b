// SPDX-License-Identifier: Apache-2.0
// The pass over patches against sums made patch by patch, where images are cut into batches and
// vectors have rests.
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/random.h"
#include "milieu/dlgmm/dlgmm_steps.h"

namespace milieu::internal {
namespace {

constexpr int kWords = 37, kDim = 45, kBands = 2;

struct Problem {
  Matrix<float> patches;
  std::vector<int64_t> offsets = {0};
  std::vector<uint8_t> bands;
  DlgmmModel model;
  Matrix<double> alpha;
  ImageTable table;
};

// Images without patches, of one patch, longer than a batch, and ending where a batch ends.
Problem make_problem(bool is_tied, bool is_diagonal) {
  Random random(5);
  Problem p;
  for (const int64_t size : {0, 700, 3, 1, 0, 0, 320, 512, 900, 40, 1, 0})
    p.offsets.push_back(p.offsets.back() + size);
  p.model.words = Matrix<double>(kWords, kDim);
  for (int64_t i = 0; i < p.model.words.size(); ++i) p.model.words.data()[i] = random.normal();
  p.model.word_variances = Matrix<double>(is_tied ? 1 : kWords, is_diagonal ? kDim : 1);
  for (int64_t i = 0; i < p.model.word_variances.size(); ++i)
    p.model.word_variances.data()[i] = random.uniform(1.5, 2.5);
  p.model.num_bands = kBands;
  p.patches = Matrix<float>(p.offsets.back(), kDim);
  for (int64_t i = 0; i < p.patches.rows(); ++i) {
    const int64_t v = random.uniform_index(kWords);
    for (int r = 0; r < kDim; ++r)
      p.patches(i, r) = static_cast<float>(p.model.words(v, r) + 1.5 * random.normal());
    p.bands.push_back(static_cast<uint8_t>(random.uniform_index(kBands)));
  }
  p.alpha = Matrix<double>(static_cast<int64_t>(p.offsets.size()) - 1, kBands * kWords);
  for (int64_t i = 0; i < p.alpha.size(); ++i) p.alpha.data()[i] = random.normal();
  DlgmmImages images;
  images.patches = p.patches, images.offsets = p.offsets, images.bands = p.bands;
  p.table = make_image_table(images, kBands, 0);
  return p;
}

TEST(DlgmmPass, IsTheSumOverPatchesHoweverImagesAreCut) {
  for (const int variant : {0, 1, 2, 3}) {
    const bool is_diagonal = variant >= 2;
    const Problem p = make_problem(variant % 2 == 0, is_diagonal);
    const PassResult pass =
        *run_data_pass(p.table, p.model, p.alpha, {.num_threads = 2}, silent_monitor());
    const WordScorer scorer = make_word_scorer(p.model);
    WordStats stats(kWords, kDim, is_diagonal);
    Matrix<double> counts(p.table.num_images, kBands * kWords);
    std::vector<int> words(kWords);
    for (int v = 0; v < kWords; ++v) words[v] = v;
    for (int64_t d = 0; d < p.table.num_images; ++d)
      for (int64_t i = p.offsets[d]; i < p.offsets[d + 1]; ++i) {
        std::vector<double> phi(kWords);
        double sum = 0;
        const int64_t band = p.bands[i] * kWords;
        for (int v = 0; v < kWords; ++v)
          sum += phi[v] =
              std::exp(p.alpha(d, band + v) + word_score(scorer, p.patches.row(i), v) + 90);
        for (int v = 0; v < kWords; ++v) {
          counts(d, band + v) += phi[v] /= sum;
          if (phi[v] > 0) stats.entropy -= phi[v] * std::log(phi[v]);
        }
        stats.add(p.patches.row(i), p.model.words, words, phi);
      }
    for (int64_t i = 0; i < counts.size(); ++i)
      ASSERT_NEAR(pass.counts.data()[i], counts.data()[i], 1e-6) << variant;
    for (int v = 0; v < kWords; ++v) ASSERT_NEAR(pass.stats.mass[v], stats.mass[v], 1e-6);
    for (int64_t i = 0; i < stats.first.size(); ++i)
      ASSERT_NEAR(pass.stats.first.data()[i], stats.first.data()[i], 1e-5);
    for (int64_t i = 0; i < stats.second.size(); ++i)
      ASSERT_NEAR(pass.stats.second.data()[i], stats.second.data()[i],
                  1e-7 * stats.second.data()[i]);
    EXPECT_NEAR(pass.stats.entropy, stats.entropy, 1e-4);
    EXPECT_EQ(pass.stats.num_patches, p.patches.rows());
    EXPECT_LT(pass.stats.num_scored, p.patches.rows() * kWords);
  }
}

}  // namespace
}  // namespace milieu::internal
