// SPDX-License-Identifier: Apache-2.0
// The theta-step: the Gaussian q(theta | alpha, diag(tau2)) of one image and band, where the paper
// says "gradient descent". With e at its optimum [Xie15, Eq. 6] the bound is
//
//   F = n.alpha - N lse(alpha + tau2 / 2) - (alpha - m)' A (alpha - m) / 2 - diag(A).tau2 / 2
//       + sum log(tau2) / 2,
//
// jointly concave in (alpha, tau2). Newton's method on both: with a diagonal A the negative Hessian
// is 2 x 2 blocks minus a matrix of rank one, O(V) per step; with a full A one Cholesky factor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/linalg/matrix.h"

namespace milieu::internal {

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

// A start that suits counts n: alpha = log(n + 1/2) centred, and the tau2 that is best when the
// word is expected n + 1/2 times. A wide prior alone would leave a tau2 that governs the
// normaliser.
void start_theta(std::span<const double> counts, std::span<const double> precision, Theta& theta);

// Newton's method for a diagonal A, step by step, so that a caller can give up when the rest does
// not matter. A solver may be used again for any size.
class ThetaSolver {
 public:
  // Begins at `theta`, tau2 > 0, and moves it; everything must outlive the steps. Counts and their
  // total are times kappa.
  void begin(std::span<const double> counts, double total, std::span<const double> precision,
             std::span<const double> mean, Theta& theta);
  // One step up; does nothing when F is at its maximum, to about 1e-10.
  void step();
  bool is_done() const { return is_done_; }
  ThetaValue value() const { return {at_.objective, at_.log_sum, steps_}; }
  // F is nowhere larger than this: the tangent of -N lse at theta lies above it, and what is left
  // has its maximum in closed form.
  double upper_bound() const;

 private:
  struct Point {
    double objective = 0, log_sum = 0, sum = 0;
  };
  Point evaluate(const std::vector<double>& alpha, const std::vector<double>& tau2);

  std::span<const double> counts_, precision_, mean_;
  double total_ = 0;
  Theta* theta_ = nullptr;
  Point at_;
  int steps_ = 0;
  bool is_done_ = false;
  std::vector<double> exponents_, xa_, xt_, ua_, ut_;
  Theta next_;
};

// Maximises F from `theta` for a diagonal A.
ThetaValue solve_theta(std::span<const double> counts, double total,
                       std::span<const double> precision, std::span<const double> mean,
                       Theta& theta, ThetaSolver& solver);

// The same for a full, symmetric, positive definite A (V x V).
ThetaValue solve_theta_full(std::span<const double> counts, double total, DoubleView precision,
                            std::span<const double> mean, Theta& theta);

// log(e) + sum exp(alpha + tau2 / 2) / e - 1, the bound of E log sum exp(theta) for any e > 0.
double normalizer_bound(double e, const Theta& theta);
// [Xie15, Eq. 6]: log of the e that makes it tightest.
double best_log_e(const Theta& theta);

// Sum of logarithms, of products of eight.
double sum_log(std::span<const double> values);

}  // namespace milieu::internal
