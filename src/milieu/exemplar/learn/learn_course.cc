// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/learn/learn_course_internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/linalg/kernel.h"

namespace milieu::internal {

namespace {

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

// Mean size of each feature over all ordered pairs of all sets, the diagonals counting as 0.
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

// Where nothing would be left, nothing is screened off.
void choose_scale(const LearnInput& input, const ExemplarLearnOptions& options,
                  std::vector<char> is_kept, Course& course) {
  bool has_any = false, has_kept = false;
  for (size_t t = 0; t < course.means.size(); ++t) {
    has_any = has_any || course.means[t] > 0;
    has_kept = has_kept || (course.means[t] > 0 && is_kept[t] != 0);
  }
  require(has_any, "every candidate distance is the same for all pairs: there is nothing to learn");
  if (!has_kept) is_kept.assign(is_kept.size(), 1);
  for (const int64_t column : input.exemplar_columns) is_kept[column] = 0;
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

// Features of exemplars, after all others.
void add_own_costs(const LearnInput& input, const ExemplarLearnOptions& options, Course& course) {
  course.own = make_own_costs(input, options);
  for (size_t k = 0; k < input.sets.size() && !course.own.empty(); ++k)
    course.features[k] = make_own_cost_features(
        std::move(course.features[k]), std::move(course.own.features[k]), course.own.is_shared);
  course.means.resize(course.means.size() + course.own.names.size(), 0.0);
  course.scale.insert(course.scale.end(), course.own.scale.begin(), course.own.scale.end());
}

}  // namespace

// One that is trained starts low: the weights follow it up, and from a high one they would take
// thousands of rounds to grow to its scale.
double rule_penalty(const LearnInput& input, const ExemplarLearnOptions& options) {
  if (options.learn_penalty) return options.alpha > 0 ? 2 * options.alpha : options.beta;
  double samples = 0, clusters = 0;
  for (const LearnSet& set : input.sets) {
    samples += static_cast<double>(set.labels.size());
    clusters += num_clusters(set);
  }
  return std::max(2 * options.alpha, options.beta * samples / clusters / 2);
}

Course make_course(const LearnInput& input, const ExemplarLearnOptions& options,
                   std::vector<char> is_kept, Monitor& monitor) {
  Course course;
  course.form = check_learn_input(input, options);
  course.is_signed = options.signed_features;
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
  for (const int64_t column : input.exemplar_columns) is_kept[column] = 0;
  course.is_kept = is_kept;
  if (has_metrics) {
    add_metrics(input, options, is_kept, monitor, course);
    is_kept.resize(is_kept.size() + kNumMetrics, 1);
    if (course.features.empty()) return course;
  }
  course.means = feature_means(course.features, num_threads);
  choose_scale(input, options, std::move(is_kept), course);
  add_own_costs(input, options, course);
  return course;
}

}  // namespace milieu::internal
