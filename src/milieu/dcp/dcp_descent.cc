// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/dcp_descent_internal.h"

#include <algorithm>
#include <cmath>

namespace milieu::internal {

Subgradient::Subgradient(std::vector<double> start, int max_iterations)
    : trial_(std::move(start)), point_(trial_), max_iterations_(max_iterations) {}

void Subgradient::update(double value, std::span<const double> gradient) {
  if (iterations_ == 0) {
    largest_length_ = std::sqrt(2 * value);
  }
  if (iterations_ == 0 || value < value_) {
    value_ = value;
    point_ = trial_;
  }
  const double step = 1.0 / ++iterations_;
  double squared = 0;
  for (size_t j = 0; j < trial_.size(); ++j) {
    trial_[j] -= step * gradient[j];
    squared += trial_[j] * trial_[j];
  }
  const double length = std::sqrt(squared);
  if (length <= largest_length_) return;
  for (double& w : trial_) w *= largest_length_ / length;
}

}  // namespace milieu::internal
