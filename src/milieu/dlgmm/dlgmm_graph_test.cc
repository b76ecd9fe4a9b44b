// SPDX-License-Identifier: Apache-2.0
// The random field on any graph of patches: against the grid, against sums over neighbours, and on
// keypoints without a grid.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/random.h"
#include "milieu/dlgmm/dlgmm_steps.h"
#include "milieu/dlgmm/test_images.h"

namespace milieu::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Edges = std::vector<std::pair<int64_t, int64_t>>;

// The four neighbours of every cell, image after image; some pairs twice, some turned round.
Edges grid_edges(int64_t num_images, int64_t side) {
  Edges edges;
  for (int64_t d = 0; d < num_images; ++d)
    for (int64_t r = 0; r < side; ++r)
      for (int64_t c = 0; c < side; ++c) {
        const int64_t at = (d * side + r) * side + c;
        if (c + 1 < side) edges.emplace_back(at + 1, at);
        if (r + 1 < side) edges.emplace_back(at, at + side);
        if (c + 1 < side && r == 0) edges.emplace_back(at, at + 1);
      }
  return edges;
}

TEST(DlgmmGraph, EdgesOfTheGridAreTheGrid_issue30) {
  const Drawn data = draw({});
  const Edges edges = grid_edges(40, 4);
  DlgmmOptions options = small_options();
  for (const double gamma : {0.4, -1.0}) {
    options.gamma = gamma;
    DlgmmInput input = data.input();
    const DlgmmResult grid = fit_dlgmm(input, options);
    input.images.grid = {};
    input.images.edges = edges;
    const DlgmmResult graph = fit_dlgmm(input, options);
    EXPECT_EQ(graph.labels, grid.labels);
    EXPECT_NEAR(graph.model.gamma, grid.model.gamma, 1e-4);
    EXPECT_NEAR(graph.summary.objective, grid.summary.objective,
                1e-6 * std::abs(grid.summary.objective));
  }
}

PatchShares random_shares(int64_t count, int num_words, uint64_t seed) {
  Random random(seed);
  PatchShares shares;
  shares.clear();
  for (int64_t i = 0; i < count; ++i) {
    for (int v = 0; v < num_words; ++v) {
      shares.words.push_back(v);
      shares.scores.push_back(random.normal());
    }
    shares.first.push_back(static_cast<int64_t>(shares.words.size()));
  }
  update_shares(shares, 0, count);
  return shares;
}

// A wheel, a tail and a patch alone: where the sweeps end, every share is the softmax of its score
// and of its neighbours' shares [Xie15, Eq. 14]; agreement and slope are sums over pairs.
TEST(DlgmmGraph, SharesSettleWhereTheEquationSays_issue30) {
  constexpr int kWords = 3;
  constexpr double kGamma = 0.9;
  const Edges edges = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {2, 3}, {3, 4}, {4, 1}, {4, 5}};
  Matrix<float> patches(7, 1);
  const std::vector<int64_t> offsets = {0, 7};
  DlgmmImages images{patches.view(), offsets};
  images.edges = edges;
  const ImageTable table = make_image_table(images, 1, kGamma);
  EXPECT_EQ(table.most_neighbors, 4);
  const Neighborhood hood = neighborhood_of(table, 0, 0);
  EXPECT_EQ(hood.num_pairs(false), std::ssize(edges));
  PatchShares shares = random_shares(7, kWords, 3);
  CoherenceScratch scratch{std::vector<double>(kWords, 0.0)};
  EXPECT_LT(sweep_coherence(shares, hood, kGamma, 500, scratch), 500);
  Matrix<double> near(7, kWords);  // shares of the neighbours, summed
  double agreement = 0;
  for (const auto& [a, b] : edges)
    for (int v = 0; v < kWords; ++v) {
      near(a, v) += shares.phi[b * kWords + v];
      near(b, v) += shares.phi[a * kWords + v];
      agreement += shares.phi[a * kWords + v] * shares.phi[b * kWords + v];
    }
  for (int i = 0; i < 7; ++i) {
    double sum = 0;
    for (int v = 0; v < kWords; ++v)
      sum += std::exp(shares.scores[i * kWords + v] + kGamma * near(i, v));
    for (int v = 0; v < kWords; ++v)
      EXPECT_NEAR(shares.phi[i * kWords + v],
                  std::exp(shares.scores[i * kWords + v] + kGamma * near(i, v)) / sum, 1e-7);
  }
  EXPECT_NEAR(neighbor_agreement(shares, hood, scratch), agreement, 1e-12);

  Matrix<double> frequencies(1, kWords);
  std::fill_n(frequencies.data(), kWords, 1.0 / kWords);
  const std::vector<int> bands(7, 0);
  const auto likelihood = [&](double gamma) {
    double total = 0;
    for (int i = 0; i < 7; ++i) {
      double seen = 0, sum = 0;
      for (int v = 0; v < kWords; ++v) {
        seen += shares.phi[i * kWords + v] * near(i, v);
        sum += std::exp(gamma * near(i, v)) / kWords;
      }
      total += gamma * seen - std::log(sum);
    }
    return total;
  };
  const GammaSlope slope =
      coherence_slope(shares, hood, kGamma, frequencies.view(), bands, scratch);
  EXPECT_NEAR(slope.slope, (likelihood(kGamma + 1e-4) - likelihood(kGamma - 1e-4)) / 2e-4, 1e-6);
}

TEST(DlgmmGraph, BadEdgesAreNamed_issue30) {
  const Drawn data = draw({});
  DlgmmInput input = data.input();
  input.images.grid = {};
  DlgmmOptions options = small_options();
  options.gamma = 0.3;
  EXPECT_THAT([&] { fit_dlgmm(input, options); },
              ThrowsMessage<InvalidArgument>(HasSubstr("the patches have no grid")));
  const auto refuses = [&](int64_t a, int64_t b, const char* part) {
    const Edges edges = {{a, b}};
    input.images.edges = edges;
    EXPECT_THAT([&] { fit_dlgmm(input, options); }, ThrowsMessage<DataError>(HasSubstr(part)));
  };
  refuses(3, 3, "must join two different ones");
  refuses(0, 640, "between 0 and 639");
  refuses(15, 16, "patch 15 of image 0 with patch 16 of image 1");
}

}  // namespace
}  // namespace milieu::internal
