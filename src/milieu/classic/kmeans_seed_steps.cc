// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/kmeans_seed_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "milieu/base/parallel.h"
#include "milieu/linalg/distance.h"

namespace milieu::internal {
namespace {

constexpr int64_t kBlockRows = 1024;

int64_t first_positive(const KMeansProblem& problem) {
  for (int64_t i = 0; i < problem.points.rows(); ++i)
    if (problem.weight(i) > 0) return i;
  return 0;
}

void copy_point(const KMeansProblem& problem, int64_t i, Matrix<float>& centers, int64_t j) {
  std::copy_n(problem.points.row(i), problem.points.cols(), centers.row(j));
}

}  // namespace

Matrix<float> draw_random_centers(const KMeansProblem& problem, Random& random) {
  std::vector<int64_t> candidates;
  for (int64_t i = 0; i < problem.points.rows(); ++i)
    if (problem.weight(i) > 0) candidates.push_back(i);
  const int64_t k = problem.num_clusters;
  const int64_t available = std::min<int64_t>(k, static_cast<int64_t>(candidates.size()));
  const std::vector<int64_t> drawn =
      random.sample_without_replacement(static_cast<int64_t>(candidates.size()), available);
  Matrix<float> centers(k, problem.points.cols());
  for (int64_t j = 0; j < k; ++j)
    copy_point(problem, candidates[j < available ? drawn[j] : 0], centers, j);
  return centers;
}

Matrix<float> draw_plus_plus_centers(const KMeansProblem& problem, Random& random,
                                     const Monitor& monitor) {
  const FloatView points = problem.points;
  const int64_t n = points.rows(), k = problem.num_clusters;
  const int num_trials = 2 + static_cast<int>(portable_log(static_cast<double>(k)));
  Matrix<float> centers(k, points.cols());
  std::vector<double> potential(n), best(n), trial(n);
  for (int64_t i = 0; i < n; ++i) potential[i] = problem.weight(i);
  int64_t chosen = random.weighted_index(potential);
  std::fill(potential.begin(), potential.end(), std::numeric_limits<double>::infinity());
  for (int64_t j = 0; j < k; ++j) {
    double lowest = std::numeric_limits<double>::infinity();
    int64_t winner = chosen;
    for (int t = 0; t < (j == 0 ? 1 : num_trials); ++t) {
      const double sum_before = std::accumulate(potential.begin(), potential.end(), 0.0);
      if (j > 0 && (sum_before == 0 || monitor.should_stop())) {
        winner = first_positive(problem);
        best = potential;
        break;
      }
      const int64_t candidate = j == 0 ? chosen : random.weighted_index(potential);
      parallel_for(n, kBlockRows, problem.num_threads, [&](const Block& block) {
        for (int64_t i = block.begin; i < block.end; ++i)
          trial[i] = problem.weight(i) == 0
                         ? 0
                         : std::min(potential[i], problem.weight(i) *
                                                      squared_distance(points.row_span(i),
                                                                       points.row_span(candidate)));
      });
      const double sum = std::accumulate(trial.begin(), trial.end(), 0.0);
      if (sum < lowest) {
        lowest = sum;
        winner = candidate;
        std::swap(best, trial);
      }
    }
    std::swap(potential, best);
    copy_point(problem, winner, centers, j);
  }
  return centers;
}

}  // namespace milieu::internal
