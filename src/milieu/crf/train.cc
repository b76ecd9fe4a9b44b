// SPDX-License-Identifier: Apache-2.0
// Problem: minimise over w in W, latent x^k and duals lambda
//   tau J(w) + 1/N sum_k (E(x^k; w) - sum_i min_x Ebar_i(x; w, lambda))  [Komodakis11, Eq. 35].
// Given: examples that complete themselves, minimise their slaves and move their duals. Find: w.
// Method: rounds of projected subgradient steps on w and lambda, with a latent step before every
//   `inner_rounds` of them [Komodakis11, Fig. 1].
// Symbols: w weights, g subgradient, tau regularization, t round (one-based).
// Conventions: the weights returned are the mean of the second half of the rounds made; examples
// are
//   visited in their order, so that sums have the same bits for any number of threads.
// See: docs/crf.md.
#include "milieu/crf/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/crf/weights_internal.h"

namespace milieu {

namespace {

// A round's cost grows with the squared sizes; a small example is brought close to its optimum in
// the time that a large one takes anyway.
int rounds_by_size(const std::vector<CrfExample*>& examples) {
  constexpr double kWork = 5e7;
  double squares = 0;
  for (const CrfExample* example : examples)
    squares += static_cast<double>(example->size()) * static_cast<double>(example->size());
  return static_cast<int>(std::clamp(kWork / squares, 200.0, 20000.0));
}

void check_input(const CrfTrainInput& input, const CrfTrainOptions& options) {
  require(!input.examples.empty(), "training needs at least one example");
  require(!input.start.empty(), "training needs at least one weight");
  const size_t d = input.start.size();
  require(input.step_scale.empty() || input.step_scale.size() == d,
          "step_scale must have one entry per weight");
  require(input.is_priced.empty() || input.is_priced.size() == d,
          "is_priced must have one entry per weight");
  require(input.groups.empty() || input.groups.size() == d,
          "groups must have one entry per weight");
  require(options.box_low <= options.box_high, [&] {
    return fmt::format("box_low is {}, must be at most box_high, {}", options.box_low,
                       options.box_high);
  });
}

// The examples that a round sees.
std::vector<CrfExample*> examples_of_round(const CrfTrainInput& input,
                                           const CrfTrainOptions& options, Random& random) {
  if (!options.stochastic) return input.examples;
  const int64_t k = random.uniform_index(static_cast<int64_t>(input.examples.size()));
  return {input.examples[static_cast<size_t>(k)]};
}

// Energy, bound and gradient of a round, divided by the examples' sizes. The examples' parts are
// added in their order.
CrfRound descend_all(const std::vector<CrfExample*>& examples, bool with_latent,
                     std::span<const double> w, double dual_step, int num_threads,
                     std::vector<double>& gradient) {
  std::vector<CrfParts> parts(examples.size());
  std::vector<std::vector<double>> gradients(examples.size(), std::vector<double>(w.size(), 0.0));
  parallel_for(static_cast<int64_t>(examples.size()), 1, num_threads, [&](const Block& block) {
    const size_t k = static_cast<size_t>(block.begin);
    if (with_latent) examples[k]->complete(w);
    parts[k] = examples[k]->descend(w, dual_step, gradients[k]);
  });
  CrfRound round;
  double total = 0;
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (size_t k = 0; k < examples.size(); ++k) {
    round.energy += parts[k].energy;
    round.bound += parts[k].bound;
    total += static_cast<double>(examples[k]->size());
    for (size_t t = 0; t < gradient.size(); ++t) gradient[t] += gradients[k][t];
  }
  round.energy /= total;
  round.bound /= total;
  for (double& g : gradient) g /= total;
  return round;
}

// Whether the mean objective of the last half of the rounds is hardly below that of the quarter
// before: single rounds of subgradient steps go up and down.
bool has_converged(const std::vector<CrfRound>& rounds, double rel_tolerance) {
  const auto mean = [&](size_t begin, size_t end) {
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += rounds[i].objective;
    return sum / static_cast<double>(end - begin);
  };
  const size_t n = rounds.size();
  const double now = mean(n / 2, n), before = mean(n / 4, n / 2);
  return before - now <= rel_tolerance * std::abs(rounds.front().objective);
}

double price_of(const CrfTrainInput& input, const CrfTrainOptions& options,
                std::span<const double> w) {
  std::vector<double> slope(w.size(), 0.0);
  const double price = input.price ? input.price(w, slope)
                                   : regularizer_value(w, input.is_priced, input.groups, options);
  return options.regularization * price;
}

bool is_finite(const CrfRound& round, std::span<const double> gradient) {
  if (!std::isfinite(round.objective)) return false;
  return std::all_of(gradient.begin(), gradient.end(), [](double g) { return std::isfinite(g); });
}

}  // namespace

CrfTrainResult train_latent_crf(const CrfTrainInput& input, const CrfTrainOptions& given,
                                Monitor& monitor) {
  const Stopwatch watch;
  validate_options(given);
  check_input(input, given);
  CrfTrainOptions options = given;
  if (options.max_iterations == 0) options.max_iterations = rounds_by_size(input.examples);
  internal::Weights weights(input, options);
  Random random(options.seed);
  std::vector<double> gradient(input.start.size());
  CrfTrainResult result;
  for (int t = 1; t <= options.max_iterations && !monitor.should_stop(); ++t) {
    const std::vector<CrfExample*> examples = examples_of_round(input, options, random);
    // With one example per round the latent step comes first each time: another may have moved w.
    const bool with_latent = options.stochastic || (t - 1) % options.inner_rounds == 0;
    CrfRound round = descend_all(examples, with_latent, weights.now(),
                                 internal::scheduled(options.dual_step, options.dual_schedule, t),
                                 options.num_threads, gradient);
    if (monitor.should_stop()) break;  // an unfinished round does not count
    round.price = price_of(input, options, weights.now());
    round.objective = round.energy - round.bound + round.price;
    if (!is_finite(round, gradient)) {
      result.termination = Termination::NumericalIssue;
      break;
    }
    weights.step(gradient, t);
    weights.average(t);
    const double before = result.rounds.empty() ? round.objective : result.rounds.back().objective;
    result.rounds.push_back(round);
    monitor.on_iteration({0, 1, t, options.max_iterations, round.objective,
                          round.objective - before, watch.seconds()});
    if (options.rel_tolerance > 0 && weights.can_stop(t) &&
        has_converged(result.rounds, options.rel_tolerance)) {
      weights.average_second_half(t);
      result.termination = Termination::Converged;
      break;
    }
  }
  if (monitor.should_stop()) result.termination = termination_from(monitor.stop_reason());
  result.weights = weights.mean();
  result.last_weights.assign(weights.now().begin(), weights.now().end());
  return result;
}

}  // namespace milieu
