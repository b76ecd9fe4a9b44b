// SPDX-License-Identifier: Apache-2.0
// L-BFGS with a weak Wolfe line search that does not call the function: it asks for value and
// gradient at a point (trial) and is given them (update). Many minimisations can share one pass
// over the data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

struct LbfgsOptions {
  int memory = 10;                // pairs kept
  int max_iterations = 150;       // accepted steps
  int max_evaluations = 30;       // of one line search
  double rel_tolerance = 1e-5;    // stop when two steps in a row lower the value by less than this
                                  // share
  double gradient_tolerance = 0;  // stop at a gradient of at most this length
};

enum class LbfgsEnd { Running, Converged, IterationLimit, NoDescent };

// Minimises a function that is smooth [Liu89]. Kinks only cost speed: at worst it ends
// early (NoDescent), and never above where it began.
class Lbfgs {
 public:
  Lbfgs(std::vector<double> start, const LbfgsOptions& options);

  // Where value and gradient are needed next; meaningless once it has ended.
  std::span<const double> trial() const { return trial_; }
  // Value and gradient at trial(). A value that is not finite shortens the step.
  void update(double value, std::span<const double> gradient);

  bool has_ended() const { return end_ != LbfgsEnd::Running; }
  LbfgsEnd end() const { return end_; }
  // The best point so far and its value; the value never rises from step to step.
  const std::vector<double>& point() const { return point_; }
  double value() const { return value_; }
  int iterations() const { return iterations_; }

 private:
  struct Pair {
    std::vector<double> step, change;
    double inverse = 0;  // 1 / <step, change>
  };

  void begin_step();
  void accept(double value, std::span<const double> gradient);
  void remember(std::span<const double> gradient);
  void set_direction();
  void set_trial(double length);
  void end_line_search();

  LbfgsOptions options_;
  std::vector<double> point_, gradient_, direction_, trial_;
  std::vector<double> low_gradient_;  // at low_, when the search has one
  std::vector<Pair> pairs_;           // oldest first
  double value_ = 0, slope_ = 0;      // at point_
  double length_ = 0, low_ = 0, high_ = 0, low_value_ = 0;
  int iterations_ = 0, evaluations_ = 0, num_small_ = 0;
  bool has_begun_ = false;
  LbfgsEnd end_ = LbfgsEnd::Running;
};

}  // namespace milieu
