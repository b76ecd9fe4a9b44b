// SPDX-License-Identifier: Apache-2.0
// The theta-step: the Gaussian q(theta | alpha, diag(tau2)) of one image and band, where the paper
// says "gradient descent". With e at its optimum [Xie15, Eq. 6] the bound is
//
//   F = n.alpha - N lse(alpha + tau2 / 2) - (alpha - m)' A (alpha - m) / 2 - diag(A).tau2 / 2
//       + sum log(tau2) / 2,
//
// jointly concave in (alpha, tau2). Newton's method on both: with a diagonal A the negative Hessian
// is 2 x 2 blocks minus a matrix of rank one, O(V) a step; with a full A one Cholesky factor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/linalg/matrix.h"

namespace milieu {

struct Theta {
  std::vector<double> alpha;  // V
  std::vector<double> tau2;   // V, > 0
};

// F without its quadratic part, and what it is made of.
struct ThetaValue {
  double objective = 0;  // F
  double log_sum = 0;    // lse(alpha + tau2 / 2) = log e
  int steps = 0;         // Newton steps made
};

// Memory of the solver, to be used again; any size.
struct ThetaScratch {
  std::vector<double> exponents, xa, xt, ua, ut, alpha, tau2;
};

// A start that suits counts n: alpha = log(n + 1/2) centred, tau2 = 1 / (diag(A) + n).
void start_theta(std::span<const double> counts, std::span<const double> precision, Theta& theta);

// Maximises F from `theta` for a diagonal A; counts and their total are times kappa. Accurate to
// about 1e-10 in F from any start with tau2 > 0.
ThetaValue solve_theta(std::span<const double> counts, double total,
                       std::span<const double> precision, std::span<const double> mean,
                       Theta& theta, ThetaScratch& scratch);

// The same for a full, symmetric, positive definite A (V x V).
ThetaValue solve_theta_full(std::span<const double> counts, double total, DoubleView precision,
                            std::span<const double> mean, Theta& theta, ThetaScratch& scratch);

// log(e) + sum exp(alpha + tau2 / 2) / e - 1, the bound of E log sum exp(theta) for any e > 0.
double normalizer_bound(double e, const Theta& theta);
// [Xie15, Eq. 6]: log of the e that makes it tightest.
double best_log_e(const Theta& theta);

// Sum of logarithms, of products of eight.
double sum_log(std::span<const double> values);

}  // namespace milieu
