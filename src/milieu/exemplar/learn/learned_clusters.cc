// SPDX-License-Identifier: Apache-2.0
// Problem: clusters of new samples under a learned distance, their number unknown.
// Method: exemplars [Komodakis11, Eq. 1], or the normalized cut of the graph of nearest neighbours,
//   the learned distance taken as a squared one. Its number of parts is that of the exemplars, or:
//   cross-validation finds below which distance a pair rather belongs together, whatever the size
//   of the set; of the numbers of parts that score within kNearBest of the best by it, the widest
//   eigengap decides.
// See: docs/algorithms/exemplar_learn.md; docs/experiments/exemplar_learn.md (how the constants
//   were chosen, and what else was tried).
#include "milieu/exemplar/learn/learned_clusters_internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/exemplar/learn/learn_internal.h"

namespace milieu {

namespace internal {

namespace {

constexpr int kNeighbors = 10;
constexpr int kScaleNeighbor = 3;
constexpr int kRestarts = 4;
constexpr double kNearBest = 0.1;
constexpr int kMaxParts = 60;

std::vector<std::vector<int>> members_of(const std::vector<int>& labels) {
  std::vector<std::vector<int>> members(1 + *std::max_element(labels.begin(), labels.end()));
  for (size_t p = 0; p < labels.size(); ++p) members[labels[p]].push_back(static_cast<int>(p));
  return members;
}

}  // namespace

ScoredCuts score_cuts(FloatView costs, int num_clusters, uint64_t seed, int num_threads,
                      Monitor& monitor) {
  const int n = static_cast<int>(costs.rows());
  NcutOptions options;
  options.num_neighbors = kNeighbors;
  options.scale_neighbor = kScaleNeighbor;
  options.num_restarts = kRestarts;
  options.seed = seed;
  options.num_threads = num_threads;
  const int first = num_clusters > 0 ? num_clusters : std::min(2, n);
  const int last = num_clusters > 0 ? num_clusters : std::max(first, std::min(kMaxParts, n / 2));
  ScoredCuts cuts;
  cuts.path = cut_path(costs, first, last, options, monitor);
  for (int64_t p = 0; p < n; ++p)
    for (int64_t q = 0; q < n; ++q) cuts.mean += p == q ? 0.0 : costs(p, q);
  cuts.mean /= std::max(1.0, static_cast<double>(n) * (n - 1));
  for (const std::vector<int>& labels : cuts.path.labels) {
    double pairs = 0, inside = 0;
    for (const std::vector<int>& part : members_of(labels)) {
      pairs += static_cast<double>(part.size()) * static_cast<double>(part.size());
      for (const int p : part)
        for (const int q : part) inside += p == q ? 0.0 : costs(p, q);
    }
    cuts.pairs.push_back(pairs);
    cuts.inside.push_back(inside);
  }
  return cuts;
}

size_t choose_cut(const ScoredCuts& cuts, const std::vector<double>& same_cluster) {
  const std::vector<double>& gaps = cuts.path.gaps;
  std::vector<double> scores;
  for (size_t i = 0; i < gaps.size(); ++i)
    scores.push_back(
        same_cluster.empty() ? 0.0 : same_cluster[0] * cuts.mean * cuts.pairs[i] - cuts.inside[i]);
  const double best = *std::max_element(scores.begin(), scores.end());
  size_t chosen = scores.size();
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] < best - kNearBest * std::abs(best)) continue;
    if (chosen == scores.size() || gaps[i] > gaps[chosen]) chosen = i;
  }
  return chosen;
}

double penalty_growth(const LearnedDistance& model, int64_t n) {
  if (model.penalty_rule.empty()) return 1;
  return std::pow(static_cast<double>(n) / model.penalty_rule[0], model.penalty_rule[1]);
}

ExemplarResult quick_exemplars(FloatView costs, double penalty, double own_factor, int num_threads,
                               Monitor& monitor) {
  ExemplarInput input;
  input.costs = costs;
  std::vector<double> penalties;
  for (int64_t q = 0; q < costs.rows() && own_factor != 0; ++q)
    penalties.push_back(penalty + own_factor * costs(q, q));
  input.penalties = penalties;
  ExemplarOptions options;
  options.distance = Distance::Precomputed;
  options.rel_gap = 1e-3;
  options.penalty = to_text(FieldValue(penalty));
  options.num_threads = num_threads;
  return fit_exemplar(input, options, monitor);
}

}  // namespace internal

namespace {

bool is_default_penalty(const ExemplarOptions& options) {
  return options.penalty == ExemplarOptions().penalty;
}

void use_model_penalty(const LearnedDistance& model, int64_t n, ExemplarOptions& options) {
  if (is_default_penalty(options)) options.penalty = to_text(FieldValue(penalty_for(model, n)));
}

// The exemplars are rows of INPUT under a distance that predict() does not know.
ExemplarResult fit_costs(FloatView costs, ExemplarOptions options, Monitor& monitor,
                         std::span<const double> penalties = {}) {
  options.distance = Distance::Precomputed;
  options.grouping = ExemplarGrouping::Exemplars;
  ExemplarInput input;
  input.costs = costs;
  input.penalties = penalties;
  return fit_exemplar(input, options, monitor);
}

// What exemplars cost one by one: as given, as learned, or empty where all cost the same: where
// nothing else was learned, or where the caller gave one penalty or their number.
template <class Data>
std::vector<double> chosen_penalties(const LearnedDistance& model, const Data& data,
                                     const ExemplarOptions& options, const ExemplarCosts& costs) {
  if (!costs.penalties.empty()) return {costs.penalties.begin(), costs.penalties.end()};
  const bool is_one = !is_default_penalty(options) || options.num_clusters > 0;
  if (is_one || !has_own_costs(model)) {
    require(costs.features.empty() || has_own_costs(model),
            "features of exemplars are given, but the model has learned none: leave them out");
    return {};
  }
  return exemplar_penalties(model, data, costs.features);
}

// True for a cut; `why_not` says why one that was chosen in training is not made.
bool is_cut(const LearnedDistance& model, int64_t n, const ExemplarOptions& options,
            const ExemplarCosts& costs, std::string& why_not) {
  require(costs.penalties.empty() || options.grouping != ExemplarGrouping::Cut,
          "penalties are given and grouping is cut, which has no penalty: leave one out");
  if (!costs.penalties.empty()) return false;
  if (options.grouping == ExemplarGrouping::Exemplars || !is_default_penalty(options)) {
    require(options.grouping != ExemplarGrouping::Cut, [&] {
      return fmt::format("penalty is {} and grouping is cut, which has no penalty: leave one out",
                         options.penalty);
    });
    return false;
  }
  const bool is_asked = options.grouping == ExemplarGrouping::Cut;
  // With a known number of clusters the cut was better on every set that was measured.
  const bool is_told = options.num_clusters > 0 && !model.grouping.empty();
  if (!is_asked && !is_told && model.grouping != "cut") return false;
  const double gigabytes = sizeof(float) * static_cast<double>(n) * static_cast<double>(n) / 1e9;
  if (gigabytes <= options.max_memory_gb) return true;
  why_not = fmt::format("the distances of {} take {:.1f} GB, max_memory_gb is {}",
                        counted(n, "sample"), gigabytes, options.max_memory_gb);
  require(!is_asked, [&] { return why_not + ": raise it, or group by exemplars"; });
  return false;
}

// The sample of each part with the least sum of costs to the others, ascending; labels follow.
std::vector<int64_t> take_medoids(FloatView costs, std::vector<int>& labels) {
  const int parts = 1 + *std::max_element(labels.begin(), labels.end());
  std::vector<std::vector<int>> members(parts);
  for (size_t p = 0; p < labels.size(); ++p) members[labels[p]].push_back(static_cast<int>(p));
  std::vector<std::pair<int64_t, int>> medoids;
  for (int c = 0; c < parts; ++c) {
    double least = INFINITY;
    int best = members[c][0];
    for (const int q : members[c]) {
      double sum = 0;
      for (const int p : members[c]) sum += p == q ? 0.0 : costs(p, q);
      if (sum < least) least = sum, best = q;
    }
    medoids.emplace_back(best, c);
  }
  std::sort(medoids.begin(), medoids.end());
  std::vector<int> place(parts);
  std::vector<int64_t> rows;
  for (const auto& [row, part] : medoids) {
    place[part] = static_cast<int>(rows.size());
    rows.push_back(row);
  }
  for (int& label : labels) label = place[label];
  return rows;
}

void describe_cut(ExemplarResult& result) {
  RunSummary& summary = result.summary;
  summary.objective = result.energy;
  summary.trace = {result.energy};
  set_sizes(summary, result.labels, static_cast<int>(result.model.rows.size()));
  summary.message = fmt::format(
      "cut into {}; the distances to their exemplars sum to {:.3g} % more than the lower bound for "
      "as many exemplars",
      counted(result.model.rows.size(), "part"), 100 * result.gap);
  for (auto& [name, value] : summary.extra) {
    if (name == "energy") value = result.energy;
    if (name == "gap") value = result.gap;
    if (name == "exemplars") value = result.model.rows;
  }
  summary.extra.emplace_back("grouping", std::string("cut"));
}

ExemplarResult fit_cut(const LearnedDistance& model, FloatView costs, ExemplarOptions options,
                       Monitor& monitor) {
  const Stopwatch watch;
  int count = options.num_clusters;
  if (count == 0 && model.same_cluster.empty())
    count = static_cast<int>(internal::quick_exemplars(costs, penalty_for(model, costs.rows()), 0,
                                                       options.num_threads, monitor)
                                 .model.rows.size());
  const internal::ScoredCuts cuts =
      internal::score_cuts(costs, count, options.seed, options.num_threads, monitor);
  if (cuts.path.labels.empty()) {  // stopped
    use_model_penalty(model, costs.rows(), options);
    return fit_costs(costs, options, monitor);
  }
  std::vector<int> labels = cuts.path.labels[internal::choose_cut(cuts, model.same_cluster)];
  std::vector<int64_t> rows = take_medoids(costs, labels);
  options.num_clusters = static_cast<int>(rows.size());
  ExemplarResult result = fit_costs(costs, options, monitor);
  result.labels = std::move(labels);
  result.model.rows = std::move(rows);
  result.energy = 0;
  for (size_t p = 0; p < result.labels.size(); ++p) {
    const int64_t q = result.model.rows[result.labels[p]];
    if (q != static_cast<int64_t>(p)) result.energy += costs(static_cast<int64_t>(p), q);
  }
  result.num_fixed_open = result.num_fixed_closed = 0;
  result.gap =
      result.energy > result.lower_bound
          ? (result.energy - result.lower_bound) / std::max(std::abs(result.lower_bound), 1e-300)
          : 0.0;
  describe_cut(result);
  result.summary.seconds = watch.seconds();
  return result;
}

ExemplarResult fit_any(const LearnedDistance& model, FloatView costs, ExemplarOptions options,
                       Monitor& monitor, std::span<const double> penalties) {
  use_model_penalty(model, costs.rows(), options);
  ExemplarResult result = fit_costs(costs, options, monitor, penalties);
  result.summary.extra.emplace_back("grouping", std::string("exemplars"));
  return result;
}

// Where the learned distance is a squared Euclidean one, no matrix is needed.
ExemplarResult fit_weighted(const LearnedDistance& model, FloatView points, ExemplarOptions options,
                            Monitor& monitor, std::span<const double> penalties) {
  use_model_penalty(model, points.rows(), options);
  const Matrix<float> weighted = apply_weights(model, points, options.num_threads);
  options.distance = Distance::SquaredEuclidean;
  options.grouping = ExemplarGrouping::Exemplars;
  ExemplarInput input;
  input.points = weighted;
  input.penalties = penalties;
  ExemplarResult result = fit_exemplar(input, options, monitor);
  // Their features would be taken for those of plain points: only the rows say what they are.
  result.model.exemplars = Matrix<float>();
  result.model.distance = "learned";
  result.summary.extra.emplace_back("grouping", std::string("exemplars"));
  return result;
}

}  // namespace

double penalty_for(const LearnedDistance& model, int64_t n) {
  return model.penalty * internal::penalty_growth(model, n);
}

namespace {

// Under one distance, without a choice between two.
ExemplarResult fit_points(const LearnedDistance& model, FloatView points, ExemplarOptions options,
                          Monitor& monitor, const ExemplarCosts& own) {
  std::string why_not;
  if (is_cut(model, points.rows(), options, own, why_not)) {
    const Matrix<float> costs = learned_costs(model, points, points, options.num_threads, monitor);
    return fit_cut(model, costs, options, monitor);
  }
  const std::vector<double> penalties = chosen_penalties(model, points, options, own);
  const bool is_euclidean =
      model.form == "coordinates" &&
      std::all_of(model.weights.begin(), model.weights.end(), [](double w) { return w >= 0; });
  ExemplarResult result =
      is_euclidean
          ? fit_weighted(model, points, options, monitor, penalties)
          : fit_any(model, learned_costs(model, points, points, options.num_threads, monitor),
                    options, monitor, penalties);
  if (!why_not.empty())
    result.summary.warnings.push_back(why_not + ": grouped by exemplars instead of the cut");
  return result;
}

void describe_known(const KnownCheck& check, bool is_used, RunSummary& summary) {
  summary.extra.emplace_back("known_clusters", is_used);
  summary.extra.emplace_back("distance_to_known", check.distance);
  summary.extra.emplace_back("limit_of_known", check.limit);
  summary.message += fmt::format(
      "; the samples are {:.3g} from the centers of the training clusters, the limit is {:.3g}: {}",
      check.distance, check.limit,
      is_used ? "separated along the axes of these clusters"
              : "under the distance for any clusters");
}

}  // namespace

ExemplarResult fit_learned_exemplar(const LearnedDistance& model, FloatView points,
                                    ExemplarOptions options, Monitor& monitor,
                                    const ExemplarCosts& own) {
  const bool is_known = model.known.serves("clusters") && options.known_clusters != KnownSet::No;
  require(is_known || options.known_clusters != KnownSet::Yes,
          "known_clusters is yes, but the distance was learned without them: learn it with "
          "--metric and --validations, or take auto");
  if (!is_known) return fit_points(model, points, options, monitor, own);
  const KnownCheck check = compare_with_known(model, points, options.num_threads);
  const bool is_used = options.known_clusters == KnownSet::Yes || check.holds_known();
  ExemplarResult result =
      fit_points(is_used ? known_distance(model) : model, points, options, monitor, own);
  describe_known(check, is_used, result.summary);
  return result;
}

ExemplarResult fit_learned_exemplar(const LearnedDistance& model,
                                    const std::vector<FloatView>& matrices, ExemplarOptions options,
                                    Monitor& monitor, const ExemplarCosts& own) {
  const Matrix<float> costs = learned_costs(model, matrices);
  std::string why_not;
  if (is_cut(model, costs.rows(), options, own, why_not))
    return fit_cut(model, costs, options, monitor);
  return fit_any(model, costs, options, monitor, chosen_penalties(model, matrices, options, own));
}

}  // namespace milieu
