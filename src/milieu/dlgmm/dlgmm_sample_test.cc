// SPDX-License-Identifier: Apache-2.0
// Images drawn from a model have the model's moments, and a fit finds the model again.
#include "milieu/dlgmm/dlgmm_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;

constexpr double kErrors = 5;  // standard errors that a mean may be off

// The mean of `values` is `mean` within a few standard errors.
void expect_mean(const std::vector<double>& values, double mean, const std::string& what) {
  double sum = 0, squares = 0;
  for (const double x : values) sum += x, squares += x * x;
  const auto n = static_cast<double>(values.size());
  const double own = sum / n, variance = std::max(1e-12, squares / n - own * own);
  EXPECT_NEAR(own, mean, kErrors * std::sqrt(variance / n)) << what;
}

// Share of labels that are right under the best naming of the three clusters.
double accuracy_of(const std::vector<int>& labels, const std::vector<int>& truth) {
  std::vector<int> name = {0, 1, 2};
  double best = 0;
  do {
    double right = 0;
    for (size_t i = 0; i < labels.size(); ++i) right += name[labels[i]] == truth[i];
    best = std::max(best, right / static_cast<double>(labels.size()));
  } while (std::next_permutation(name.begin(), name.end()));
  return best;
}

DlgmmModel small_model() {
  DlgmmMakeOptions options;
  options.num_clusters = 2, options.num_words = 3, options.num_dims = 2, options.num_bands = 2;
  options.separation = 2;
  DlgmmModel model = make_dlgmm_model(options);
  model.weights = {0.3, 0.7};
  return model;
}

TEST(DlgmmSample, MomentsAreThoseOfTheModel_issue30) {
  const DlgmmModel model = small_model();
  const DlgmmSample drawn =
      sample_dlgmm(model, {.num_images = 4000, .grid_rows = 4, .grid_columns = 3});
  std::vector<double> of_second;
  for (const int label : drawn.labels) of_second.push_back(label);
  expect_mean(of_second, 0.7, "share of cluster 1");
  for (int j = 0; j < 2; ++j)
    for (int64_t at = 0; at < 6; ++at) {
      std::vector<double> theta, squares;
      for (size_t d = 0; d < drawn.labels.size(); ++d) {
        if (drawn.labels[d] != j) continue;
        const double away = drawn.theta(static_cast<int64_t>(d), at) - model.means(j, at);
        theta.push_back(away);
        squares.push_back(away * away);
      }
      expect_mean(theta, 0, "mean of theta");
      expect_mean(squares, model.covariances(0, at), "variance of theta");
    }
  // Rows 0 and 1 are band 0, rows 2 and 3 band 1; words as softmax(theta) of their band says.
  std::vector<std::vector<double>> surplus(6);
  std::vector<std::vector<double>> away(3), squares(3);
  for (int64_t d = 0; d < 4000; ++d)
    for (int64_t i = 0; i < 12; ++i) {
      const int64_t band = i / 6, row = d * 12 + i;
      double total = 0;
      for (int64_t v = 0; v < 3; ++v) total += std::exp(drawn.theta(d, band * 3 + v));
      for (int64_t v = 0; v < 3; ++v)
        surplus[static_cast<size_t>(band * 3 + v)].push_back(
            (drawn.words[static_cast<size_t>(row)] == v) -
            std::exp(drawn.theta(d, band * 3 + v)) / total);
      const int v = drawn.words[static_cast<size_t>(row)];
      const double deviation = drawn.patches(row, 1) - model.words(v, 1);
      away[static_cast<size_t>(v)].push_back(deviation);
      squares[static_cast<size_t>(v)].push_back(deviation * deviation);
    }
  for (const std::vector<double>& values : surplus) expect_mean(values, 0, "share of a word");
  for (int v = 0; v < 3; ++v) {
    expect_mean(away[static_cast<size_t>(v)], 0, "mean of a word's patches");
    expect_mean(squares[static_cast<size_t>(v)], model.word_variances(v, 0), "variance of a word");
  }
}

TEST(DlgmmSample, FullCovariancesAreThoseOfTheModel_issue30) {
  DlgmmModel model = small_model();
  model.num_bands = 1;
  model.means = Matrix<double>(2, 3);
  model.covariance = DlgmmCovariance::Full;
  model.covariances = Matrix<double>(2, 9);
  const double first[9] = {1, .8, 0, .8, 1, -.3, 0, -.3, 2};
  const double second[9] = {2, 0, 0, 0, 1, .5, 0, .5, 1};
  std::copy_n(first, 9, model.covariances.row(0));
  std::copy_n(second, 9, model.covariances.row(1));
  const DlgmmSample drawn =
      sample_dlgmm(model, {.num_images = 6000, .grid_rows = 1, .grid_columns = 1});
  for (int j = 0; j < 2; ++j)
    for (int64_t v = 0; v < 3; ++v)
      for (int64_t w = 0; w <= v; ++w) {
        std::vector<double> products;
        for (int64_t d = 0; d < 6000; ++d)
          if (drawn.labels[static_cast<size_t>(d)] == j)
            products.push_back(drawn.theta(d, v) * drawn.theta(d, w));
        expect_mean(products, model.covariances(j, v * 3 + w), "a covariance");
      }
}

// Four patches in a square with two words: the field's 16 states, by their definition. Without
// diagonals the first four pairs are neighbours, with them all six.
void expect_exact_pairs(bool has_diagonals) {
  DlgmmMakeOptions options;
  options.num_clusters = 1, options.num_words = 2, options.num_dims = 1, options.gamma = 0.6;
  options.diagonal_neighbors = has_diagonals;
  DlgmmModel model = make_dlgmm_model(options);
  model.means(0, 0) = 0.4, model.means(0, 1) = 0;
  std::fill_n(model.covariances.data(), 2, 1e-12);
  constexpr int kPairs[6][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}, {0, 3}, {1, 2}};
  const int num_pairs = has_diagonals ? 6 : 4;
  double total = 0, mean_pairs = 0, mean_first = 0;
  for (int state = 0; state < 16; ++state) {
    double pairs = 0, first = 0;
    for (int p = 0; p < num_pairs; ++p)
      pairs += (state >> kPairs[p][0] & 1) == (state >> kPairs[p][1] & 1);
    for (int i = 0; i < 4; ++i) first += (state >> i & 1) == 0;
    const double weight = std::exp(0.4 * first + 0.6 * pairs);
    total += weight, mean_pairs += weight * pairs, mean_first += weight * first;
  }
  const DlgmmSample drawn =
      sample_dlgmm(model, {.num_images = 20000, .grid_rows = 2, .grid_columns = 2});
  std::vector<double> pairs, first;
  for (size_t d = 0; d < drawn.labels.size(); ++d) {
    const int* z = drawn.words.data() + 4 * d;
    double equal = 0;
    for (int p = 0; p < num_pairs; ++p) equal += z[kPairs[p][0]] == z[kPairs[p][1]];
    pairs.push_back(equal);
    first.push_back(static_cast<double>(std::count(z, z + 4, 0)));
  }
  expect_mean(pairs, mean_pairs / total, "equal neighbours");
  expect_mean(first, mean_first / total, "patches of word 0");
}

TEST(DlgmmSample, GibbsHasTheExactPairs_issue30) {
  expect_exact_pairs(false);
  expect_exact_pairs(true);
}

TEST(DlgmmSample, FitRecoversTheClusters_issue30) {
  DlgmmMakeOptions make;
  make.num_clusters = 3, make.num_words = 6, make.spread = 1.5, make.deviation = 0.4;
  const DlgmmModel truth = make_dlgmm_model(make);
  const DlgmmSample drawn = sample_dlgmm(truth, {.num_images = 120});
  DlgmmInput input;
  input.images = drawn.images();
  DlgmmOptions options;
  options.num_words = 6, options.num_clusters = 3, options.num_bands = 1;
  const DlgmmResult fitted = fit_dlgmm(input, options);
  EXPECT_GE(accuracy_of(fitted.labels, drawn.labels), 0.95);
  // Every true word has a learned one within a tenth of a patch's deviation per number.
  for (int64_t v = 0; v < 6; ++v) {
    double nearest = std::numeric_limits<double>::infinity();
    for (int64_t w = 0; w < 6; ++w) {
      double squares = 0;
      for (int64_t r = 0; r < truth.words.cols(); ++r)
        squares += std::pow(truth.words(v, r) - fitted.model.words(w, r), 2);
      nearest = std::min(nearest, std::sqrt(squares / static_cast<double>(truth.words.cols())));
    }
    EXPECT_LT(nearest, 0.3) << "word " << v;
  }
}

TEST(DlgmmSample, ThreadsChangeNoBit_issue30) {
  DlgmmMakeOptions make;
  make.gamma = 0.5;
  const DlgmmModel model = make_dlgmm_model(make);
  const DlgmmSample one = sample_dlgmm(model, {.num_images = 50, .num_threads = 1});
  const DlgmmSample four = sample_dlgmm(model, {.num_images = 50, .num_threads = 4});
  EXPECT_TRUE(one.patches == four.patches);
  EXPECT_EQ(one.words, four.words);
  const DlgmmSample fewer = sample_dlgmm(model, {.num_images = 20});
  EXPECT_TRUE(std::equal(fewer.words.begin(), fewer.words.end(), one.words.begin()));
}

TEST(DlgmmSample, NeighboursAgreeMoreWithGamma_issue30) {
  const auto agreement = [](double gamma) {
    DlgmmMakeOptions make;
    make.gamma = gamma;
    const DlgmmSample drawn = sample_dlgmm(make_dlgmm_model(make), {.num_images = 40});
    double equal = 0;
    for (size_t i = 0; i + 1 < drawn.words.size(); ++i)
      equal += i % 8 < 7 && drawn.words[i] == drawn.words[i + 1];
    return equal;
  };
  EXPECT_LT(agreement(0), agreement(0.5));
  EXPECT_LT(agreement(0.5), agreement(1.5));
}

TEST(DlgmmSample, WrongUsesAreRefused_issue30) {
  DlgmmMakeOptions make;
  make.deviation = 0;
  EXPECT_THAT(message_of([&] { make_dlgmm_model(make); }), HasSubstr("deviation is 0"));
  DlgmmModel model = make_dlgmm_model({});
  EXPECT_THAT(message_of([&] { sample_dlgmm(model, {.num_images = 0}); }),
              HasSubstr("num_images is 0, must be at least 1"));
  model.means = Matrix<double>(3, 3);
  EXPECT_THROW(sample_dlgmm(model, {}), DataError);
}

TEST(DlgmmSample, StoppedCallKeepsWholeImages_issue30) {
  Monitor monitor;
  monitor.set_time_limit(1e-9);
  const DlgmmSample drawn = sample_dlgmm(make_dlgmm_model({}), {.num_images = 5000}, monitor);
  EXPECT_LT(drawn.labels.size(), 5000u);
  EXPECT_EQ(drawn.patches.rows(), drawn.offsets.back());
  EXPECT_EQ(drawn.grid.rows(), static_cast<int64_t>(drawn.labels.size()));
}

}  // namespace
}  // namespace milieu
