// SPDX-License-Identifier: Apache-2.0
// The steps of factor_steps.h.
#include "milieu/dlgmm/factors/factor_steps.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "milieu/dlgmm/theta_step.h"

namespace milieu::internal {

namespace {

using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const Square>;
using Vector = Eigen::VectorXd;
using VectorMap = Eigen::Map<Vector>;
using ConstVectorMap = Eigen::Map<const Vector>;

constexpr double kNoShare = 1e-20;           // smaller shares are lost in rounding
constexpr double kEmptyCluster = 1e-10;      // as in update_clusters
constexpr double kMinVectorVariance = 1e-3;  // of image vectors, whose mean variance is 1

double log_two_pi() { return std::log(2 * std::numbers::pi); }

double sum_of(std::span<const double> values) {
  double sum = 0;
  for (const double x : values) sum += x;
  return sum;
}

ConstMap matrix_of(const Matrix<double>& m) { return {m.data(), m.rows(), m.cols()}; }
ConstVectorMap vector_of(std::span<const double> v) {
  return {v.data(), static_cast<Eigen::Index>(v.size())};
}
Matrix<double> to_matrix(const Square& from) {
  Matrix<double> to(from.rows(), from.cols());
  std::copy_n(from.data(), from.size(), to.data());
  return to;
}

void blend_values(double keep, double add, std::span<const double> from, std::span<double> to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] = keep * to[i] + add * from[i];
}
std::span<double> values_of(Matrix<double>& m) { return {m.data(), static_cast<size_t>(m.size())}; }
std::span<const double> values_of(const Matrix<double>& m) {
  return {m.data(), static_cast<size_t>(m.size())};
}

// sum_j zeta_j (x - m_j)^2 of coordinate f over the images: second moment, first moments and
// masses about zero.
double spread_about(double second, const Matrix<double>& first, std::span<const double> mass,
                    const Matrix<double>& means, int64_t f) {
  double sum = second;
  for (int64_t j = 0; j < means.rows(); ++j)
    sum += means(j, f) * (mass[j] * means(j, f) - 2 * first(j, f));
  return sum;
}

// Means of clusters; that of all images for an empty one.
void set_means(const Matrix<double>& first, std::span<const double> mass, Matrix<double>& means) {
  const double total = sum_of(mass);
  for (int64_t f = 0; f < means.cols(); ++f) {
    double all = 0;
    for (int64_t j = 0; j < means.rows(); ++j) all += first(j, f);
    for (int64_t j = 0; j < means.rows(); ++j)
      means(j, f) = mass[j] < kEmptyCluster ? all / total : first(j, f) / mass[j];
  }
}

// The diagonal of U S U'.
std::vector<double> diagonal_through(const Matrix<double>& factors, const Matrix<double>& spread) {
  const Square product = matrix_of(factors) * matrix_of(spread);
  const Vector diagonal = product.cwiseProduct(matrix_of(factors)).rowwise().sum();
  return {diagonal.data(), diagonal.data() + diagonal.size()};
}

}  // namespace

void FactorPrior::pull(std::span<const double> alpha, std::vector<double>& b) const {
  b.assign(static_cast<size_t>(size()), 0.0);
  for (int64_t v = 0; v < factors.rows(); ++v) {
    const double away = precision[v] * (alpha[v] - origin[v]);
    const double* row = factors.row(v);
    for (int64_t f = 0; f < size(); ++f) b[f] += away * row[f];
  }
}

void FactorPrior::mean(std::span<const double> b, std::span<const double> zeta,
                       std::vector<double>& h) const {
  h.resize(static_cast<size_t>(size()));
  VectorMap mean(h.data(), size());
  mean = matrix_of(spread) * vector_of(b);
  for (size_t j = 0; j < zeta.size(); ++j)
    if (zeta[j] >= kNoShare) mean += zeta[j] * ConstVectorMap(pulls.row(j), size());
}

void FactorPrior::image(std::span<const double> h, int64_t begin, std::span<double> theta) const {
  for (size_t v = 0; v < theta.size(); ++v) {
    const int64_t at = begin + static_cast<int64_t>(v);
    const double* row = factors.row(at);
    double sum = origin[at];
    for (size_t f = 0; f < h.size(); ++f) sum += row[f] * h[f];
    theta[v] = sum;
  }
}

FactorPrior make_factor_prior(const DlgmmModel& model) {
  FactorPrior p;
  if (!model.is_low_rank()) return p;
  const int64_t size = model.factors.cols(), num_clusters = model.num_clusters();
  p.factors = model.factors.view();
  p.origin = model.origin.row_span(0);
  for (const double variance : model.covariances.row_span(0)) p.precision.push_back(1 / variance);
  const ConstMap U = matrix_of(model.factors);
  const Vector inverse = vector_of(model.factor_variances).cwiseInverse();
  Square P = U.transpose() * vector_of(p.precision).asDiagonal() * U;
  P.diagonal() += inverse;
  const Eigen::LLT<Square> root(P);
  const Square T = root.solve(Square::Identity(size, size));
  const Square Q = matrix_of(model.factor_means) * inverse.asDiagonal();
  const Square pulls = Q * T;
  for (int64_t j = 0; j < num_clusters; ++j)
    p.levels.push_back(0.5 * (pulls.row(j) - matrix_of(model.factor_means).row(j)).dot(Q.row(j)));
  p.entropy = 0.5 * static_cast<double>(size) * (1 + log_two_pi());
  for (int64_t f = 0; f < size; ++f) p.entropy -= std::log(root.matrixLLT()(f, f));
  p.spread = to_matrix(0.5 * (T + T.transpose()));
  p.pulls = to_matrix(pulls);
  return p;
}

VectorPrior make_vector_prior(const DlgmmModel& model) {
  VectorPrior p;
  if (!model.has_image_vectors()) return p;
  p.means = model.image_means.view();
  for (const double variance : model.image_variances) p.precision.push_back(1 / variance);
  p.constant =
      -0.5 * (static_cast<double>(p.means.cols()) * log_two_pi() + sum_log(model.image_variances));
  p.weight = model.image_weight.empty() ? 1 : model.image_weight[0];
  return p;
}

double VectorPrior::energy(int j, std::span<const double> x) const {
  const double* mean = means.row(j);
  double sum = 0;
  for (size_t p = 0; p < x.size(); ++p) sum += precision[p] * (x[p] - mean[p]) * (x[p] - mean[p]);
  return weight * (constant - 0.5 * sum);
}

FactorStats::FactorStats(int num_clusters, const FactorPrior& prior) {
  if (prior.is_empty()) return;
  first = Matrix<double>(num_clusters, prior.size());
  second.assign(static_cast<size_t>(prior.size()), 0.0);
  spread = Matrix<double>(prior.size(), prior.size());
  residual_first.assign(prior.origin.size(), 0.0);
  residual_second = residual_first;
}

void FactorStats::add(const FactorPrior& prior, std::span<const double> zeta,
                      std::span<const double> alpha, std::span<const double> tau2,
                      std::span<const double> b) {
  const int64_t size = prior.size();
  const Vector own = matrix_of(prior.spread) * vector_of(b);  // T b
  Vector mean = own;
  Eigen::Map<Square> S(spread.data(), size, size);
  S += matrix_of(prior.spread);
  for (size_t j = 0; j < zeta.size(); ++j)
    if (zeta[j] >= kNoShare) mean += zeta[j] * ConstVectorMap(prior.pulls.row(j), size);
  for (size_t j = 0; j < zeta.size(); ++j) {
    if (zeta[j] < kNoShare) continue;
    const Vector h = own + ConstVectorMap(prior.pulls.row(j), size);
    S += zeta[j] * (h - mean) * (h - mean).transpose();
    for (int64_t f = 0; f < size; ++f) {
      first(static_cast<int64_t>(j), f) += zeta[j] * h[f];
      second[f] += zeta[j] * h[f] * h[f];
    }
  }
  for (int64_t f = 0; f < size; ++f) second[f] += prior.spread(f, f);
  for (int64_t v = 0; v < prior.factors.rows(); ++v) {
    const double rest = alpha[v] - ConstVectorMap(prior.factors.row(v), size).dot(mean);
    residual_first[v] += rest;
    residual_second[v] += rest * rest + tau2[v];
  }
}

void FactorStats::blend(double keep, double add, const FactorStats& other) {
  blend_values(keep, add, values_of(other.first), values_of(first));
  blend_values(keep, add, other.second, second);
  blend_values(keep, add, values_of(other.spread), values_of(spread));
  blend_values(keep, add, other.residual_first, residual_first);
  blend_values(keep, add, other.residual_second, residual_second);
}

VectorStats::VectorStats(int num_clusters, const VectorPrior& prior) {
  if (prior.is_empty()) return;
  first = Matrix<double>(num_clusters, prior.means.cols());
  second.assign(prior.precision.size(), 0.0);
}

void VectorStats::add(std::span<const double> zeta, std::span<const double> x) {
  for (size_t j = 0; j < zeta.size(); ++j) {
    if (zeta[j] < kNoShare) continue;
    double* to = first.row(static_cast<int64_t>(j));
    for (size_t p = 0; p < x.size(); ++p) {
      to[p] += zeta[j] * x[p];
      second[p] += zeta[j] * x[p] * x[p];
    }
  }
}

void VectorStats::blend(double keep, double add, const VectorStats& other) {
  blend_values(keep, add, values_of(other.first), values_of(first));
  blend_values(keep, add, other.second, second);
}

double factor_term(const FactorStats& stats, std::span<const double> mass,
                   const DlgmmModel& model) {
  const double total = sum_of(mass);
  const auto size = static_cast<int64_t>(model.factor_variances.size());
  const int64_t width = model.origin.cols();
  double sum = total * static_cast<double>(size + width) * log_two_pi() +
               total * sum_log(model.factor_variances) +
               total * sum_log(model.covariances.row_span(0));
  for (int64_t f = 0; f < size; ++f)
    sum += spread_about(stats.second[f], stats.first, mass, model.factor_means, f) /
           model.factor_variances[f];
  const std::vector<double> spread = diagonal_through(model.factors, stats.spread);
  for (int64_t v = 0; v < width; ++v) {
    const double c = model.origin(0, v);
    sum += (stats.residual_second[v] + spread[v] + c * (total * c - 2 * stats.residual_first[v])) /
           model.covariances(0, v);
  }
  return -0.5 * sum;
}

double vector_term(const VectorStats& stats, std::span<const double> mass,
                   const DlgmmModel& model) {
  const VectorPrior prior = make_vector_prior(model);
  if (prior.is_empty()) return 0;
  double sum = 0;
  for (int64_t p = 0; p < prior.means.cols(); ++p)
    sum +=
        prior.precision[p] * spread_about(stats.second[p], stats.first, mass, model.image_means, p);
  return prior.weight * (sum_of(mass) * prior.constant - 0.5 * sum);
}

void update_factors(const FactorStats& stats, std::span<const double> mass, double floor,
                    DlgmmModel& model) {
  const double total = sum_of(mass);
  const auto size = static_cast<int64_t>(model.factor_variances.size());
  set_means(stats.first, mass, model.factor_means);
  for (int64_t f = 0; f < size; ++f)
    model.factor_variances[f] = std::max(
        floor, spread_about(stats.second[f], stats.first, mass, model.factor_means, f) / total);
  const std::vector<double> spread = diagonal_through(model.factors, stats.spread);
  for (int64_t v = 0; v < model.origin.cols(); ++v) {
    const double c = stats.residual_first[v] / total;
    model.origin(0, v) = c;
    model.covariances(0, v) =
        std::max(floor, (stats.residual_second[v] + spread[v]) / total - c * c);
  }
  const Square means = matrix_of(model.factor_means) * matrix_of(model.factors).transpose();
  for (int64_t j = 0; j < model.means.rows(); ++j)
    for (int64_t v = 0; v < model.means.cols(); ++v)
      model.means(j, v) = model.origin(0, v) + means(j, v);
}

void update_vectors(const VectorStats& stats, std::span<const double> mass, DlgmmModel& model) {
  if (!model.has_image_vectors()) return;
  set_means(stats.first, mass, model.image_means);
  for (size_t p = 0; p < model.image_variances.size(); ++p)
    model.image_variances[p] =
        std::max(kMinVectorVariance, spread_about(stats.second[p], stats.first, mass,
                                                  model.image_means, static_cast<int64_t>(p)) /
                                         sum_of(mass));
}

}  // namespace milieu::internal
