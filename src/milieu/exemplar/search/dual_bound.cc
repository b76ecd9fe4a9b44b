// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/parallel.h"
#include "milieu/exemplar/search/dual_bound_internal.h"
#include "milieu/exemplar/search/dual_loops.h"

namespace milieu::internal {

namespace {

constexpr int64_t kRowsPerBlock = 256;
constexpr int64_t kColumnsPerBlock = 2048;
constexpr int64_t kManySamples = 20'000;
constexpr int64_t kManyEntries = 20'000'000;
constexpr int kMaxIdleSteps = 12;  // then a shorter step from the best point
constexpr int64_t kShortRow = 64;  // entries in a row up to which all of them are read

// L(v) does not grow when v_p passes d_pp: p's own exemplar then pays for it.
double highest_v(const ServiceLists& lists, int64_t p) {
  return std::min(lists.cap[p], lists.penalty[p]);
}

// Long lists: each row adds its candidates below v_p, and reads no others.
std::vector<double> client_sums_by_rows(const ServiceLists& lists, const std::vector<double>& v,
                                        int num_threads, const Monitor& monitor) {
  return parallel_reduce(
      lists.n, kRowsPerBlock, num_threads, std::vector<double>(lists.n, 0.0),
      [&](const Block& block, std::vector<double>& sum) {
        if (monitor.should_stop()) return;
        for (int64_t p = block.begin; p < block.end; ++p) {
          const ServiceRun row = lists.row(p);
          const double limit = v[p];
          for (int64_t i = 0; i < row.size && row.cost[i] < limit; ++i)
            sum[row.index[i]] += row.cost[i] - limit;
        }
      },
      [](std::vector<double>& total, const std::vector<double>& part) {
        for (size_t q = 0; q < total.size(); ++q) total[q] += part[q];
      });
}

// Short lists: each column adds up on its own, and nothing of size n is merged.
std::vector<double> client_sums_by_columns(const ServiceLists& lists, const std::vector<double>& v,
                                           int num_threads, const Monitor& monitor) {
  std::vector<double> sums(lists.n, 0.0);
  const double highest = *std::max_element(v.begin(), v.end());
  const auto sum_below = MILIEU_SELECT_ISA(sum_below);
  parallel_for(lists.n, kColumnsPerBlock, num_threads, [&](const Block& block) {
    if (monitor.should_stop()) return;
    for (int64_t q = block.begin; q < block.end; ++q) {
      const ServiceRun column = lists.column(q);
      const int64_t paying =
          std::lower_bound(column.cost, column.cost + column.size, highest) - column.cost;
      sums[q] = sum_below(column.index, column.cost, paying, v.data());
    }
  });
  return sums;
}

// rho for v.
std::vector<double> reduced_costs(const ServiceLists& lists, const std::vector<double>& v,
                                  int num_threads, const Monitor& monitor) {
  const bool is_short = lists.num_entries() <= kShortRow * lists.n;
  // A step of less than a millisecond is not worth waking other threads.
  if (lists.n < kManySamples && lists.num_entries() < kManyEntries) num_threads = 1;
  std::vector<double> rho = is_short ? client_sums_by_columns(lists, v, num_threads, monitor)
                                     : client_sums_by_rows(lists, v, num_threads, monitor);
  for (int64_t q = 0; q < lists.n; ++q) rho[q] += lists.penalty[q] - v[q];
  return rho;
}

// Sum of v and the negative rho, less a margin that covers the rounding of all sums involved: at
// most as many additions as there are terms, each within 2^-53 of the running magnitude.
double bound_from(const std::vector<double>& v, const std::vector<double>& rho) {
  double sum = 0, magnitude = 0;
  for (size_t p = 0; p < v.size(); ++p) {
    sum += v[p] + std::min(0.0, rho[p]);
    magnitude += std::abs(v[p]);
  }
  return sum - 1e-13 * magnitude;
}

// One per sample: 1 - how many relaxed exemplars would serve it at v. Few samples have rho < 0, so
// reading their columns is faster.
std::vector<double> subgradient(const ServiceLists& lists, const DualPoint& point) {
  std::vector<double> g(lists.n);
  for (int64_t p = 0; p < lists.n; ++p) g[p] = point.rho[p] < 0 ? 0.0 : 1.0;
  const double highest = *std::max_element(point.v.begin(), point.v.end());
  for (int64_t q = 0; q < lists.n; ++q) {
    if (point.rho[q] >= 0) continue;
    const ServiceRun column = lists.column(q);
    for (int64_t i = 0; i < column.size && column.cost[i] < highest; ++i)
      g[column.index[i]] -= column.cost[i] < point.v[column.index[i]];
  }
  for (int64_t p = 0; p < lists.n; ++p)
    if (g[p] > 0 && point.v[p] >= highest_v(lists, p)) g[p] = 0;  // the cap holds it back
  return g;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

DualPoint evaluate_dual(const ServiceLists& lists, std::vector<double> v, int num_threads,
                        const Monitor& monitor) {
  DualPoint point;
  for (int64_t p = 0; p < lists.n; ++p) v[p] = std::min(v[p], highest_v(lists, p));
  point.v = std::move(v);
  point.rho = reduced_costs(lists, point.v, num_threads, monitor);
  point.bound = monitor.should_stop() ? -std::numeric_limits<double>::infinity()
                                      : bound_from(point.v, point.rho);
  return point;
}

std::vector<double> dual_from_solution(const ServiceLists& lists, const std::vector<int>& server,
                                       const Monitor& monitor) {
  std::vector<int64_t> size(lists.n, 0);
  for (int q : server) ++size[q];
  std::vector<double> v(lists.n);
  for (int64_t p = 0; p < lists.n; ++p) {
    if (p % 256 == 0 && monitor.should_stop()) break;
    const int q = server[p];
    double cost = 0;
    for (int64_t e = lists.begin[p]; e < lists.begin[p + 1]; ++e)
      if (lists.server[e] == q) {
        cost = lists.cost[e];
        break;
      }
    v[p] = cost + lists.penalty[q] / static_cast<double>(size[q]);
  }
  return v;
}

namespace {

// Deflection [Camerini75]: use the last direction as far as it makes an obtuse angle with g.
void deflect(const std::vector<double>& g, std::vector<double>& direction) {
  const double norm = dot(direction, direction);
  const double beta = norm > 0 ? std::max(0.0, -1.5 * dot(g, direction) / norm) : 0.0;
  for (size_t p = 0; p < g.size(); ++p) direction[p] = g[p] + beta * direction[p];
}

}  // namespace

DualAscent maximise_dual(const ServiceLists& lists, const DualPoint& start,
                         const DualOptions& options, Monitor& monitor) {
  DualAscent ascent{start, std::vector<double>(lists.n, 0.0), 0};
  DualPoint& best = ascent.best;
  DualPoint current = start;
  std::vector<double> direction(lists.n, 0.0);
  double step_scale = 1.0;
  int since_improvement = 0;
  while (ascent.iterations < options.max_iterations) {
    const double gap = options.target - best.bound;
    if (gap <= options.rel_gap * std::abs(options.target) || monitor.should_stop()) break;
    deflect(subgradient(lists, current), direction);
    const double length = dot(direction, direction);
    if (length == 0) break;  // a zero subgradient: the relaxation is solved
    const double step = step_scale * (options.target - current.bound) / length;
    std::vector<double> v = std::move(current.v);
    for (int64_t p = 0; p < lists.n; ++p) v[p] += step * direction[p];
    current = evaluate_dual(lists, std::move(v), options.num_threads, monitor);
    if (monitor.should_stop()) break;
    ++ascent.iterations;
    if (2 * ascent.iterations > options.max_iterations)
      for (int64_t q = 0; q < lists.n; ++q) ascent.usage[q] += current.rho[q] < 0;
    if (current.bound > best.bound) {
      since_improvement = current.bound > best.bound + 1e-4 * gap ? 0 : since_improvement + 1;
      best = current;
    } else {
      ++since_improvement;
    }
    if (since_improvement >= kMaxIdleSteps) {
      step_scale *= 0.6;
      since_improvement = 0;
      current = best;
      std::fill(direction.begin(), direction.end(), 0.0);
    }
  }
  return ascent;
}

}  // namespace milieu::internal
