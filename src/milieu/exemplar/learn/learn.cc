// SPDX-License-Identifier: Apache-2.0
// Problem: minimise over w >= 0  tau J(w) + 1/N sum_k max_x (E(x^k; w) - Ebar(x; w)), where E is
//   the energy of exemplar clustering and Ebar the same less a margin that grows with the distance
//   of x from the true partition k [Komodakis11, Eq. 28]; x^k is the best clustering that keeps it.
// Given: example sets with partitions. Find: w, and d_qq where it is learned.
// Method: the loop is crf/train.cc; the slaves are those of cluster_example.cc.
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
#include "milieu/base/error.h"
#include "milieu/exemplar/learn/cluster_example_internal.h"
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/linalg/kernel.h"

namespace milieu {

namespace {

using internal::LearnForm;

constexpr double kMeanDistance = 3;    // at the start
constexpr double kSwitchedOff = 1e-3;  // of the largest share
constexpr double kMinPenalty = 1.5;    // times alpha, where the penalty is learned
constexpr size_t kMaxTrace = 2000;

std::vector<std::string> candidate_names(const LearnInput& input, LearnForm form, int64_t count) {
  std::vector<std::string> names = input.names;
  for (const CandidateDistance& candidate : input.candidates)
    if (form == LearnForm::Distances && input.names.empty()) names.push_back(candidate.name);
  for (int64_t t = static_cast<int64_t>(names.size()); t < count; ++t)
    names.push_back(fmt::format("{} {}", form == LearnForm::Precomputed ? "matrix" : "column", t));
  return names;
}

// Candidates with their columns and gammas filled in.
std::vector<CandidateDistance> complete_candidates(const LearnInput& input, int num_threads) {
  std::vector<CandidateDistance> candidates = input.candidates;
  for (CandidateDistance& c : candidates) {
    const FloatView first = input.sets[0].points;
    if (c.num_columns == 0) c.num_columns = first.cols() - c.first_column;
    if (c.distance != Distance::Rbf || c.gamma > 0) continue;
    double sum = 0;
    for (const LearnSet& set : input.sets)
      sum += choose_gamma(Kernel::Rbf,
                          {set.points.data() + c.first_column, set.points.rows(), c.num_columns,
                           set.points.stride()},
                          num_threads);
    c.gamma = sum / static_cast<double>(input.sets.size());
  }
  return candidates;
}

// Everything that training needs, made from the input.
struct Course {
  LearnForm form = LearnForm::Coordinates;
  std::vector<CandidateDistance> candidates;
  std::vector<double> means;  // F, over the pairs of all sets
  std::vector<double> scale;  // F; 0 for a constant feature and one that was screened off
  double penalty = 0;         // at the start
  std::vector<std::unique_ptr<CrfExample>> examples;
};

// Null features when the monitor stops it.
std::vector<std::unique_ptr<PairFeatures>> make_features(const LearnInput& input,
                                                         const Course& course,
                                                         const ExemplarLearnOptions& options,
                                                         Monitor& monitor) {
  double budget = options.max_memory_gb * 1e9 - learn_memory_bytes(input.sets, options.precision);
  std::vector<std::unique_ptr<PairFeatures>> features;
  for (const LearnSet& set : input.sets) {
    if (course.form == LearnForm::Coordinates)
      features.push_back(make_coordinate_features(set.points));
    else if (course.form == LearnForm::Precomputed)
      features.push_back(make_matrix_features(set.matrices));
    else
      features.push_back(make_distance_features(set.points, course.candidates, &budget,
                                                options.train.num_threads, monitor));
  }
  return features;
}

// Mean of each feature over all ordered pairs of all sets, the diagonals counting as 0.
std::vector<double> feature_means(const std::vector<std::unique_ptr<PairFeatures>>& features,
                                  int num_threads) {
  std::vector<double> means(features[0]->num_features(), 0.0);
  double pairs = 0;
  for (const auto& set : features) {
    const std::vector<double> sums = set->sums(num_threads);
    for (size_t t = 0; t < means.size(); ++t) means[t] += sums[t];
    pairs += static_cast<double>(set->num_samples()) * static_cast<double>(set->num_samples());
  }
  for (double& mean : means) mean /= pairs;
  return means;
}

// One that is trained starts low: the weights follow it up, and from a high one they would take
// thousands of rounds to grow to its scale.
double rule_penalty(const LearnInput& input, const ExemplarLearnOptions& options) {
  if (options.learn_penalty) return 2 * options.alpha;
  double samples = 0, clusters = 0;
  for (const LearnSet& set : input.sets) {
    samples += static_cast<double>(set.labels.size());
    clusters += internal::num_clusters(set);
  }
  return std::max(2 * options.alpha, options.beta * samples / clusters / 2);
}

// Where nothing would be left, nothing is screened off.
void choose_scale(Course& course, const ExemplarLearnOptions& options, std::vector<char> is_kept) {
  bool has_any = false, has_kept = false;
  for (size_t t = 0; t < course.means.size(); ++t) {
    has_any = has_any || course.means[t] > 0;
    has_kept = has_kept || (course.means[t] > 0 && is_kept[t] != 0);
  }
  require(has_any, "every candidate distance is the same for all pairs: there is nothing to learn");
  if (!has_kept) is_kept.assign(is_kept.size(), 1);
  for (size_t t = 0; t < course.means.size(); ++t) {
    const bool is_used = course.means[t] > 0 && is_kept[t] != 0;
    course.scale.push_back(!is_used ? 0.0 : options.normalize ? 1 / course.means[t] : 1.0);
  }
}

// An empty list of examples when the monitor stops it.
Course make_course(const LearnInput& input, const ExemplarLearnOptions& options, Monitor& monitor) {
  Course course;
  course.form = internal::check_learn_input(input, options);
  course.penalty = options.penalty > 0 ? options.penalty : rule_penalty(input, options);
  require(course.penalty > options.alpha, [&] {
    return fmt::format(
        "penalty is {}, alpha is {}: clusters of one sample would always be best; raise the "
        "penalty",
        course.penalty, options.alpha);
  });
  course.candidates = complete_candidates(input, options.train.num_threads);
  auto features = make_features(input, course, options, monitor);
  if (monitor.should_stop()) return course;
  course.means = feature_means(features, options.train.num_threads);
  choose_scale(
      course, options,
      internal::screen_features(features, input.sets, options.screening, options.train.seed));
  const internal::ClusterExampleOptions example{options.alpha, options.beta, course.penalty,
                                                options.learn_penalty, options.train.num_threads};
  const auto make = options.precision == LearnPrecision::Single
                        ? internal::make_cluster_example
                        : internal::make_exact_cluster_example;
  for (size_t k = 0; k < features.size(); ++k)
    course.examples.push_back(
        make(std::move(features[k]), input.sets[k].labels, course.scale, example, monitor));
  return course;
}

// Start, steps and constraints of the weights; the last one is the penalty where it is learned.
CrfTrainInput make_train_input(const Course& course, const ExemplarLearnOptions& options) {
  CrfTrainInput train;
  for (const auto& example : course.examples) train.examples.push_back(example.get());
  double sum = 0;
  for (size_t t = 0; t < course.means.size(); ++t) sum += course.means[t] * course.scale[t];
  for (size_t t = 0; t < course.means.size(); ++t) {
    train.start.push_back(course.scale[t] > 0 ? kMeanDistance / sum : 0.0);
    train.step_scale.push_back(course.scale[t] > 0 ? 1 / (course.means[t] * course.scale[t]) : 0.0);
    train.is_priced.push_back(1);
  }
  if (!options.learn_penalty) return train;
  train.start.push_back(course.penalty);
  train.step_scale.push_back(1);
  train.is_priced.push_back(0);
  const CrfTrainOptions rule = options.train;
  const double least = kMinPenalty * options.alpha;
  train.project = [rule, least](std::span<double> w) {
    const std::span<double> weights = w.first(w.size() - 1);
    if (rule.constraint == CrfConstraint::NonNegative) project_non_negative(weights);
    if (rule.constraint == CrfConstraint::Box) project_box(weights, rule.box_low, rule.box_high);
    if (rule.constraint == CrfConstraint::Simplex) project_simplex(weights);
    w.back() = std::max(w.back(), least);
  };
  return train;
}

LearnedDistance make_model(const LearnInput& input, const Course& course,
                           const std::vector<double>& w, const ExemplarLearnOptions& options) {
  LearnedDistance model;
  const int64_t count = static_cast<int64_t>(course.scale.size());
  for (int64_t t = 0; t < count; ++t) model.weights.push_back(w[t] * course.scale[t]);
  model.penalty = options.learn_penalty ? w.back() : course.penalty;
  model.form = course.form == LearnForm::Coordinates ? "coordinates"
               : course.form == LearnForm::Distances ? "distances"
                                                     : "precomputed";
  model.names = fmt::format("{}", fmt::join(candidate_names(input, course.form, count), "\n"));
  if (course.form != LearnForm::Precomputed) model.num_point_columns = input.sets[0].points.cols();
  if (course.form != LearnForm::Distances) return model;
  std::vector<std::string> kinds;
  for (const CandidateDistance& c : course.candidates) {
    for (const auto& [word, distance] : distance_choices().choices)
      if (distance == c.distance) kinds.push_back(word);
    model.gammas.push_back(c.gamma);
    model.first_columns.push_back(c.first_column);
    model.num_columns.push_back(c.num_columns);
  }
  model.distances = fmt::format("{}", fmt::join(kinds, "\n"));
  return model;
}

// Not more than kMaxTrace of many rounds: every k-th, and the last one.
std::vector<CrfRound> thin_rounds(const std::vector<CrfRound>& all) {
  const size_t k = (all.size() + kMaxTrace - 1) / kMaxTrace;
  if (k <= 1) return all;
  std::vector<CrfRound> some;
  for (size_t i = (all.size() - 1) % k; i < all.size(); i += k) some.push_back(all[i]);
  return some;
}

// The part of each candidate in the mean learned distance.
std::vector<double> shares_of(const LearnedDistance& model, const std::vector<double>& means) {
  std::vector<double> shares;
  double sum = 0;
  for (size_t t = 0; t < means.size(); ++t) {
    shares.push_back(model.weights[t] * means[t]);
    sum += std::abs(shares.back());
  }
  for (double& share : shares) share = sum > 0 ? share / sum : 0.0;
  return shares;
}

void add_words(const Course& course, ExemplarLearnResult& result) {
  RunSummary& summary = result.summary;
  const std::vector<std::string> names = packed_names(result.model.names);
  double largest = 0;
  for (const double share : result.shares) largest = std::max(largest, std::abs(share));
  std::vector<std::string> off, constant, screened;
  for (size_t t = 0; t < names.size(); ++t) {
    if (std::abs(result.shares[t]) <= kSwitchedOff * largest) off.push_back(names[t]);
    if (course.scale[t] == 0) (course.means[t] > 0 ? screened : constant).push_back(names[t]);
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
                   {"shares", result.shares}};
  if (result.rounds.empty()) return;
  const CrfRound& last = result.rounds.back();
  summary.extra.emplace_back("loss_energy", last.energy);
  summary.extra.emplace_back("loss_bound", last.bound);
  summary.extra.emplace_back("loss_price", last.price);
}

void calibrate(const LearnInput& input, const ExemplarLearnOptions& options, Monitor& monitor,
               ExemplarLearnResult& result) {
  const internal::Calibration found =
      internal::calibrate_penalty(result.model, input.sets, options.train.num_threads, monitor);
  result.model.penalty *= found.factor;
  result.summary.extra[0].second = result.model.penalty;
  result.summary.extra.emplace_back("calibration_factor", found.factor);
  result.summary.extra.emplace_back("training_accuracy", found.accuracy);
  result.summary.extra.emplace_back("training_accuracy_before", found.plain_accuracy);
}

}  // namespace

void apply_paper_preset(ExemplarLearnOptions& options) {
  options = {};
  options.train.adagrad = false;
  options.screening = 0;
  options.calibrate = false;
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
  const Course course = make_course(input, options, monitor);
  ExemplarLearnResult result;
  RunSummary& summary = result.summary;
  summary.termination = Termination::Cancelled;
  if (!course.examples.empty()) {
    const CrfTrainResult trained =
        train_latent_crf(make_train_input(course, options), options.train, monitor);
    result.model = make_model(input, course, trained.weights, options);
    result.rounds = thin_rounds(trained.rounds);
    summary.iterations = static_cast<int>(trained.rounds.size());
    summary.termination = trained.termination;
    result.shares = shares_of(result.model, course.means);
    for (const CrfRound& round : result.rounds) summary.trace.push_back(round.objective);
    add_words(course, result);
    const bool is_given = options.penalty > 0 && !options.learn_penalty;
    if (options.calibrate && !is_given && !monitor.should_stop())
      calibrate(input, options, monitor, result);
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
