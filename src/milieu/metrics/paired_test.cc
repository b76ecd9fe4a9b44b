// SPDX-License-Identifier: Apache-2.0
// P(|T| > t) = I_x(nu / 2, 1 / 2) with x = nu / (nu + t^2), I the regularised incomplete beta
// function, here by its continued fraction evaluated from the front (Lentz's scheme).
#include "milieu/metrics/paired_test.h"

#include <cmath>
#include <limits>

#include "milieu/base/error.h"

namespace milieu {

namespace {

constexpr int kMaxTerms = 500;

// The fraction 1 / (1 + d1 / (1 + d2 / ...)) of I_x(a, b).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  double numerator = 1, denominator = 1 - (a + b) * x / (a + 1);
  if (std::abs(denominator) < kTiny) denominator = kTiny;
  denominator = 1 / denominator;
  double fraction = denominator;
  for (int m = 1; m < kMaxTerms; ++m) {
    for (const bool is_even : {true, false}) {
      const double d = is_even ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                               : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      denominator = 1 + d * denominator;
      numerator = 1 + d / numerator;
      if (std::abs(denominator) < kTiny) denominator = kTiny;
      if (std::abs(numerator) < kTiny) numerator = kTiny;
      denominator = 1 / denominator;
      fraction *= denominator * numerator;
    }
    if (std::abs(denominator * numerator - 1) < 1e-15) break;
  }
  return fraction;
}

double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

}  // namespace

double two_sided_t_probability(double t, double degrees) {
  require(degrees > 0, "two_sided_t_probability: degrees must be above 0");
  if (std::isinf(t)) return 0;
  return incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

PairedTest paired_t_test(std::span<const double> first, std::span<const double> second) {
  require(first.size() == second.size() && first.size() >= 2,
          "paired_t_test: both methods need the same two trials or more");
  const auto n = static_cast<double>(first.size());
  PairedTest test;
  for (size_t i = 0; i < first.size(); ++i) test.mean_difference += (first[i] - second[i]) / n;
  double squares = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    const double away = first[i] - second[i] - test.mean_difference;
    squares += away * away;
  }
  const double error = std::sqrt(squares / (n - 1) / n);
  if (test.mean_difference == 0) return test;
  test.t = error > 0 ? test.mean_difference / error
                     : std::copysign(std::numeric_limits<double>::infinity(), test.mean_difference);
  test.p_value = two_sided_t_probability(test.t, n - 1);
  return test;
}

}  // namespace milieu
