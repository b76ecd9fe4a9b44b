// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "milieu/base/error.h"

namespace milieu {
namespace {

constexpr double kArmijo = 1e-4;
constexpr double kCurvature = 0.9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double dot(std::span<const double> a, std::span<const double> b) {
  double sums[4] = {0, 0, 0, 0};
  size_t i = 0;
  for (; i + 4 <= a.size(); i += 4)
    for (size_t j = 0; j < 4; ++j) sums[j] += a[i + j] * b[i + j];
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void add_scaled(double factor, std::span<const double> from, std::span<double> to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

}  // namespace

Lbfgs::Lbfgs(std::vector<double> start, const LbfgsOptions& options)
    : options_(options), point_(std::move(start)), trial_(point_) {
  require(options.memory >= 1 && options.max_iterations >= 0 && options.max_evaluations >= 1,
          "Lbfgs: memory and max_evaluations must be at least 1, max_iterations at least 0");
}

void Lbfgs::update(double value, std::span<const double> gradient) {
  if (has_ended()) return;
  if (!has_begun_) {
    has_begun_ = true;
    value_ = value;
    gradient_.assign(gradient.begin(), gradient.end());
    if (!std::isfinite(value)) end_ = LbfgsEnd::NoDescent;
    return begin_step();
  }
  ++evaluations_;
  const double slope = dot(direction_, gradient);
  if (!(value <= value_ + kArmijo * length_ * slope_)) {
    high_ = length_;
  } else if (slope < kCurvature * slope_) {
    low_ = length_;
    low_value_ = value;
    low_gradient_.assign(gradient.begin(), gradient.end());
  } else {
    return accept(value, gradient);
  }
  if (evaluations_ >= options_.max_evaluations || high_ - low_ <= 1e-12 * high_)
    return end_line_search();
  if (high_ == kInfinity) return set_trial(2 * length_);
  // The minimum of the parabola through value, slope and the new value, kept off the ends.
  double next = 0.5 * (low_ + high_);
  if (low_ == 0 && std::isfinite(value)) {
    const double bend = value - value_ - length_ * slope_;
    if (bend > 0) next = std::clamp(-0.5 * slope_ * length_ * length_ / bend, 0.1 * high_, next);
  }
  set_trial(next);
}

void Lbfgs::begin_step() {
  if (has_ended()) return;
  const double norm = std::sqrt(dot(gradient_, gradient_));
  if (norm <= options_.gradient_tolerance || norm == 0) {
    end_ = LbfgsEnd::Converged;
  } else if (iterations_ >= options_.max_iterations) {
    end_ = LbfgsEnd::IterationLimit;
  } else {
    set_direction();
    evaluations_ = 0;
    low_ = 0;
    high_ = kInfinity;
    set_trial(1);
  }
}

// The two loops of [Liu89] over the remembered pairs.
void Lbfgs::set_direction() {
  direction_.assign(gradient_.begin(), gradient_.end());
  std::vector<double> shares(pairs_.size());
  for (size_t i = pairs_.size(); i-- > 0;) {
    shares[i] = pairs_[i].inverse * dot(pairs_[i].step, direction_);
    add_scaled(-shares[i], pairs_[i].change, direction_);
  }
  double scale = 1 / std::max(1.0, std::sqrt(dot(gradient_, gradient_)));
  if (!pairs_.empty())
    scale = 1 / (pairs_.back().inverse * dot(pairs_.back().change, pairs_.back().change));
  for (double& value : direction_) value *= scale;
  for (size_t i = 0; i < pairs_.size(); ++i)
    add_scaled(shares[i] - pairs_[i].inverse * dot(pairs_[i].change, direction_), pairs_[i].step,
               direction_);
  for (double& value : direction_) value = -value;
  slope_ = dot(direction_, gradient_);
  if (slope_ < 0) return;
  pairs_.clear();  // rounding has corrupted them: start again from the gradient
  for (size_t i = 0; i < direction_.size(); ++i) direction_[i] = -gradient_[i];
  slope_ = -dot(gradient_, gradient_);
}

void Lbfgs::set_trial(double length) {
  length_ = length;
  for (size_t i = 0; i < trial_.size(); ++i) trial_[i] = point_[i] + length * direction_[i];
}

// No step satisfied both conditions: the longest one that lowered the value, if any.
void Lbfgs::end_line_search() {
  if (low_ > 0 && low_value_ < value_) {
    set_trial(low_);
    const std::vector<double> gradient = low_gradient_;
    return accept(low_value_, gradient);
  }
  if (!pairs_.empty()) {
    pairs_.clear();
    return begin_step();
  }
  end_ = LbfgsEnd::NoDescent;
}

void Lbfgs::remember(std::span<const double> gradient) {
  Pair pair;
  pair.step.resize(point_.size());
  pair.change.resize(point_.size());
  for (size_t i = 0; i < point_.size(); ++i) {
    pair.step[i] = trial_[i] - point_[i];
    pair.change[i] = gradient[i] - gradient_[i];
  }
  const double curvature = dot(pair.step, pair.change);
  if (!(curvature > 1e-12 * dot(pair.change, pair.change) * length_) || !(curvature > 0)) return;
  pair.inverse = 1 / curvature;
  if (static_cast<int>(pairs_.size()) == options_.memory) pairs_.erase(pairs_.begin());
  pairs_.push_back(std::move(pair));
}

void Lbfgs::accept(double value, std::span<const double> gradient) {
  remember(gradient);
  ++iterations_;
  const double fall = value_ - value;
  num_small_ = fall <= options_.rel_tolerance * std::abs(value) ? num_small_ + 1 : 0;
  point_ = trial_;
  value_ = value;
  gradient_.assign(gradient.begin(), gradient.end());
  if (num_small_ >= 2)
    end_ = LbfgsEnd::Converged;
  else
    begin_step();
}

}  // namespace milieu
