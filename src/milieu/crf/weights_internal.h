// SPDX-License-Identifier: Apache-2.0
// The weights of a training: steps, shrinking, projection, means.
#pragma once

#include <span>
#include <vector>

#include "milieu/crf/train.h"

namespace milieu::internal {

double scheduled(double step, CrfSchedule schedule, int round);

// Current value, running mean of the second half, sums of squared gradients.
class Weights {
 public:
  Weights(const CrfTrainInput& input, const CrfTrainOptions& options);

  std::span<const double> now() const { return w_; }
  const std::vector<double>& mean() const { return mean_; }

  void step(std::span<const double> gradient, int round);
  // The mean of the second half of options.max_iterations; before that, the current weights.
  void average(int round);
  // Rounds after which the mean of the second half of them is known.
  bool can_stop(int round) const;
  void average_second_half(int round);

 private:
  bool is_priced(size_t t) const { return input_.is_priced.empty() || input_.is_priced[t] != 0; }
  bool is_proximal() const;
  double slope_of(size_t t) const;
  void add_price_slope(std::span<double> gradient) const;
  double move_of(size_t t, double g, int round) const;
  std::vector<double> steps_of(int round) const;
  void shrink(std::span<const double> steps);
  void project();

  const CrfTrainInput& input_;
  const CrfTrainOptions& options_;
  std::vector<double> w_, mean_, squares_;
  std::vector<std::vector<size_t>> groups_;  // for group lasso
  std::vector<double> sum_;                  // of the weights after all rounds
  std::vector<std::vector<double>> sums_;    // the same at every kStopPeriod-th round
};

}  // namespace milieu::internal
