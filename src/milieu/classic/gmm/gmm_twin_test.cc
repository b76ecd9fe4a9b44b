// SPDX-License-Identifier: Apache-2.0
// The fast EM against a plain one in long double, and against scikit-learn's numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "milieu/classic/gmm/gmm.h"
#include "milieu/linalg/isa.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using Real = long double;
using Vector = std::vector<Real>;
using Square = std::vector<Vector>;

constexpr GmmCovariance kAllKinds[] = {GmmCovariance::Spherical, GmmCovariance::Diagonal,
                                       GmmCovariance::Full, GmmCovariance::Tied};

// EM as in the text books: every component has a full matrix, which the kind then restricts; means
// first, then squares about them; no floors.
class Twin {
 public:
  Twin(FloatView points, const GmmModel& start)
      : points_(points), kind_(start.covariance), k_(start.means.rows()), d_(points.cols()) {
    for (int64_t c = 0; c < k_; ++c) {
      weights.push_back(start.weights[c]);
      means.emplace_back(start.means.row(c), start.means.row(c) + d_);
      covariances.emplace_back(d_, Vector(d_, 0));
      for (int64_t i = 0; i < d_; ++i)
        for (int64_t j = 0; j < d_; ++j) covariances[c][i][j] = entry_of(start, c, i, j);
    }
  }

  // E-step; returns the log-likelihood.
  Real share_out() {
    shares_.assign(points_.rows(), Vector(k_));
    Real total = 0;
    std::vector<Square> factors;
    for (const Square& matrix : covariances) factors.push_back(cholesky(matrix));
    for (int64_t i = 0; i < points_.rows(); ++i) {
      Vector& row = shares_[i];
      for (int64_t c = 0; c < k_; ++c)
        row[c] = std::log(weights[c]) + log_normal(points_.row_span(i), means[c], factors[c]);
      const Real largest = *std::max_element(row.begin(), row.end());
      Real sum = 0;
      for (const Real score : row) sum += std::exp(score - largest);
      const Real log_sum = largest + std::log(sum);
      for (Real& score : row) score = std::exp(score - log_sum);
      total += log_sum;
    }
    return total;
  }

  // M-step.
  void update() {
    const Real n = static_cast<Real>(points_.rows());
    Square pooled(d_, Vector(d_, 0));
    for (int64_t c = 0; c < k_; ++c) {
      Real count = 0;
      Vector mean(d_, 0);
      for (int64_t i = 0; i < points_.rows(); ++i) {
        count += shares_[i][c];
        for (int64_t j = 0; j < d_; ++j) mean[j] += shares_[i][c] * points_(i, j);
      }
      for (Real& value : mean) value /= count;
      Square scatter(d_, Vector(d_, 0));
      for (int64_t i = 0; i < points_.rows(); ++i)
        for (int64_t a = 0; a < d_; ++a)
          for (int64_t b = 0; b < d_; ++b)
            scatter[a][b] += shares_[i][c] * (points_(i, a) - mean[a]) * (points_(i, b) - mean[b]);
      weights[c] = count / n;
      means[c] = mean;
      for (int64_t a = 0; a < d_; ++a)
        for (int64_t b = 0; b < d_; ++b) {
          covariances[c][a][b] = scatter[a][b] / count;
          pooled[a][b] += scatter[a][b] / n;
        }
    }
    for (Square& matrix : covariances) restrict(matrix, pooled);
  }

  Vector weights;
  std::vector<Vector> means;
  std::vector<Square> covariances;

  static Real entry_of(const GmmModel& model, int64_t c, int64_t i, int64_t j) {
    const int64_t d = model.means.cols();
    switch (model.covariance) {
      case GmmCovariance::Spherical:
        return i == j ? model.covariances(c, 0) : 0;
      case GmmCovariance::Diagonal:
        return i == j ? model.covariances(c, i) : 0;
      case GmmCovariance::Full:
        return model.covariances(c, i * d + j);
      case GmmCovariance::Tied:
        return model.covariances(0, i * d + j);
    }
    return 0;
  }

 private:
  void restrict(Square& matrix, const Square& pooled) const {
    if (kind_ == GmmCovariance::Tied) matrix = pooled;
    if (kind_ == GmmCovariance::Tied || kind_ == GmmCovariance::Full) return;
    Real trace = 0;
    for (int64_t j = 0; j < d_; ++j) trace += matrix[j][j];
    for (int64_t a = 0; a < d_; ++a)
      for (int64_t b = 0; b < d_; ++b)
        matrix[a][b] = a != b                              ? 0
                       : kind_ == GmmCovariance::Spherical ? trace / static_cast<Real>(d_)
                                                           : matrix[a][a];
  }

  static Square cholesky(const Square& matrix) {
    Square factor = matrix;
    const size_t d = matrix.size();
    for (size_t i = 0; i < d; ++i)
      for (size_t j = 0; j <= i; ++j) {
        Real sum = matrix[i][j];
        for (size_t m = 0; m < j; ++m) sum -= factor[i][m] * factor[j][m];
        factor[i][j] = i == j ? std::sqrt(sum) : sum / factor[j][j];
      }
    return factor;
  }

  static Real log_normal(std::span<const float> x, const Vector& mean, const Square& factor) {
    const size_t d = mean.size();
    Vector y(d);
    Real result = -0.5L * static_cast<Real>(d) * std::log(2 * std::numbers::pi_v<Real>);
    for (size_t i = 0; i < d; ++i) {
      Real sum = x[i] - mean[i];
      for (size_t j = 0; j < i; ++j) sum -= factor[i][j] * y[j];
      y[i] = sum / factor[i][i];
      result -= 0.5L * y[i] * y[i] + std::log(factor[i][i]);
    }
    return result;
  }

  FloatView points_;
  GmmCovariance kind_;
  int64_t k_;
  int64_t d_;
  std::vector<Vector> shares_;
};

// Equal round components at the given means.
GmmModel simple_start(const Matrix<float>& means, GmmCovariance kind, double variance) {
  const int64_t k = means.rows();
  const int64_t d = means.cols();
  GmmModel model;
  model.covariance = kind;
  model.weights.assign(k, 1.0 / static_cast<double>(k));
  model.means = Matrix<double>(k, d);
  for (int64_t c = 0; c < k; ++c) std::ranges::copy(means.row_span(c), model.means.row(c));
  const bool is_full = kind == GmmCovariance::Full || kind == GmmCovariance::Tied;
  const int64_t width = is_full ? d * d : kind == GmmCovariance::Spherical ? 1 : d;
  model.covariances = Matrix<double>(kind == GmmCovariance::Tied ? 1 : k, width);
  for (int64_t c = 0; c < model.covariances.rows(); ++c)
    for (int64_t j = 0; j < width; ++j)
      model.covariances(c, j) = !is_full || j % (d + 1) == 0 ? variance : 0;
  return model;
}

struct TwinCase {
  BlobOptions blobs;
  double start_variance = 1;
  int rounds = 15;
  double tolerance = 0;  // relative, of the log-likelihood and of each parameter against its scale
};

void expect_same_rounds(const TwinCase& test) {
  const LabelledPoints data = make_blobs(test.blobs);
  const Matrix<float>& points = data.points;
  const int k = test.blobs.num_clusters;
  Matrix<float> means(k, points.cols());  // the last sample of each part
  for (int64_t i = 0; i < points.rows(); ++i)
    std::ranges::copy(points.row_span(i), means.row(data.labels[i]));
  for (const GmmCovariance kind : kAllKinds) {
    SCOPED_TRACE(to_string(kind));
    const GmmModel start = simple_start(means, kind, test.start_variance);
    GmmOptions options;
    options.num_clusters = k;
    options.covariance = kind;
    options.rel_tolerance = 0;
    options.max_iterations = test.rounds;
    options.regularization = 1e-12;
    const GmmResult result = fit_gmm({points, {}, {}, &start}, options);
    Twin twin(points, start);
    Real log_likelihood = twin.share_out();
    for (int round = 0; round < test.rounds; ++round) {
      twin.update();
      log_likelihood = twin.share_out();
      EXPECT_NEAR(result.summary.trace[round], static_cast<double>(log_likelihood),
                  test.tolerance * std::abs(static_cast<double>(log_likelihood)))
          << "round " << round + 1;
    }
    for (int64_t c = 0; c < k; ++c) {
      EXPECT_NEAR(result.model.weights[c], static_cast<double>(twin.weights[c]), test.tolerance);
      for (int64_t i = 0; i < points.cols(); ++i) {
        const double deviation = std::sqrt(static_cast<double>(twin.covariances[c][i][i]));
        EXPECT_NEAR(result.model.means(c, i), static_cast<double>(twin.means[c][i]),
                    test.tolerance * deviation);
        for (int64_t j = 0; j < points.cols(); ++j)
          EXPECT_NEAR(static_cast<double>(Twin::entry_of(result.model, c, i, j)),
                      static_cast<double>(twin.covariances[c][i][j]),
                      test.tolerance * deviation * deviation);
      }
    }
  }
}

TEST(GmmTwin, RoundsEqualThoseInLongDouble) {
  TwinCase test;
  test.blobs.n = 301;
  test.blobs.d = 5;
  test.blobs.num_clusters = 4;
  test.blobs.separation = 2;
  test.tolerance = 1e-10;
  expect_same_rounds(test);
}

TEST(GmmTwin, OneFeatureAndManyComponents) {
  TwinCase test;
  test.blobs.n = 150;
  test.blobs.d = 1;
  test.blobs.num_clusters = 7;
  test.blobs.separation = 2;
  test.tolerance = 1e-9;
  expect_same_rounds(test);
}

// Means 10,000 standard deviations apart and from the origin: products like x^2 - mean^2 would lose
// eight digits here. (A full covariance that spans two such parts is ill-conditioned in itself,
// hence a start with one mean in each.)
TEST(GmmTwin, NoDigitsAreLostFarFromTheOrigin) {
  TwinCase test;
  test.blobs.n = 400;
  test.blobs.d = 3;
  test.blobs.num_clusters = 3;
  test.blobs.separation = 1e4;
  test.blobs.offset = 1e4;
  test.start_variance = 1e4;
  test.tolerance = 1e-10;
  expect_same_rounds(test);
}

TEST(GmmTwin, NoDigitsAreLostOnOverlappingDataFarFromTheOrigin) {
  TwinCase test;
  test.blobs.n = 400;
  test.blobs.d = 3;
  test.blobs.num_clusters = 3;
  test.blobs.separation = 2.5;
  test.blobs.offset = 1e4;
  test.tolerance = 1e-9;
  expect_same_rounds(test);
}

// Numbers of scikit-learn 1.2.1 on the same 120 samples: GaussianMixture(3, covariance_type=...,
// tol=0, max_iter=20, reg_covar=0, means_init=X[:3], weights_init=[1/3]*3, precisions_init=unit)
// fitted to X as double; log_likelihood is score_samples(X).sum(), covariance the last entry of
// covariances_. Its formulas subtract squares, so digits after the tenth may differ.
struct Golden {
  GmmCovariance kind;
  double log_likelihood, weight, mean, covariance;
};
constexpr Golden kGolden[] = {
    {GmmCovariance::Spherical, -573.175878090805, 0.268376746100, 2.338055531217, 0.892504446194},
    {GmmCovariance::Diagonal, -547.712450352064, 0.368605184684, 2.116528539384, 0.160542646118},
    {GmmCovariance::Full, -529.229933530460, 0.130838407953, 1.780443044018, 0.156163216125},
    {GmmCovariance::Tied, -527.775016222477, 0.333399336425, 2.125187879165, 0.211498446624},
};

Matrix<float> make_golden_points() {
  Lcg lcg;
  Matrix<float> points(120, 3);
  for (int64_t i = 0; i < 120; ++i) {
    const double y = static_cast<double>(i % 3);
    const double a = lcg.normal();
    const double b = lcg.normal();
    const double c = lcg.normal();
    points(i, 0) = static_cast<float>(2 * y + a);
    points(i, 1) = static_cast<float>((y == 1 ? 1 : 0) + 0.6 * a + 0.8 * b);
    points(i, 2) = static_cast<float>(-1.5 * y + 0.5 * c);
  }
  return points;
}

TEST(GmmTwin, ScikitLearnGivesTheSameNumbers) {
  const Matrix<float> points = make_golden_points();
  const Matrix<float> means(points.view().rows_between(0, 3));
  for (const Golden& golden : kGolden) {
    SCOPED_TRACE(to_string(golden.kind));
    const GmmModel start = simple_start(means, golden.kind, 1);
    GmmOptions options;
    options.num_clusters = 3;
    options.covariance = golden.kind;
    options.rel_tolerance = 0;
    options.max_iterations = 20;
    const GmmResult result = fit_gmm({points, {}, {}, &start}, options);
    EXPECT_NEAR(result.summary.objective, golden.log_likelihood, 1e-8);
    EXPECT_NEAR(result.model.weights[0], golden.weight, 1e-9);
    EXPECT_NEAR(result.model.means(0, 0), golden.mean, 1e-9);
    const Matrix<double>& covariances = result.model.covariances;
    EXPECT_NEAR(covariances.data()[covariances.size() - 1], golden.covariance, 1e-9);
  }
}

TEST(GmmTwin, InstructionSetsAgree) {
  const Matrix<float> points = make_golden_points();
  const Matrix<float> means(points.view().rows_between(0, 3));
  for (const GmmCovariance kind : kAllKinds) {
    const GmmModel start = simple_start(means, kind, 1);
    GmmOptions options;
    options.num_clusters = 3;
    options.covariance = kind;
    options.rel_tolerance = 0;
    options.max_iterations = 10;
    const GmmResult best = fit_gmm({points, {}, {}, &start}, options);
    for (const Isa isa : {Isa::Baseline, Isa::V3}) {
      if (isa > best_isa()) continue;
      const ScopedIsa scope(isa);
      const GmmResult other = fit_gmm({points, {}, {}, &start}, options);
      EXPECT_NEAR(other.summary.objective, best.summary.objective,
                  1e-12 * std::abs(best.summary.objective));
      EXPECT_EQ(other.labels, best.labels);
    }
  }
}

}  // namespace
}  // namespace milieu
