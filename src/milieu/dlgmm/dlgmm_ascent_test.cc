// SPDX-License-Identifier: Apache-2.0
// What must hold at any point of any small problem, in every mode: no step lowers the bound, and
// each ends where the bound is flat.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "milieu/base/random.h"
#include "milieu/dlgmm/small_problem_internal.h"

namespace milieu::internal {
namespace {

struct Mode {
  DlgmmCovariance covariance = DlgmmCovariance::Diagonal;
  bool is_structured = false, has_bands = false, is_coherent = false;
  bool is_diagonal_word = false, is_tied_word = false;
};

constexpr int kNumModes = 128;

// All modes in turn.
Mode mode_of(uint64_t number) {
  const auto bit = [&](int at) { return (number >> at & 1) != 0; };
  return {static_cast<DlgmmCovariance>(number % 4), bit(2), bit(3), bit(4), bit(5), bit(6)};
}

void fill_simplex(Random& random, MatrixView<double> m) {
  for (int64_t i = 0; i < m.rows(); ++i) {
    double sum = 0;
    for (double& x : m.row_span(i)) sum += x = std::exp(random.normal());
    for (double& x : m.row_span(i)) x /= sum;
  }
}

void fill_clusters(Random& random, const Mode& mode, SmallProblem& p) {
  DlgmmModel& m = p.model;
  m.covariance = mode.covariance;
  Matrix<double> pi(1, p.J);
  fill_simplex(random, pi);
  m.weights.assign(pi.data(), pi.data() + p.J);
  m.means = Matrix<double>(p.J, p.G() * p.V);
  for (double& x : std::span(m.means.data(), m.means.size())) x = random.normal();
  const bool is_full =
      mode.covariance == DlgmmCovariance::Full || mode.covariance == DlgmmCovariance::Tied;
  const bool is_tied =
      mode.covariance == DlgmmCovariance::TiedDiagonal || mode.covariance == DlgmmCovariance::Tied;
  const int num_sigmas = is_tied ? 1 : p.J;
  if (!is_full) {
    m.covariances = Matrix<double>(num_sigmas, p.G() * p.V);
    for (double& x : std::span(m.covariances.data(), m.covariances.size()))
      x = random.uniform(0.1, 3);
    return;
  }
  m.covariances = Matrix<double>(num_sigmas * p.G(), p.V * p.V);
  for (int64_t row = 0; row < m.covariances.rows(); ++row) {
    std::vector<double> u(p.V);
    for (double& x : u) x = random.normal();
    for (int v = 0; v < p.V; ++v)
      for (int w = 0; w < p.V; ++w)
        m.covariances(row, v * p.V + w) = u[v] * u[w] + (v == w ? 0.5 : 0);
  }
}

void fill_words(Random& random, const Mode& mode, SmallProblem& p) {
  p.model.words = Matrix<double>(p.V, p.R);
  for (double& x : std::span(p.model.words.data(), p.model.words.size())) x = 2 * random.normal();
  p.model.word_variances =
      Matrix<double>(mode.is_tied_word ? 1 : p.V, mode.is_diagonal_word ? p.R : 1);
  for (double& x : std::span(p.model.word_variances.data(), p.model.word_variances.size()))
    x = random.uniform(0.2, 3);
}

// Any point of any small problem.
SmallProblem random_problem(uint64_t seed, const Mode& mode) {
  Random random(seed);
  SmallProblem p;
  p.D = 2 + static_cast<int>(random.uniform_index(5));
  p.J = 1 + static_cast<int>(random.uniform_index(3));
  p.V = 2 + static_cast<int>(random.uniform_index(4));
  p.R = 1 + static_cast<int>(random.uniform_index(3));
  p.rows = 1 + static_cast<int>(random.uniform_index(3));
  p.cols = 1 + static_cast<int>(random.uniform_index(4));
  p.is_structured = mode.is_structured;
  p.gamma = mode.is_coherent ? random.uniform(0.1, 2) : 0;
  p.model.num_bands = mode.has_bands ? 2 : 1;
  p.model.beta = random.bernoulli(0.5) ? 1 : random.uniform(0.1, 1.5);
  p.model.kappa = random.bernoulli(0.5) ? 1 : random.uniform(0.2, 1.5);
  p.o = Matrix<float>(p.D * p.N(), p.R);
  for (float& x : std::span(p.o.data(), p.o.size())) x = static_cast<float>(2 * random.normal());
  fill_clusters(random, mode, p);
  fill_words(random, mode, p);
  p.zeta = Matrix<double>(p.D, p.J);
  fill_simplex(random, p.zeta);
  for (int i = 0; i < p.D * p.num_shares() * p.G(); ++i) {
    Theta theta;
    for (int v = 0; v < p.V; ++v) {
      theta.alpha.push_back(random.normal());
      theta.tau2.push_back(random.uniform(0.05, 2));
    }
    p.theta.push_back(theta);
    p.e.push_back(random.uniform(1, 5));
  }
  for (int d = 0; d < p.D; ++d) {
    p.phi.emplace_back(p.N(), p.V);
    fill_simplex(random, p.phi.back());
  }
  return p;
}

TEST(Dlgmm, NoStepLowersTheBound) {
  for (uint64_t seed = 0; seed < 40 * kNumModes; ++seed) {
    SmallProblem p = random_problem(seed, mode_of(seed));
    Random random(seed + 1000000);
    const std::vector<std::function<void()>> steps = {
        [&] { p.step_phi(); },          [&] { p.step_e(); },
        [&] { p.step_zeta(); },         [&] { p.step_theta(); },
        [&] { p.step_clusters(0.01); }, [&] { p.step_words(0.01); }};
    // Once, from anywhere, Sigma and delta2 reach their floors.
    p.step_clusters(0.01), p.step_words(0.01);
    double bound = p.bound().total();
    for (int i = 0; i < 12; ++i) {
      const int64_t step = random.uniform_index(static_cast<int64_t>(steps.size()));
      steps[step]();
      const double next = p.bound().total();
      ASSERT_TRUE(std::isfinite(next)) << "seed " << seed << ", step " << step;
      ASSERT_GE(next, bound - 1e-9 * std::abs(bound)) << "seed " << seed << ", step " << step;
      bound = next;
    }
  }
}

// Derivative of the bound when `x` moves; central difference.
double slope(const SmallProblem& p, double& x, double step = 1e-5) {
  const double at = x;
  x = at + step;
  const double high = p.bound().total();
  x = at - step;
  const double low = p.bound().total();
  x = at;
  return (high - low) / (2 * step);
}

// The same when `x` and `y` both move: an entry of a symmetric matrix.
double pair_slope(const SmallProblem& p, double& x, double& y, double step) {
  const double at = x;
  x = y = at + step;
  const double high = p.bound().total();
  x = y = at - step;
  const double low = p.bound().total();
  x = y = at;
  return (high - low) / (2 * step);
}

// The same along x + t, y - t: for entries that sum to 1.
double exchange_slope(const SmallProblem& p, double& x, double& y) {
  const double step = 1e-4 * std::min({x, y, 0.1});
  const double at_x = x, at_y = y;
  x = at_x + step, y = at_y - step;
  const double high = p.bound().total();
  x = at_x - step, y = at_y + step;
  const double low = p.bound().total();
  x = at_x, y = at_y;
  return (high - low) / (2 * step);
}

constexpr double kFlat = 2e-5;
constexpr double kMinShare = 1e-3;  // smaller ones leave nothing to measure

void expect_flat_theta(SmallProblem& p) {
  for (int j = 0; j < p.num_shares(); ++j) {
    const double share = p.share(0, j);
    if (share < 0.05) continue;
    for (int g = 0; g < p.G(); ++g) {
      Theta& theta = p.theta[p.at(0, j, g)];
      for (int v = 0; v < p.V; ++v) {
        EXPECT_NEAR(slope(p, theta.alpha[v]) / share, 0, kFlat) << "alpha " << j << " " << g;
        EXPECT_NEAR(slope(p, theta.tau2[v], 1e-3 * theta.tau2[v]) / share, 0, 1e-4) << "tau2";
      }
      EXPECT_NEAR(slope(p, p.e[p.at(0, j, g)]), 0, kFlat) << "Eq. 6";
    }
  }
}

void expect_flat_clusters(SmallProblem& p) {
  DlgmmModel& m = p.model;
  if (p.J > 1 && std::min(m.weights[0], m.weights[1]) > kMinShare) {
    EXPECT_NEAR(exchange_slope(p, m.weights[0], m.weights[1]), 0, kFlat) << "Eq. 7";
  }
  for (int64_t c = 0; c < m.means.cols(); ++c)
    EXPECT_NEAR(slope(p, m.means(0, c)), 0, kFlat) << "Eq. 7";
  for (int64_t row = 0; row < m.covariances.rows(); ++row) {
    double& first = m.covariances(row, 0);
    EXPECT_NEAR(slope(p, first, 1e-4 * first), 0, 1e-3) << "Eq. 8, row " << row;
    if (m.covariance != DlgmmCovariance::Full && m.covariance != DlgmmCovariance::Tied) continue;
    EXPECT_NEAR(pair_slope(p, m.covariances(row, 1), m.covariances(row, p.V), 1e-4 * first), 0,
                1e-3)
        << "Eq. 8, row " << row;
  }
}

TEST(Dlgmm, UpdatesAreStationary) {
  for (uint64_t seed = 0; seed < kNumModes; ++seed) {
    SCOPED_TRACE(seed);
    SmallProblem p = random_problem(seed, mode_of(seed));
    p.step_phi(1000);
    if (p.phi[0](0, 0) > kMinShare && p.phi[0](0, 1) > kMinShare) {
      EXPECT_NEAR(exchange_slope(p, p.phi[0](0, 0), p.phi[0](0, 1)), 0, kFlat) << "Eqs. 5 and 14";
    }
    p.step_theta();
    expect_flat_theta(p);
    p.step_zeta();
    if (p.J > 1 && p.zeta(0, 0) > kMinShare && p.zeta(0, 1) > kMinShare) {
      EXPECT_NEAR(exchange_slope(p, p.zeta(0, 0), p.zeta(0, 1)), 0, kFlat) << "Eq. 4";
    }
    p.step_clusters(0);
    expect_flat_clusters(p);
    p.step_words(0);
    if (p.word_stats().mass[0] < 0.01) continue;  // a light word is not moved
    double& variance = p.model.word_variances(0, 0);
    EXPECT_NEAR(slope(p, variance, 1e-4 * variance), 0, 1e-3) << "Eq. 10";
    // The moments of bound() are about the words themselves, so a word may be moved in it.
    EXPECT_NEAR(slope(p, p.model.words(0, 0)), 0, 1e-4) << "Eq. 9";
  }
}

}  // namespace
}  // namespace milieu::internal
