// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/exemplar/search/nearest_exemplar_internal.h"
#include "milieu/exemplar/search/sample_order_internal.h"
#include "milieu/linalg/kernel.h"
#include "milieu/neighbors/check_points.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu::internal {

namespace {

constexpr int64_t kRowsPerBlock = 64;

struct Nearest {
  int server = -1;
  float cost = std::numeric_limits<float>::infinity();
};

bool has_tree(Distance distance) {
  return distance == Distance::Euclidean || distance == Distance::SquaredEuclidean;
}

// By a tree: the two nearest exemplars of each sample, one of which may be the sample itself.
std::vector<Nearest> nearest_by_tree(const ExemplarInput& input, const ExemplarOptions& options,
                                     const std::vector<int>& samples,
                                     const std::vector<int>& exemplars, Monitor& monitor) {
  const Matrix<float> features = rows_in_order(input.points, exemplars);
  const Matrix<float> queries = rows_in_order(input.points, samples);
  NeighborOptions search;
  search.num_threads = options.num_threads;
  const NeighborLists found = nearest_neighbors(features, queries, 2, search, monitor);
  std::vector<Nearest> nearest(samples.size());
  for (int64_t i = 0; i < static_cast<int64_t>(samples.size()); ++i)
    for (int64_t j = 0; j < found.indices.cols() && nearest[i].server < 0; ++j) {
      if (found.indices(i, j) < 0 || exemplars[found.indices(i, j)] == samples[i]) continue;
      const double squared = found.squared_distances(i, j);
      nearest[i] = {exemplars[found.indices(i, j)],
                    static_cast<float>(options.distance == Distance::Euclidean ? std::sqrt(squared)
                                                                               : squared)};
    }
  return nearest;
}

// Cheapest exemplar of each of `samples` other than the sample itself, straight from the input.
std::vector<Nearest> nearest_others(const ExemplarInput& input, const ExemplarOptions& options,
                                    const std::vector<int>& samples,
                                    const std::vector<int>& exemplars, Monitor& monitor) {
  if (!input.points.empty() && has_tree(options.distance))
    return nearest_by_tree(input, options, samples, exemplars, monitor);
  std::vector<Nearest> nearest(samples.size());
  const double gamma = distance_gamma(options.distance, input.points, options.num_threads);
  Matrix<float> features;
  if (!input.points.empty()) features = rows_in_order(input.points, exemplars);
  parallel_for(static_cast<int64_t>(samples.size()), 1, options.num_threads,
               [&](const Block& block) {
                 if (monitor.should_stop()) return;
                 const int p = samples[block.begin];
                 Matrix<float> costs(1, static_cast<int64_t>(exemplars.size()));
                 if (!input.points.empty())
                   pair_distances(options.distance, input.points.rows_between(p, p + 1), features,
                                  costs, gamma);
                 for (size_t i = 0; i < exemplars.size(); ++i) {
                   const float cost = input.points.empty() ? input.costs(p, exemplars[i])
                                                           : costs(0, static_cast<int64_t>(i));
                   if (exemplars[i] != p && cost < nearest[block.begin].cost)
                     nearest[block.begin] = {exemplars[i], cost};
                 }
               });
  return nearest;
}

}  // namespace

std::string distance_name(Distance distance) {
  for (const auto& [name, value] : distance_choices().choices)
    if (value == distance) return name;
  return {};
}

Distance distance_from_name(const std::string& name) {
  for (const auto& [known, value] : distance_choices().choices)
    if (known == name) return value;
  throw DataError(
      fmt::format("the model's distance is '{}', which is unknown to this version", name));
}

double distance_gamma(Distance distance, FloatView points, int num_threads) {
  if (distance != Distance::Rbf || points.empty()) return 0;
  return choose_gamma(Kernel::Rbf, points, num_threads);
}

std::vector<int> nearest_exemplars(Distance distance, FloatView exemplars, FloatView points,
                                   int num_threads, double gamma, std::vector<float>* costs) {
  require(points.cols() == exemplars.cols(), [&] {
    return fmt::format("points have {}, the model was fitted on {}",
                       counted(points.cols(), "column"), exemplars.cols());
  });
  if (points.rows() > 0) check_points(points, "points", num_threads);
  // Far exemplars are all at the same distance by rbf, once rounded.
  if (distance == Distance::Rbf && costs == nullptr) distance = Distance::SquaredEuclidean;
  std::vector<int> nearest(points.rows());
  if (costs) costs->resize(points.rows());
  parallel_for(points.rows(), kRowsPerBlock, num_threads, [&](const Block& block) {
    Matrix<float> distances(block.size(), exemplars.rows());
    pair_distances(distance, points.rows_between(block.begin, block.end), exemplars, distances,
                   gamma);
    for (int64_t p = block.begin; p < block.end; ++p) {
      const std::span<const float> row = distances.row_span(p - block.begin);
      const auto best = std::min_element(row.begin(), row.end());
      nearest[p] = static_cast<int>(best - row.begin());
      if (costs) (*costs)[p] = *best;
    }
  });
  return nearest;
}

void serve_by_true_nearest(const ExemplarInput& input, const ExemplarOptions& options,
                           const ServiceLists& lists, ExemplarSolution& solution,
                           Monitor& monitor) {
  // What is not on a caller's list cannot serve; a stopped run keeps what it has.
  if (input.lists != nullptr || monitor.should_stop()) return;
  std::vector<int64_t> clients(lists.n, 0);
  for (int q : solution.server) ++clients[q];
  const std::vector<int> exemplars = solution.exemplars();
  std::vector<int> lone;
  for (int q : exemplars)
    if (clients[q] == 1) lone.push_back(q);
  const std::vector<Nearest> nearest = nearest_others(input, options, lone, exemplars, monitor);
  if (monitor.should_stop()) return;
  std::vector<char> is_closed(lists.n, 0), is_needed(lists.n, 0);
  for (size_t i = 0; i < lone.size(); ++i) {
    const int q = lone[i], server = nearest[i].server;
    if (is_needed[q] || nearest[i].cost >= lists.penalty[q] || is_closed[server]) continue;
    is_closed[q] = 1;
    is_needed[server] = 1;
    solution.server[q] = server;
    solution.energy += nearest[i].cost - lists.penalty[q];
  }
}

SolveOptions solve_options(const ExemplarOptions& options) {
  SolveOptions solve;
  solve.solver = options.solver;
  solve.init = options.init;
  solve.rel_gap = options.rel_gap;
  solve.max_iterations = options.max_iterations;
  solve.seed = options.seed;
  solve.num_threads = options.num_threads;
  return solve;
}

}  // namespace milieu::internal
