// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/exemplar/nearest_exemplar_internal.h"
#include "milieu/neighbors/check_points.h"

namespace milieu::internal {

namespace {

constexpr int64_t kRowsPerBlock = 64;

// Cost of serving p by its cheapest exemplar other than itself, straight from the input.
struct Nearest {
  int server = -1;
  float cost = std::numeric_limits<float>::infinity();
};

std::vector<Nearest> nearest_others(const ExemplarInput& input, const ExemplarOptions& options,
                                    const std::vector<int>& exemplars, int64_t n) {
  std::vector<Nearest> nearest(n);
  Matrix<float> features;
  if (!input.points.empty()) {
    features = Matrix<float>(static_cast<int64_t>(exemplars.size()), input.points.cols());
    for (size_t i = 0; i < exemplars.size(); ++i)
      std::copy_n(input.points.row(exemplars[i]), input.points.cols(),
                  features.row(static_cast<int64_t>(i)));
  }
  parallel_for(n, kRowsPerBlock, options.num_threads, [&](const Block& block) {
    Matrix<float> costs(block.size(), static_cast<int64_t>(exemplars.size()));
    if (!input.points.empty())
      pair_distances(options.distance, input.points.rows_between(block.begin, block.end), features,
                     costs);
    for (int64_t p = block.begin; p < block.end; ++p)
      for (size_t i = 0; i < exemplars.size(); ++i) {
        const float cost = input.points.empty() ? input.costs(p, exemplars[i])
                                                : costs(p - block.begin, static_cast<int64_t>(i));
        if (exemplars[i] != p && cost < nearest[p].cost) nearest[p] = {exemplars[i], cost};
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
      fmt::format("the model's distance is '{}', which this version does not know", name));
}

std::vector<int> nearest_exemplars(Distance distance, FloatView exemplars, FloatView points,
                                   int num_threads, std::vector<float>* costs) {
  require(points.cols() == exemplars.cols(), [&] {
    return fmt::format("points have {} columns, the model was fitted on {}", points.cols(),
                       exemplars.cols());
  });
  if (points.rows() > 0) check_points(points, "points", num_threads);
  std::vector<int> nearest(points.rows());
  if (costs) costs->resize(points.rows());
  parallel_for(points.rows(), kRowsPerBlock, num_threads, [&](const Block& block) {
    Matrix<float> distances(block.size(), exemplars.rows());
    pair_distances(distance, points.rows_between(block.begin, block.end), exemplars, distances);
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
                           const ServiceLists& lists, ExemplarSolution& solution) {
  if (input.lists != nullptr) return;  // what is not on a caller's list cannot serve
  const int64_t n = lists.n;
  std::vector<int64_t> clients(n, 0);
  for (int q : solution.server) ++clients[q];
  std::vector<int> exemplars = solution.exemplars();
  std::vector<Nearest> nearest = nearest_others(input, options, exemplars, n);
  // An exemplar that serves only itself closes when another exemplar that stays is cheaper.
  std::vector<char> is_closed(n, 0), is_needed(n, 0);
  for (int q : exemplars) {
    const bool is_single = clients[q] == 1 && !is_needed[q];
    if (!is_single || nearest[q].cost >= lists.penalty[q] || is_closed[nearest[q].server]) continue;
    is_closed[q] = 1;
    is_needed[nearest[q].server] = 1;
  }
  std::erase_if(exemplars, [&](int q) { return is_closed[q] != 0; });
  nearest = nearest_others(input, options, exemplars, n);
  std::vector<char> is_open(n, 0);
  for (int q : exemplars) is_open[q] = 1;
  solution.energy = 0;
  for (int64_t p = 0; p < n; ++p) {
    const bool serves_itself = is_open[p] || nearest[p].cost >= lists.penalty[p];
    solution.server[p] = serves_itself ? static_cast<int>(p) : nearest[p].server;
    solution.energy += serves_itself ? lists.penalty[p] : nearest[p].cost;
  }
}

SolveOptions solve_options(const ExemplarOptions& options) {
  SolveOptions solve;
  solve.start = options.start;
  solve.rel_gap = options.rel_gap;
  solve.max_iterations = options.max_iterations;
  solve.seed = options.seed;
  solve.num_threads = options.num_threads;
  return solve;
}

}  // namespace milieu::internal
