// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/memory.h"
#include "milieu/base/parallel.h"
#include "milieu/cac/cac_evidence_internal.h"
#include "milieu/cac/cac_problem_internal.h"
#include "milieu/cac/cac_work_internal.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {
namespace {

constexpr int kLeastViewNeighbors = 2, kOwnViewNeighbors = 10;
constexpr int64_t kMaxSearchedSamples = 50'000;  // all pairs are considered

void check_views(const CacInput& input) {
  require(!input.views.empty(), "there are no samples: give at least one view");
  const int64_t n = input.views[0].rows();
  for (size_t v = 0; v < input.views.size(); ++v) {
    check_points(input.views[v].rows_between(0, std::min<int64_t>(input.views[v].rows(), 1)),
                 input.views.size() == 1 ? "points" : fmt::format("view {}", v));
    require(input.views[v].rows() == n, [&] {
      return fmt::format("view {} has {}, view 0 has {}: they must match", v,
                         counted(input.views[v].rows(), "row"), n);
    });
  }
  require(n * static_cast<int64_t>(input.views.size()) <= std::numeric_limits<int>::max(), [&] {
    return fmt::format("there are {} in {}, cac takes at most {} in total", counted(n, "sample"),
                       counted(input.views.size(), "view"), std::numeric_limits<int>::max());
  });
}

void check_context(const CacInput& input) {
  const int64_t n = input.views[0].rows();
  require(input.positions.rows() == 0 || input.positions.rows() == n, [&] {
    return fmt::format("positions has {}, the samples have {}: they must match",
                       counted(input.positions.rows(), "row"), n);
  });
  require(input.images.empty() || input.positions.rows() > 0,
          "images are given without positions: give the positions of the samples too");
  if (!input.groups) return;
  require(input.groups->num_samples == n, [&] {
    return fmt::format("the groups are over {}, there are {}: they must match",
                       counted(input.groups->num_samples, "sample"), n);
  });
  require(input.groups->num_groups() > 0, "there are no groups: give at least one");
  require(input.positions.rows() == 0, "give either groups or positions, not both");
  validate_groups(*input.groups);
}

// Labels in parts of equal length, one after the other; those of part i are below num_labels[i].
void check_labels(std::span<const int> labels, int64_t length, std::span<const int> num_labels,
                  const char* name, const char* of) {
  if (labels.empty()) return;
  require(static_cast<int64_t>(labels.size()) == length, [&] {
    return fmt::format("{} has {}, there are {} {}: they must match", name,
                       counted(labels.size(), "entry", "entries"), length, of);
  });
  const size_t each = labels.size() / num_labels.size();
  for (size_t i = 0; i < labels.size(); ++i)
    require(labels[i] >= 0 && labels[i] < num_labels[i / each], [&] {
      return fmt::format("{}[{}] is {}, must be at least 0 and below {}", name, i, labels[i],
                         num_labels[i / each]);
    });
}

void check_initial_labels(const CacInput& input, const CacOptions& options, int64_t num_groups) {
  const int64_t n = input.views[0].rows();
  check_labels(input.initial_words, n * static_cast<int64_t>(input.views.size()),
               options.num_words.per_view(input.views.size()), "initial_words", "primitives");
  const bool is_one_a_sample = internal::count_view_neighbors(input, options) > 0 &&
                               static_cast<int64_t>(input.initial_phrases.size()) == n;
  check_labels(input.initial_phrases, is_one_a_sample ? n : num_groups,
               std::span(&options.num_phrases, 1), "initial_phrases", "groups");
  require(input.initial_phrases.empty() || !input.initial_words.empty(),
          "initial_phrases are given without initial_words: give the words too");
  const bool has_start = !input.initial_words.empty();
  require(!has_start || (!options.num_words.has_auto() && options.num_phrases > 0),
          "initial_words need num_words and num_phrases to be numbers, not auto");
}

internal::CacView make_view(FloatView points, const CacOptions& options) {
  internal::CacView view;
  KMeansInput input;
  input.points = points;
  KMeansOptions kmeans;
  kmeans.num_clusters = 1;  // set_numbers has the number of words
  kmeans.num_threads = options.num_threads;
  view.problem = make_kmeans_problem(input, kmeans);
  const double variance = view.problem.scatter / view.problem.total_weight;
  view.unit = variance > 0 ? 1 / variance : 1;
  view.scale = options.scaling == CacScaling::Raw ? 1 : view.unit;
  return view;
}

double member_total_of(const ContextGroups& groups) {
  double total = 0;
  for (int64_t g = 0; g < groups.num_groups(); ++g) {
    double size = 0;
    for (int64_t e = groups.offsets[g]; e < groups.offsets[g + 1]; ++e)
      size += groups.member_weight(e);
    total += groups.group_weight(g) * size;
  }
  return total;
}

}  // namespace

int internal::count_view_neighbors(const CacInput& input, const CacOptions& options) {
  if (input.views.size() < 2 || input.groups || input.positions.rows() > 0) return 0;
  if (options.view_neighbors >= 0) return options.view_neighbors;
  const int64_t n = input.views[0].rows();
  if (n > kMaxSearchedSamples) return 0;
  if (options.num_phrases < 1) return kOwnViewNeighbors;
  // Groups must be smaller than phrases: of many neighbours in a small class most are of others.
  const int64_t third = n / (3 * int64_t{options.num_phrases});
  return static_cast<int>(std::clamp<int64_t>(third, kLeastViewNeighbors, kOwnViewNeighbors));
}

namespace {

// Groups over samples: of positions, given ones, or of neighbours in the views; else none.
ContextGroups groups_of_samples(const CacInput& input, const CacOptions& options,
                                Monitor& monitor) {
  ContextGroups groups;
  groups.num_samples = input.views[0].rows();
  if (input.positions.rows() > 0) {
    const int64_t each = std::min<int64_t>(options.num_neighbors, groups.num_samples);
    require_memory({48.0 * static_cast<double>(each) * static_cast<double>(groups.num_samples),
                    fmt::format("groups of {} neighbours of {} samples", each, groups.num_samples),
                    "use fewer neighbours"});
    NeighborhoodOptions neighborhood;
    neighborhood.num_neighbors = options.num_neighbors;
    neighborhood.epsilon = options.epsilon;
    neighborhood.include_self = options.include_self;
    neighborhood.num_threads = options.num_threads;
    groups = spatial_groups(input.positions, input.images, neighborhood, monitor);
  } else if (input.groups) {
    groups = *input.groups;
  } else if (const int count = internal::count_view_neighbors(input, options); count > 0) {
    std::vector<double> scales;
    for (const FloatView& points : input.views) scales.push_back(make_view(points, options).scale);
    Monitor quiet = monitor;  // stops with it; there are no words or phrases to report yet
    groups = neighbors_in_views(input.views, scales, count, options.num_threads, quiet);
  }
  return groups;
}

ContextGroups groups_of_primitives(const CacInput& input, const ContextGroups& around) {
  if (input.views.size() == 1) return around;
  return view_groups(input.views[0].rows(), static_cast<int>(input.views.size()), around);
}

}  // namespace

ContextGroups make_context(const CacInput& input, const CacOptions& options, Monitor& monitor) {
  check_views(input);
  check_context(input);
  return groups_of_primitives(input, groups_of_samples(input, options, monitor));
}

namespace internal {

void set_numbers(CacProblem& problem, std::span<const int> num_words, int num_phrases) {
  const int64_t n = problem.views[0].size(), num_groups = problem.groups.num_groups();
  const int most_words = *std::ranges::max_element(num_words);
  require(most_words <= n, [&] {
    return fmt::format("num_words is {} for {}: must be at most the number of samples", most_words,
                       counted(n, "sample"));
  });
  require(num_groups == 0 || num_phrases <= num_groups, [&] {
    return fmt::format("num_phrases is {}, must be at most the number of groups, {}", num_phrases,
                       num_groups);
  });
  const auto copies =
      static_cast<double>(2 + reduction_copies(num_groups, kGroupBlock, problem.num_threads));
  require_memory({8.0 * copies * most_words * num_phrases,
                  fmt::format("the tables of {} words and {} phrases", most_words, num_phrases),
                  "use fewer words or phrases"});
  problem.num_phrases = num_groups > 0 ? num_phrases : 0;
  problem.num_words = 0;
  for (size_t v = 0; v < problem.views.size(); ++v) {
    problem.views[v].problem.num_clusters = num_words[v];
    problem.views[v].first_word = problem.num_words;
    problem.num_words += num_words[v];
  }
}

CacProblem make_cac_problem(const CacInput& input, const CacOptions& options, Monitor& monitor) {
  validate_options(options);
  CacProblem problem;
  check_views(input);
  check_context(input);
  const ContextGroups around = groups_of_samples(input, options, monitor);
  problem.groups = groups_of_primitives(input, around);
  problem.view_neighbors = count_view_neighbors(input, options);
  check_initial_labels(input, options, problem.groups.num_groups());
  problem.groups_of = transpose(problem.groups);
  problem.member_total = member_total_of(problem.groups);
  problem.is_binary = options.transactions == CacTransactions::Binary;
  problem.reseeds = options.reseed;
  problem.num_threads = options.num_threads;
  problem.team = &team_of(input);
  for (const FloatView& points : input.views) {
    problem.views.push_back(make_view(points, options));
    problem.views.back().first_primitive = problem.num_primitives;
    problem.num_primitives += points.rows();
  }
  if (problem.groups.num_groups() == 0) problem.views[0].scale = 1;
  std::vector<int> num_words = options.num_words.per_view(input.views.size());
  for (int& count : num_words) count = std::max(1, count);  // auto: chosen later
  set_numbers(problem, num_words, std::max(1, options.num_phrases));
  problem.is_spatial = input.positions.rows() > 0;
  if (finds_phrases_by_shares(problem, input, options))
    problem.evidence = evidence_groups(problem, around, input.groups != nullptr);
  return problem;
}

int count_used(std::span<const int> labels, int num_labels) {
  std::vector<char> is_used(static_cast<size_t>(num_labels), 0);
  for (const int label : labels)
    if (label >= 0) is_used[label] = 1;
  return static_cast<int>(std::count(is_used.begin(), is_used.end(), 1));
}

}  // namespace internal
}  // namespace milieu
