// SPDX-License-Identifier: Apache-2.0
// fit_dlgmm as a whole: the bound's trace, equal bits, recovery, edges.
#include "milieu/dlgmm/dlgmm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/dlgmm/dlgmm_steps.h"
#include "milieu/dlgmm/test_images.h"
#include "milieu/testing/matchers.h"

namespace milieu::internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(DlgmmFit, BoundRisesInEveryMode) {
  int num_fits = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Drawn data = draw({.D = 20, .seed = seed});
    for (const DlgmmPosterior posterior : {DlgmmPosterior::Structured, DlgmmPosterior::MeanField})
      for (const DlgmmCovariance covariance :
           {DlgmmCovariance::Diagonal, DlgmmCovariance::TiedDiagonal, DlgmmCovariance::Full,
            DlgmmCovariance::Tied})
        for (const int variant : {0, 1, 2, 3}) {
          DlgmmOptions o = small_options();
          o.posterior = posterior, o.covariance = covariance, o.seed = seed;
          o.tie_words = variant % 2 == 0;
          o.word_covariance = variant < 2 ? WordCovariance::Spherical : WordCovariance::Diagonal;
          o.num_bands = variant == 1 ? 2 : 1;
          o.gamma = variant == 2 ? 0.2 : 0;
          o.beta = variant == 3 ? 0.5 : 1, o.kappa = variant == 3 ? 0.7 : 1;
          o.max_iterations = 6;
          const DlgmmResult result = fit_dlgmm(data.input(), o);
          EXPECT_THAT(result.summary.trace, NeverFalls(1e-9))
              << to_string(posterior) << " " << to_string(covariance) << " " << variant;
          ++num_fits;
        }
  }
  EXPECT_EQ(num_fits, 128);
}

TEST(DlgmmFit, BoundTermsSumToTheObjective) {
  const Drawn data = draw({});
  DlgmmOptions o = small_options();
  o.gamma = 0.3, o.num_bands = 2;
  const RunSummary summary = fit_dlgmm(data.input(), o).summary;
  ASSERT_EQ(summary.extra[0].first, "bound_terms");
  const auto terms = std::get<std::vector<double>>(summary.extra[0].second);
  ASSERT_EQ(terms.size(), 8u);
  double sum = 0;
  for (const double term : terms) sum += term;
  EXPECT_NEAR(sum, summary.objective, 1e-9 * std::abs(sum));
  EXPECT_LT(terms[7], 0);
}

TEST(DlgmmFit, ThreadsChangeNoBit) {
  const Drawn data = draw({.D = 90, .side = 6});
  for (const double gamma : {0.0, 0.5}) {
    DlgmmOptions one = small_options();
    one.gamma = gamma, one.max_iterations = 5;
    DlgmmOptions two = one;
    two.num_threads = 2;
    expect_same(fit_dlgmm(data.input(), one), fit_dlgmm(data.input(), two));
  }
}

TEST(DlgmmFit, SpatialCoherenceOfNothingIsDlgmmBitForBit) {
  const Drawn data = draw({});
  DlgmmOptions o = small_options();
  const DlgmmResult plain = fit_dlgmm(data.input(), o);
  DlgmmInput without_grid = data.input();
  without_grid.images.grid = {};
  expect_same(plain, fit_dlgmm(without_grid, o));
  // And the sweeps themselves do not change the softmax.
  const ImageTable table = make_image_table(data.input().images, 1, 0);
  PassOptions tiny{.word_loss = 1e-9, .gamma = 0, .coherence_sweeps = 3, .num_threads = 1};
  Matrix<double> alpha(table.num_images, plain.model.num_words());
  const auto without = run_data_pass(table, plain.model, alpha, tiny, silent_monitor());
  PatchShares shares;
  PassScratch scratch;
  const WordScorer scorer = make_word_scorer(plain.model);
  score_image(table, 0, scorer, alpha.row_span(0), tiny, scratch);
  update_shares(scratch.shares, 0, scratch.shares.num_patches());
  shares = scratch.shares;
  scratch.coherence.dense.assign(plain.model.num_words(), 0.0);
  sweep_coherence(scratch.shares, {0, 4, 4}, 0.0, 3, scratch.coherence);
  EXPECT_THAT(scratch.shares.phi, HasBitsOf(shares.phi));
}

// All scores in double, no word skipped.
TEST(DlgmmFit, DataPassIsTheBruteForceOne) {
  for (const int variant : {0, 1, 2, 3}) {
    const Drawn data = draw({.seed = 7});
    DlgmmOptions o = small_options();
    o.tie_words = variant % 2 == 0;
    o.word_covariance = variant < 2 ? WordCovariance::Spherical : WordCovariance::Diagonal;
    o.max_iterations = 3;
    const DlgmmModel model = fit_dlgmm(data.input(), o).model;
    const ImageTable table = make_image_table(data.input().images, 1, 0);
    Matrix<double> alpha(40, 6);
    for (int64_t i = 0; i < alpha.size(); ++i) alpha.data()[i] = std::sin(static_cast<double>(i));
    const PassResult pass =
        *run_data_pass(table, model, alpha, {.num_threads = 1}, silent_monitor());
    const WordScorer scorer = make_word_scorer(model);
    WordStats stats(6, 4, o.word_covariance == WordCovariance::Diagonal);
    Matrix<double> counts(40, 6);
    const std::vector<int> words = {0, 1, 2, 3, 4, 5};
    for (int64_t i = 0; i < data.patches.rows(); ++i) {
      std::vector<double> phi(6);
      double sum = 0;
      for (int v = 0; v < 6; ++v)
        sum += phi[v] = std::exp(alpha(i / 16, v) + word_score(scorer, data.patches.row(i), v));
      for (int v = 0; v < 6; ++v) {
        phi[v] /= sum;
        counts(i / 16, v) += phi[v];
        if (phi[v] > 0) stats.entropy -= phi[v] * std::log(phi[v]);
      }
      stats.add(data.patches.row(i), model.words, words, phi);
    }
    for (int64_t i = 0; i < counts.size(); ++i)
      ASSERT_NEAR(pass.counts.data()[i], counts.data()[i], 1e-7) << variant;
    for (int64_t i = 0; i < stats.first.size(); ++i)
      ASSERT_NEAR(pass.stats.first.data()[i], stats.first.data()[i], 1e-6);
    for (int64_t i = 0; i < stats.second.size(); ++i)
      ASSERT_NEAR(pass.stats.second.data()[i], stats.second.data()[i], 1e-5);
    EXPECT_NEAR(pass.stats.entropy, stats.entropy, 1e-5);
    EXPECT_LT(pass.stats.num_scored, stats.num_scored);  // words were skipped
    EXPECT_LE(pass.stats.loss, 1e-9 * 640 * 1.0001);
  }
}

// One cluster whose theta stays at the log weights: the words are a Gaussian mixture.
TEST(DlgmmFit, OneClusterWithFixedThetaIsTheGaussianMixture) {
  const Drawn data = draw({.seed = 3});
  GmmModel start;
  start.covariance = GmmCovariance::Spherical;
  start.weights = {.1, .2, .1, .2, .3, .1};
  start.means = Matrix<double>(6, 4);
  start.covariances = Matrix<double>(6, 1);
  DlgmmModel model;
  model.weights = {1};
  model.means = Matrix<double>(1, 6);
  model.covariances = Matrix<double>(1, 6);
  model.words = Matrix<double>(6, 4);
  model.word_variances = Matrix<double>(6, 1);
  Matrix<double> alpha(40, 6);
  for (int v = 0; v < 6; ++v) {
    model.covariances(0, v) = 1;
    model.word_variances(v, 0) = start.covariances(v, 0) = 0.5 + 0.1 * v;
    for (int r = 0; r < 4; ++r)
      model.words(v, r) = start.means(v, r) = data.words(v, r) + 0.3 * std::cos(v + r);
    for (int d = 0; d < 40; ++d) alpha(d, v) = std::log(start.weights[v]);
  }
  GmmOptions options;
  options.num_clusters = 6, options.covariance = GmmCovariance::Spherical;
  options.max_iterations = 1, options.num_threads = 1;
  GmmInput input;
  input.points = data.patches.view();
  input.initial_model = &start;
  const GmmModel mixture = fit_gmm(input, options).model;
  const ImageTable table = make_image_table(data.input().images, 1, 0);
  const PassResult pass = *run_data_pass(table, model, alpha, {.num_threads = 1}, silent_monitor());
  update_words(pass.stats, 1e-12, model);
  for (int v = 0; v < 6; ++v) {
    for (int r = 0; r < 4; ++r) EXPECT_NEAR(model.words(v, r), mixture.means(v, r), 1e-7);
    EXPECT_NEAR(model.word_variances(v, 0), mixture.covariances(v, 0), 1e-7);
    EXPECT_NEAR(pass.stats.mass[v] / 640, mixture.weights[v], 1e-8);
  }
}

TEST(DlgmmFit, ClampedLayersStayAsTheyStart) {
  const Drawn data = draw({});
  DlgmmInput input = data.input();
  input.initial_words = data.words.view();
  DlgmmOptions o = small_options();
  o.fix = DlgmmFix::Codebook;
  const DlgmmResult fixed_words = fit_dlgmm(input, o);
  for (int64_t i = 0; i < data.words.size(); ++i)
    EXPECT_EQ(fixed_words.model.words.data()[i], static_cast<double>(data.words.data()[i]));
  o.fix = DlgmmFix::Clusters;
  o.max_iterations = 1;
  const DlgmmModel one = fit_dlgmm(data.input(), o).model;
  o.max_iterations = 8;
  const DlgmmResult eight = fit_dlgmm(data.input(), o);
  EXPECT_TRUE(one.means == eight.model.means);
  EXPECT_FALSE(one.words == eight.model.words);
  EXPECT_THAT(eight.summary.trace, NeverFalls(1e-9));
}

double accuracy_of(const std::vector<int>& labels, const std::vector<int>& truth, int k) {
  std::vector<int> order(k);
  for (int j = 0; j < k; ++j) order[j] = j;
  double best = 0;
  do {
    double right = 0;
    for (size_t i = 0; i < labels.size(); ++i) right += order[labels[i]] == truth[i];
    best = std::max(best, right / static_cast<double>(labels.size()));
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(DlgmmFit, SeparatedClustersAreRecovered) {
  const Drawn data = draw({.D = 60, .spread = 2, .sig = 0.3, .sep = 5, .seed = 2});
  for (const DlgmmInit init : {DlgmmInit::LogCounts, DlgmmInit::Lda}) {
    DlgmmOptions o = small_options();
    o.init = init, o.rel_tolerance = 1e-6, o.max_iterations = 500;
    const DlgmmResult result = fit_dlgmm(data.input(), o);
    EXPECT_GE(accuracy_of(result.labels, data.labels, 3), init == DlgmmInit::Lda ? 0.6 : 0.95);
    EXPECT_EQ(result.summary.termination, Termination::Converged);
  }
}

TEST(DlgmmFit, FullCovariancesListCorrelatedWords) {
  const Drawn data = draw({});
  DlgmmOptions o = small_options();
  o.covariance = DlgmmCovariance::Tied, o.max_iterations = 3;
  const DlgmmResult result = fit_dlgmm(data.input(), o);
  const std::vector<WordPair> pairs = correlated_words(result.model, 4);
  ASSERT_EQ(pairs.size(), 4u);
  for (size_t i = 1; i < pairs.size(); ++i)
    EXPECT_LE(std::abs(pairs[i].correlation), std::abs(pairs[i - 1].correlation));
  EXPECT_LE(std::abs(pairs[0].correlation), 1);
  EXPECT_EQ(result.summary.extra.back().first, "correlated_words");
}

TEST(DlgmmFit, CorrelatedWordsNameTheirCluster) {
  DlgmmModel model;
  model.covariance = DlgmmCovariance::Full;
  model.num_bands = 2;
  model.words = Matrix<double>(2, 1);
  model.covariances = Matrix<double>(6, 4);  // 3 clusters, 2 bands
  for (int64_t row = 0; row < 6; ++row) {
    model.covariances(row, 0) = model.covariances(row, 3) = 1;
    model.covariances(row, 1) = model.covariances(row, 2) = 0.1 * static_cast<double>(row);
  }
  const std::vector<WordPair> pairs = correlated_words(model, 2);
  ASSERT_EQ(pairs.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pairs[i].cluster, 2);
    EXPECT_EQ(pairs[i].band, 1 - i);
  }
  model.covariance = DlgmmCovariance::Tied;
  EXPECT_EQ(correlated_words(model, 1)[0].cluster, -1);
  const Drawn data = draw({});
  DlgmmOptions o = small_options();
  o.covariance = DlgmmCovariance::Full, o.max_iterations = 2;
  const auto [name, text] = fit_dlgmm(data.input(), o).summary.extra.back();
  EXPECT_EQ(name, "correlated_words");
  for (const std::string& line : std::get<std::vector<std::string>>(text))
    EXPECT_THAT(line, ::testing::MatchesRegex("cluster [0-2]: words [0-5] and [0-5]: .*"));
}

TEST(DlgmmFit, ImagesWithoutPatchesGetNoLabel) {
  Drawn data = draw({});
  data.offsets.insert(data.offsets.begin() + 3, data.offsets[3]);
  DlgmmInput input = data.input();
  input.images.grid = {};
  const DlgmmResult result = fit_dlgmm(input, small_options());
  EXPECT_EQ(result.labels.size(), 41u);
  for (size_t d = 0; d < 41; ++d) EXPECT_EQ(result.labels[d] == -1, d == 3) << d;
  ASSERT_FALSE(result.summary.warnings.empty());
  EXPECT_THAT(result.summary.warnings[0], HasSubstr("1 of 41 images has no patch"));
}

TEST(DlgmmFit, MoreWordsThanDistinctPatchesAreLowered) {
  Matrix<float> patches(12, 2);
  for (int i = 0; i < 12; ++i) patches(i, 0) = static_cast<float>(i % 3);
  const std::vector<int64_t> offsets = {0, 4, 8, 12};
  DlgmmInput input;
  input.images.patches = patches.view(), input.images.offsets = offsets;
  DlgmmOptions o = small_options();
  o.num_words = 50, o.num_clusters = 2;
  const DlgmmResult result = fit_dlgmm(input, o);
  EXPECT_EQ(result.model.num_words(), 3);
  EXPECT_THAT(result.summary.warnings[0],
              HasSubstr("only 3 of the patches sampled for the codebook differ"));
  EXPECT_TRUE(std::isfinite(result.summary.objective));
}

TEST(DlgmmFit, HardCasesAreDefined) {
  const std::vector<int64_t> offsets = {0, 1, 5, 6, 30, 40};
  DlgmmInput input;
  DlgmmOptions o = small_options();
  o.num_clusters = 2;
  Matrix<float> flat(40, 3);  // every descriptor zero
  input.images.patches = flat.view(), input.images.offsets = offsets;
  EXPECT_TRUE(std::isfinite(fit_dlgmm(input, o).summary.objective));
  Matrix<float> random(40, 3);  // images of one patch beside images of many
  Random numbers(1);
  for (float& x : std::span(random.data(), random.size())) x = static_cast<float>(numbers.normal());
  input.images.patches = random.view();
  o.num_words = 40;  // a word per patch
  EXPECT_TRUE(std::isfinite(fit_dlgmm(input, o).summary.objective));
  o.num_words = 1;  // all counts in one word
  EXPECT_TRUE(std::isfinite(fit_dlgmm(input, o).summary.objective));
  o.num_clusters = 5;  // as many clusters as images
  EXPECT_TRUE(std::isfinite(fit_dlgmm(input, o).summary.objective));
  Matrix<int32_t> grid(5, 2);  // grids of one row
  for (int d = 0; d < 5; ++d) {
    grid(d, 0) = 1;
    grid(d, 1) = static_cast<int32_t>(offsets[d + 1] - offsets[d]);
  }
  input.images.grid = grid.view();
  o.num_clusters = 2, o.gamma = 1, o.num_words = 4;
  EXPECT_TRUE(std::isfinite(fit_dlgmm(input, o).summary.objective));
}

// No option is so large or small that numbers overflow.
TEST(DlgmmFit, EndsOfTheRangesAreDefined) {
  const Drawn data = draw({.D = 12});
  const std::vector<std::function<void(DlgmmOptions&)>> ends = {
      [](auto& o) { o.kappa = 1e6; },
      [](auto& o) { o.kappa = 1e-6; },
      [](auto& o) { o.beta = 1e6; },
      [](auto& o) { o.beta = 1e-6; },
      [](auto& o) { o.gamma = 1000; },
      [](auto& o) { o.min_cluster_variance = 1e6; },
      [](auto& o) { o.min_cluster_variance = 1e-9; },
      [](auto& o) { o.kappa = o.beta = o.min_cluster_variance = 1e6; },
      [](auto& o) { o.kappa = o.beta = 1e-6, o.min_cluster_variance = 1e-9; }};
  for (size_t end = 0; end < ends.size(); ++end)
    for (const DlgmmPosterior posterior : {DlgmmPosterior::Structured, DlgmmPosterior::MeanField})
      for (const DlgmmCovariance covariance : {DlgmmCovariance::Diagonal, DlgmmCovariance::Full}) {
        DlgmmOptions o = small_options();
        o.posterior = posterior, o.covariance = covariance;
        o.max_iterations = 4, o.num_restarts = 1, o.word_moves = 0;
        ends[end](o);
        SCOPED_TRACE(::testing::Message() << "end " << end << ", " << to_string(posterior) << ", "
                                          << to_string(covariance));
        const DlgmmResult result = fit_dlgmm(data.input(), o);
        EXPECT_NE(result.summary.termination, Termination::NumericalIssue);
        EXPECT_TRUE(std::isfinite(result.summary.objective));
        EXPECT_THAT(result.summary.trace, NeverFalls(1e-9));
        EXPECT_THAT(result.labels, HasLabelsBelow(3, false));
      }
}

// Numbers that are none stay numbers: no word and no cluster is looked up by them.
TEST(DlgmmFit, NoNumberIsNoIndex) {
  const Drawn data = draw({});
  DlgmmOptions o = small_options();
  o.max_iterations = 2;
  const DlgmmModel model = fit_dlgmm(data.input(), o).model;
  const ImageTable table = make_image_table(data.input().images, 1, 0);
  Matrix<double> alpha(40, 6), zeta(40, 3);
  std::fill_n(alpha.data(), alpha.size(), NAN);
  const PassResult pass = *run_data_pass(table, model, alpha, {.num_threads = 1}, silent_monitor());
  EXPECT_EQ(pass.stats.num_scored, 640 * 6);
  EXPECT_THAT(word_map(model, data.input().images, alpha, 1), HasLabelsBelow(6, false));
  for (const DlgmmPosterior posterior : {DlgmmPosterior::Structured, DlgmmPosterior::MeanField}) {
    DlgmmModel other = model;
    other.posterior = posterior;
    other.means(1, 0) = 1e4;  // left early
    other.means(2, 0) = NAN;
    Matrix<double> counts(40, 6);
    std::fill_n(counts.data(), counts.size(), 3.0);
    std::fill_n(zeta.data(), zeta.size(), 0.0);
    const auto stats = update_images(table, other, counts, zeta, alpha, 1, silent_monitor());
    EXPECT_FALSE(std::isfinite(stats->bound.total()));
  }
  Matrix<float> huge = data.patches;  // squares overflow a float
  for (float& x : std::span(huge.data(), huge.size())) x *= 1e25F;
  DlgmmInput input = data.input();
  input.images.patches = huge.view();
  EXPECT_THAT(fit_dlgmm(input, o).labels, HasLabelsBelow(3, false));
}

TEST(DlgmmFit, WrongInputIsRefusedByName) {
  const Drawn data = draw({});
  const auto refusal = [&](const std::function<void(DlgmmInput&, DlgmmOptions&)>& spoil) {
    DlgmmInput input = data.input();
    DlgmmOptions o = small_options();
    spoil(input, o);
    return message_of([&] { fit_dlgmm(input, o); });
  };
  std::vector<int64_t> falling = {0, 40, 30, 640}, shorter = {0, 30}, late = {5, 640};
  EXPECT_THAT(refusal([&](auto& in, auto&) { in.images.offsets = falling, in.images.grid = {}; }),
              HasSubstr("decreases from 40 to 30"));
  EXPECT_THAT(refusal([&](auto& in, auto&) { in.images.offsets = shorter, in.images.grid = {}; }),
              AllOf(HasSubstr("ends with 30"), HasSubstr("640 patches")));
  EXPECT_THAT(refusal([&](auto& in, auto&) { in.images.offsets = late; }),
              HasSubstr("begins with 5"));
  EXPECT_THAT(refusal([](auto&, auto& o) { o.num_clusters = 41; }),
              AllOf(HasSubstr("num_clusters is 41"), HasSubstr("40 images")));
  EXPECT_THAT(refusal([](auto& in, auto& o) { o.gamma = 1, in.images.grid = {}; }),
              HasSubstr("gamma is 1, but the patches have no grid"));
  EXPECT_THAT(refusal([](auto& in, auto& o) { o.gamma = -1, in.images.grid = {}; }),
              HasSubstr("gamma is learn, but the patches have no grid"));
  EXPECT_THAT(refusal([](auto& in, auto& o) { o.num_bands = 3, in.images.grid = {}; }),
              HasSubstr("num_bands is 3"));
  EXPECT_THAT(refusal([](auto&, auto& o) { o.gamma = -2; }), HasSubstr("gamma is -2"));
  EXPECT_THAT(refusal([](auto&, auto& o) { o.gamma = 1e10; }), HasSubstr("between 0 and 1000"));
  EXPECT_THAT(refusal([](auto&, auto& o) { o.kappa = 1e10; }), HasSubstr("kappa is 10000000000"));
  EXPECT_THAT(refusal([](auto&, auto& o) { o.beta = 1e-10; }), HasSubstr("beta is 1e-10"));
  EXPECT_THAT(refusal([](auto&, auto& o) { o.min_cluster_variance = INFINITY; }),
              HasSubstr("min_cluster_variance is inf"));
  EXPECT_THAT(refusal([](auto&, auto& o) { o.word_moves = 3, o.fix = DlgmmFix::Codebook; }),
              HasSubstr("word_moves needs"));
  Matrix<int32_t> grid(40, 2);
  EXPECT_THAT(refusal([&](auto& in, auto&) { in.images.grid = grid.view(); }),
              HasSubstr("grid of image 0 is 0 x 0, but it has 16 patches"));
  const std::vector<uint8_t> bands(640, 7);
  EXPECT_THAT(refusal([&](auto& in, auto& o) { in.images.bands = bands, o.num_bands = 2; }),
              HasSubstr("band of patch 0 is 7"));
  const std::vector<int> labels(3, 0);
  EXPECT_THAT(refusal([&](auto& in, auto&) { in.initial_labels = labels; }),
              HasSubstr("initial_labels has 3"));
}

TEST(DlgmmFit, BandsComeFromTheGridOrFromThePatches) {
  const Drawn data = draw({});
  DlgmmOptions o = small_options();
  o.num_bands = 2;
  const DlgmmResult by_grid = fit_dlgmm(data.input(), o);
  std::vector<uint8_t> bands(640);
  for (int i = 0; i < 640; ++i) bands[i] = i % 16 < 8 ? 0 : 1;
  DlgmmInput input = data.input();
  input.images.grid = {};
  input.images.bands = bands;
  expect_same(by_grid, fit_dlgmm(input, o));
  EXPECT_EQ(by_grid.model.means.cols(), 12);
}

TEST(DlgmmFit, WordMapNamesTheMostProbableWord) {
  const Drawn data = draw({.sep = 6});
  const DlgmmResult result = fit_dlgmm(data.input(), small_options());
  const std::vector<int> map =
      word_map(result.model, data.input().images, result.prediction.alpha, 2);
  ASSERT_EQ(map.size(), 640u);
  int nearest = 0;
  for (int64_t i = 0; i < 640; ++i) {
    int best = 0;
    double least = INFINITY;
    for (int v = 0; v < 6; ++v) {
      double distance = 0;
      for (int r = 0; r < 4; ++r)
        distance += std::pow(data.patches(i, r) - result.model.words(v, r), 2);
      if (distance < least) least = distance, best = v;
    }
    nearest += best == map[i];
  }
  EXPECT_GT(nearest, 600);  // words far apart: the prior changes few
}

TEST(DlgmmFit, NumberOfClustersIsFound) {
  const Drawn data = draw({.D = 150, .J = 4, .spread = 2, .sig = 0.3, .sep = 4, .seed = 3});
  DlgmmOptions o = small_options();
  o.num_clusters = -1, o.rel_tolerance = 1e-6;
  const DlgmmResult result = fit_dlgmm(data.input(), o);
  EXPECT_EQ(result.model.num_clusters(), 4);
  DlgmmOptions given = o;
  given.num_clusters = 4;
  EXPECT_EQ(result.labels, fit_dlgmm(data.input(), given).labels);
}

// In striped images the neighbours predict a word; in shuffled images they do not.
TEST(DlgmmFit, GammaIsLearnedFromTheNeighbours) {
  Drawn data = draw({.D = 40, .side = 8, .seed = 5});
  DlgmmOptions o = small_options();
  o.gamma = -1, o.max_iterations = 25;
  const double alone = fit_dlgmm(data.input(), o).model.gamma;
  EXPECT_LT(alone, 0.1);
  for (int64_t d = 0; d < 40; ++d) {  // sorted by their first number: neighbours become alike
    std::vector<int64_t> order(64);
    for (int64_t i = 0; i < 64; ++i) order[i] = d * 64 + i;
    const Matrix<float> copy = data.patches;
    std::ranges::stable_sort(order, {}, [&](int64_t i) { return copy(i, 0); });
    for (int64_t i = 0; i < 64; ++i)
      std::copy_n(copy.row(order[i]), copy.cols(), data.patches.row(d * 64 + i));
  }
  EXPECT_GT(fit_dlgmm(data.input(), o).model.gamma, 3 * std::max(alone, 0.05));
}

TEST(DlgmmFit, MiniBatchesGetFartherThanAsMuchWork) {
  const Drawn data = draw({.D = 200, .spread = 2, .sig = 0.3, .seed = 4});
  DlgmmOptions o = small_options();
  o.word_moves = 0;
  o.max_iterations = 4;
  const double passes = fit_dlgmm(data.input(), o).summary.objective;
  o.max_iterations = 1, o.batch_images = 20, o.num_epochs = 3;
  const DlgmmResult batches = fit_dlgmm(data.input(), o);
  EXPECT_GT(batches.summary.objective, passes);
  o.num_threads = 2;
  expect_same(batches, fit_dlgmm(data.input(), o));
}

}  // namespace
}  // namespace milieu::internal
