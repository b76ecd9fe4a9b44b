// SPDX-License-Identifier: Apache-2.0
// Statistics of the clusters and Eqs. 7 and 8.
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "milieu/dlgmm/cluster_internal.h"
#include "milieu/dlgmm/dlgmm_steps.h"

namespace milieu::internal {

namespace {

using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using SquareMap = Eigen::Map<Square>;
using ConstSquareMap = Eigen::Map<const Square>;
using Vector = Eigen::VectorXd;

constexpr double kEmptyCluster = 1e-10;  // clusters of less weight take the pooled prior

bool is_full(DlgmmCovariance c) { return c == DlgmmCovariance::Full || c == DlgmmCovariance::Tied; }
bool is_tied(DlgmmCovariance c) {
  return c == DlgmmCovariance::TiedDiagonal || c == DlgmmCovariance::Tied;
}

// Row of model.covariances that holds band g of cluster j, and where the band begins in it.
int64_t covariance_row(const DlgmmModel& m, int j, int g) {
  const int cluster = is_tied(m.covariance) ? 0 : j;
  return is_full(m.covariance) ? int64_t{cluster} * m.num_bands + g : cluster;
}

// Second moments of cluster j about the new mean, band g: diagonal (V) or matrix (V V), added to
// `sum`. Moments about the old mean: S2 - S1 m' - m S1' + w m m', m = new - old.
void add_moments(const ClusterStats& s, DoubleView old_means, const DlgmmModel& model, int j, int g,
                 std::span<double> sum) {
  const int64_t num_words = model.num_words();
  const int64_t at = g * num_words;
  const double w = s.mass[j];
  const double* first = s.first.row(j) + at;
  std::vector<double> moved(num_words);
  for (int64_t v = 0; v < num_words; ++v) moved[v] = model.means(j, at + v) - old_means(j, at + v);
  if (!s.is_full) {
    for (int64_t v = 0; v < num_words; ++v)
      sum[v] += s.second(j, at + v) + moved[v] * (w * moved[v] - 2 * first[v]);
    return;
  }
  const double* second = s.second.row(int64_t{j} * model.num_bands + g);
  for (int64_t v = 0; v < num_words; ++v)
    for (int64_t u = 0; u < num_words; ++u)
      sum[v * num_words + u] += second[v * num_words + u] - first[v] * moved[u] -
                                moved[v] * first[u] + w * moved[v] * moved[u];
}

// The matrix nearest to `sum / mass` in the sense of the bound whose eigenvalues are >= floor.
void set_covariance(std::span<const double> sum, double mass, double floor, bool full,
                    std::span<double> out) {
  if (!full) {
    for (size_t v = 0; v < sum.size(); ++v) out[v] = std::max(floor, sum[v] / mass);
    return;
  }
  const auto size = static_cast<Eigen::Index>(std::llround(std::sqrt(double(sum.size()))));
  const Square matrix = ConstSquareMap(sum.data(), size, size) / mass;
  const Eigen::SelfAdjointEigenSolver<Square> eigen(matrix);
  if (eigen.eigenvalues()[0] >= floor) {
    SquareMap(out.data(), size, size) = 0.5 * (matrix + matrix.transpose());
    return;
  }
  const Vector values = eigen.eigenvalues().cwiseMax(floor);
  SquareMap(out.data(), size, size) =
      eigen.eigenvectors() * values.asDiagonal() * eigen.eigenvectors().transpose();
}

std::span<double> covariance_of(DlgmmModel& m, int j, int g) {
  double* row = m.covariances.row(covariance_row(m, j, g));
  const auto num_words = static_cast<size_t>(m.num_words());
  if (is_full(m.covariance)) return {row, num_words * num_words};
  return {row + g * m.num_words(), num_words};
}

// An empty cluster takes the mean of all images.
void pool_means(const ClusterStats& s, DoubleView old_means, int j, DlgmmModel& model) {
  for (int64_t c = 0; c < model.means.cols(); ++c) {
    double sum = 0, mass = 0;
    for (int i = 0; i < model.num_clusters(); ++i) {
      sum += s.first(i, c) + s.mass[i] * old_means(i, c);
      mass += s.mass[i];
    }
    model.means(j, c) = sum / mass;
  }
}

// Sigma of band g: of cluster j, of all clusters about their own means (j = -1), or for an empty
// cluster of all images about its own mean.
void update_covariance(const ClusterStats& s, DoubleView old_means, int j, int g, double floor,
                       DlgmmModel& model) {
  const std::span<double> out = covariance_of(model, std::max(j, 0), g);
  std::vector<double> sum(out.size(), 0.0);
  if (j >= 0 && s.mass[j] >= kEmptyCluster) {
    add_moments(s, old_means, model, j, g, sum);
    return set_covariance(sum, s.mass[j], floor, s.is_full, out);
  }
  DlgmmModel about;  // every cluster's images about the empty cluster's mean
  if (j >= 0) {
    about.num_bands = model.num_bands;
    about.words = Matrix<double>(model.num_words(), 1);
    about.means = model.means;
    for (int i = 0; i < model.num_clusters(); ++i)
      std::copy_n(model.means.row(j), model.means.cols(), about.means.row(i));
  }
  double mass = 0;
  for (int i = 0; i < model.num_clusters(); ++i) {
    add_moments(s, old_means, j >= 0 ? about : model, i, g, sum);
    mass += s.mass[i];
  }
  set_covariance(sum, mass, floor, s.is_full, out);
}

}  // namespace

std::span<const double> ClusterPrior::mean(int j, int g) const {
  return means.row_span(j).subspan(g * num_words, num_words);
}
std::span<const double> ClusterPrior::precision(int j, int g) const {
  return (is_full ? diagonals : precisions).row_span(j).subspan(g * num_words, num_words);
}
DoubleView ClusterPrior::full_precision(int j, int g) const {
  return {precisions.row(int64_t{j} * num_bands + g), num_words, num_words};
}

ClusterPrior make_cluster_prior(const DlgmmModel& m) {
  ClusterPrior p;
  p.factors = make_factor_prior(m);
  p.vectors = make_vector_prior(m);
  const int num_clusters = m.num_clusters();
  const auto size = static_cast<Eigen::Index>(m.num_words());
  p.is_full = is_full(m.covariance);
  p.num_words = m.num_words();
  p.num_bands = m.num_bands;
  p.means = m.means.view();
  p.log_dets = Matrix<double>(num_clusters, m.num_bands);
  Matrix<double> diagonals(num_clusters, m.means.cols());
  if (p.is_full) p.precisions = Matrix<double>(int64_t{num_clusters} * m.num_bands, size * size);
  for (int j = 0; j < num_clusters; ++j) {
    p.log_weights.push_back(std::log(std::max(m.weights[j], 1e-300)));
    for (int g = 0; g < m.num_bands; ++g) {
      const double* sigma = m.covariances.row(covariance_row(m, j, g));
      double* diagonal = diagonals.row(j) + g * size;
      if (!p.is_full) {
        const std::span<const double> band(sigma + g * size, size);
        p.log_dets(j, g) = sum_log(band);
        for (Eigen::Index v = 0; v < size; ++v) diagonal[v] = 1 / band[v];
        continue;
      }
      const Eigen::LLT<Square> factor(ConstSquareMap(sigma, size, size));
      SquareMap inverse(p.precisions.row(int64_t{j} * m.num_bands + g), size, size);
      inverse = factor.solve(Square::Identity(size, size));
      for (Eigen::Index v = 0; v < size; ++v) {
        p.log_dets(j, g) += 2 * std::log(factor.matrixLLT()(v, v));
        diagonal[v] = inverse(v, v);
      }
    }
  }
  (p.is_full ? p.diagonals : p.precisions) = std::move(diagonals);
  return p;
}

void mix_full_precisions(const ClusterPrior& prior, int g, std::span<const double> zeta,
                         Matrix<double>& precision, std::vector<double>& mean) {
  const auto size = static_cast<Eigen::Index>(prior.num_words);
  if (precision.rows() != size) precision = Matrix<double>(size, size);
  SquareMap A(precision.data(), size, size);
  A.setZero();
  Vector b = Vector::Zero(size);
  for (int j = 0; j < prior.num_clusters(); ++j) {
    if (zeta[j] < 1e-300) continue;
    const ConstSquareMap P(prior.full_precision(j, g).data(), size, size);
    A += zeta[j] * P;
    b += zeta[j] * (P * Eigen::Map<const Vector>(prior.mean(j, g).data(), size));
  }
  mean.resize(size);
  Eigen::Map<Vector>(mean.data(), size) = Eigen::LLT<Square>(A).solve(b);
}

ClusterStats::ClusterStats(int num_clusters, int num_bands, int64_t num_words, bool full)
    : is_full(full),
      mass(num_clusters, 0.0),
      first(num_clusters, num_bands * num_words),
      second(full ? Matrix<double>(int64_t{num_clusters} * num_bands, num_words * num_words)
                  : Matrix<double>(num_clusters, num_bands * num_words)) {}

ClusterStats::ClusterStats(const ClusterPrior& prior)
    : ClusterStats(prior.num_clusters(), prior.num_bands,
                   prior.factors.is_empty() ? prior.num_words : 0, prior.is_full) {
  factors = FactorStats(prior.num_clusters(), prior.factors);
  vectors = VectorStats(prior.num_clusters(), prior.vectors);
}

void ClusterStats::add(const ClusterPrior& prior, int j, int g, double share, const Theta& theta) {
  if (g == 0) mass[j] += share;
  const int64_t num_words = prior.num_words;
  const std::span<const double> mean = prior.mean(j, g);
  double* to_first = first.row(j) + g * num_words;
  for (int64_t v = 0; v < num_words; ++v) to_first[v] += share * (theta.alpha[v] - mean[v]);
  if (!is_full) {
    double* to = second.row(j) + g * num_words;
    for (int64_t v = 0; v < num_words; ++v) {
      const double away = theta.alpha[v] - mean[v];
      to[v] += share * (away * away + theta.tau2[v]);
    }
    return;
  }
  double* to = second.row(int64_t{j} * prior.num_bands + g);
  for (int64_t v = 0; v < num_words; ++v) {
    const double away = share * (theta.alpha[v] - mean[v]);
    for (int64_t u = 0; u < num_words; ++u)
      to[v * num_words + u] += away * (theta.alpha[u] - mean[u]);
    to[v * num_words + v] += share * theta.tau2[v];
  }
}

void ClusterStats::merge(const ClusterStats& other) {
  for (size_t j = 0; j < mass.size(); ++j) mass[j] += other.mass[j];
  for (int64_t i = 0; i < first.size(); ++i) first.data()[i] += other.first.data()[i];
  for (int64_t i = 0; i < second.size(); ++i) second.data()[i] += other.second.data()[i];
  bound.merge(other.bound);
  newton_steps += other.newton_steps;
  factors.blend(1, 1, other.factors);
  vectors.blend(1, 1, other.vectors);
}

double weight_term(const ClusterStats& stats, const DlgmmModel& model) {
  double sum = 0;
  for (int j = 0; j < model.num_clusters(); ++j)
    sum += stats.mass[j] * std::log(std::max(model.weights[j], 1e-300));
  return sum;
}

double cluster_term(const ClusterStats& stats, DoubleView old_means, const DlgmmModel& model) {
  const double of_vectors = vector_term(stats.vectors, stats.mass, model);
  if (model.is_low_rank()) return factor_term(stats.factors, stats.mass, model) + of_vectors;
  const ClusterPrior prior = make_cluster_prior(model);
  const int64_t num_words = model.num_words();
  double sum = 0;
  std::vector<double> moments;
  for (int j = 0; j < model.num_clusters(); ++j)
    for (int g = 0; g < model.num_bands; ++g) {
      sum += stats.mass[j] * (static_cast<double>(num_words) * std::log(2 * std::numbers::pi) +
                              prior.log_dets(j, g));
      moments.assign(stats.is_full ? num_words * num_words : num_words, 0.0);
      add_moments(stats, old_means, model, j, g, moments);
      const double* precision =
          stats.is_full ? prior.full_precision(j, g).data() : prior.precision(j, g).data();
      for (size_t i = 0; i < moments.size(); ++i) sum += precision[i] * moments[i];
    }
  return of_vectors - 0.5 * sum;
}

void update_clusters(const ClusterStats& stats, double floor, DlgmmModel& model) {
  const Matrix<double> old_means = model.means;
  double total = 0;
  for (const double mass : stats.mass) total += mass;
  update_vectors(stats.vectors, stats.mass, model);
  for (int j = 0; j < model.num_clusters(); ++j)  // [Xie15, Eq. 7]
    model.weights[j] = stats.mass[j] / total;
  if (model.is_low_rank()) return update_factors(stats.factors, stats.mass, floor, model);
  for (int j = 0; j < model.num_clusters(); ++j) {
    if (stats.mass[j] < kEmptyCluster) {
      pool_means(stats, old_means, j, model);
      continue;
    }
    for (int64_t c = 0; c < model.means.cols(); ++c)
      model.means(j, c) += stats.first(j, c) / stats.mass[j];
  }
  const int num_sigmas = is_tied(model.covariance) ? 1 : model.num_clusters();
  for (int j = 0; j < num_sigmas; ++j)  // [Xie15, Eq. 8]
    for (int g = 0; g < model.num_bands; ++g)
      update_covariance(stats, old_means, is_tied(model.covariance) ? -1 : j, g, floor, model);
}

}  // namespace milieu::internal
