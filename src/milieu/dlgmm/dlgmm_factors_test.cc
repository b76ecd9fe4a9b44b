// SPDX-License-Identifier: Apache-2.0
// Low-rank covariances and image vectors: steps against dense algebra and differences, bounds that
// rise, and fits that use what only the vectors say (issue 29).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "milieu/base/random.h"
#include "milieu/dlgmm/dlgmm_run_internal.h"
#include "milieu/dlgmm/test_images.h"

namespace milieu::internal {
namespace {

// x with A x = b, by Gauss' elimination; A is positive definite.
std::vector<double> solve_dense(Matrix<double> A, std::vector<double> b) {
  const auto n = static_cast<int64_t>(b.size());
  for (int64_t k = 0; k < n; ++k)
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = A(i, k) / A(k, k);
      for (int64_t c = k; c < n; ++c) A(i, c) -= factor * A(k, c);
      b[i] -= factor * b[k];
    }
  for (int64_t k = n - 1; k >= 0; --k) {
    for (int64_t c = k + 1; c < n; ++c) b[k] -= A(k, c) * b[c];
    b[k] /= A(k, k);
  }
  return b;
}

// A low-rank model with vectors, at any point, and counts and states of some images.
struct FactorProblem {
  static constexpr int D = 6, J = 3, V = 4, G = 2, F = 2, P = 3;
  DlgmmModel model;
  ImageTable table;
  std::vector<int64_t> offsets;
  Matrix<float> patches;
  Matrix<double> counts, zeta, alpha;

  explicit FactorProblem(uint64_t seed) {
    Random random(seed);
    fill_model(random);
    counts = Matrix<double>(D, G * V);
    zeta = Matrix<double>(D, J);
    alpha = Matrix<double>(D, G * V);
    for (int d = 0; d < D; ++d) {
      double sum = 0;
      for (double& x : counts.row_span(d)) x = random.uniform(0, 5);
      for (double& x : alpha.row_span(d)) x = random.normal();
      for (double& x : zeta.row_span(d)) sum += x = std::exp(random.normal());
      for (double& x : zeta.row_span(d)) x /= sum;
      offsets.push_back(d);
    }
    offsets.push_back(D);
    patches = Matrix<float>(D, 1);
    table = make_image_table({patches.view(), offsets}, 1, 0);
    table.num_bands = G;
    table.vectors = normals(random, D, P);
  }

  static Matrix<double> normals(Random& random, int64_t rows, int64_t cols) {
    Matrix<double> m(rows, cols);
    for (double& x : std::span(m.data(), m.size())) x = random.normal();
    return m;
  }
  static void fill_positive(Random& random, std::span<double> values) {
    for (double& x : values) x = random.uniform(0.3, 2);
  }

  void fill_model(Random& random) {
    model.covariance = DlgmmCovariance::LowRank;
    model.num_bands = G;
    model.kappa = 0.7;
    model.weights = {0.2, 0.3, 0.5};
    model.words = Matrix<double>(V, 1);
    model.word_variances = Matrix<double>(1, 1);
    model.word_variances(0, 0) = 1;
    model.factors = normals(random, G * V, F);
    model.origin = normals(random, 1, G * V);
    model.factor_means = normals(random, J, F);
    model.factor_variances.resize(F);
    fill_positive(random, model.factor_variances);
    model.covariances = Matrix<double>(1, G * V);
    fill_positive(random, model.covariances.row_span(0));
    model.means = Matrix<double>(J, G * V);
    model.image_projection = Matrix<float>(P + 1, P);
    model.image_means = normals(random, J, P);
    model.image_variances.resize(P);
    fill_positive(random, model.image_variances);
    model.image_weight = {0.6};
  }

  ClusterStats step() {
    Monitor monitor;
    return *update_images(table, model, counts, zeta, alpha, 1, monitor);
  }
};

// The energies of one image by the dense covariance Psi + U D U' of theta.
std::vector<double> dense_zeta(const FactorProblem& p, int d) {
  const DlgmmModel& m = p.model;
  const int64_t width = m.factors.rows();
  Matrix<double> sigma(width, width);
  for (int64_t v = 0; v < width; ++v)
    for (int64_t u = 0; u < width; ++u) {
      sigma(v, u) = v == u ? m.covariances(0, v) : 0;
      for (int f = 0; f < p.F; ++f)
        sigma(v, u) += m.factors(v, f) * m.factor_variances[f] * m.factors(u, f);
    }
  std::vector<double> zeta;
  double sum = 0;
  for (int j = 0; j < p.J; ++j) {
    std::vector<double> away(p.alpha.row(d), p.alpha.row(d) + width);
    for (int64_t v = 0; v < width; ++v) {
      away[v] -= m.origin(0, v);
      for (int f = 0; f < p.F; ++f) away[v] -= m.factors(v, f) * m.factor_means(j, f);
    }
    const std::vector<double> solved = solve_dense(sigma, away);
    double energy = std::log(m.weights[j]);
    for (int64_t v = 0; v < width; ++v) energy -= 0.5 * away[v] * solved[v];
    for (int i = 0; i < p.P; ++i)
      energy -= 0.5 * m.image_weight[0] * std::pow(p.table.vectors(d, i) - m.image_means(j, i), 2) /
                m.image_variances[i];
    zeta.push_back(std::exp(energy));
    sum += zeta.back();
  }
  for (double& z : zeta) z /= sum;
  return zeta;
}

TEST(DlgmmFactors, ZetaIsThatOfTheDenseCovariance_issue29) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    FactorProblem p(seed);
    p.step();
    for (int d = 0; d < p.D; ++d) {
      const std::vector<double> expected = dense_zeta(p, d);
      for (int j = 0; j < p.J; ++j) EXPECT_NEAR(p.zeta(d, j), expected[j], 1e-10);
    }
  }
}

TEST(DlgmmFactors, NoStepLowersTheBound_issue29) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    FactorProblem p(seed);
    double before = -INFINITY;
    for (int round = 0; round < 8; ++round) {
      const ClusterStats stats = p.step();
      const double found = stats.bound.total();
      EXPECT_GE(found, before - 1e-9 * std::abs(found)) << "E-step, round " << round;
      const Matrix<double> old_means = p.model.means;
      update_clusters(stats, 0.01, p.model);
      BoundTerms bound = stats.bound;
      bound.terms[0] = weight_term(stats, p.model);
      bound.terms[1] = cluster_term(stats, old_means, p.model);
      EXPECT_GE(bound.total(), found - 1e-9 * std::abs(found)) << "M-step, round " << round;
      before = bound.total();
    }
  }
}

// T2 when `x` moves; central difference.
double slope(const FactorProblem& p, const ClusterStats& stats, double& x) {
  const double at = x, step = 1e-5 * std::max(1.0, std::abs(x));
  x = at + step;
  const double high = cluster_term(stats, p.model.means, p.model);
  x = at - step;
  const double low = cluster_term(stats, p.model.means, p.model);
  x = at;
  return (high - low) / (2 * step);
}

TEST(DlgmmFactors, UpdatesAreStationary_issue29) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    FactorProblem p(seed);
    const ClusterStats stats = p.step();
    update_clusters(stats, 1e-9, p.model);
    DlgmmModel& m = p.model;
    for (double& x : std::span(m.factor_means.data(), m.factor_means.size()))
      EXPECT_NEAR(slope(p, stats, x), 0, 1e-4);
    for (double& x : m.factor_variances) EXPECT_NEAR(slope(p, stats, x), 0, 1e-4);
    for (double& x : m.origin.row_span(0)) EXPECT_NEAR(slope(p, stats, x), 0, 1e-4);
    for (double& x : m.covariances.row_span(0)) EXPECT_NEAR(slope(p, stats, x), 0, 1e-4);
    for (double& x : std::span(m.image_means.data(), m.image_means.size()))
      EXPECT_NEAR(slope(p, stats, x), 0, 1e-4);
    for (double& x : m.image_variances) {
      if (x > 1e-3) {  // above the floor
        EXPECT_NEAR(slope(p, stats, x), 0, 1e-4);
      }
    }
    for (int j = 0; j < p.J; ++j)  // the means follow from the factors
      for (int64_t v = 0; v < m.means.cols(); ++v) {
        double mean = m.origin(0, v);
        for (int f = 0; f < p.F; ++f) mean += m.factors(v, f) * m.factor_means(j, f);
        EXPECT_NEAR(m.means(j, v), mean, 1e-12);
      }
  }
}

// T1 + T2 + T5 + T6 of the E-step, by integrating h: with q at its optimum they are the log of the
// evidence of theta and the vector, plus the entropy of theta.
TEST(DlgmmFactors, TermsSumToTheEvidenceOfTheta_issue29) {
  FactorProblem p(3);
  const ClusterStats stats = p.step();
  const FactorPrior prior = make_factor_prior(p.model);
  const VectorPrior vectors = make_vector_prior(p.model);
  double expected = 0;
  for (int d = 0; d < p.D; ++d) {
    std::vector<double> b;
    prior.pull(p.alpha.row_span(d), b);
    const Matrix<double>& T = prior.spread;  // 2 x 2
    double own = 0;
    for (int f = 0; f < p.F; ++f)
      for (int g = 0; g < p.F; ++g) own += 0.5 * b[f] * T(f, g) * b[g];
    double sum = 0;
    for (int j = 0; j < p.J; ++j) {
      double energy = prior.levels[j] + own + vectors.energy(j, p.table.vector(d));
      for (int f = 0; f < p.F; ++f) energy += b[f] * prior.pulls(j, f);
      sum += p.model.weights[j] * std::exp(energy);
    }
    expected += std::log(sum) + 0.5 * std::log(T(0, 0) * T(1, 1) - T(0, 1) * T(1, 0));
    for (const double x : p.model.factor_variances) expected -= 0.5 * std::log(x);
    for (int64_t v = 0; v < p.alpha.cols(); ++v) {
      const double away = p.alpha(d, v) - p.model.origin(0, v);
      expected -= 0.5 * (std::log(2 * std::numbers::pi * p.model.covariances(0, v)) +
                         away * away * prior.precision[v]);
    }
  }
  // What tau2 adds: -tau2 / (2 Psi) to T2 and the entropy of theta to T6.
  double found =
      stats.bound.terms[0] + stats.bound.terms[1] + stats.bound.terms[4] + stats.bound.terms[5];
  for (int d = 0; d < p.D; ++d) {
    std::vector<double> zeta(p.zeta.row(d), p.zeta.row(d) + p.J);
    for (int g = 0; g < p.G; ++g) {
      // theta given the same factors once more: tau2 is best for these counts and Psi
      Theta theta;
      std::vector<double> n(p.V), mean(p.V);
      for (int v = 0; v < p.V; ++v) n[v] = p.model.kappa * p.counts(d, g * p.V + v);
      FactorProblem before(3);
      std::vector<double> b, h;
      prior.pull(before.alpha.row_span(d), b);
      prior.mean(b, before.zeta.row_span(d), h);
      prior.image(h, g * p.V, mean);
      const auto precision = std::span(prior.precision).subspan(g * p.V, p.V);
      start_theta(n, precision, theta);
      double total = 0;
      for (const double x : n) total += x;
      ThetaSolver solver;
      solve_theta(n, total, precision, mean, theta, solver);
      for (int v = 0; v < p.V; ++v)
        found += 0.5 * theta.tau2[v] * precision[v] -
                 0.5 * (1 + std::log(2 * std::numbers::pi * theta.tau2[v]));
    }
  }
  EXPECT_NEAR(found, expected, 1e-8 * std::abs(expected));
}

// Vectors about a mean of their own for each class, `away` from the others.
Matrix<float> vectors_of(const Drawn& data, int width, double away, uint64_t seed) {
  Random random(seed);
  Matrix<float> vectors(std::ssize(data.labels), width);
  for (int64_t d = 0; d < vectors.rows(); ++d)
    for (int64_t c = 0; c < width; ++c)
      vectors(d, c) = static_cast<float>(random.normal() + (c == data.labels[d] ? away : 0.0));
  return vectors;
}

// With three clusters, under the best of their orders.
double share_right(const std::vector<int>& labels, const std::vector<int>& truth) {
  std::vector<int> order = {0, 1, 2};
  double best = 0;
  do {
    double right = 0;
    for (size_t d = 0; d < labels.size(); ++d)
      right += labels[d] >= 0 && order[labels[d]] == truth[d] ? 1 : 0;
    best = std::max(best, right / static_cast<double>(labels.size()));
  } while (std::ranges::next_permutation(order).found);
  return best;
}

TEST(DlgmmFactors, BoundsRiseWithVectorsInEveryMode_issue29) {
  const Drawn data = draw({.D = 40});
  const Matrix<float> vectors = vectors_of(data, 5, 2, 4);
  for (const DlgmmCovariance covariance :
       {DlgmmCovariance::Diagonal, DlgmmCovariance::TiedDiagonal, DlgmmCovariance::Full,
        DlgmmCovariance::Tied, DlgmmCovariance::LowRank})
    for (const DlgmmPosterior posterior : {DlgmmPosterior::Structured, DlgmmPosterior::MeanField})
      for (const DlgmmFix fix : {DlgmmFix::None, DlgmmFix::Codebook, DlgmmFix::Clusters}) {
        DlgmmOptions options = small_options();
        options.covariance = covariance, options.posterior = posterior, options.fix = fix;
        options.init = DlgmmInit::NormalizedCut, options.num_factors = 3;
        DlgmmInput input = data.input();
        input.images.vectors = vectors;
        const DlgmmResult found = fit_dlgmm(input, options);
        const std::vector<double>& trace = found.summary.trace;
        ASSERT_GE(trace.size(), 2u);
        for (size_t i = 1; i < trace.size(); ++i)
          EXPECT_GE(trace[i], trace[i - 1] - 1e-9 * std::abs(trace[i]))
              << to_string(covariance) << " " << to_string(posterior) << " pass " << i;
        EXPECT_EQ(found.labels, infer_images(found.model, input.images).labels);
      }
}

TEST(DlgmmFactors, VectorsTellWhatPatchesDoNot_issue29) {
  DrawOptions alike;
  alike.D = 90, alike.spread = 0;  // all clusters have the same words
  const Drawn data = draw(alike);
  const Matrix<float> vectors = vectors_of(data, 4, 8, 5);
  DlgmmInput input = data.input();
  DlgmmOptions options = small_options();
  EXPECT_LT(share_right(fit_dlgmm(input, options).labels, data.labels), 0.6);
  input.images.vectors = vectors;
  EXPECT_GT(share_right(fit_dlgmm(input, options).labels, data.labels), 0.98);
}

// Vectors that say nothing cost little: the cut of the words alone is among the starts.
TEST(DlgmmFactors, UselessVectorsCostLittle_issue29) {
  double with = 0, without = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Drawn data = draw({.D = 90, .spread = 3, .seed = seed});
    const Matrix<float> vectors = vectors_of(data, 4, 0, 5);
    DlgmmInput input = data.input();
    without += share_right(fit_dlgmm(input, small_options()).labels, data.labels) / 4;
    input.images.vectors = vectors;
    with += share_right(fit_dlgmm(input, small_options()).labels, data.labels) / 4;
  }
  EXPECT_GT(with, without - 0.05);
}

TEST(DlgmmFactors, AutoIsLowRankWithEnoughWordsAndVectorsOnly_issue29) {
  const Matrix<float> vectors(120, 2);  // 15 images for each of 8 clusters
  DlgmmInput input;
  DlgmmOptions options;
  EXPECT_EQ(resolve_options(input, options).covariance, DlgmmCovariance::Diagonal);
  EXPECT_EQ(resolve_options(input, options).init, DlgmmInit::LogCounts);
  EXPECT_EQ(resolve_options(input, options).fix, DlgmmFix::None);
  input.images.vectors = vectors;
  EXPECT_EQ(resolve_options(input, options).covariance, DlgmmCovariance::LowRank);
  EXPECT_EQ(resolve_options(input, options).init, DlgmmInit::NormalizedCut);
  EXPECT_EQ(resolve_options(input, options).fix, DlgmmFix::Codebook);
  options.num_words = 33, options.num_bands = 3;
  EXPECT_EQ(resolve_options(input, options).covariance, DlgmmCovariance::Diagonal);
  options.num_bands = 4;
  EXPECT_EQ(resolve_options(input, options).covariance, DlgmmCovariance::LowRank);
  options.num_clusters = 9;
  EXPECT_EQ(resolve_options(input, options).covariance, DlgmmCovariance::Diagonal);
  options.num_clusters = 8;
  options.posterior = DlgmmPosterior::MeanField;
  EXPECT_EQ(resolve_options(input, options).covariance, DlgmmCovariance::Diagonal);
}

TEST(DlgmmFactors, ImagesWithoutPatchesHaveNoLabel_issue29) {
  Drawn data = draw({.D = 30});
  data.offsets.insert(data.offsets.begin() + 4, data.offsets[4]);
  const Matrix<float> vectors = vectors_of(draw({.D = 31}), 4, 3, 5);
  DlgmmInput input = data.input();
  input.images.grid = {};
  input.images.vectors = vectors;
  const DlgmmResult found = fit_dlgmm(input, small_options());
  EXPECT_EQ(found.labels[4], -1);
  for (size_t d = 0; d < found.labels.size(); ++d)
    if (d != 4) {
      EXPECT_GE(found.labels[d], 0) << d;
    }
}

TEST(DlgmmFactors, RefusesVectorsThatDoNotFit_issue29) {
  const Drawn data = draw({.D = 30});
  const Matrix<float> vectors = vectors_of(data, 4, 3, 5), few(29, 4), narrow(30, 3);
  DlgmmInput input = data.input();
  input.images.vectors = few;
  EXPECT_THROW(fit_dlgmm(input, small_options()), InvalidArgument);
  input.images.vectors = vectors;
  const DlgmmModel model = fit_dlgmm(input, small_options()).model;
  input.images.vectors = {};
  EXPECT_THROW(infer_images(model, input.images), InvalidArgument);
  input.images.vectors = narrow;
  EXPECT_THROW(infer_images(model, input.images), InvalidArgument);
  input.images.vectors = {};
  const DlgmmModel plain = fit_dlgmm(input, small_options()).model;
  input.images.vectors = vectors;
  EXPECT_THROW(infer_images(plain, input.images), InvalidArgument);
  DlgmmModel broken = model;
  broken.factor_means = Matrix<double>(1, 1);
  EXPECT_THROW(check_model(broken), DataError);
  broken = model;
  broken.image_variances[0] = 0;
  EXPECT_THROW(check_model(broken), DataError);
}

TEST(DlgmmFactors, AutoIsTheOldModelWithoutVectors_issue29) {
  const Drawn data = draw({.D = 40});
  DlgmmOptions options = small_options(), old = options;
  old.covariance = DlgmmCovariance::Diagonal;
  old.init = DlgmmInit::LogCounts;
  old.fix = DlgmmFix::None;
  expect_same(fit_dlgmm(data.input(), options), fit_dlgmm(data.input(), old));
}

// Passes after the starts belong to one start, and may end at any time: no share of restarts is a
// share of the work ("about 0:00 left" at pass 3 of 58).
TEST(DlgmmProgress, PassesAreNotReportedAsShareOfTheRestarts_issue29) {
  struct Recorder : Monitor {
    std::vector<IterationReport> reports;
    void on_iteration(const IterationReport& report) override { reports.push_back(report); }
  } recorder;
  const Drawn data = draw({.D = 40});
  DlgmmOptions options = small_options();
  options.num_restarts = 4;
  const DlgmmResult found = fit_dlgmm(data.input(), options, recorder);
  ASSERT_EQ(std::ssize(recorder.reports), found.summary.iterations);
  for (const IterationReport& report : recorder.reports) {
    EXPECT_EQ(report.restart, 0);
    EXPECT_EQ(report.num_restarts, 1);
    EXPECT_EQ(report.max_iterations, options.max_iterations);
  }
}

}  // namespace
}  // namespace milieu::internal
