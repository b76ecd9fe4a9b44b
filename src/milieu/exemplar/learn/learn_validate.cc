// SPDX-License-Identifier: Apache-2.0
// Which distance and which grouping are used, by cross-validation on the training clusterings.
// Conventions: halves are drawn from a stream of their own; both halves of a set must have two
//   clusters, one of them with two samples, or there is no validation.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/exemplar/learn/learned_clusters_internal.h"
#include "milieu/exemplar/metric/learn_metric_internal.h"
#include "milieu/metrics/metrics.h"

namespace milieu::internal {

namespace {

constexpr int64_t kMinSamples = 40;  // in total

// Some samples of a set, as a set of their own.
struct OwnSet {
  Matrix<float> points;
  std::vector<Matrix<float>> matrices;
  Matrix<float> exemplar_features;
  std::vector<int> labels;

  LearnSet view() const {
    LearnSet set{points, labels, {}, exemplar_features};
    for (const Matrix<float>& matrix : matrices) set.matrices.push_back(matrix);
    return set;
  }
};

Matrix<float> gather(FloatView all, const std::vector<int>& rows) {
  if (all.empty()) return {};
  Matrix<float> taken(std::ssize(rows), all.cols());
  for (int64_t i = 0; i < taken.rows(); ++i)
    std::copy_n(all.row(rows[i]), all.cols(), taken.row(i));
  return taken;
}

OwnSet take_rows(const LearnSet& set, const std::vector<int>& rows) {
  OwnSet own;
  const int64_t n = std::ssize(rows);
  std::vector<int> number(num_clusters(set), -1);
  int next = 0;
  for (const int p : rows) {
    int& label = number[set.labels[p]];
    if (label < 0) label = next++;
    own.labels.push_back(label);
  }
  own.points = gather(set.points, rows);
  own.exemplar_features = gather(set.exemplar_features, rows);
  for (const FloatView matrix : set.matrices) {
    Matrix<float>& part = own.matrices.emplace_back(n, n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) part(i, j) = matrix(rows[i], rows[j]);
  }
  return own;
}

using Halves = std::array<std::vector<OwnSet>, 2>;

// Half of every cluster each; of odd clusters in turn to one and the other.
Halves halve_samples(const LearnSet& set, Random random) {
  std::vector<std::vector<int>> members(num_clusters(set));
  for (size_t p = 0; p < set.labels.size(); ++p)
    members[set.labels[p]].push_back(static_cast<int>(p));
  std::array<std::vector<int>, 2> rows;
  size_t turn = 0;
  for (std::vector<int>& each : members) {
    random.shuffle(std::span(each));
    for (size_t i = 0; i < each.size(); ++i) rows[(i + turn) % 2].push_back(each[i]);
    turn += each.size();
  }
  Halves halves;
  for (size_t h = 0; h < 2; ++h) {
    std::sort(rows[h].begin(), rows[h].end());
    halves[h].push_back(take_rows(set, rows[h]));
  }
  return halves;
}

Halves halve_sets(const std::vector<LearnSet>& sets, Random random) {
  std::vector<size_t> order(sets.size());
  for (size_t k = 0; k < order.size(); ++k) order[k] = k;
  random.shuffle(std::span(order));
  std::sort(order.begin(), order.begin() + static_cast<int64_t>(order.size() / 2));
  Halves halves;
  for (size_t i = 0; i < order.size(); ++i) {
    const LearnSet& set = sets[order[i]];
    std::vector<int> rows(set.labels.size());
    for (size_t p = 0; p < rows.size(); ++p) rows[p] = static_cast<int>(p);
    halves[i < order.size() / 2 ? 0 : 1].push_back(take_rows(set, rows));
  }
  return halves;
}

bool teaches(const OwnSet& set) {
  const int clusters =
      set.labels.empty() ? 0 : 1 + *std::max_element(set.labels.begin(), set.labels.end());
  return clusters > 1 && clusters < std::ssize(set.labels);
}

// One distance on all held-out halves.
struct HeldOut {
  std::vector<double> exemplars;            // accuracy of each half
  std::vector<HeldOutCuts> cuts;            // of all sets of all halves, and parts of them
  std::vector<std::vector<size_t>> wholes;  // per half: the places of its sets in `cuts`
  std::vector<std::vector<double>> sizes;   // likewise, their samples
  std::vector<std::vector<int>> counts;     // likewise, their exemplars

  // Of each half: cuts into as many parts as the rule says or, without one, as there are exemplars.
  std::vector<double> cut_accuracies(const std::vector<double>& same_cluster) const {
    std::vector<double> all;
    for (size_t h = 0; h < wholes.size(); ++h) {
      double right = 0, total = 0;
      for (size_t i = 0; i < wholes[h].size(); ++i) {
        const HeldOutCuts& each = cuts[wholes[h][i]];
        right += sizes[h][i] * (same_cluster.empty() ? each.accuracy_of(counts[h][i])
                                                     : each.accuracy(same_cluster));
        total += sizes[h][i];
      }
      all.push_back(right / total);
    }
    return all;
  }
};

// Of all rounds, in their order.
HeldOut joined(std::vector<HeldOut> rounds) {
  HeldOut all;
  for (HeldOut& each : rounds) {
    const size_t first = all.cuts.size();
    for (std::vector<size_t>& wholes : each.wholes) {
      for (size_t& place : wholes) place += first;
      all.wholes.push_back(std::move(wholes));
    }
    std::ranges::move(each.exemplars, std::back_inserter(all.exemplars));
    std::ranges::move(each.cuts, std::back_inserter(all.cuts));
    std::ranges::move(each.sizes, std::back_inserter(all.sizes));
    std::ranges::move(each.counts, std::back_inserter(all.counts));
  }
  return all;
}

// True where all rounds fit into the memory at once. Sets are small then, and threads that share
// the rounds wait for each other far less than threads that share the rows of each set.
bool fit_together(const LearnInput& input, const ExemplarLearnOptions& options, int64_t rounds) {
  const double candidates =
      static_cast<double>(std::max(input.candidates.size(), input.sets[0].matrices.size()));
  double bytes = learn_memory_bytes(input.sets, options.precision) + metric_bytes(input.sets);
  for (const LearnSet& set : input.sets) {
    const double n = static_cast<double>(set.labels.size());
    bytes += sizeof(float) * (n * static_cast<double>(set.points.cols()) + candidates * n * n);
  }
  return bytes * static_cast<double>(rounds) / 2 <= options.max_memory_gb * 1e9;
}

// Clusters a half under what was learned from the other one.
void add_half(const LearnedDistance& model, const std::vector<OwnSet>& half,
              const ExemplarLearnOptions& options, Monitor& monitor, HeldOut& out) {
  const int num_threads = options.train.num_threads;
  double total = 0, right = 0;
  out.wholes.emplace_back();
  out.sizes.emplace_back();
  out.counts.emplace_back();
  for (const OwnSet& set : half) {
    const LearnSet view = set.view();
    Matrix<float> costs = view.matrices.empty()
                              ? learned_costs(model, view.points, view.points, num_threads, monitor)
                              : learned_costs(model, view.matrices);
    const bool has_own = has_own_costs(model);
    if (has_own) put_own_costs(model, view.points, view.matrices, view.exemplar_features, costs);
    const double n = static_cast<double>(set.labels.size());
    const ExemplarResult found =
        quick_exemplars(costs, penalty_for(model, costs.rows()),
                        has_own ? penalty_growth(model, costs.rows()) : 0.0, num_threads, monitor);
    total += n;
    right += n * compute_metrics(found.labels, set.labels).accuracy;
    out.wholes.back().push_back(out.cuts.size());
    out.sizes.back().push_back(n);
    out.counts.back().push_back(static_cast<int>(found.model.rows.size()));
    add_held_out_cuts(costs, set.labels, options.train.seed, num_threads, monitor, out.cuts);
    if (monitor.should_stop()) return;
  }
  out.exemplars.push_back(right / total);
}

// The three distances, all on the same halves.
struct Rivals {
  HeldOut learned, average, known;  // known: empty where there are no known clusters
};

// One direction.
void validate_half(const LearnInput& input, const std::vector<OwnSet>& train,
                   const std::vector<OwnSet>& test, const ExemplarLearnOptions& options,
                   const std::vector<char>& is_kept, Monitor& monitor, Rivals& out) {
  LearnInput part = input;
  part.sets.clear();
  for (const OwnSet& set : train) part.sets.push_back(set.view());
  Monitor quiet = monitor;  // can be asked to stop, but gets no reports
  auto trained = train_distance(part, options, quiet, is_kept);
  if (!trained) return;
  const auto add = [&](LearnedDistance model, const std::vector<Matrix<float>>& costs,
                       bool is_learned, HeldOut& each) {
    const bool is_given = options.penalty > 0 && !options.learn_penalty && is_learned;
    if (options.calibrate && !is_given && !monitor.should_stop())
      calibrate_penalty(part.sets, costs, options.train.seed, options.train.num_threads, quiet,
                        model);
    if (!monitor.should_stop()) add_half(model, test, options, quiet, each);
  };
  add(std::move(trained->model), trained->costs, true, out.learned);
  add(std::move(trained->average), trained->average_costs, false, out.average);
  if (trained->known) add(known_distance(*trained->known), trained->known_costs, false, out.known);
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value / static_cast<double>(values.size());
  return sum;
}

// How the number of parts is found: LearnedDistance::same_cluster.
std::vector<double> better_rule(const HeldOut& all) {
  const std::vector<double> rule = best_same_cluster(all.cuts);
  const bool exemplars_count = mean_of(all.cut_accuracies({})) > mean_of(all.cut_accuracies(rule));
  return exemplars_count ? std::vector<double>{} : rule;
}

// Whether the known clusters are ahead of what is used for others.
void compare_known(const HeldOut& known, Validation& v) {
  const double reached = v.uses_average ? std::max(v.average_exemplars, v.average_cut)
                                        : std::max(v.learned_exemplars, v.learned_cut);
  v.known_same_cluster = better_rule(known);
  v.known_exemplars = mean_of(known.exemplars);
  v.known_cut = mean_of(known.cut_accuracies(v.known_same_cluster));
  v.cuts_known = v.known_cut > v.known_exemplars;
  v.uses_known = std::max(v.known_cut, v.known_exemplars) > reached;
}

Validation choose(const HeldOut& learned, const HeldOut& average) {
  const std::vector<double> learned_rule = better_rule(learned);
  const std::vector<double> average_rule = better_rule(average);
  const std::vector<double> learned_cut = learned.cut_accuracies(learned_rule);
  const std::vector<double> average_cut = average.cut_accuracies(average_rule);
  Validation v;
  v.learned_exemplars = mean_of(learned.exemplars), v.learned_cut = mean_of(learned_cut);
  v.average_exemplars = mean_of(average.exemplars), v.average_cut = mean_of(average_cut);
  const bool cuts_learned = v.learned_cut > v.learned_exemplars;
  const bool cuts_average = v.average_cut > v.average_exemplars;
  const std::vector<double>& a = cuts_average ? average_cut : average.exemplars;
  const std::vector<double>& b = cuts_learned ? learned_cut : learned.exemplars;
  const double ahead = mean_of(a) - mean_of(b), count = static_cast<double>(a.size());
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) squares += std::pow(a[i] - b[i] - ahead, 2);
  v.uses_average = ahead > 0 && ahead > std::sqrt(squares / (count - 1) / count);
  v.uses_cut = v.uses_average ? cuts_average : cuts_learned;
  v.same_cluster = v.uses_average ? average_rule : learned_rule;
  return v;
}

}  // namespace

std::optional<Validation> cross_validate(const LearnInput& input,
                                         const ExemplarLearnOptions& options,
                                         const std::vector<char>& is_kept, Monitor& monitor) {
  int64_t total = 0;
  for (const LearnSet& set : input.sets) total += std::ssize(set.labels);
  if (options.validations == 0 || total < kMinSamples) return std::nullopt;
  std::vector<Halves> all;
  for (int r = 0; r < options.validations; ++r) {
    const Random random = Random(options.train.seed).child(1000 + static_cast<uint64_t>(r));
    const Halves& halves =
        all.emplace_back(input.sets.size() == 1 ? halve_samples(input.sets[0], random)
                                                : halve_sets(input.sets, random));
    for (const auto& half : halves)
      if (!std::all_of(half.begin(), half.end(), teaches)) return std::nullopt;
  }
  const int64_t rounds = 2 * std::ssize(all);
  const bool is_together = fit_together(input, options, rounds);
  ExemplarLearnOptions own = options;
  if (is_together) own.train.num_threads = 1;
  const bool reports = !is_together || resolve_num_threads(options.train.num_threads) == 1;
  std::vector<HeldOut> learned(rounds), average(rounds), known(rounds);
  parallel_for(rounds, 1, is_together ? options.train.num_threads : 1, [&](const Block& block) {
    const int64_t i = block.begin;
    if (monitor.should_stop()) return;
    if (reports) monitor.on_progress("cross-validation", i, rounds);
    const Halves& halves = all[i / 2];
    Rivals each;
    validate_half(input, halves[i % 2], halves[1 - i % 2], own, is_kept, monitor, each);
    learned[i] = std::move(each.learned);
    average[i] = std::move(each.average);
    known[i] = std::move(each.known);
  });
  if (monitor.should_stop()) return std::nullopt;
  Validation found = choose(joined(std::move(learned)), joined(std::move(average)));
  if (std::ranges::none_of(known, [](const HeldOut& each) { return each.cuts.empty(); }))
    compare_known(joined(std::move(known)), found);
  return found;
}

}  // namespace milieu::internal
