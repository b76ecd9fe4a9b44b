// SPDX-License-Identifier: Apache-2.0
// The theta-step for a full A. Eliminating tau2 leaves (A + W) x = r with a diagonal W: one
// Cholesky factor per step. With h = N s and k = 1 / (2 tau2^2): W = 4 h k / (h + 4 k), and the
// denominator of Sherman and Morrison is sum_v s_v z_v 4 k_v / (h_v + 4 k_v) with (A + W) z = A 1,
// free of cancellation (docs/algorithms/dlgmm.md).
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "milieu/dlgmm/dlgmm_loops.h"
#include "milieu/dlgmm/theta_step.h"

namespace milieu::internal {

namespace {

using Vector = Eigen::VectorXd;
using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kMaxSteps = 200;
constexpr double kSmallDecrement = 1e-9;
constexpr int kMaxHalvings = 60;
constexpr double kRounding = 1e-12;  // share of F that a last step may lose

struct Problem {
  Eigen::Map<const Vector> n;
  double total;
  Eigen::Map<const Square> A;
  Eigen::Map<const Vector> mean;
};

struct Point {
  Vector alpha, tau2, s;
  double objective = 0, log_sum = 0;
};

void evaluate(const Problem& p, Point& at) {
  at.s.resize(at.alpha.size());
  double sum = 0;
  const double shift = MILIEU_SELECT_ISA(dlgmm_exponents)(at.alpha.data(), at.tau2.data(),
                                                          at.alpha.size(), at.s.data(), &sum);
  at.s /= sum;
  at.log_sum = shift + std::log(sum);
  const Vector away = at.alpha - p.mean;
  at.objective = p.n.dot(at.alpha) - p.total * at.log_sum - 0.5 * away.dot(p.A * away) -
                 0.5 * p.A.diagonal().dot(at.tau2) +
                 0.5 * sum_log({at.tau2.data(), static_cast<size_t>(at.tau2.size())});
}

struct Step {
  Vector a, t;
  double decrement = 0;
};

Step newton_step(const Problem& p, const Point& at) {
  const Vector h = p.total * at.s;
  const Vector k4 = 2 * at.tau2.array().square().inverse();  // 4 k
  const Vector share = k4.array() / (h + k4).array();
  const Vector ga = p.n - h - p.A * (at.alpha - p.mean);
  const Vector gt = 0.5 * (at.tau2.array().inverse() - h.array() - p.A.diagonal().array());
  Square system = p.A;
  system.diagonal() += (h.array() * share.array()).matrix();
  const Eigen::LLT<Square> factor(system);
  const auto finish = [&](const Vector& a, const Vector& right_t) {
    return Vector((4 * right_t.array() - 2 * h.array() * a.array()) / (h + k4).array());
  };
  const Vector reduced = ga.array() - 2 * h.array() * gt.array() / (h + k4).array();
  Step step;
  step.a = factor.solve(reduced);
  step.t = finish(step.a, gt);
  const Vector ua = factor.solve(Vector(at.s.array() * share.array()));
  const Vector ut = finish(ua, 0.5 * at.s);
  const Vector z = factor.solve(Vector(p.A.rowwise().sum()));
  const double rest = (at.s.array() * z.array() * share.array()).sum();
  const double along = at.s.dot(step.a) + 0.5 * at.s.dot(step.t);
  const double scale = p.total * along / rest;
  step.a += scale * ua;
  step.t += scale * ut;
  step.decrement = ga.dot(step.a) + gt.dot(step.t);
  return step;
}

}  // namespace

ThetaValue solve_theta_full(std::span<const double> counts, double total, DoubleView precision,
                            std::span<const double> mean, Theta& theta) {
  const auto size = static_cast<Eigen::Index>(counts.size());
  const Problem p{
      {counts.data(), size}, total, {precision.data(), size, size}, {mean.data(), size}};
  Point at;
  at.alpha = Eigen::Map<const Vector>(theta.alpha.data(), size);
  at.tau2 = Eigen::Map<const Vector>(theta.tau2.data(), size);
  evaluate(p, at);
  int steps = 0;
  for (bool is_last = false; steps < kMaxSteps && !is_last; ++steps) {
    const Step step = newton_step(p, at);
    double length = 1;
    for (Eigen::Index v = 0; v < size; ++v)
      if (step.t[v] < 0) length = std::min(length, -0.9 * at.tau2[v] / step.t[v]);
    is_last = step.decrement < kSmallDecrement;
    Point next;
    bool is_higher = false;
    for (int halving = 0; halving < (is_last ? 1 : kMaxHalvings) && !is_higher; ++halving) {
      next.alpha = at.alpha + length * step.a;
      next.tau2 = at.tau2 + length * step.t;
      evaluate(p, next);
      const double least = is_last ? at.objective - kRounding * (std::abs(at.objective) + total)
                                   : at.objective + 1e-4 * length * step.decrement;
      is_higher = next.objective >= least;
      length /= 2;
    }
    if (!is_higher) break;  // rounding: nothing to gain
    at = std::move(next);
  }
  Eigen::Map<Vector>(theta.alpha.data(), size) = at.alpha;
  Eigen::Map<Vector>(theta.tau2.data(), size) = at.tau2;
  return {at.objective, at.log_sum, steps};
}

}  // namespace milieu::internal
