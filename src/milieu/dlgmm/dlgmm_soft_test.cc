// SPDX-License-Identifier: Apache-2.0
// Soft results: phi of every patch against Eq. 5 by hand, and counts as its sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "milieu/dlgmm/dlgmm.h"
#include "milieu/dlgmm/test_images.h"

namespace milieu {
namespace {

struct Fitted {
  Drawn data;
  DlgmmResult result;
};

Fitted fit_with_bands() {
  Fitted fitted{draw({.D = 12, .sep = 1.5}), {}};
  DlgmmOptions options = small_options();
  options.num_bands = 2;
  options.tie_words = false;
  fitted.result = fit_dlgmm(fitted.data.input(), options);
  return fitted;
}

// softmax_v of alpha_v + log N(o | omega_v, delta2_v), in double, without skipping words.
std::vector<double> shares_by_hand(const DlgmmModel& model, const double* alpha, const float* o) {
  std::vector<double> logs;
  const auto R = static_cast<double>(model.words.cols());
  for (int64_t v = 0; v < model.num_words(); ++v) {
    double squares = 0;
    for (int64_t r = 0; r < model.words.cols(); ++r)
      squares += std::pow(o[r] - model.words(v, r), 2);
    const double variance = model.word_variances(v, 0);
    logs.push_back(alpha[v] - R / 2 * std::log(variance) - squares / (2 * variance));
  }
  const double highest = *std::ranges::max_element(logs);
  double total = 0;
  for (double& x : logs) total += x = std::exp(x - highest);
  for (double& x : logs) x /= total;
  return logs;
}

TEST(DlgmmSoft, SharesAreThoseOfEquationFive_issue30) {
  const Fitted fitted = fit_with_bands();
  const DlgmmModel& model = fitted.result.model;
  const DlgmmImages images = fitted.data.input().images;
  const Matrix<double>& alpha = fitted.result.prediction.alpha;
  const Matrix<float> phi = word_shares(model, images, alpha, 2);
  ASSERT_EQ(phi.rows(), images.patches.rows());
  ASSERT_EQ(phi.cols(), 6);
  for (int64_t d = 0; d < 12; ++d)
    for (int64_t i = 0; i < 16; ++i) {
      const int64_t band = i / 8, patch = d * 16 + i;
      const std::vector<double> wanted =
          shares_by_hand(model, alpha.row(d) + band * 6, images.patches.row(patch));
      for (int64_t v = 0; v < 6; ++v) ASSERT_NEAR(phi(patch, v), wanted[v], 2e-4);
    }
}

// Eq. 14 at its fixed point, with 4 and with 8 neighbours; a loaded model keeps them.
TEST(DlgmmSoft, NeighboursOnDiagonalsCount_issue30) {
  const Drawn data = draw({.D = 6, .sep = 1});
  for (const bool has_diagonals : {false, true}) {
    DlgmmOptions options = small_options();
    options.gamma = 0.4;
    options.diagonal_neighbors = has_diagonals;
    options.coherence_sweeps = 500;
    const DlgmmResult result = fit_dlgmm(data.input(), options);
    for (size_t pass = 1; pass < result.summary.trace.size(); ++pass)
      EXPECT_GE(result.summary.trace[pass], result.summary.trace[pass - 1] - 1e-6);
    EXPECT_EQ(result.model.has_diagonals(), has_diagonals);
    const Matrix<double>& alpha = result.prediction.alpha;
    const Matrix<float> phi = word_shares(result.model, data.input().images, alpha);
    for (int64_t d = 0; d < 6; ++d)
      for (int64_t i = 0; i < 16; ++i) {
        std::vector<double> lifted(alpha.row(d), alpha.row(d) + 6);
        for (int64_t other = 0; other < 16; ++other) {
          const int64_t down = std::abs(other / 4 - i / 4), right = std::abs(other % 4 - i % 4);
          const bool is_near = has_diagonals ? std::max(down, right) == 1 : down + right == 1;
          for (int64_t v = 0; is_near && v < 6; ++v) lifted[v] += 0.4 * phi(d * 16 + other, v);
        }
        DlgmmModel spherical = result.model;
        if (spherical.word_variances.rows() == 1) {
          Matrix<double> all(6, 1);
          for (int64_t v = 0; v < 6; ++v) all(v, 0) = spherical.word_variances(0, 0);
          spherical.word_variances = all;
        }
        const std::vector<double> wanted =
            shares_by_hand(spherical, lifted.data(), data.patches.row(d * 16 + i));
        for (int64_t v = 0; v < 6; ++v) EXPECT_NEAR(phi(d * 16 + i, v), wanted[v], 2e-3);
      }
  }
}

TEST(DlgmmSoft, CountsAreSumsOfShares_issue30) {
  const Fitted fitted = fit_with_bands();
  const DlgmmImages images = fitted.data.input().images;
  const Matrix<double>& alpha = fitted.result.prediction.alpha;
  const Matrix<float> phi = word_shares(fitted.result.model, images, alpha);
  const Matrix<double> counts = word_counts(fitted.result.model, images, alpha);
  ASSERT_EQ(counts.rows(), 12);
  ASSERT_EQ(counts.cols(), 12);  // two bands of six words
  for (int64_t d = 0; d < 12; ++d)
    for (int64_t band = 0; band < 2; ++band)
      for (int64_t v = 0; v < 6; ++v) {
        double sum = 0;
        for (int64_t i = 8 * band; i < 8 * band + 8; ++i) sum += phi(d * 16 + i, v);
        EXPECT_NEAR(counts(d, band * 6 + v), sum, 1e-4);
      }
}

TEST(DlgmmSoft, TheLargestShareIsTheWordOfTheMap_issue30) {
  const Fitted fitted = fit_with_bands();
  const DlgmmImages images = fitted.data.input().images;
  const Matrix<double>& alpha = fitted.result.prediction.alpha;
  const Matrix<float> phi = word_shares(fitted.result.model, images, alpha);
  const std::vector<int> words = word_map(fitted.result.model, images, alpha);
  for (size_t i = 0; i < words.size(); ++i) {
    const auto row = phi.view().row_span(static_cast<int64_t>(i));
    EXPECT_EQ(*std::ranges::max_element(row), row[words[i]]);
  }
}

}  // namespace
}  // namespace milieu
