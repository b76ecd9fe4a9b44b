// SPDX-License-Identifier: Apache-2.0
// Words with full covariances: against formulas, sums over patches and the Gaussian mixture; what
// they are good for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "milieu/base/random.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/dlgmm/dlgmm_run_internal.h"
#include "milieu/dlgmm/test_images.h"
#include "milieu/testing/matchers.h"

namespace milieu::internal {
namespace {

// A random positive definite matrix, row-major.
std::vector<double> random_covariance(int64_t dim, Random& random) {
  Matrix<double> root(dim, dim);
  for (int64_t i = 0; i < root.size(); ++i) root.data()[i] = random.normal();
  std::vector<double> product(dim * dim);
  for (int64_t r = 0; r < dim; ++r)
    for (int64_t c = 0; c < dim; ++c) {
      for (int64_t k = 0; k < dim; ++k) product[r * dim + c] += root(r, k) * root(c, k);
      product[r * dim + c] /= static_cast<double>(dim);
      if (r == c) product[r * dim + c] += 0.3;
    }
  return product;
}

DlgmmModel random_words(int64_t num_words, int64_t dim, bool is_tied, Random& random) {
  DlgmmModel model;
  model.weights = {1};
  model.means = Matrix<double>(1, num_words);
  model.covariances = Matrix<double>(1, num_words);
  std::fill_n(model.covariances.data(), num_words, 1.0);
  model.words = Matrix<double>(num_words, dim);
  for (int64_t i = 0; i < model.words.size(); ++i) model.words.data()[i] = random.normal();
  model.word_variances = Matrix<double>(is_tied ? 1 : num_words, dim * dim);
  for (int64_t v = 0; v < model.word_variances.rows(); ++v)
    std::ranges::copy(random_covariance(dim, random), model.word_variances.row(v));
  return model;
}

TEST(DlgmmFullWords, ScoreIsTheLogOfTheDensity_issue30) {
  Random random(1);
  DlgmmModel model = random_words(3, 2, false, random);
  model.beta = 0.7;
  check_model(model);
  const WordScorer scorer = make_word_scorer(model);
  const float patch[] = {0.4f, -1.1f};
  for (int64_t v = 0; v < 3; ++v) {
    const double a = model.word_variances(v, 0), b = model.word_variances(v, 1),
                 c = model.word_variances(v, 3), det = a * c - b * b;
    const double x = patch[0] - model.words(v, 0), y = patch[1] - model.words(v, 1);
    const double distance = (c * x * x - 2 * b * x * y + a * y * y) / det;
    EXPECT_NEAR(word_score(scorer, patch, v),
                0.7 * (-std::log(2 * std::numbers::pi) - 0.5 * std::log(det) - 0.5 * distance),
                1e-12);
  }
}

// Words are screened by products in float; what is left must be what sums over all words give.
TEST(DlgmmFullWords, PassIsTheSumOverPatches_issue30) {
  constexpr int64_t kWords = 23, kDim = 9, kPatches = 900;
  for (const bool is_tied : {false, true}) {
    Random random(2);
    const DlgmmModel model = random_words(kWords, kDim, is_tied, random);
    Matrix<float> patches(kPatches, kDim);
    for (int64_t i = 0; i < patches.size(); ++i)
      patches.data()[i] = static_cast<float>(1.5 * random.normal());
    const std::vector<int64_t> offsets = {0, 300, 900};
    Matrix<double> alpha(2, kWords);
    for (int64_t i = 0; i < alpha.size(); ++i) alpha.data()[i] = random.normal();
    const ImageTable table = make_image_table({patches.view(), offsets}, 1, 0);
    const PassResult pass =
        *run_data_pass(table, model, alpha, {.num_threads = 2}, silent_monitor());
    const WordScorer scorer = make_word_scorer(model);
    WordStats stats(kWords, kDim, true, true);
    std::vector<int> words(kWords);
    for (int v = 0; v < kWords; ++v) words[v] = v;
    for (int64_t i = 0; i < kPatches; ++i) {
      std::vector<double> phi(kWords);
      double sum = 0;
      for (int64_t v = 0; v < kWords; ++v)
        sum += phi[v] = std::exp(alpha(i < 300 ? 0 : 1, v) + word_score(scorer, patches.row(i), v));
      for (double& share : phi) share /= sum;
      stats.add(patches.row(i), model.words, words, phi);
    }
    for (int64_t v = 0; v < kWords; ++v) EXPECT_NEAR(pass.stats.mass[v], stats.mass[v], 1e-6);
    for (int64_t i = 0; i < stats.second.size(); ++i)
      ASSERT_NEAR(pass.stats.second.data()[i], stats.second.data()[i], 1e-5) << is_tied;
  }
}

// One step of a mixture of Gaussians with any covariances, words of the same start.
TEST(DlgmmFullWords, OneClusterWithFixedThetaIsTheGaussianMixture_issue30) {
  const Drawn data = draw({.seed = 3});
  Random random(4);
  DlgmmModel model = random_words(6, 4, false, random);
  GmmModel start;
  start.covariance = GmmCovariance::Full;
  start.weights = {.1, .2, .1, .2, .3, .1};
  for (int64_t v = 0; v < 6; ++v)
    for (int64_t r = 0; r < 4; ++r)
      model.words(v, r) = data.words(v, r) + 0.3 * std::cos(static_cast<double>(v + r));
  start.means = model.words;
  start.covariances = model.word_variances;
  Matrix<double> alpha(40, 6);
  for (int64_t i = 0; i < alpha.size(); ++i) alpha.data()[i] = std::log(start.weights[i % 6]);
  GmmOptions options;
  options.num_clusters = 6, options.covariance = GmmCovariance::Full;
  options.max_iterations = 1, options.num_threads = 1;
  GmmInput input;
  input.points = data.patches.view();
  input.initial_model = &start;
  const GmmModel mixture = fit_gmm(input, options).model;
  const ImageTable table = make_image_table(data.input().images, 1, 0);
  const PassResult pass = *run_data_pass(table, model, alpha, {.num_threads = 1}, silent_monitor());
  update_words(pass.stats, 1e-12, model);
  ASSERT_EQ(mixture.covariances.cols(), 16);
  for (int64_t i = 0; i < model.words.size(); ++i)
    EXPECT_NEAR(model.words.data()[i], mixture.means.data()[i], 1e-6);
  for (int64_t i = 0; i < model.word_variances.size(); ++i)
    EXPECT_NEAR(model.word_variances.data()[i], mixture.covariances.data()[i],
                1e-5);  // the mixture adds 1e-6 of each variance
}

TEST(DlgmmFullWords, MovedMomentsAreThoseAboutTheNewPlace_issue30) {
  Random random(5);
  const DlgmmModel from = random_words(3, 4, true, random), to = random_words(3, 4, true, random);
  WordStats moved(3, 4, true, true), direct(3, 4, true, true);
  const std::vector<int> words = {0, 1, 2};
  const std::vector<double> phi = {0.2, 0.5, 0.3};
  for (int i = 0; i < 50; ++i) {
    float patch[4];
    for (float& x : patch) x = static_cast<float>(random.normal());
    moved.add(patch, from.words, words, phi);
    direct.add(patch, to.words, words, phi);
  }
  move_moments(from.words, to.words, moved);
  for (int64_t i = 0; i < moved.second.size(); ++i)
    ASSERT_NEAR(moved.second.data()[i], direct.second.data()[i], 1e-8);
}

// Two words that cross: the same place, long along one diagonal or the other. Clusters differ in
// which of them is frequent, which only full covariances see.
struct Crossed {
  Matrix<float> patches = Matrix<float>(60 * 30, 2);
  std::vector<int64_t> offsets = {0};
  std::vector<int> labels;

  explicit Crossed(uint64_t seed) {
    Random random(seed);
    for (int d = 0; d < 60; ++d) {
      labels.push_back(d % 2);
      for (int i = 0; i < 30; ++i) {
        const double along = 2 * random.normal(), across = 0.3 * random.normal();
        const double sign = random.bernoulli(labels[d] == 0 ? 0.8 : 0.2) ? 1 : -1;
        patches(d * 30 + i, 0) = static_cast<float>(along + across);
        patches(d * 30 + i, 1) = static_cast<float>(sign * (along - across));
      }
      offsets.push_back((d + 1) * 30);
    }
  }
};

// Of two clusters, under the better matching.
double accuracy(const std::vector<int>& labels, const std::vector<int>& truth) {
  double right = 0;
  for (size_t i = 0; i < labels.size(); ++i) right += labels[i] == truth[i];
  right /= static_cast<double>(labels.size());
  return std::max(right, 1 - right);
}

TEST(DlgmmFullWords, SeeWhatDiagonalsCannot_issue30) {
  const Crossed data(1);
  DlgmmInput input;
  input.images = {data.patches.view(), data.offsets};
  DlgmmOptions options;
  options.num_words = 2, options.num_clusters = 2, options.tie_words = false;
  options.max_iterations = 100, options.num_restarts = 3;
  std::vector<double> bounds, accuracies;
  for (const WordCovariance kind : {WordCovariance::Diagonal, WordCovariance::Full}) {
    options.word_covariance = kind;
    const DlgmmResult found = fit_dlgmm(input, options);
    EXPECT_THAT(found.summary.trace, NeverFalls(1e-9));
    EXPECT_EQ(infer_images(found.model, input.images).labels, found.labels);
    bounds.push_back(found.summary.objective);
    accuracies.push_back(accuracy(found.labels, data.labels));
  }
  EXPECT_GT(bounds[1], bounds[0]);
  EXPECT_LT(accuracies[0], 0.75);  // by symmetry the words have nothing to do with the clusters
  EXPECT_GT(accuracies[1], 0.95);
  options.batch_images = 20;
  EXPECT_GT(fit_dlgmm(input, options).summary.objective, bounds[0]);
}

TEST(DlgmmFullWords, BrokenModelsAreNamed_issue30) {
  Random random(6);
  DlgmmModel model = random_words(2, 3, false, random);
  model.word_variances(1, 4) = -1;
  EXPECT_THROW(check_model(model), DataError);
}

}  // namespace
}  // namespace milieu::internal
