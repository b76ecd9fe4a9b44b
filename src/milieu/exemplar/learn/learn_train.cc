// SPDX-License-Identifier: Apache-2.0
// From a course (learn_course_internal.h) to weights and a model.
// Problem and symbols: learn.cc.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/exemplar/learn/cluster_example_internal.h"
#include "milieu/exemplar/learn/learn_course_internal.h"

namespace milieu::internal {

namespace {

constexpr double kMeanDistance = 3;  // at the start
constexpr double kMinPenalty = 1.5;  // times alpha, where the penalty is learned
constexpr double kLeastPenalty = 1e-3;

std::vector<std::string> candidate_names(const LearnInput& input, LearnForm form, int64_t count) {
  std::vector<std::string> names = input.names;
  for (const CandidateDistance& candidate : input.candidates)
    if (form == LearnForm::Distances && input.names.empty()) names.push_back(candidate.name);
  for (int64_t t = static_cast<int64_t>(names.size()); t < count; ++t)
    names.push_back(fmt::format("{} {}", form == LearnForm::Precomputed ? "matrix" : "column", t));
  return names;
}

std::vector<std::unique_ptr<CrfExample>> make_examples(const LearnInput& input,
                                                       const ExemplarLearnOptions& options,
                                                       const Course& course, Monitor& monitor) {
  const ClusterExampleOptions example{options.alpha, options.beta, course.penalty,
                                      options.learn_penalty, options.train.num_threads};
  const auto make = options.precision == LearnPrecision::Single ? make_cluster_example
                                                                : make_exact_cluster_example;
  std::vector<std::unique_ptr<CrfExample>> examples;
  for (size_t k = 0; k < course.features.size(); ++k)
    examples.push_back(
        make(course.features[k], input.sets[k].labels, course.scale, example, monitor));
  return examples;
}

// Of group lasso: the distances of one feature's columns are one group, everything else is by
// itself.
std::vector<int> groups_of_features(const Course& course) {
  std::vector<int> groups;
  std::map<std::pair<int64_t, int64_t>, int> group_of_columns;
  for (size_t t = 0; t < course.means.size(); ++t) {
    const int next = static_cast<int>(t);
    const bool is_candidate = t < course.candidates.size();
    groups.push_back(is_candidate ? group_of_columns
                                        .emplace(std::pair(course.candidates[t].first_column,
                                                           course.candidates[t].num_columns),
                                                 next)
                                        .first->second
                                  : next);
  }
  return groups;
}

// The caller's projection is one of the candidates' weights, the options' one of all weights of
// pairs. Empty where the trainer's own will do: weights of pairs and nothing else, by the options.
CrfProjection make_projection(const LearnInput& input, const Course& course,
                              const ExemplarLearnOptions& options) {
  if (!options.learn_penalty && course.own.names.empty() && !input.project) return {};
  const CrfTrainOptions rule = options.train;
  const double least =
      options.learn_penalty ? std::max(kMinPenalty * options.alpha, kLeastPenalty) : -INFINITY;
  const size_t of_pairs = course.means.size() - course.own.names.size();
  const size_t candidates = course.num_candidates();
  const CrfProjection own = input.project;
  return [=](std::span<double> w) {
    std::span<double> weights = w.first(of_pairs);
    if (own) {
      own(w.first(candidates));
      project_non_negative(weights.subspan(candidates));
    } else {
      if (rule.constraint == CrfConstraint::NonNegative) project_non_negative(weights);
      if (rule.constraint == CrfConstraint::Box) project_box(weights, rule.box_low, rule.box_high);
      if (rule.constraint == CrfConstraint::Simplex) project_simplex(weights);
    }
    if (std::isfinite(least)) w.back() = std::max(w.back(), least);
  };
}

// The caller's price of the candidates' weights; metrics and features of exemplars cost their l1
// norm, a learned penalty nothing.
CrfPrice make_price(const CrfPrice& price, const Course& course) {
  const size_t candidates = course.num_candidates(), priced = course.means.size();
  return [=](std::span<const double> w, std::span<double> slope) {
    double sum = price(w.first(candidates), slope.first(candidates));
    for (size_t t = candidates; t < priced; ++t) {
      sum += std::abs(w[t]);
      slope[t] = w[t] < 0 ? -1 : 1;
    }
    return sum;
  };
}

// Start, steps and constraints of the weights; the last one is the penalty where it is learned.
CrfTrainInput make_train_input(const LearnInput& input,
                               const std::vector<std::unique_ptr<CrfExample>>& examples,
                               const Course& course, const ExemplarLearnOptions& options) {
  CrfTrainInput train;
  for (const auto& example : examples) train.examples.push_back(example.get());
  double sum = 0;
  for (size_t t = 0; t < course.means.size(); ++t) sum += course.means[t] * course.scale[t];
  for (size_t t = 0; t < course.means.size(); ++t) {
    const bool is_used = course.scale[t] > 0, is_own = course.is_own(t);
    train.start.push_back(is_used && !is_own ? kMeanDistance / sum : 0.0);
    train.step_scale.push_back(!is_used ? 0.0
                               : is_own ? 1
                                        : 1 / (course.means[t] * course.scale[t]));
    train.is_priced.push_back(1);
  }
  train.groups = groups_of_features(course);
  if (options.learn_penalty) {
    train.groups.push_back(static_cast<int>(train.groups.size()));
    train.start.push_back(course.penalty);
    train.step_scale.push_back(1);
    train.is_priced.push_back(0);
  }
  train.project = make_projection(input, course, options);
  if (input.price) train.price = make_price(input.price, course);
  return train;
}

// A model without weights: what its candidates are.
LearnedDistance make_model(const LearnInput& input, const Course& course) {
  LearnedDistance model;
  const auto count = static_cast<int64_t>(course.num_candidates());
  model.form = course.form == LearnForm::Coordinates ? "coordinates"
               : course.form == LearnForm::Distances ? "distances"
                                                     : "precomputed";
  if (course.is_signed) model.is_signed = {1};
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

// Distances of every set under weights of all features, as given.
std::vector<Matrix<float>> costs_of(const Course& course, const std::vector<double>& weights,
                                    int num_threads, const Monitor& monitor) {
  std::vector<Matrix<float>> all;
  for (const auto& features : course.features) {
    features->set_weights(weights);
    Matrix<float>& costs = all.emplace_back(features->num_samples(), features->num_samples());
    parallel_for(costs.rows(), 64, num_threads, [&](const Block& block) {
      if (!monitor.should_stop())
        features->rows(block.begin, costs.view().rows_between(block.begin, block.end));
    });
    if (course.own.empty()) continue;
    std::vector<double> own(costs.rows(), 0.0);
    features->add_own(own);
    for (int64_t q = 0; q < costs.rows(); ++q) costs(q, q) = static_cast<float>(own[q]);
  }
  return all;
}

void add_learned(const LearnInput& input, const Course& course, const ExemplarLearnOptions& options,
                 const Monitor& monitor, TrainedDistance& trained) {
  const size_t count = course.num_candidates();
  std::vector<double> weights;  // of all features, as given
  for (size_t t = 0; t < course.scale.size(); ++t)
    weights.push_back(trained.training.weights[t] * course.scale[t]);
  LearnedDistance& model = trained.model;
  model.weights.assign(weights.begin(), weights.begin() + static_cast<int64_t>(count));
  model.penalty = options.learn_penalty ? trained.training.weights.back() : course.penalty;
  if (course.metrics) {
    model.metric = joined_projection(
        *course.metrics, std::span(weights).subspan(count, static_cast<size_t>(kNumMetrics)));
    if (!model.metric.empty()) model.metric_roots = course.metrics->space.is_root;
  }
  if (course.own.is_shared) model.diagonal_factor = {1};
  if (!course.own.names.empty()) {
    model.exemplar_weights.assign(weights.end() - std::ssize(course.own.names), weights.end());
    model.exemplar_means = course.own.means;
    model.exemplar_names = fmt::format("{}", fmt::join(course.own.names, "\n"));
    model.exemplar_columns = input.exemplar_columns;
  }
  double sum = 0, of_metrics = 0;
  for (size_t t = 0; t < weights.size(); ++t) {
    const double share = std::abs(weights[t] * course.means[t]);
    sum += share;
    if (t >= count) of_metrics += share;
  }
  trained.metric_share = sum > 0 ? of_metrics / sum : 0;
  if (options.calibrate || options.validations > 0)
    trained.costs = costs_of(course, weights, options.train.num_threads, monitor);
}

double mean_cost(const std::vector<Matrix<float>>& costs) {
  double sum = 0, pairs = 0;
  for (const Matrix<float>& each : costs) {
    for (int64_t i = 0; i < each.size(); ++i) sum += each.data()[i];
    pairs += static_cast<double>(each.size());
  }
  return sum / pairs;
}

void add_known(const LearnInput& input, const Course& course, TrainedDistance& trained) {
  KnownFit fit = choose_known(*course.metrics, input);
  LearnedDistance model = trained.average;  // the candidates, without a metric
  model.penalty = course.penalty;
  model.metric_roots = course.metrics->space.is_root;
  model.known = std::move(fit.clusters);
  const double scale = mean_cost(fit.costs) / kMeanDistance;
  model.known.penalty = {scale > 0 ? course.penalty * scale : course.penalty};
  trained.known = std::move(model);
  trained.known_is_nearer = fit.nearest_share > nearest_share(trained.costs, input.sets);
  trained.known_costs = std::move(fit.costs);
}

void add_average(const LearnInput& input, const Course& course, ExemplarLearnOptions options,
                 const Monitor& monitor, TrainedDistance& trained) {
  std::vector<double> weights(course.means.size(), 0.0);
  const double num_averaged =
      static_cast<double>(course.num_candidates() - input.exemplar_columns.size());
  for (size_t t = 0; t < course.num_candidates(); ++t)
    if (course.means[t] > 0) weights[t] = kMeanDistance / (course.means[t] * num_averaged);
  for (const int64_t column : input.exemplar_columns) weights[column] = 0;
  const auto count = static_cast<int64_t>(course.num_candidates());
  trained.average.weights.assign(weights.begin(), weights.begin() + count);
  options.learn_penalty = false;
  trained.average.penalty = rule_penalty(input, options);
  trained.average_costs = costs_of(course, weights, options.train.num_threads, monitor);
}

}  // namespace

std::optional<TrainedDistance> train_distance(const LearnInput& input,
                                              const ExemplarLearnOptions& options, Monitor& monitor,
                                              std::vector<char> is_kept) {
  const Course course = make_course(input, options, std::move(is_kept), monitor);
  if (course.features.empty()) return std::nullopt;
  TrainedDistance trained;
  {
    const auto examples = make_examples(input, options, course, monitor);
    trained.training = train_latent_crf(make_train_input(input, examples, course, options),
                                        options.train, monitor);
  }  // the memory of the duals is free for the distances
  if (trained.training.rounds.empty()) return std::nullopt;
  trained.model = trained.average = make_model(input, course);
  add_learned(input, course, options, monitor, trained);
  if (options.validations > 0) add_average(input, course, options, monitor, trained);
  if (options.validations > 0 && course.metrics && !has_own_costs(trained.model) &&
      !monitor.should_stop())
    add_known(input, course, trained);
  trained.means = course.means;
  trained.scale = course.scale;
  trained.is_kept = course.is_kept;
  trained.warnings = course.warnings;
  return trained;
}

}  // namespace milieu::internal
