// SPDX-License-Identifier: Apache-2.0
#include "milieu/dlgmm/theta_step.h"

#include <algorithm>
#include <cmath>

#include "milieu/dlgmm/dlgmm_kernels.h"

namespace milieu {

namespace {

constexpr int kMaxSteps = 200;
constexpr double kSmallDecrement = 1e-9;  // a last full step squares it
constexpr double kToBoundary = 0.9;       // share of the way to tau2 = 0
constexpr double kArmijo = 1e-4;

void resize(ThetaScratch& s, size_t size) {
  for (std::vector<double>* v : {&s.exponents, &s.xa, &s.xt, &s.ua, &s.ut, &s.alpha, &s.tau2})
    v->resize(size);
}

struct Point {
  double objective, log_sum, sum;
};

Point evaluate(std::span<const double> counts, double total, std::span<const double> precision,
               std::span<const double> mean, const double* alpha, const double* tau2,
               double* exponents) {
  const auto count = static_cast<int64_t>(counts.size());
  Point point{};
  const double shift =
      MILIEU_SELECT_ISA(dlgmm_exponents)(alpha, tau2, count, exponents, &point.sum);
  point.log_sum = shift + std::log(point.sum);
  point.objective = MILIEU_SELECT_ISA(dlgmm_theta_value)(alpha, tau2, counts.data(),
                                                         precision.data(), mean.data(), count) -
                    total * point.log_sum + 0.5 * sum_log({tau2, counts.size()});
  return point;
}

// The longest step that keeps tau2 > 0, at most 1.
double step_limit(const Theta& theta, const ThetaScratch& s) {
  double steepest = -kToBoundary;  // of xt / tau2; without branches, half of which would be wrong
  for (size_t v = 0; v < theta.tau2.size(); ++v)
    steepest = std::min(steepest, s.xt[v] / theta.tau2[v]);
  return -kToBoundary / steepest;
}

void move(const Theta& theta, double step, ThetaScratch& s) {
  for (size_t v = 0; v < theta.alpha.size(); ++v) {
    s.alpha[v] = theta.alpha[v] + step * s.xa[v];
    s.tau2[v] = theta.tau2[v] + step * s.xt[v];
  }
}

}  // namespace

double sum_log(std::span<const double> values) {
  double sum = 0;
  size_t i = 0;
  for (; i + 8 <= values.size(); i += 8) {
    double product = 1;
    for (size_t j = i; j < i + 8; ++j) product *= values[j];
    if (product > 1e-300 && product < 1e300) {
      sum += std::log(product);
    } else {
      for (size_t j = i; j < i + 8; ++j) sum += std::log(values[j]);
    }
  }
  for (; i < values.size(); ++i) sum += std::log(values[i]);
  return sum;
}

void start_theta(std::span<const double> counts, std::span<const double> precision, Theta& theta) {
  theta.alpha.resize(counts.size());
  theta.tau2.resize(counts.size());
  double mean = 0;
  for (size_t v = 0; v < counts.size(); ++v) {
    theta.alpha[v] = std::log(counts[v] + 0.5);
    mean += theta.alpha[v];
    theta.tau2[v] = 1 / (precision[v] + counts[v]);
  }
  mean /= static_cast<double>(counts.size());
  for (double& a : theta.alpha) a -= mean;
}

ThetaValue solve_theta(std::span<const double> counts, double total,
                       std::span<const double> precision, std::span<const double> mean,
                       Theta& theta, ThetaScratch& s) {
  const auto count = static_cast<int64_t>(counts.size());
  resize(s, counts.size());
  Point at = evaluate(counts, total, precision, mean, theta.alpha.data(), theta.tau2.data(),
                      s.exponents.data());
  int steps = 0;
  for (bool is_last = false; steps < kMaxSteps && !is_last; ++steps) {
    double totals[3];
    MILIEU_SELECT_ISA(dlgmm_theta_direction)
    (theta.alpha.data(), theta.tau2.data(), counts.data(), precision.data(), mean.data(),
     s.exponents.data(), at.sum, total, count, s.xa.data(), s.xt.data(), s.ua.data(), s.ut.data(),
     totals);
    const double factor = total * totals[1] / totals[2];  // Sherman and Morrison
    const double decrement = totals[0] + factor * totals[1];
    for (size_t v = 0; v < counts.size(); ++v) {
      s.xa[v] += factor * s.ua[v];
      s.xt[v] += factor * s.ut[v];
    }
    double step = step_limit(theta, s);
    is_last = decrement < kSmallDecrement;
    Point next{};
    for (int halving = 0;; ++halving, step /= 2) {
      move(theta, step, s);
      next = evaluate(counts, total, precision, mean, s.alpha.data(), s.tau2.data(),
                      s.exponents.data());
      if (is_last || next.objective >= at.objective + kArmijo * step * decrement) break;
      if (halving == 60) return {at.objective, at.log_sum, steps};  // rounding: nothing to gain
    }
    theta.alpha.swap(s.alpha);
    theta.tau2.swap(s.tau2);
    at = next;
  }
  return {at.objective, at.log_sum, steps};
}

double best_log_e(const Theta& theta) {
  std::vector<double> exponents(theta.alpha.size());
  double sum = 0;
  const double shift = MILIEU_SELECT_ISA(dlgmm_exponents)(theta.alpha.data(), theta.tau2.data(),
                                                          static_cast<int64_t>(exponents.size()),
                                                          exponents.data(), &sum);
  return shift + std::log(sum);
}

double normalizer_bound(double e, const Theta& theta) {
  return std::log(e) + std::exp(best_log_e(theta) - std::log(e)) - 1;
}

}  // namespace milieu
