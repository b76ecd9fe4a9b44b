// SPDX-License-Identifier: Apache-2.0
// The golden cases G1 to G7 (G5 is in metrics), to the six digits that their reference prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/dlgmm/small_problem_internal.h"

namespace milieu::internal {
namespace {

constexpr double kDigits = 1.01e-6;  // six decimals, rounded or cut

using ::testing::DoubleNear;
using ::testing::Pointwise;

void expect_near(std::span<const double> values, const std::vector<double>& expected) {
  ASSERT_GE(values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], kDigits) << "entry " << i;
}

SmallProblem golden_one() {
  SmallProblem p;
  const int N = p.N();
  p.o = Matrix<float>(p.D * N, p.R);
  p.model.posterior = DlgmmPosterior::MeanField;
  p.model.weights = {1.0 / 3, 2.0 / 3};
  p.model.means = Matrix<double>(p.J, p.V);
  p.model.covariances = Matrix<double>(p.J, p.V);
  p.model.words = Matrix<double>(p.V, p.R);
  p.model.word_variances = Matrix<double>(p.V, 1);
  p.zeta = Matrix<double>(p.D, p.J);
  for (int j = 0; j < p.J; ++j)
    for (int v = 0; v < p.V; ++v) {
      p.model.means(j, v) = 0.3 * std::cos(j + 2 * v);
      p.model.covariances(j, v) = 0.5 + 0.25 * ((j + v) % 3);
    }
  for (int v = 0; v < p.V; ++v) {
    p.model.word_variances(v, 0) = 0.4 + 0.1 * v;
    for (int r = 0; r < p.R; ++r) p.model.words(v, r) = std::cos(v + r);
  }
  for (int d = 0; d < p.D; ++d) {
    double sum = 0;
    for (int j = 0; j < p.J; ++j) sum += p.zeta(d, j) = std::exp(0.5 * ((d + j) % 2));
    for (int j = 0; j < p.J; ++j) p.zeta(d, j) /= sum;
    Theta theta;
    for (int v = 0; v < p.V; ++v) {
      theta.alpha.push_back(0.2 * std::sin(d + v));
      theta.tau2.push_back(0.3 + 0.1 * ((d + v) % 2));
    }
    p.theta.push_back(theta);
    p.e.push_back(3 + d);
    Matrix<double> phi(N, p.V);
    for (int i = 0; i < N; ++i) {
      double total = 0;
      for (int v = 0; v < p.V; ++v) total += phi(i, v) = std::exp(0.1 * ((i + 2 * v + d) % 4));
      for (int v = 0; v < p.V; ++v) phi(i, v) /= total;
      for (int r = 0; r < p.R; ++r)
        p.o(d * N + i, r) =
            static_cast<float>(std::sin(1 + 3 * d + 2 * i + r) + 0.5 * std::cos(i * (r + 1)));
    }
    p.phi.push_back(phi);
  }
  return p;
}

TEST(DlgmmGolden, G1TermsAtTheStart) {
  SmallProblem p = golden_one();
  expect_near(p.bound().terms,
              {-2.171234, -9.374201, -23.506690, -66.116680, 1.988542, 7.927933, 19.695287, 0});
  EXPECT_NEAR(p.bound().total(), -71.557043, kDigits);
  p.gamma = 0.5;
  EXPECT_NEAR(p.bound().terms[7], -7.001441, kDigits);
  p.gamma = 0;
  p.model.beta = 0.25;
  p.model.kappa = 0.5;
  EXPECT_NEAR(p.bound().total(), -11.799246, kDigits);
}

TEST(DlgmmGolden, G1EveryUpdate) {
  SmallProblem p = golden_one();
  p.step_phi();
  expect_near(p.phi[0].row_span(0), {.948407, .050175, .001418});
  EXPECT_NEAR(p.bound().total(), -52.462709, kDigits);
  p.step_e();
  expect_near(p.e, {4.000658, 4.095191, 3.648564});
  EXPECT_NEAR(p.bound().total(), -51.917898, kDigits);
  p.step_zeta();
  expect_near(std::vector{p.zeta(0, 0), p.zeta(1, 0), p.zeta(2, 0)}, {.311440, .339890, .347208});
  EXPECT_NEAR(p.bound().total(), -51.740368, kDigits);
  p.step_theta();
  expect_near(p.theta[0].alpha, {.070310, -.265401, .189547});
  expect_near(p.theta[0].tau2, {.274973, .373474, .248815});
  EXPECT_NEAR(p.bound().total(), -51.148890, kDigits);
  p.step_clusters(0);
  expect_near(p.model.weights, {.332846, .667154});
  expect_near(p.model.means.row_span(0), {.087246, -.165339, .111314});
  expect_near(p.model.covariances.row_span(0), {.274092, .363387, .264412});
  EXPECT_NEAR(p.bound().total(), -49.640356, kDigits);
  p.step_words(0);
  expect_near(p.model.words.row_span(0), {.650839, .941618});
  expect_near({p.model.word_variances.data(), 3}, {.416876, .411601, .269716});
  EXPECT_NEAR(p.bound().total(), -43.625779, kDigits);
  for (int round = 0; round < 9; ++round) {
    p.step_phi(), p.step_zeta(), p.step_theta(), p.step_clusters(0), p.step_words(0);
  }
  EXPECT_NEAR(p.bound().total(), -36.890509, kDigits);
  for (int d = 0; d < 3; ++d) EXPECT_NEAR(p.zeta(d, 0), .332842, kDigits);
  expect_near({p.model.word_variances.data(), 3}, {.442076, .117970, .078533});
}

TEST(DlgmmGolden, G2FullCovariance) {
  SmallProblem p = golden_one();
  Matrix<double> full(p.J, p.V * p.V);
  for (int j = 0; j < p.J; ++j)
    for (int v = 0; v < p.V; ++v)
      for (int u = 0; u < p.V; ++u)
        full(j, v * p.V + u) = 0.1 * (j + 1) + (u == v ? p.model.covariances(j, v) : 0.0);
  p.model.covariance = DlgmmCovariance::Full;
  p.model.covariances = full;
  EXPECT_NEAR(p.bound().terms[1], -9.806964, kDigits);
  EXPECT_NEAR(p.bound().total(), -71.989806, kDigits);
  p.step_phi();
  EXPECT_NEAR(p.bound().total(), -52.895472, kDigits);
  p.step_e();
  EXPECT_NEAR(p.bound().total(), -52.350660, kDigits);
  p.step_zeta();
  expect_near(std::vector{p.zeta(0, 0), p.zeta(1, 0), p.zeta(2, 0)}, {.330045, .357573, .368840});
  EXPECT_NEAR(p.bound().total(), -52.201146, kDigits);
  p.step_theta();
  expect_near(p.theta[0].alpha, {.077481, -.257660, .195718});
  EXPECT_NEAR(p.bound().total(), -51.673496, kDigits);
  p.step_clusters(0);
  const double* s = p.model.covariances.row(0);
  expect_near(std::vector{s[0], s[4], s[8]}, {.290517, .377386, .288541});
  expect_near(std::vector{s[1], s[2], s[5]}, {-.002134, -.000268, -.004158});
  EXPECT_NEAR(p.bound().total(), -49.804056, kDigits);
  p.step_words(0);
  EXPECT_NEAR(p.bound().total(), -43.789478, kDigits);
}

TEST(DlgmmGolden, G3CheckerboardSweeps) {
  SmallProblem p = golden_one();
  p.gamma = 0.5;
  const auto value = [&](const PatchShares& s) {
    p.take_shares(0, s);
    double q = p.gamma * (p.agreement(0) - 7);
    for (size_t a = 0; a < s.phi.size(); ++a) q += s.phi[a] * (s.scores[a] - s.log_phi[a]);
    return q;
  };
  CoherenceScratch scratch{std::vector<double>(p.V, 0.0)};
  PatchShares s = p.shares(0);
  sweep_coherence(s, {0, 2, 3}, 0.5, 1, scratch);
  expect_near({s.phi.data(), 3}, {.952068, .046803, .001129});
  expect_near({s.phi.data() + 15, 3}, {.000556, .088817, .910626});
  EXPECT_NEAR(value(s), -10.730992, kDigits);
  sweep_coherence(s, {0, 2, 3}, 0.5, 2, scratch);
  EXPECT_NEAR(value(s), -10.727435, kDigits);
  sweep_coherence(s, {0, 2, 3}, 0.5, 97, scratch);
  expect_near({s.phi.data(), 3}, {.955568, .043260, .001172});
  EXPECT_NEAR(value(s), -10.727434, kDigits);
}

TEST(DlgmmGolden, G4ThetaStep) {
  const std::vector<double> A = {1, 2, .5, 4}, b = {.5, -1, 0, 2};
  std::vector<double> mean(4);
  double constant = 0;  // the library's F has (alpha - m)' A (alpha - m)
  for (int v = 0; v < 4; ++v) mean[v] = b[v] / A[v], constant += 0.5 * b[v] * mean[v];
  std::vector<double> n = {10, 0, 3, 1};
  Theta theta;
  ThetaSolver solver;
  start_theta(n, A, theta);
  ThetaValue value = solve_theta(n, 14, A, mean, theta, solver);
  expect_near(theta.alpha, {1.820438, -.845202, .557081, .272856});
  expect_near(theta.tau2, {.103310, .371691, .310418, .169246});
  EXPECT_NEAR(value.objective + constant, -16.993165, kDigits);
  EXPECT_LE(value.steps, 8);
  for (double& x : n) x *= 100;
  start_theta(n, A, theta);
  value = solve_theta(n, 1400, A, mean, theta, solver);
  expect_near(theta.alpha, {2.997713, -2.568529, 1.792081, .685826});
  expect_near(theta.tau2, {.001001, .162945, .003338, .009685});
  EXPECT_NEAR(value.objective + constant, -1085.250258, kDigits);
}

TEST(DlgmmGolden, G6ThirtyRounds) {
  SmallProblem p;
  p.D = 8, p.J = 2, p.V = 4, p.R = 2, p.rows = 3, p.cols = 4;
  const double c[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
  p.o = Matrix<float>(p.D * p.N(), 2);
  p.model.posterior = DlgmmPosterior::MeanField;
  p.model.weights = {.5, .5};
  p.model.means = Matrix<double>(2, 4);
  p.model.covariances = Matrix<double>(2, 4);
  std::fill_n(p.model.covariances.data(), 8, 1.0);
  p.model.words = Matrix<double>(4, 2);
  p.model.word_variances = Matrix<double>(4, 1);
  p.zeta = Matrix<double>(8, 2);
  const int labels[8] = {0, 1, 0, 1, 0, 1, 1, 1};
  for (int v = 0; v < 4; ++v) {
    p.model.word_variances(v, 0) = .5;
    for (int r = 0; r < 2; ++r) p.model.words(v, r) = .5 * c[v][r];
  }
  for (int d = 0; d < 8; ++d) {
    for (int i = 0; i < p.N(); ++i) {
      const int z = i % 4 != 0 ? 2 * (d % 2) + i % 2 : (d + i) % 4;
      p.o(d * p.N() + i, 0) = static_cast<float>(c[z][0] + .7 * std::sin(5 * d + 3 * i));
      p.o(d * p.N() + i, 1) = static_cast<float>(c[z][1] + .7 * std::cos(7 * d + 2 * i));
    }
    for (int j = 0; j < 2; ++j) p.zeta(d, j) = labels[d] == j ? .6 : .4;
    p.theta.push_back({std::vector<double>(4, 0.0), std::vector<double>(4, 1.0)});
    p.e.push_back(1);
    p.phi.emplace_back(p.N(), 4);
  }
  p.step_clusters(.05);
  const auto round = [&](bool has_zeta) {
    p.step_phi(), p.step_theta();
    if (has_zeta) p.step_zeta();
    p.step_clusters(.05), p.step_words(.01);
  };
  round(false);
  EXPECT_NEAR(p.bound().total(), -283.657806, 3e-6);  // patches are float here
  for (int r = 2; r <= 5; ++r) round(true);
  EXPECT_NEAR(p.bound().total(), -238.968965, 3e-6);
  for (int d = 0; d < 8; ++d) EXPECT_EQ(p.zeta(d, 1) > .5, d % 2 == 1) << d;
  expect_near(p.zeta.row_span(6), {.986715, .013285});
  for (int r = 6; r <= 30; ++r) round(true);
  EXPECT_NEAR(p.bound().total(), -226.204167, 3e-6);
  expect_near({p.model.word_variances.data(), 4}, {.232532, .223753, .224265, .364974});
}

TEST(DlgmmGolden, G7StructuredPosterior) {
  SmallProblem p = golden_one();
  p.step_phi();
  const ClusterPrior prior = make_cluster_prior(p.model);
  const std::vector<double> expected = {.305815, .322436, .321230};
  for (int d = 0; d < 3; ++d) {
    ImageScratch scratch;
    std::vector<double> zeta(2), alpha(3);
    ClusterStats stats(2, 1, 3, false);
    update_image(prior, DlgmmPosterior::Structured, 1, p.counts(d), zeta, alpha, scratch, stats);
    EXPECT_NEAR(zeta[0], expected[d], kDigits);
    if (d > 0) continue;
    expect_near(scratch.energies, {-7.940524, -7.813914});
    expect_near(scratch.thetas[0].alpha, {.158064, -.180652, .162189});
    expect_near(scratch.thetas[0].tau2, {.240830, .339572, .309009});
  }
}

}  // namespace
}  // namespace milieu::internal
