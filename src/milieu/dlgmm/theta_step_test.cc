// SPDX-License-Identifier: Apache-2.0
// The theta-step climbs under a bound from above, which says early which clusters have no share.
#include "milieu/dlgmm/theta_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/random.h"
#include "milieu/dlgmm/dlgmm_steps.h"
#include "milieu/linalg/log_sum_exp.h"

namespace milieu::internal {
namespace {

struct Band {
  std::vector<double> counts, precision, mean;
  double total() const { return std::accumulate(counts.begin(), counts.end(), 0.0); }
};

Band draw_band(Random& random) {
  Band band;
  const int64_t num_words = 2 + static_cast<int64_t>(random.uniform_index(40));
  for (int64_t v = 0; v < num_words; ++v) {
    band.counts.push_back(random.bernoulli(0.5) ? 0 : std::exp(3 * random.normal()));
    band.precision.push_back(std::exp(random.normal()));
    band.mean.push_back(2 * random.normal());
  }
  return band;
}

// Counts so large that F has few digits left, and words without counts whose prior is wide: the
// steps still end where the bound from above says that nothing is left to gain.
TEST(ThetaStep, HugeCountsEndAtTheMaximum) {
  Random random(3);
  ThetaSolver solver;
  for (int trial = 0; trial < 300; ++trial) {
    Band band = draw_band(random);
    const double scale = std::pow(10.0, random.uniform(0, 12));
    for (double& n : band.counts) n *= scale;
    for (double& a : band.precision) a = std::pow(10.0, random.uniform(-6, 2));
    const double total = band.total();
    Theta theta, full;
    start_theta(band.counts, band.precision, theta);
    full = theta;
    const ThetaValue value =
        solve_theta(band.counts, total, band.precision, band.mean, theta, solver);
    EXPECT_LT(solver.upper_bound() - value.objective, 1e-8 * (1 + total)) << scale;
    const auto num_words = static_cast<int64_t>(band.counts.size());
    Matrix<double> precision(num_words, num_words);
    for (int64_t v = 0; v < num_words; ++v) precision(v, v) = band.precision[v];
    const ThetaValue by_full = solve_theta_full(band.counts, total, precision, band.mean, full);
    EXPECT_NEAR(by_full.objective, value.objective, 1e-8 * (1 + total)) << scale;
  }
}

TEST(ThetaStep, NeverRisesAboveItsUpperBound) {
  Random random(7);
  ThetaSolver solver;
  int times_close = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Band band = draw_band(random);
    Theta theta;
    start_theta(band.counts, band.precision, theta);
    for (double& a : theta.alpha) a += random.normal();
    std::vector<double> uppers;
    solver.begin(band.counts, band.total(), band.precision, band.mean, theta);
    uppers.push_back(solver.upper_bound());
    while (!solver.is_done()) {
      const double before = solver.value().objective;
      solver.step();
      EXPECT_GE(solver.value().objective, before - 1e-9 * (1 + std::abs(before)));
      uppers.push_back(solver.upper_bound());
    }
    const double highest = solver.value().objective;
    for (const double upper : uppers) EXPECT_GE(upper, highest - 1e-9 * (1 + std::abs(highest)));
    EXPECT_NEAR(uppers.back(), highest, 1e-6 * (1 + std::abs(highest)));
    // Two steps before the end it separates clusters that differ by a few nats.
    times_close += uppers.size() >= 3 && uppers[uppers.size() - 3] < highest + 5;
  }
  EXPECT_GE(times_close, 270);
}

// Clusters of one model, near or far, for an image of two bands.
DlgmmModel draw_clusters(Random& random, double spread) {
  DlgmmModel model;
  model.num_bands = 2;
  const int64_t num_words = 12;
  const int num_clusters = 6;
  model.words = Matrix<double>(num_words, 1);
  model.means = Matrix<double>(num_clusters, 2 * num_words);
  model.covariances = Matrix<double>(num_clusters, 2 * num_words);
  for (int64_t i = 0; i < model.means.size(); ++i) {
    model.means.data()[i] = spread * random.normal();
    model.covariances.data()[i] = std::exp(0.5 * random.normal());
  }
  model.weights.assign(num_clusters, 1.0 / num_clusters);
  return model;
}

// The twin of the E-step: every cluster climbs to its maximum.
std::vector<double> zeta_by_full_climbs(const ClusterPrior& prior, std::span<const double> counts) {
  std::vector<double> energies;
  ThetaSolver solver;
  for (int j = 0; j < prior.num_clusters(); ++j) {
    double energy = prior.log_weights[j];
    for (int g = 0; g < prior.num_bands; ++g) {
      const std::span<const double> n = counts.subspan(g * prior.num_words, prior.num_words);
      Theta theta;
      start_theta(n, prior.precision(j, g), theta);
      const double total = std::accumulate(n.begin(), n.end(), 0.0);
      energy +=
          solve_theta(n, total, prior.precision(j, g), prior.mean(j, g), theta, solver).objective -
          0.5 * prior.log_dets(j, g);
    }
    energies.push_back(energy);
  }
  const double log_sum = log_sum_exp(energies);
  for (double& e : energies) e = std::exp(e - log_sum);
  return energies;
}

TEST(ThetaStep, ClustersLeftEarlyHaveNoShare) {
  Random random(8);
  int num_left = 0, num_far = 0, num_shared = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const DlgmmModel model = draw_clusters(random, trial % 2 == 0 ? 0.2 : 3);
    const ClusterPrior prior = make_cluster_prior(model);
    std::vector<double> counts(model.means.cols());
    for (double& n : counts) n = random.bernoulli(0.3) ? 0 : std::exp(2 + random.normal());
    std::vector<double> zeta(model.num_clusters()), alpha(counts.size());
    for (double& z : zeta) z = random.uniform();  // says only where to begin
    ImageScratch scratch;
    ClusterStats stats(model.num_clusters(), model.num_bands, model.num_words(), false);
    update_image(prior, DlgmmPosterior::Structured, 1, counts, zeta, alpha, scratch, stats);
    const std::vector<double> expected = zeta_by_full_climbs(prior, counts);
    for (size_t j = 0; j < zeta.size(); ++j) {
      EXPECT_NEAR(zeta[j], expected[j], 1e-8);
      EXPECT_TRUE(zeta[j] > 0 || expected[j] < 1e-21) << expected[j];
      num_left += zeta[j] == 0;
      num_far += expected[j] < 1e-26;  // exp(-60): ten nats beyond what is left
    }
    num_shared += *std::ranges::max_element(zeta) < 0.99;
  }
  EXPECT_GT(num_far, 50);
  EXPECT_GE(num_left, num_far * 9 / 10);
  EXPECT_GT(num_shared, 20);
}

}  // namespace
}  // namespace milieu::internal
