// SPDX-License-Identifier: Apache-2.0
// Two further parts of the cluster layer: covariances of low rank, and vectors of whole images.
//
// Low rank. theta (all bands) is Gaussian about c + U h with the diagonal covariance Psi, and h, F
// numbers, is Gaussian about m_j with the diagonal covariance D: a mixture of factor analysers that
// share their factors. So Sigma = Psi + U D U' for all clusters, and their means c + U m_j differ
// along the factors only. q(theta) q(h | eta) q(eta): with b = U' Psi^-1 (alpha - c) and
// T = (D^-1 + U' Psi^-1 U)^-1 the best q(h | eta = j) is N(T (b + D^-1 m_j), T), and
// zeta_j prop pi_j exp(b.T D^-1 m_j + m_j' D^-1 (T - D) D^-1 m_j / 2).
//
// Image vectors. x_d, P principal components, is Gaussian about its cluster's mean with a diagonal
// covariance that clusters share; its likelihood counts image_weight times.
//
// Symbols   U factors, c origin, Psi covariances, m factor_means, D factor_variances of the model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/dlgmm/dlgmm.h"

namespace milieu::internal {

// A model's factors, prepared for the E-step; empty for other covariances.
struct FactorPrior {
  DoubleView factors;  // (G V) x F; the model's own, as all views here
  std::span<const double> origin;
  std::vector<double> precision;  // G V: Psi^-1
  Matrix<double> spread;          // F x F: T
  Matrix<double> pulls;           // J x F: T D^-1 m_j
  std::vector<double> levels;     // J: what the energy has beside b.pulls_j
  double entropy = 0;             // of q(h | eta)

  bool is_empty() const { return factors.rows() == 0; }
  int64_t size() const { return factors.cols(); }
  // b of the file's head.
  void pull(std::span<const double> alpha, std::vector<double>& b) const;
  // T b + sum_j zeta_j pulls_j: the mean of h.
  void mean(std::span<const double> b, std::span<const double> zeta, std::vector<double>& h) const;
  // c + U h for the coordinates [begin, end) of theta.
  void image(std::span<const double> h, int64_t begin, std::span<double> theta) const;
};
FactorPrior make_factor_prior(const DlgmmModel& model);

// A model's image vectors, prepared for the E-step; empty for a model without.
struct VectorPrior {
  DoubleView means;               // J x P
  std::vector<double> precision;  // P
  double constant = 0;            // -(P log 2 pi + sum log variances) / 2
  double weight = 1;

  bool is_empty() const { return means.rows() == 0; }
  // image_weight times log N(x | mean_j, variances).
  double energy(int j, std::span<const double> x) const;
};
VectorPrior make_vector_prior(const DlgmmModel& model);

// Expected sums over images: of h, of theta beside its factors, of image vectors; about zero.
struct FactorStats {
  Matrix<double> first;                                 // J x F: zeta E h
  std::vector<double> second;                           // F: E h^2
  Matrix<double> spread;                                // F x F: covariance of h in q
  std::vector<double> residual_first, residual_second;  // G V: theta - U E h, its square + tau2
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(first, second, spread, residual_first, residual_second);
  }
  FactorStats() = default;
  FactorStats(int num_clusters, const FactorPrior& prior);
  // One image; `b` is at its alpha. tau2 of all bands.
  void add(const FactorPrior& prior, std::span<const double> zeta, std::span<const double> alpha,
           std::span<const double> tau2, std::span<const double> b);
  void blend(double keep, double add, const FactorStats& other);
};
struct VectorStats {
  Matrix<double> first;        // J x P
  std::vector<double> second;  // P
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(first, second);
  }
  VectorStats() = default;
  VectorStats(int num_clusters, const VectorPrior& prior);
  void add(std::span<const double> zeta, std::span<const double> x);
  void blend(double keep, double add, const VectorStats& other);
};

// E log p(h | eta) + E log p(theta | h): the part of T2 of images with these statistics.
double factor_term(const FactorStats& stats, std::span<const double> mass, const DlgmmModel& model);
// The part of T2 that image vectors have; 0 without.
double vector_term(const VectorStats& stats, std::span<const double> mass, const DlgmmModel& model);

// m, D, c and Psi at their best for U as it is, and the means of theta that follow; variances at
// least `floor`. A cluster without images takes the mean of all.
void update_factors(const FactorStats& stats, std::span<const double> mass, double floor,
                    DlgmmModel& model);
void update_vectors(const VectorStats& stats, std::span<const double> mass, DlgmmModel& model);

// How many factors or components n images give: num_factors, or fewer.
int64_t usable_factors(int num_factors, int64_t num_images, int64_t width);
// Means, then principal components that are scaled together to a mean variance of 1.
Matrix<float> fit_image_projection(FloatView vectors, int num_factors);
Matrix<double> project_images(const Matrix<float>& projection, FloatView vectors);

}  // namespace milieu::internal
