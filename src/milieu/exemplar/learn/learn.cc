// SPDX-License-Identifier: Apache-2.0
// Problem: minimise over w >= 0  tau J(w) + 1/N sum_k max_x (E(x^k; w) - Ebar(x; w)), where E is
//   the energy of exemplar clustering and Ebar the same less a margin that grows with the distance
//   of x from the true partition k [Komodakis11, Eq. 28]; x^k is the best clustering that keeps it.
// Given: example sets with partitions. Find: w, and d_qq where it is learned, as a constant or with
//   features of exemplars [Komodakis11, Eq. 10].
// Method: the loop is crf/train.cc; the slaves are those of cluster_example.cc. Then the penalty is
//   calibrated, and how clusters are formed is chosen by cross-validation.
// Symbols: see learn_steps.h; F candidates, scale_t = 1 / mean of feature t where normalised.
// Conventions: lambda starts at 0; w so that the mean distance is 3; a feature that is the same
//   everywhere, or no smaller within clusters than between, gets weight 0. Without normalisation
//   weights and their price are those of the raw features, but the steps of a weight are still
//   measured in its feature's mean.
// See: docs/algorithms/exemplar_learn.md.
#include "milieu/exemplar/learn/learn.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/exemplar/learn/learn_internal.h"

namespace milieu {

namespace {

using internal::Calibration;
using internal::TrainedDistance;
using internal::Validation;

constexpr double kSwitchedOff = 1e-3;  // of the largest share
constexpr size_t kMaxTrace = 2000;

// Not more than kMaxTrace of many rounds: every k-th, and the last one.
std::vector<CrfRound> thin_rounds(const std::vector<CrfRound>& all) {
  const size_t k = (all.size() + kMaxTrace - 1) / kMaxTrace;
  if (k <= 1) return all;
  std::vector<CrfRound> some;
  for (size_t i = (all.size() - 1) % k; i < all.size(); i += k) some.push_back(all[i]);
  return some;
}

// The part of each candidate in the mean distance; metrics have the rest.
std::vector<double> shares_of(const LearnedDistance& model, const std::vector<double>& means,
                              double metric_share) {
  std::vector<double> shares;
  double sum = 0;
  for (size_t t = 0; t < model.weights.size(); ++t) {
    shares.push_back(model.weights[t] * means[t]);
    sum += std::abs(shares.back());
  }
  for (double& share : shares) share *= sum > 0 ? (1 - metric_share) / sum : 0.0;
  return shares;
}

void add_words(const TrainedDistance& trained, ExemplarLearnResult& result) {
  RunSummary& summary = result.summary;
  const std::vector<std::string> names = packed_names(result.model.names);
  double largest = result.metric_share;
  for (const double share : result.shares) largest = std::max(largest, std::abs(share));
  std::vector<std::string> off, constant, screened;
  const std::vector<int64_t>& own = result.model.exemplar_columns;
  for (size_t t = 0; t < names.size(); ++t) {
    if (std::ranges::find(own, static_cast<int64_t>(t)) != own.end()) continue;
    if (std::abs(result.shares[t]) <= kSwitchedOff * largest) off.push_back(names[t]);
    if (trained.scale[t] == 0) (trained.means[t] > 0 ? screened : constant).push_back(names[t]);
  }
  summary.message = fmt::format("{} of {} features {} switched off", off.size(), names.size(),
                                by_number(std::ssize(off), "is", "are"));
  if (!constant.empty())
    summary.warnings.push_back(fmt::format("the same for all pairs, so they get no weight: {}",
                                           fmt::join(constant, ", ")));
  if (largest == 0)
    summary.warnings.push_back(
        "all weights are 0: no candidate separates the clusters; give other features, or lower "
        "regularization");
  summary.extra = {{"penalty", result.model.penalty},
                   {"num_switched_off", static_cast<int64_t>(off.size())},
                   {"switched_off", off},
                   {"screened_off", screened},
                   {"features", names},
                   {"weights", result.model.weights},
                   {"shares", result.shares},
                   {"metric_share", result.metric_share}};
  if (!result.model.exemplar_weights.empty()) {
    summary.extra.emplace_back("exemplar_features", packed_names(result.model.exemplar_names));
    summary.extra.emplace_back("exemplar_weights", result.model.exemplar_weights);
  }
  const CrfRound& last = result.rounds.back();
  summary.extra.emplace_back("loss_energy", last.energy);
  summary.extra.emplace_back("loss_bound", last.bound);
  summary.extra.emplace_back("loss_price", last.price);
}

void add_calibration(const Calibration& found, RunSummary& summary) {
  summary.extra.emplace_back("calibration_factor", found.factor);
  summary.extra.emplace_back("penalty_exponent", found.exponent);
  summary.extra.emplace_back("training_accuracy", found.accuracy);
  summary.extra.emplace_back("training_accuracy_before", found.plain_accuracy);
}

void add_validation(const Validation& v, RunSummary& summary) {
  summary.extra.emplace_back("grouping", std::string(v.uses_cut ? "cut" : "exemplars"));
  summary.extra.emplace_back("uses_average", v.uses_average);
  summary.extra.emplace_back("held_out_exemplars", v.learned_exemplars);
  summary.extra.emplace_back("held_out_cut", v.learned_cut);
  summary.extra.emplace_back("held_out_average_exemplars", v.average_exemplars);
  summary.extra.emplace_back("held_out_average_cut", v.average_cut);
  summary.extra.emplace_back("held_out_known_exemplars", v.known_exemplars);
  summary.extra.emplace_back("held_out_known_cut", v.known_cut);
  if (!v.uses_average) return;
  summary.warnings.push_back(fmt::format(
      "the average of all candidates, unlearned, clusters held-out samples better ({:.1f} against "
      "{:.1f} %), so it is used: give more examples, or other features",
      100 * std::max(v.average_exemplars, v.average_cut),
      100 * std::max(v.learned_exemplars, v.learned_cut)));
}

// The axes of known clusters, where they serve.
void keep_known(const LearnInput& input, const ExemplarLearnOptions& options,
                TrainedDistance trained, const Validation* v, Monitor& monitor,
                LearnedDistance& model) {
  const bool has_clusters = v != nullptr && v->uses_known;
  if (!trained.known || monitor.should_stop() || !(has_clusters || trained.known_is_nearer)) return;
  LearnedDistance own = known_distance(*trained.known);
  if (options.calibrate)
    internal::calibrate_penalty(input.sets, trained.known_costs, options.train.seed,
                                options.train.num_threads, monitor, own);
  model.known = std::move(trained.known->known);
  model.metric_roots = std::move(trained.known->metric_roots);
  model.known.use = !has_clusters ? "classes" : trained.known_is_nearer ? "both" : "clusters";
  model.known.penalty = {own.penalty};
  model.known.penalty_rule = own.penalty_rule;
  if (!has_clusters) return;
  model.known.same_cluster = v->known_same_cluster;
  model.known.grouping = v->cuts_known ? "cut" : "exemplars";
}

// What is used of what was trained, calibrated.
void finish(const LearnInput& input, const ExemplarLearnOptions& options, TrainedDistance trained,
            Monitor& monitor, ExemplarLearnResult& result) {
  const auto validation = monitor.should_stop()
                              ? std::nullopt
                              : internal::cross_validate(input, options, trained.is_kept, monitor);
  const bool is_average = validation && validation->uses_average;
  result.model = std::move(is_average ? trained.average : trained.model);
  const std::vector<Matrix<float>>& costs = is_average ? trained.average_costs : trained.costs;
  result.metric_share = is_average ? 0 : trained.metric_share;
  result.shares = shares_of(result.model, trained.means, result.metric_share);
  std::optional<Calibration> calibration;
  const bool is_given = options.penalty > 0 && !options.learn_penalty && !is_average;
  if (options.calibrate && !is_given && !monitor.should_stop())
    calibration = internal::calibrate_penalty(input.sets, costs, options.train.seed,
                                              options.train.num_threads, monitor, result.model);
  if (validation) {
    result.model.same_cluster = validation->same_cluster;
    result.model.grouping = validation->uses_cut ? "cut" : "exemplars";
  }
  add_words(trained, result);
  if (calibration) add_calibration(*calibration, result.summary);
  if (validation) add_validation(*validation, result.summary);
  keep_known(input, options, std::move(trained), validation ? &*validation : nullptr, monitor,
             result.model);
  result.summary.extra.emplace_back("known_clusters", result.model.known.use);
}

}  // namespace

void apply_paper_preset(ExemplarLearnOptions& options) {
  options = {};
  options.train.adagrad = false;
  options.screening = 0;
  options.calibrate = false;
  options.metric = false;
  options.validations = 0;
}

double learn_memory_bytes(const std::vector<LearnSet>& sets, LearnPrecision precision) {
  double bytes = 0;
  for (const LearnSet& set : sets) {
    const double n = static_cast<double>(set.labels.size());
    const double row = 16 * std::ceil(n / 16);  // of single numbers: whole vectors
    bytes += n * (precision == LearnPrecision::Single ? 8 * row : 8 * row + 9 * n);
  }
  return bytes;
}

ExemplarLearnResult learn_exemplar_distance(const LearnInput& input,
                                            const ExemplarLearnOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  validate_options(options);
  auto trained = internal::train_distance(input, options, monitor);
  ExemplarLearnResult result;
  RunSummary& summary = result.summary;
  summary.termination = Termination::Cancelled;
  if (trained) {
    result.rounds = thin_rounds(trained->training.rounds);
    summary.iterations = static_cast<int>(trained->training.rounds.size());
    summary.termination = trained->training.termination;
    summary.warnings = trained->warnings;
    for (const CrfRound& round : result.rounds) summary.trace.push_back(round.objective);
    finish(input, options, std::move(*trained), monitor, result);
    if (summary.termination == Termination::Converged)
      summary.message +=
          fmt::format("; the objective fell by less than rel_tolerance {} by round {}",
                      options.train.rel_tolerance, summary.iterations);
  }
  for (const LearnSet& set : input.sets) {
    summary.n += static_cast<int64_t>(set.labels.size());
    summary.clusters += internal::num_clusters(set);
  }
  summary.method = "exemplar learn";
  summary.version = version();
  summary.seed = options.train.seed;
  summary.d = static_cast<int64_t>(result.model.weights.size());
  summary.objective = summary.trace.empty() ? 0.0 : summary.trace.back();
  summary.seconds = watch.seconds();
  return result;
}

}  // namespace milieu
