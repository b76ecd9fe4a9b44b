// SPDX-License-Identifier: Apache-2.0
// From example sets to weights: candidates, their scales, the metrics beside them, training.
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
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/exemplar/learn/learn_metric_internal.h"
#include "milieu/linalg/kernel.h"

namespace milieu::internal {

namespace {

constexpr double kMeanDistance = 3;  // at the start
constexpr double kMinPenalty = 1.5;  // times alpha, where the penalty is learned

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
  std::optional<MetricCandidates> metrics;  // the last kNumMetrics features, where there are any
  std::vector<std::shared_ptr<PairFeatures>> features;  // of each set; empty if stopped
  std::vector<double> means;                            // over the pairs of all sets
  std::vector<double> scale;  // 0 for a constant feature and one that was screened off
  std::vector<char> is_kept;  // candidates that were not screened off
  double penalty = 0;         // at the start
  std::vector<std::string> warnings;

  size_t num_candidates() const {
    return means.size() - (metrics ? static_cast<size_t>(kNumMetrics) : 0);
  }
};

std::unique_ptr<PairFeatures> base_features(const LearnSet& set, const Course& course,
                                            double* budget, int num_threads, Monitor& monitor) {
  if (course.form == LearnForm::Coordinates) return make_coordinate_features(set.points);
  if (course.form == LearnForm::Precomputed) return make_matrix_features(set.matrices);
  return make_distance_features(set.points, course.candidates, budget, num_threads, monitor);
}

// The candidates themselves; no features when the monitor stops it.
void add_features(const LearnInput& input, const ExemplarLearnOptions& options, double* budget,
                  Monitor& monitor, Course& course) {
  for (size_t k = 0; k < input.sets.size() && !monitor.should_stop(); ++k)
    course.features.push_back(
        base_features(input.sets[k], course, budget, options.train.num_threads, monitor));
  if (monitor.should_stop()) course.features.clear();
}

// Full metrics of what is kept, as further features.
void add_metrics(const LearnInput& input, const ExemplarLearnOptions& options,
                 const std::vector<char>& is_kept, Monitor& monitor, Course& course) {
  course.metrics = fit_metrics(input, course.candidates, is_kept, options.train.seed,
                               options.train.num_threads, monitor);
  for (size_t k = 0; k < input.sets.size(); ++k)
    course.features[k] = make_joined_features(std::move(course.features[k]),
                                              std::move(course.metrics->distances[k]));
  if (monitor.should_stop()) course.features.clear();
}

// Mean of each feature over all ordered pairs of all sets, the diagonals counting as 0.
std::vector<double> feature_means(const std::vector<std::shared_ptr<PairFeatures>>& features,
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
    clusters += num_clusters(set);
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

// Memory for candidates and metrics; says so where it is too little for metrics.
double feature_budget(const LearnInput& input, const ExemplarLearnOptions& options,
                      bool& has_metrics, Course& course) {
  double budget = options.max_memory_gb * 1e9 - learn_memory_bytes(input.sets, options.precision);
  if (!can_fit_metrics(input, options)) return budget;
  const double bytes = metric_bytes(input.sets);
  has_metrics = budget >= bytes;
  if (has_metrics) return budget - bytes;
  course.warnings.push_back(fmt::format(
      "full metrics are left out: they take {:.2g} GB beside {:.2g} GB of distances and "
      "duals, max_memory_gb is {}",
      bytes / 1e9, options.max_memory_gb - budget / 1e9, options.max_memory_gb));
  return budget;
}

Course make_course(const LearnInput& input, const ExemplarLearnOptions& options,
                   std::vector<char> is_kept, Monitor& monitor) {
  Course course;
  course.form = check_learn_input(input, options);
  course.penalty = options.penalty > 0 ? options.penalty : rule_penalty(input, options);
  require(course.penalty > options.alpha, [&] {
    return fmt::format(
        "penalty is {}, alpha is {}: clusters of one sample would always be best; raise the "
        "penalty",
        course.penalty, options.alpha);
  });
  const int num_threads = options.train.num_threads;
  course.candidates = complete_candidates(input, num_threads);
  bool has_metrics = false;
  double budget = feature_budget(input, options, has_metrics, course);
  add_features(input, options, &budget, monitor, course);
  if (course.features.empty()) return course;
  if (is_kept.empty())
    is_kept = screen_features(course.features, input.sets, options.screening, options.train.seed);
  course.is_kept = is_kept;
  if (has_metrics) {
    add_metrics(input, options, is_kept, monitor, course);
    is_kept.resize(is_kept.size() + kNumMetrics, 1);
    if (course.features.empty()) return course;
  }
  course.means = feature_means(course.features, num_threads);
  choose_scale(course, options, std::move(is_kept));
  return course;
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

// Start, steps and constraints of the weights; the last one is the penalty where it is learned.
CrfTrainInput make_train_input(const std::vector<std::unique_ptr<CrfExample>>& examples,
                               const Course& course, const ExemplarLearnOptions& options) {
  CrfTrainInput train;
  for (const auto& example : examples) train.examples.push_back(example.get());
  double sum = 0;
  for (size_t t = 0; t < course.means.size(); ++t) sum += course.means[t] * course.scale[t];
  for (size_t t = 0; t < course.means.size(); ++t) {
    train.start.push_back(course.scale[t] > 0 ? kMeanDistance / sum : 0.0);
    train.step_scale.push_back(course.scale[t] > 0 ? 1 / (course.means[t] * course.scale[t]) : 0.0);
    train.is_priced.push_back(1);
  }
  train.groups = groups_of_features(course);
  if (!options.learn_penalty) return train;
  train.groups.push_back(static_cast<int>(train.groups.size()));
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

// A model without weights: what its candidates are.
LearnedDistance make_model(const LearnInput& input, const Course& course) {
  LearnedDistance model;
  const auto count = static_cast<int64_t>(course.num_candidates());
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
  }
  return all;
}

void add_learned(const Course& course, const ExemplarLearnOptions& options, const Monitor& monitor,
                 TrainedDistance& trained) {
  const size_t count = course.num_candidates();
  std::vector<double> weights;  // of all features, as given
  for (size_t t = 0; t < course.scale.size(); ++t)
    weights.push_back(trained.training.weights[t] * course.scale[t]);
  LearnedDistance& model = trained.model;
  model.weights.assign(weights.begin(), weights.begin() + static_cast<int64_t>(count));
  model.penalty = options.learn_penalty ? trained.training.weights.back() : course.penalty;
  if (course.metrics) {
    model.metric = joined_projection(*course.metrics, std::span(weights).subspan(count));
    if (!model.metric.empty()) model.metric_roots = course.metrics->space.is_root;
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
  for (size_t t = 0; t < course.num_candidates(); ++t)
    if (course.means[t] > 0)
      weights[t] = kMeanDistance / (course.means[t] * static_cast<double>(course.num_candidates()));
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
    trained.training =
        train_latent_crf(make_train_input(examples, course, options), options.train, monitor);
  }  // the memory of the duals is free for the distances
  if (trained.training.rounds.empty()) return std::nullopt;
  trained.model = trained.average = make_model(input, course);
  add_learned(course, options, monitor, trained);
  if (options.validations > 0) add_average(input, course, options, monitor, trained);
  if (options.validations > 0 && course.metrics && !monitor.should_stop())
    add_known(input, course, trained);
  trained.means = course.means;
  trained.scale = course.scale;
  trained.is_kept = course.is_kept;
  trained.warnings = course.warnings;
  return trained;
}

}  // namespace milieu::internal
