// SPDX-License-Identifier: Apache-2.0
// Problem: choose k rows M of n that minimise sum_p min_{q in M} served(q, p), where q in M serves
//   itself. Given: the matrix, a first choice. Find: a choice that no single swap improves.
// Symbols: near/second = place of the cheapest and second cheapest medoid of a sample; loss[m] =
//   what removing medoid m would cost; gain[m] = change when a candidate takes m's place.
// Conventions: ties to the lowest place; a swap is made as soon as it is found.
// See: [Schubert21, Algorithm 3].
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/memory.h"
#include "milieu/base/parallel.h"
#include "milieu/exemplar/search/medoid_search_internal.h"
#include "milieu/exemplar/search/nearest_exemplar_internal.h"

namespace milieu::internal {

namespace {

constexpr int64_t kRowsPerBlock = 64;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Nearest {
  int near = -1;
  int second = -1;
  double near_cost = kInfinity;
  double second_cost = kInfinity;
};

class MedoidState {
 public:
  MedoidState(const MedoidProblem& problem, std::vector<int> medoids)
      : served_(problem.served),
        n_(served_.rows()),
        medoids_(std::move(medoids)),
        nearest_(n_),
        loss_(medoids_.size()),
        gain_(medoids_.size()),
        place_(n_, -1) {
    for (size_t m = 0; m < medoids_.size(); ++m) place_[medoids_[m]] = static_cast<int>(m);
    for (int64_t p = 0; p < n_; ++p) rescan(p);
    refresh_losses();
  }

  const std::vector<int>& medoids() const { return medoids_; }
  bool is_medoid(int64_t q) const { return place_[q] >= 0; }
  double cost() const {
    double sum = 0;
    for (const Nearest& entry : nearest_) sum += entry.near_cost;
    return sum;
  }

  int cheapest_to_lose() const {
    return static_cast<int>(std::min_element(loss_.begin(), loss_.end()) - loss_.begin());
  }

  // Best place for candidate q and the change of the cost.
  std::pair<int, double> best_swap(int64_t q) {
    std::copy(loss_.begin(), loss_.end(), gain_.begin());
    double shared = 0;  // saved whichever medoid goes
    const float* cost = served_.row(q);
    for (int64_t p = 0; p < n_; ++p) {
      const Nearest& entry = nearest_[p];
      const double d = p == q ? -kInfinity : cost[p];
      if (place_[p] >= 0) {  // a medoid leaves itself only when it goes
        if (d < entry.second_cost) gain_[entry.near] += d - entry.second_cost;
      } else if (d < entry.near_cost) {
        const double now = p == q ? 0.0 : d;
        shared += now - entry.near_cost;
        gain_[entry.near] += entry.near_cost - entry.second_cost;
      } else if (d < entry.second_cost) {
        gain_[entry.near] += d - entry.second_cost;
      }
    }
    const auto best = std::min_element(gain_.begin(), gain_.end());
    return {static_cast<int>(best - gain_.begin()), shared + *best};
  }

  void swap(int place, int64_t q) {
    place_[medoids_[place]] = -1;
    medoids_[place] = static_cast<int>(q);
    place_[q] = place;
    for (int64_t p = 0; p < n_; ++p) {
      Nearest& entry = nearest_[p];
      const double d = served_(q, p);
      const bool is_concerned = entry.near == place || entry.second == place || p == q ||
                                place_[p] >= 0 || d < entry.second_cost;
      if (is_concerned) rescan(p);
    }
    refresh_losses();
  }

 private:
  void rescan(int64_t p) {
    Nearest entry;
    if (place_[p] >= 0) {
      entry.near = place_[p];
      entry.near_cost = 0;
    }
    for (int m = 0; m < static_cast<int>(medoids_.size()); ++m) {
      if (m == place_[p]) continue;
      const double d = served_(medoids_[m], p);
      if (place_[p] < 0 && d < entry.near_cost) {
        entry.second = entry.near;
        entry.second_cost = entry.near_cost;
        entry.near = m;
        entry.near_cost = d;
      } else if (d < entry.second_cost) {
        entry.second = m;
        entry.second_cost = d;
      }
    }
    nearest_[p] = entry;
  }

  void refresh_losses() {
    std::fill(loss_.begin(), loss_.end(), 0.0);
    for (const Nearest& entry : nearest_) loss_[entry.near] += entry.second_cost - entry.near_cost;
  }

  const Matrix<float>& served_;
  int64_t n_;
  std::vector<int> medoids_;
  std::vector<Nearest> nearest_;
  std::vector<double> loss_;
  std::vector<double> gain_;
  std::vector<int> place_;
};

void check_memory(int64_t n, double max_memory_gb) {
  const double gigabytes = static_cast<double>(n) * static_cast<double>(n) * sizeof(float) / 1e9;
  require(gigabytes <= max_memory_gb, [&] {
    return fmt::format(
        "distances of {} take {:.1f} GB, max_memory_gb is {}: raise it, or use exemplar "
        "with a penalty, which needs no full matrix",
        counted(n, "sample"), gigabytes, max_memory_gb);
  });
  require_memory({1e9 * gigabytes, fmt::format("the distances of {} samples", n),
                  "cluster fewer samples, or use exemplar with a penalty"});
}

}  // namespace

MedoidProblem medoid_problem(FloatView points, Distance distance, FloatView costs,
                             double max_memory_gb, int num_threads, Monitor& monitor) {
  const int64_t n = costs.empty() ? points.rows() : costs.rows();
  check_memory(n, max_memory_gb);
  const double gamma = distance_gamma(distance, points, num_threads);
  MedoidProblem problem{Matrix<float>(n, n)};
  parallel_for(n, kRowsPerBlock, num_threads, [&](const Block& block) {
    if (costs.empty() && monitor.should_stop()) return;
    MatrixView<float> rows = problem.served.view().rows_between(block.begin, block.end);
    if (costs.empty()) {
      pair_distances(distance, points.rows_between(block.begin, block.end), points, rows, gamma);
    } else {
      for (int64_t q = block.begin; q < block.end; ++q)
        for (int64_t p = 0; p < n; ++p) problem.served(q, p) = costs(p, q);
    }
    for (int64_t q = block.begin; q < block.end; ++q) problem.served(q, q) = 0;
  });
  return problem;
}

MedoidProblem medoid_problem(const ServiceLists& lists, int num_threads, Monitor& monitor) {
  MedoidProblem problem{Matrix<float>(lists.n, lists.n)};
  parallel_for(lists.n, kRowsPerBlock, num_threads, [&](const Block& block) {
    if (monitor.should_stop()) return;
    for (int64_t q = block.begin; q < block.end; ++q) {
      const ServiceRun column = lists.column(q);
      for (int64_t i = 0; i < column.size; ++i) problem.served(q, column.index[i]) = column.cost[i];
    }
  });
  return problem;
}

namespace {

// Greedy choice: the candidate that lowers the cost most joins, until there are k.
void extend_medoids(const MedoidProblem& problem, int k, std::vector<int>& medoids,
                    Monitor& monitor) {
  const int64_t n = problem.served.rows();
  std::vector<double> paid(n, kInfinity);
  std::vector<char> is_medoid(n, 0);
  const auto open = [&](int64_t q) {
    is_medoid[q] = 1;
    for (int64_t p = 0; p < n; ++p) paid[p] = std::min<double>(paid[p], problem.served(q, p));
  };
  for (int q : medoids) open(q);
  while (static_cast<int>(medoids.size()) < k) {
    int64_t best = -1;
    double best_total = kInfinity;
    for (int64_t q = 0; q < n; ++q) {
      if (is_medoid[q]) continue;
      if (best >= 0 && q % 64 == 0 && monitor.should_stop()) break;
      const float* cost = problem.served.row(q);
      double total = 0;
      for (int64_t p = 0; p < n; ++p) total += std::min<double>(paid[p], cost[p]);
      if (best < 0 || total < best_total) {
        best = q;
        best_total = total;
      }
    }
    medoids.push_back(static_cast<int>(best));
    open(best);
  }
}

}  // namespace

std::vector<int> build_medoids(const MedoidProblem& problem, int k, Monitor& monitor) {
  std::vector<int> medoids;
  extend_medoids(problem, k, medoids, monitor);
  return medoids;
}

void fit_medoid_count(const MedoidProblem& problem, int k, std::vector<int>& medoids,
                      Monitor& monitor) {
  while (static_cast<int>(medoids.size()) > k && !monitor.should_stop()) {
    const MedoidState state(problem, medoids);
    medoids.erase(medoids.begin() + state.cheapest_to_lose());
  }
  extend_medoids(problem, k, medoids, monitor);
}

MedoidSearch swap_medoids(const MedoidProblem& problem, std::vector<int> medoids, int max_passes,
                          Monitor& monitor) {
  const int64_t n = problem.served.rows();
  MedoidState state(problem, std::move(medoids));
  MedoidSearch search;
  const double tolerance = 1e-12 * std::abs(state.cost());
  for (int pass = 0; pass < max_passes && !search.is_converged && !monitor.should_stop(); ++pass) {
    bool has_swapped = false;
    for (int64_t q = 0; q < n; ++q) {
      if (state.is_medoid(q)) continue;
      if (q % 32 == 0 && monitor.should_stop()) break;
      const auto [place, change] = state.best_swap(q);
      if (change >= -tolerance) continue;
      state.swap(place, q);
      has_swapped = true;
    }
    search.trace.push_back(state.cost());
    search.is_converged = !has_swapped && !monitor.should_stop();
    monitor.on_progress("swap passes", pass + 1, max_passes);
  }
  search.cost = state.cost();
  search.medoids = state.medoids();
  std::sort(search.medoids.begin(), search.medoids.end());
  return search;
}

std::vector<int> medoid_labels(const MedoidProblem& problem, const std::vector<int>& medoids) {
  const int64_t n = problem.served.rows();
  std::vector<int> labels(n, 0);
  for (int64_t p = 0; p < n; ++p)
    for (int m = 1; m < static_cast<int>(medoids.size()); ++m)
      if (problem.served(medoids[m], p) < problem.served(medoids[labels[p]], p)) labels[p] = m;
  // A medoid serves itself even where another would be cheaper still; equal medoids share the
  // lowest.
  for (int m = 0; m < static_cast<int>(medoids.size()); ++m)
    if (problem.served(medoids[labels[medoids[m]]], medoids[m]) < 0) labels[medoids[m]] = m;
  return labels;
}

}  // namespace milieu::internal
