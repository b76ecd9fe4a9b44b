// SPDX-License-Identifier: Apache-2.0
#include "milieu/dlgmm/theta_step.h"

#include <algorithm>
#include <cmath>

#include "milieu/dlgmm/dlgmm_loops.h"

namespace milieu::internal {

namespace {

constexpr int kMaxSteps = 200;
constexpr double kSmallDecrement = 1e-9;  // a last full step squares it
constexpr double kToBoundary = 0.9;       // share of the way to tau2 = 0
constexpr double kArmijo = 1e-4;
constexpr int kMaxHalvings = 60;
constexpr double kRounding = 1e-12;  // share of F that a last step may lose

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
    theta.tau2[v] = 1 / (precision[v] + counts[v] + 0.5);
  }
  mean /= static_cast<double>(counts.size());
  for (double& a : theta.alpha) a -= mean;
}

ThetaSolver::Point ThetaSolver::evaluate(const std::vector<double>& alpha,
                                         const std::vector<double>& tau2) {
  const auto count = static_cast<int64_t>(counts_.size());
  Point point;
  const double shift = MILIEU_SELECT_ISA(dlgmm_exponents)(alpha.data(), tau2.data(), count,
                                                          exponents_.data(), &point.sum);
  point.log_sum = shift + std::log(point.sum);
  point.objective = MILIEU_SELECT_ISA(dlgmm_theta_value)(alpha.data(), tau2.data(), counts_.data(),
                                                         precision_.data(), mean_.data(), count) -
                    total_ * point.log_sum + 0.5 * sum_log(tau2);
  return point;
}

void ThetaSolver::begin(std::span<const double> counts, double total,
                        std::span<const double> precision, std::span<const double> mean,
                        Theta& theta) {
  counts_ = counts, precision_ = precision, mean_ = mean;
  total_ = total;
  theta_ = &theta;
  for (std::vector<double>* v : {&exponents_, &xa_, &xt_, &ua_, &ut_, &next_.alpha, &next_.tau2})
    v->resize(counts.size());
  at_ = evaluate(theta.alpha, theta.tau2);
  steps_ = 0;
  is_done_ = false;
}

void ThetaSolver::step() {
  if (is_done_) return;
  const auto count = static_cast<int64_t>(counts_.size());
  double totals[3];
  MILIEU_SELECT_ISA(dlgmm_theta_direction)
  (theta_->alpha.data(), theta_->tau2.data(), counts_.data(), precision_.data(), mean_.data(),
   exponents_.data(), at_.sum, total_, count, xa_.data(), xt_.data(), ua_.data(), ut_.data(),
   totals);
  const double factor = total_ * totals[1] / totals[2];  // Sherman and Morrison
  const double decrement = totals[0] + factor * totals[1];
  const double steepest = MILIEU_SELECT_ISA(dlgmm_theta_aim)(
      factor, ua_.data(), ut_.data(), theta_->tau2.data(), count, xa_.data(), xt_.data());
  double length = kToBoundary / std::max(kToBoundary, -steepest);  // at most 1
  const bool is_last = decrement < kSmallDecrement;
  is_done_ = ++steps_ == kMaxSteps || is_last;
  for (int halving = 0;; ++halving, length /= 2) {
    MILIEU_SELECT_ISA(dlgmm_theta_move)
    (theta_->alpha.data(), theta_->tau2.data(), length, xa_.data(), xt_.data(), count,
     next_.alpha.data(), next_.tau2.data());
    const Point next = evaluate(next_.alpha, next_.tau2);
    const double least = is_last ? at_.objective - kRounding * (std::abs(at_.objective) + total_)
                                 : at_.objective + kArmijo * length * decrement;
    if (next.objective >= least) {
      std::swap(*theta_, next_);
      at_ = next;
      return;
    }
    if (is_last || halving == kMaxHalvings) break;
  }
  is_done_ = true;  // rounding: nothing to gain
  at_ = evaluate(theta_->alpha, theta_->tau2);
}

double ThetaSolver::upper_bound() const {
  return at_.objective + MILIEU_SELECT_ISA(dlgmm_theta_gap)(
                             theta_->alpha.data(), theta_->tau2.data(), counts_.data(),
                             precision_.data(), mean_.data(), exponents_.data(), at_.sum, total_,
                             static_cast<int64_t>(counts_.size()));
}

ThetaValue solve_theta(std::span<const double> counts, double total,
                       std::span<const double> precision, std::span<const double> mean,
                       Theta& theta, ThetaSolver& solver) {
  solver.begin(counts, total, precision, mean, theta);
  while (!solver.is_done()) solver.step();
  return solver.value();
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

}  // namespace milieu::internal
