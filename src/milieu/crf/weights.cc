// SPDX-License-Identifier: Apache-2.0
// Steps of the weights. A proximal step moves along the loss alone and then minimises
//   |u - w|^2 / (2 s) + tau J(u),
// which for l1 moves every weight towards 0 by s tau and stops there, and for a group of m weights
// scales it by max(0, 1 - s tau sqrt(m) / |w_g|). Under w >= 0 the result is exact too: negative
// weights are set to 0 before.
#include "milieu/crf/weights_internal.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace milieu {

namespace internal {

namespace {

constexpr int kStopPeriod = 20;  // rounds between two looks at the tolerance

// The norm of a group's weights.
double norm_of(std::span<const double> w, const std::vector<size_t>& members) {
  double squares = 0;
  for (const size_t t : members) squares += w[t] * w[t];
  return std::sqrt(squares);
}

std::vector<std::vector<size_t>> members_of(std::span<const int> groups, size_t num_weights) {
  std::map<int, std::vector<size_t>> members;
  for (size_t t = 0; t < num_weights; ++t)
    members[groups.empty() ? static_cast<int>(t) : groups[t]].push_back(t);
  std::vector<std::vector<size_t>> list;
  for (auto& [group, own] : members) list.push_back(std::move(own));
  return list;
}

}  // namespace

double scheduled(double step, CrfSchedule schedule, int round) {
  switch (schedule) {
    case CrfSchedule::Constant:
      return step;
    case CrfSchedule::InverseRoot:
      return step / std::sqrt(round);
    case CrfSchedule::Inverse:
      return step / round;
  }
  return step;
}

Weights::Weights(const CrfTrainInput& input, const CrfTrainOptions& options)
    : input_(input), options_(options), w_(input.start), squares_(w_.size(), 0.0) {
  if (options.regularizer == CrfRegularizer::GroupLasso && !input.price)
    groups_ = members_of(input.groups, w_.size());
  project();
  mean_ = w_;
  sum_.assign(w_.size(), 0.0);
  sums_.push_back(sum_);
}

bool Weights::is_proximal() const {
  if (input_.price) return false;
  return options_.proximal || options_.regularizer == CrfRegularizer::GroupLasso;
}

// Of tau J, without what shrink() does. At 0 the l1 part has slope 1: with w >= 0 it is the
// derivative from the right.
double Weights::slope_of(size_t t) const {
  if (!is_priced(t) || input_.price) return 0;
  const double sign = is_proximal() ? 0.0 : w_[t] < 0 ? -1.0 : 1.0;
  switch (options_.regularizer) {
    case CrfRegularizer::L1:
      return options_.regularization * sign;
    case CrfRegularizer::L2:
      return options_.regularization * w_[t];
    case CrfRegularizer::Elastic:
      return options_.regularization * (options_.l1_share * sign + (1 - options_.l1_share) * w_[t]);
    case CrfRegularizer::GroupLasso:
      return 0;
  }
  return 0;
}

// How far a weight moves along its gradient.
double Weights::move_of(size_t t, double g, int round) const {
  const double scale = input_.step_scale.empty() ? 1.0 : input_.step_scale[t];
  return options_.adagrad ? options_.step * scale * g / std::sqrt(squares_[t])
                          : scheduled(options_.step * scale, options_.step_schedule, round) * g;
}

// The length of each weight's step, for shrinking. Weights of one group share theirs: only then is
// shrinking them together exact.
std::vector<double> Weights::steps_of(int round) const {
  const auto length = [&](double squares, double scale) {
    if (!options_.adagrad) return scheduled(options_.step * scale, options_.step_schedule, round);
    return squares > 0 ? options_.step * scale / std::sqrt(squares) : 0.0;
  };
  const auto scale_of = [&](size_t t) {
    return input_.step_scale.empty() ? 1.0 : input_.step_scale[t];
  };
  std::vector<double> steps(w_.size());
  for (size_t t = 0; t < w_.size(); ++t) steps[t] = length(squares_[t], scale_of(t));
  for (const std::vector<size_t>& members : groups_) {
    double squares = 0, scale = 0;
    for (const size_t t : members) squares += squares_[t], scale += scale_of(t);
    const auto size = static_cast<double>(members.size());
    for (const size_t t : members) steps[t] = length(squares / size, scale / size);
  }
  return steps;
}

// Of a price that the caller brings.
void Weights::add_price_slope(std::span<double> gradient) const {
  if (!input_.price) return;
  std::vector<double> slope(w_.size(), 0.0);
  input_.price(w_, slope);
  for (size_t t = 0; t < slope.size(); ++t) gradient[t] += options_.regularization * slope[t];
}

void Weights::step(std::span<const double> gradient, int round) {
  std::vector<double> g(gradient.begin(), gradient.end());
  add_price_slope(g);
  for (size_t t = 0; t < g.size(); ++t) {
    g[t] += slope_of(t);
    // What shrinking will do counts, too: without it a weight at the loss's minimum would not move.
    const double whole = g[t] + (is_proximal() && is_priced(t) ? options_.regularization : 0.0);
    squares_[t] += whole * whole;
  }
  const std::vector<double> steps = is_proximal() ? steps_of(round) : std::vector<double>();
  for (size_t t = 0; t < g.size(); ++t)
    if (g[t] != 0) w_[t] -= groups_.empty() ? move_of(t, g[t], round) : steps[t] * g[t];
  if (is_proximal()) shrink(steps);
  project();
  if (options_.rel_tolerance <= 0) return;
  for (size_t t = 0; t < w_.size(); ++t) sum_[t] += w_[t];
  if (round % kStopPeriod == 0) sums_.push_back(sum_);
}

void Weights::shrink(std::span<const double> steps) {
  if (!input_.project && options_.constraint == CrfConstraint::NonNegative)
    project_non_negative(w_);
  const double tau = options_.regularization;
  if (options_.regularizer == CrfRegularizer::GroupLasso) {
    for (const std::vector<size_t>& members : groups_) {
      if (!is_priced(members[0])) continue;
      const double norm = norm_of(w_, members);
      const double cut = steps[members[0]] * tau * std::sqrt(static_cast<double>(members.size()));
      for (const size_t t : members) w_[t] *= norm > cut ? 1 - cut / norm : 0;
    }
    return;
  }
  const double share = options_.regularizer == CrfRegularizer::L1        ? 1
                       : options_.regularizer == CrfRegularizer::Elastic ? options_.l1_share
                                                                         : 0;
  for (size_t t = 0; t < w_.size(); ++t) {
    if (!is_priced(t)) continue;
    const double cut = steps[t] * tau * share;
    w_[t] = w_[t] > cut ? w_[t] - cut : w_[t] < -cut ? w_[t] + cut : 0;
  }
}

void Weights::average(int round) {
  const int half = options_.max_iterations / 2;
  const double share = round <= half ? 1.0 : 1.0 / (round - half);
  for (size_t t = 0; t < w_.size(); ++t) mean_[t] += share * (w_[t] - mean_[t]);
}

bool Weights::can_stop(int round) const { return round % (2 * kStopPeriod) == 0; }

void Weights::average_second_half(int round) {
  const std::vector<double>& half = sums_[static_cast<size_t>(round / 2 / kStopPeriod)];
  for (size_t t = 0; t < w_.size(); ++t) mean_[t] = (sum_[t] - half[t]) / (round - round / 2);
}

void Weights::project() {
  if (input_.project) return input_.project(w_);
  switch (options_.constraint) {
    case CrfConstraint::NonNegative:
      return project_non_negative(w_);
    case CrfConstraint::Box:
      return project_box(w_, options_.box_low, options_.box_high);
    case CrfConstraint::Simplex:
      return project_simplex(w_);
    case CrfConstraint::Free:
      return;
  }
}

}  // namespace internal

void project_non_negative(std::span<double> w) {
  for (double& value : w) value = std::max(value, 0.0);
}

void project_box(std::span<double> w, double low, double high) {
  for (double& value : w) value = std::clamp(value, low, high);
}

void project_simplex(std::span<double> w) {
  std::vector<double> sorted(w.begin(), w.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0, shift = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double candidate = (sum - 1) / static_cast<double>(i + 1);
    if (sorted[i] > candidate) shift = candidate;
  }
  for (double& value : w) value = std::max(value - shift, 0.0);
}

double regularizer_value(std::span<const double> w, std::span<const char> is_priced,
                         std::span<const int> groups, const CrfTrainOptions& options) {
  const auto counts = [&](size_t t) { return is_priced.empty() || is_priced[t] != 0; };
  double absolute = 0, squared = 0, grouped = 0;
  for (size_t t = 0; t < w.size(); ++t) {
    if (!counts(t)) continue;
    absolute += std::abs(w[t]);
    squared += w[t] * w[t] / 2;
  }
  switch (options.regularizer) {
    case CrfRegularizer::L1:
      return absolute;
    case CrfRegularizer::L2:
      return squared;
    case CrfRegularizer::Elastic:
      return options.l1_share * absolute + (1 - options.l1_share) * squared;
    case CrfRegularizer::GroupLasso:
      for (const std::vector<size_t>& members : internal::members_of(groups, w.size()))
        if (counts(members[0]))
          grouped += std::sqrt(static_cast<double>(members.size())) * internal::norm_of(w, members);
      return grouped;
  }
  return 0;
}

}  // namespace milieu
