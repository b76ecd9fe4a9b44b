// SPDX-License-Identifier: Apache-2.0
// How a stage of the search moves its planes: by L-BFGS, or by plain subgradient descent, which
// [Lampert08, section 3.2.2] names and which is kept for comparison.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "milieu/linalg/lbfgs.h"

namespace milieu::internal {

// Subgradient descent on 1/2 |w|^2 + losses: step t has the length 1 / t, which suits the curvature
// 1 of the first term, and the point stays in the ball |w|^2 <= 2 J(start), outside of which J is
// higher. Single steps may raise the value; the best point is kept. Shares its functions with
// Lbfgs.
class Subgradient {
 public:
  Subgradient(std::vector<double> start, int max_iterations);

  std::span<const double> trial() const { return trial_; }
  // Value and a subgradient at trial().
  void update(double value, std::span<const double> gradient);
  bool has_ended() const { return iterations_ >= max_iterations_; }
  const std::vector<double>& point() const { return point_; }
  double value() const { return value_; }
  int iterations() const { return iterations_; }

 private:
  std::vector<double> trial_, point_;
  double value_ = 0, largest_length_ = 0;
  int iterations_ = 0, max_iterations_ = 0;
};

// Either of the two.
class Descent {
 public:
  Descent(std::vector<double> start, const LbfgsOptions& options)
      : stepper_(Lbfgs(std::move(start), options)) {}
  explicit Descent(Subgradient stepper) : stepper_(std::move(stepper)) {}

  std::span<const double> trial() const {
    return std::visit([](const auto& s) { return s.trial(); }, stepper_);
  }
  void update(double value, std::span<const double> gradient) {
    std::visit([&](auto& s) { s.update(value, gradient); }, stepper_);
  }
  bool has_ended() const {
    return std::visit([](const auto& s) { return s.has_ended(); }, stepper_);
  }
  const std::vector<double>& point() const {
    return std::visit([](const auto& s) -> const std::vector<double>& { return s.point(); },
                      stepper_);
  }
  double value() const {
    return std::visit([](const auto& s) { return s.value(); }, stepper_);
  }
  int iterations() const {
    return std::visit([](const auto& s) { return s.iterations(); }, stepper_);
  }

 private:
  std::variant<Lbfgs, Subgradient> stepper_;
};

}  // namespace milieu::internal
