// SPDX-License-Identifier: Apache-2.0
// One classifier by Newton's method in the primal [Chapelle07].
//
// Problem      minimise P(w) = 1/2 |w|^2 + sum_i c_i phi(1 - y_i <w, x_i>)
// Given        rows x_i, signs y_i, charges c_i >= 0, a convex loss phi
// Find         w with P(w) - D <= rel_gap P(w) for a proven lower bound D
// Symbols      v_i = 1 - y_i <w, x_i>; a_i = c_i phi'(v_i); u = sum_i a_i y_i x_i; g = w - u
// Conventions  D = sum_i (a_i - c_i phi*(a_i / c_i)) - 1/2 |u|^2 is the dual's value at a. For a
//              smooth loss P - D is 1/2 |g|^2. A hinge is solved with a rounded corner whose width
//              falls until its own gap, with the same a, is small enough.
// See          docs/algorithms/dcp.md
#include "milieu/dcp/solve/dcp_svm_internal.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace milieu::internal {
namespace {

constexpr int kMaxNewtonSteps = 100;
constexpr int64_t kMaxDirect = 768;  // features up to which the Hessian is factored
constexpr int kMaxConjugateSteps = 400;
constexpr double kFirstWidth = 0.1;
constexpr double kLastWidth = 1e-11;

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

class Solver {
 public:
  Solver(const ExactRows& rows, const DcpProblem& problem, std::span<const double> charges,
         std::span<const double> start, const Monitor& monitor)
      : rows_(rows), problem_(problem), charges_(charges), monitor_(monitor) {
    w_.assign(start.begin(), start.end());
    w_.resize(rows.cols());
    f_ = rows_.products(w_);
  }

  Classifier run(double rel_gap) {
    if (problem_.loss.loss != DcpLoss::Hinge) {
      minimize(problem_.loss, rel_gap);
      return finish(problem_.loss, rel_gap);
    }
    Classifier best;
    for (double width = kFirstWidth; width >= kLastWidth; width *= 0.1) {
      const LossShape rounded{DcpLoss::Huber, width};
      minimize(rounded, 0.1 * rel_gap);
      Classifier found = finish(rounded, rel_gap);
      if (best.plane.empty() || found.gap < best.gap) best = std::move(found);
      if (best.is_solved || monitor_.should_stop()) break;
    }
    best.iterations = iterations_;
    return best;
  }

 private:
  double sign(int64_t i) const { return i < problem_.n ? 1 : -1; }
  double violation(int64_t i) const { return 1 - sign(i) * f_[i]; }

  double objective(const LossShape& loss) const {
    double sum = 0.5 * dot(w_, w_);
    for (int64_t i = 0; i < rows_.rows(); ++i)
      if (charges_[i] > 0) sum += charges_[i] * loss.value(violation(i));
    return sum;
  }

  // g, from the slopes of `loss`.
  void update_gradient(const LossShape& loss) {
    std::vector<double> coefficients(rows_.rows());
    for (int64_t i = 0; i < rows_.rows(); ++i)
      coefficients[i] = charges_[i] > 0 ? -sign(i) * charges_[i] * loss.slope(violation(i)) : 0.0;
    gradient_ = rows_.combination(coefficients);
    for (size_t j = 0; j < w_.size(); ++j) gradient_[j] += w_[j];
  }

  void minimize(const LossShape& loss, double rel_gap) {
    for (int step = 0; step < kMaxNewtonSteps && !monitor_.should_stop(); ++step) {
      update_gradient(loss);
      if (0.5 * dot(gradient_, gradient_) <= rel_gap * objective(loss)) return;
      std::vector<double> bends(rows_.rows());
      for (int64_t i = 0; i < rows_.rows(); ++i)
        bends[i] = charges_[i] > 0 ? charges_[i] * loss.bend(violation(i)) : 0.0;
      const std::vector<double> direction =
          rows_.cols() <= kMaxDirect ? direct_step(bends) : conjugate_step(bends);
      const double length = search_line(loss, direction);
      ++iterations_;
      if (length == 0) return;
    }
  }

  // -H^-1 g with H = 1 + sum_i bends_i x_i x_i^T.
  std::vector<double> direct_step(std::span<const double> bends) const {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    std::vector<double> h = rows_.second_moment(bends);
    const int64_t d = rows_.cols();
    for (int64_t j = 0; j < d; ++j) h[j * d + j] += 1;
    const Eigen::Map<RowMajor> matrix(h.data(), d, d);
    const Eigen::LLT<RowMajor, Eigen::Lower> factor(matrix);
    std::vector<double> step(d);
    Eigen::Map<Eigen::VectorXd> out(step.data(), d);
    out = factor.solve(-Eigen::Map<const Eigen::VectorXd>(gradient_.data(), d));
    return step;
  }

  // The same by conjugate gradients, to a residual that shrinks with the gradient.
  std::vector<double> conjugate_step(std::span<const double> bends) const {
    const size_t d = w_.size();
    std::vector<double> step(d), residual(d), along(d);
    for (size_t j = 0; j < d; ++j) along[j] = residual[j] = -gradient_[j];
    const double first = dot(residual, residual);
    const double target = first * std::min(1e-4, first);
    double squared = first;
    for (int round = 0; round < kMaxConjugateSteps && squared > std::max(target, 1e-28 * first);
         ++round) {
      if (monitor_.should_stop()) break;
      std::vector<double> products = rows_.products(along);
      for (size_t i = 0; i < products.size(); ++i) products[i] *= bends[i];
      std::vector<double> image = rows_.combination(products);
      for (size_t j = 0; j < d; ++j) image[j] += along[j];
      const double length = squared / dot(along, image);
      for (size_t j = 0; j < d; ++j) {
        step[j] += length * along[j];
        residual[j] -= length * image[j];
      }
      const double next = dot(residual, residual);
      for (size_t j = 0; j < d; ++j) along[j] = residual[j] + next / squared * along[j];
      squared = next;
    }
    return step;
  }

  // Moves to the minimum along `direction`, which a line of P has exactly one; returns the length.
  double search_line(const LossShape& loss, const std::vector<double>& direction) {
    const std::vector<double> change = rows_.products(direction);
    if (monitor_.should_stop()) return 0;
    const double linear = dot(w_, direction), quadratic = dot(direction, direction);
    const auto slope_at = [&](double t) {
      double sum = linear + t * quadratic;
      for (int64_t i = 0; i < rows_.rows(); ++i) {
        if (charges_[i] == 0) continue;
        const double y = sign(i);
        sum -= y * charges_[i] * change[i] * loss.slope(1 - y * (f_[i] + t * change[i]));
      }
      return sum;
    };
    const double first = slope_at(0);
    if (!(first < 0)) return 0;
    double low = 0, high = 1, slope_low = first, slope_high = slope_at(1);
    for (int i = 0; i < 60 && slope_high < 0; ++i) {
      low = high;
      slope_low = slope_high;
      high *= 2;
      slope_high = slope_at(high);
    }
    double t = high;
    // Regula falsi with bisection in turn; a slope of a thousandth of the first is a good step.
    for (int i = 0; i < 60 && std::abs(slope_high) > 1e-3 * -first; ++i) {
      t = i % 2 == 0 ? low - slope_low * (high - low) / (slope_high - slope_low)
                     : 0.5 * (low + high);
      const double slope = slope_at(t);
      if (std::abs(slope) <= 1e-3 * -first) break;
      (slope < 0 ? low : high) = t;
      (slope < 0 ? slope_low : slope_high) = slope;
    }
    for (size_t j = 0; j < w_.size(); ++j) w_[j] += t * direction[j];
    for (size_t i = 0; i < f_.size(); ++i) f_[i] += t * change[i];
    return t;
  }

  // The gap of the problem's own loss at w, with the dual's point taken from `rounded`.
  Classifier finish(const LossShape& rounded, double rel_gap) {
    f_ = rows_.products(w_);
    update_gradient(rounded);
    Classifier found;
    found.objective = objective(problem_.loss);
    double dual = 0, squared = 0;
    for (int64_t i = 0; i < rows_.rows(); ++i) {
      if (charges_[i] == 0) continue;
      const double slope = rounded.slope(violation(i));
      dual += charges_[i] * (slope - problem_.loss.conjugate(slope));
    }
    for (size_t j = 0; j < w_.size(); ++j) {
      const double u = w_[j] - gradient_[j];
      squared += u * u;
    }
    found.gap = std::max(0.0, found.objective - (dual - 0.5 * squared));
    found.is_solved = found.gap <= rel_gap * found.objective;
    found.iterations = iterations_;
    found.plane = w_;
    return found;
  }

  const ExactRows& rows_;
  const DcpProblem& problem_;
  std::span<const double> charges_;
  const Monitor& monitor_;
  std::vector<double> w_, f_, gradient_;
  int iterations_ = 0;
};

}  // namespace

Classifier solve_classifier(const ExactRows& rows, const DcpProblem& problem,
                            std::span<const double> charges, std::span<const double> start,
                            double rel_gap, const Monitor& monitor) {
  return Solver(rows, problem, charges, start, monitor).run(rel_gap);
}

}  // namespace milieu::internal
