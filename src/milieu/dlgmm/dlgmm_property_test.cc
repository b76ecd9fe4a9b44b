// SPDX-License-Identifier: Apache-2.0
// What must hold for any problem: the bound is a bound, and its parts are what they say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "milieu/base/random.h"
#include "milieu/dlgmm/dlgmm_run_internal.h"
#include "milieu/dlgmm/small_problem_internal.h"
#include "milieu/dlgmm/test_images.h"
#include "milieu/linalg/log_sum_exp.h"

namespace milieu::internal {
namespace {

TEST(Dlgmm, SharesOfClustersSumToOneHoweverManyPatches) {
  ClusterPrior prior;
  prior.log_weights = {std::log(0.2), std::log(0.3), std::log(0.5)};
  for (const double size : {1.0, 1e6, 1e9, 1e12}) {
    const std::vector<double> energies = {-size, -size - 0.7, -size + 0.4};
    std::vector<double> zeta(3);
    update_zeta(prior, energies, zeta);
    EXPECT_NEAR(zeta[0] + zeta[1] + zeta[2], 1, 1e-15) << size;
  }
}

TEST(Dlgmm, ThetaStepSolvesHostileStarts) {
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const int V = 2 + static_cast<int>(random.uniform_index(40));
    std::vector<double> n(V), A(V), mean(V);
    double total = 0;
    for (int v = 0; v < V; ++v) {
      n[v] = random.bernoulli(0.5) ? 0 : std::exp(4 * random.normal());
      A[v] = std::exp(2 * random.normal());
      mean[v] = 3 * random.normal();
      total += n[v];
    }
    Theta good, bad;
    ThetaSolver solver;
    start_theta(n, A, good);
    for (int v = 0; v < V; ++v) {
      bad.alpha.push_back(20 * random.normal());
      bad.tau2.push_back(std::exp(5 * random.normal()));
    }
    const ThetaValue from_good = solve_theta(n, total, A, mean, good, solver);
    const ThetaValue from_bad = solve_theta(n, total, A, mean, bad, solver);
    const double scale = 1 + std::abs(from_good.objective);
    EXPECT_NEAR(from_good.objective, from_bad.objective, 1e-9 * scale);
    Matrix<double> full(V, V);
    for (int v = 0; v < V; ++v) full(v, v) = A[v];
    Theta dense;
    start_theta(n, A, dense);
    const ThetaValue from_full = solve_theta_full(n, total, full, mean, dense);
    EXPECT_NEAR(from_good.objective, from_full.objective, 1e-9 * scale);
    for (int v = 0; v < V; ++v) EXPECT_NEAR(good.alpha[v], dense.alpha[v], 1e-5);
  }
}

// log p(O) of one image by enumerating words and a fine grid of theta (V = 2), with the exact Z.
double log_evidence(const SmallProblem& p, double gamma) {
  const WordScorer scorer = make_word_scorer(p.model);
  const int N = p.N();
  std::vector<double> logs;
  constexpr double kStep = 0.06, kEnd = 7;
  for (double a = -kEnd; a <= kEnd; a += kStep)
    for (double b = -kEnd; b <= kEnd; b += kStep) {
      const double norm = std::log(std::exp(a) + std::exp(b));
      double prior = 0;
      for (int j = 0; j < p.J; ++j) {
        double density = p.model.weights[j];
        for (int v = 0; v < 2; ++v) {
          const double away = (v == 0 ? a : b) - p.model.means(j, v);
          const double s2 = p.model.covariances(j, v);
          density *= std::exp(-0.5 * away * away / s2) / std::sqrt(2 * std::numbers::pi * s2);
        }
        prior += density;
      }
      double z = 0, joint = 0;
      for (int code = 0; code < (1 << N); ++code) {
        double log_p = 0, log_o = 0;
        for (int i = 0; i < N; ++i) {
          const int v = code >> i & 1;
          log_p += (v == 0 ? a : b) - norm;
          log_o += word_score(scorer, p.o.row(i), v);
          if (i % p.cols + 1 < p.cols) log_p += gamma * ((code >> (i + 1) & 1) == v);
          if (i + p.cols < N) log_p += gamma * ((code >> (i + p.cols) & 1) == v);
        }
        z += std::exp(log_p);
        joint += std::exp(log_p + log_o);
      }
      logs.push_back(std::log(prior * joint / z * kStep * kStep + 1e-300));
    }
  return log_sum_exp(logs);
}

SmallProblem tiny_problem(uint64_t seed, int rows, int cols) {
  Random random(seed);
  SmallProblem p;
  p.D = 1, p.J = 2, p.V = 2, p.R = 1, p.rows = rows, p.cols = cols;
  p.model.beta = p.model.kappa = 1;
  p.model.weights = {0.4, 0.6};
  p.o = Matrix<float>(p.N(), 1);
  for (int i = 0; i < p.N(); ++i) p.o(i, 0) = static_cast<float>(random.normal());
  p.model.means = Matrix<double>(2, 2);
  p.model.covariances = Matrix<double>(2, 2);
  p.model.words = Matrix<double>(2, 1);
  p.model.word_variances = Matrix<double>(2, 1);
  p.zeta = Matrix<double>(1, 2);
  for (int j = 0; j < 2; ++j) {
    p.zeta(0, j) = 0.5;
    p.model.words(j, 0) = j == 0 ? -0.7 : 0.7;
    p.model.word_variances(j, 0) = random.uniform(0.3, 1);
    for (int v = 0; v < 2; ++v) {
      p.model.means(j, v) = random.normal();
      p.model.covariances(j, v) = random.uniform(0.3, 1.5);
    }
  }
  p.theta = {Theta{{0, 0}, {1, 1}}};
  p.e = {2};
  p.phi.clear();
  p.phi.emplace_back(p.N(), 2);
  return p;
}

// The bound of the structured posterior at its fixed point, by the library's own E-step.
double structured_bound(SmallProblem p) {
  const ClusterPrior prior = make_cluster_prior(p.model);
  double bound = 0;
  for (int round = 0; round < 200; ++round) {
    p.step_phi();
    ImageScratch scratch;
    std::vector<double> zeta(2), alpha(2);
    ClusterStats stats(2, 1, 2, false);
    update_image(prior, DlgmmPosterior::Structured, 1, p.counts(0), zeta, alpha, scratch, stats);
    p.theta[0].alpha = alpha;
    const BoundTerms words = p.bound();
    bound = stats.bound.total() + words.terms[3] + words.terms[6];
  }
  return bound;
}

TEST(Dlgmm, BoundIsBelowTheEvidenceAndStructuredIsTighter) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SmallProblem p = tiny_problem(seed, 2, 2);
    const double evidence = log_evidence(p, 0);
    for (int round = 0; round < 200; ++round) p.step_phi(), p.step_theta(), p.step_zeta();
    const double mean_field = p.bound().total();
    const double structured = structured_bound(tiny_problem(seed, 2, 2));
    EXPECT_LE(mean_field, structured + 1e-9) << seed;
    EXPECT_LE(structured, evidence + 1e-6) << seed;
    EXPECT_GT(structured, evidence - 3) << seed;  // and not far below
  }
}

TEST(Dlgmm, CoherentBoundIsBelowTheEvidence) {
  for (uint64_t seed = 0; seed < 3; ++seed)
    for (const double gamma : {0.3, 1.0}) {
      SmallProblem p = tiny_problem(seed, 2, 2);
      p.gamma = gamma;
      CoherenceScratch scratch{std::vector<double>(2, 0.0)};
      for (int round = 0; round < 100; ++round) {
        PatchShares s = p.shares(0);
        sweep_coherence(s, {0, 2, 2}, gamma, 50, scratch);
        p.take_shares(0, s);
        p.step_theta(), p.step_zeta();
      }
      EXPECT_LE(p.bound().total(), log_evidence(p, gamma) + 1e-6) << seed << " " << gamma;
    }
}

// Cells whose neighbours do not move are skipped within a call; calls of one sweep update all.
TEST(Dlgmm, SweepsOfMovingCellsEndWhereSweepsOfAllEnd) {
  constexpr int kRows = 6, kCols = 7, kSweeps = 200;
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (const double gamma : {0.3, 1.0, 2.0}) {
      const SmallProblem p = tiny_problem(seed, kRows, kCols);
      PatchShares some = p.shares(0), all = some;
      CoherenceScratch scratch{std::vector<double>(2, 0.0)};
      EXPECT_LT(sweep_coherence(some, {0, kRows, kCols}, gamma, kSweeps, scratch), kSweeps);
      for (int sweep = 0; sweep < kSweeps; ++sweep)
        sweep_coherence(all, {0, kRows, kCols}, gamma, 1, scratch);
      for (size_t a = 0; a < all.phi.size(); ++a)
        EXPECT_NEAR(some.phi[a], all.phi[a], 1e-6) << seed << " " << gamma << " " << a;
    }
}

// E_q[log p(z)] and the entropy by enumeration, against the sums the library takes.
void expect_exact_coherence(int rows, int cols, bool has_diagonals) {
  SmallProblem p = tiny_problem(3, rows, cols);
  const double gamma = 0.8;
  CoherenceScratch scratch{std::vector<double>(2, 0.0)};
  scratch.has_diagonals = has_diagonals;
  EXPECT_EQ(num_neighbors(2, 3, has_diagonals), has_diagonals ? 11 : 7);
  const auto value = [&](const PatchShares& s) {  // over all 2^N words
    const int N = rows * cols;
    double sum = 0;
    for (int code = 0; code < (1 << N); ++code) {
      double q = 1, log_p = 0;
      for (int i = 0; i < N; ++i) {
        const int v = code >> i & 1;
        q *= s.phi[2 * i + v];
        log_p += s.scores[2 * i + v];
        if (i % cols + 1 < cols) log_p += gamma * ((code >> (i + 1) & 1) == v);
        if (i + cols < N) log_p += gamma * ((code >> (i + cols) & 1) == v);
        if (!has_diagonals || i + cols >= N) continue;
        if (i % cols + 1 < cols) log_p += gamma * ((code >> (i + cols + 1) & 1) == v);
        if (i % cols > 0) log_p += gamma * ((code >> (i + cols - 1) & 1) == v);
      }
      if (q > 0) sum += q * (log_p - std::log(q));
    }
    return sum;
  };
  PatchShares s = p.shares(0);
  double before = value(s);
  for (int sweep = 0; sweep < 30; ++sweep) {
    sweep_coherence(s, {0, rows, cols}, gamma, 1, scratch);
    const double after = value(s);
    EXPECT_GE(after, before - 1e-12);
    before = after;
  }
  double direct = gamma * neighbor_agreement(s, {0, rows, cols}, scratch);
  for (size_t a = 0; a < s.phi.size(); ++a) direct += s.phi[a] * (s.scores[a] - s.log_phi[a]);
  EXPECT_NEAR(direct, before, 1e-10);
  for (int i = 0; i < rows * cols; ++i)  // a maximum in each patch
    for (const double away : {-1e-3, 1e-3}) {
      PatchShares moved = s;
      moved.phi[2 * i] += away, moved.phi[2 * i + 1] -= away;
      if (moved.phi[2 * i] <= 0 || moved.phi[2 * i + 1] <= 0) continue;
      EXPECT_LE(value(moved), before);
    }
}

TEST(Dlgmm, CoherenceUpdatesAreExactOnSmallGrids) {
  for (const bool has_diagonals : {false, true}) {
    expect_exact_coherence(2, 2, has_diagonals);
    expect_exact_coherence(2, 3, has_diagonals);
    expect_exact_coherence(3, 3, has_diagonals);
    expect_exact_coherence(1, 4, has_diagonals);
  }
}

TEST(Dlgmm, LogZIsBoundedFromAbove) {
  const std::vector<double> theta = {0.3, -0.4};
  const double norm = log_sum_exp(theta);
  for (const double gamma : {0.0, 0.25, 0.5, 2.0}) {
    double z = 0;
    for (int code = 0; code < 64; ++code) {
      double log_p = 0;
      for (int i = 0; i < 6; ++i) {
        const int v = code >> i & 1;
        log_p += theta[v] - norm;
        if (i % 3 < 2) log_p += gamma * ((code >> (i + 1) & 1) == v);
        if (i < 3) log_p += gamma * ((code >> (i + 3) & 1) == v);
      }
      z += std::exp(log_p);
    }
    EXPECT_EQ(num_neighbors(2, 3), 7);
    const double tight = tight_log_z(theta, gamma, 7);
    EXPECT_GE(tight, std::log(z) - 1e-12);
    EXPECT_LE(tight, 7 * gamma + 1e-12);
  }
}

// The slope of gamma is that of the pseudo-likelihood from its definition, and so is the curvature.
TEST(Dlgmm, GammaSlopeIsTheDerivative) {
  constexpr int64_t kRows = 2, kCols = 3, kWords = 4;
  Random random(3);
  PatchShares shares;
  shares.first = {0};
  for (int64_t i = 0; i < kRows * kCols; ++i) {
    for (int v = 0; v < kWords; ++v) {
      shares.words.push_back(v);
      shares.scores.push_back(random.normal());
    }
    shares.first.push_back((i + 1) * kWords);
  }
  update_shares(shares, 0, kRows * kCols);
  Matrix<double> frequencies(1, kWords);
  for (int v = 0; v < kWords; ++v) frequencies(0, v) = 0.1 * (v + 1);
  const std::vector<int> bands(kRows * kCols, 0);
  const auto value = [&](double gamma) {
    double sum = 0;
    for (int64_t i = 0; i < kRows * kCols; ++i) {
      double total = 0;
      for (int v = 0; v < kWords; ++v) {
        double c = 0;
        for (int64_t n = 0; n < kRows * kCols; ++n)
          if (std::abs(n / kCols - i / kCols) + std::abs(n % kCols - i % kCols) == 1)
            c += shares.phi[n * kWords + v];
        sum += shares.phi[i * kWords + v] * (std::log(frequencies(0, v)) + gamma * c);
        total += frequencies(0, v) * std::exp(gamma * c);
      }
      sum -= std::log(total);
    }
    return sum;
  };
  CoherenceScratch scratch;
  scratch.dense.assign(kWords, 0.0);
  constexpr double kStep = 1e-4, kGamma = 0.7;
  const GammaSlope found =
      coherence_slope(shares, {0, kRows, kCols}, kGamma, frequencies.view(), bands, scratch);
  EXPECT_NEAR(found.slope, (value(kGamma + kStep) - value(kGamma - kStep)) / (2 * kStep), 1e-6);
  EXPECT_NEAR(found.curvature,
              (2 * value(kGamma) - value(kGamma + kStep) - value(kGamma - kStep)) / (kStep * kStep),
              1e-4);
}

// Statistics about other words are those of the same shares, summed again.
TEST(Dlgmm, MovedMomentsAreThoseAboutTheNewPlace) {
  Matrix<float> patches(50, 4);
  Matrix<double> old_words(6, 4), new_words(6, 4);
  Random random(2);
  for (int64_t i = 0; i < patches.size(); ++i)
    patches.data()[i] = static_cast<float>(random.normal());
  for (int64_t i = 0; i < old_words.size(); ++i)
    old_words.data()[i] = random.normal(), new_words.data()[i] = random.normal();
  const std::vector<int> words = {0, 1, 2, 3, 4, 5};
  const std::vector<double> phi = {0.1, 0.2, 0.05, 0.3, 0.25, 0.1};
  for (const bool is_diagonal : {false, true}) {
    WordStats moved(6, 4, is_diagonal), direct(6, 4, is_diagonal);
    for (int64_t i = 0; i < 50; ++i) {
      moved.add(patches.row(i), old_words, words, phi);
      direct.add(patches.row(i), new_words, words, phi);
    }
    move_moments(old_words, new_words, moved);
    for (int64_t i = 0; i < moved.first.size(); ++i)
      ASSERT_NEAR(moved.first.data()[i], direct.first.data()[i], 1e-9);
    for (int64_t i = 0; i < moved.second.size(); ++i)
      ASSERT_NEAR(moved.second.data()[i], direct.second.data()[i], 1e-8);
  }
}

// The same patches in another unit: as many passes, the same clusters. A fraction of the bound,
// which the unit shifts, took 56, 144 and 24 passes on one set.
TEST(DlgmmFit, StoppingDoesNotDependOnTheUnitOfThePatches_issue29) {
  Drawn data = draw({});
  const Matrix<float> patches = data.patches;
  std::vector<int> passes;
  std::vector<std::vector<int>> labels;
  for (const float unit : {1.0F, 1.0F / 16, 512.0F}) {  // powers of two scale without rounding
    data.patches = patches;
    for (float& x : std::span(data.patches.data(), data.patches.size())) x *= unit;
    DlgmmOptions o = small_options();
    o.rel_tolerance = 1e-4, o.max_iterations = 300;
    const DlgmmResult result = fit_dlgmm(data.input(), o);
    EXPECT_EQ(result.summary.termination, Termination::Converged);
    passes.push_back(result.summary.iterations);
    labels.push_back(result.labels);
  }
  EXPECT_GT(passes[0], 2);
  EXPECT_EQ(passes[1], passes[0]);
  EXPECT_EQ(passes[2], passes[0]);
  EXPECT_EQ(labels[1], labels[0]);
  EXPECT_EQ(labels[2], labels[0]);
}

}  // namespace
}  // namespace milieu::internal
