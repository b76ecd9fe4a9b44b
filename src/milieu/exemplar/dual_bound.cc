// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "milieu/base/parallel.h"
#include "milieu/exemplar/dual_bound_internal.h"

namespace milieu::internal {

namespace {

constexpr int64_t kRowsPerBlock = 256;

// L(v) does not grow when v_p passes d_pp: p's own exemplar then pays for it.
double highest_v(const ServiceLists& lists, int64_t p) {
  return std::min(lists.cap[p], lists.penalty[p]);
}

// rho for v; each row adds its listed candidates below v_p.
std::vector<double> reduced_costs(const ServiceLists& lists, const std::vector<double>& v,
                                  int num_threads) {
  std::vector<double> rho = parallel_reduce(
      lists.n, kRowsPerBlock, num_threads, std::vector<double>(lists.n, 0.0),
      [&](const Block& block, std::vector<double>& sum) {
        for (int64_t p = block.begin; p < block.end; ++p) {
          const double limit = v[p];
          const int64_t end = lists.begin[p + 1];
          for (int64_t e = lists.begin[p]; e < end && lists.cost[e] < limit; ++e)
            sum[lists.server[e]] += lists.cost[e] - limit;
        }
      },
      [](std::vector<double>& total, const std::vector<double>& part) {
        for (size_t q = 0; q < total.size(); ++q) total[q] += part[q];
      });
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

// One per sample: 1 - how many relaxed exemplars would serve it at v.
std::vector<double> subgradient(const ServiceLists& lists, const DualPoint& point,
                                int num_threads) {
  std::vector<double> g(lists.n);
  parallel_for(lists.n, kRowsPerBlock, num_threads, [&](const Block& block) {
    for (int64_t p = block.begin; p < block.end; ++p) {
      int served = point.rho[p] < 0;
      const int64_t end = lists.begin[p + 1];
      for (int64_t e = lists.begin[p]; e < end && lists.cost[e] < point.v[p]; ++e)
        served += point.rho[lists.server[e]] < 0;
      g[p] = 1.0 - served;
      if (g[p] > 0 && point.v[p] >= highest_v(lists, p)) g[p] = 0;  // the cap holds it back
    }
  });
  return g;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

DualPoint evaluate_dual(const ServiceLists& lists, std::vector<double> v, int num_threads) {
  DualPoint point;
  for (int64_t p = 0; p < lists.n; ++p) v[p] = std::min(v[p], highest_v(lists, p));
  point.v = std::move(v);
  point.rho = reduced_costs(lists, point.v, num_threads);
  point.bound = bound_from(point.v, point.rho);
  return point;
}

std::vector<double> dual_from_solution(const ServiceLists& lists, const std::vector<int>& server) {
  std::vector<int64_t> size(lists.n, 0);
  for (int q : server) ++size[q];
  std::vector<double> v(lists.n);
  for (int64_t p = 0; p < lists.n; ++p) {
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

DualPoint maximise_dual(const ServiceLists& lists, const DualPoint& start,
                        const DualOptions& options, std::vector<double>* usage, Monitor& monitor) {
  DualPoint best = start;
  DualPoint current = start;
  std::vector<double> direction(lists.n, 0.0);
  double step_scale = 1.0;
  int since_improvement = 0;
  if (usage) usage->assign(lists.n, 0.0);
  for (int iteration = 0; iteration < options.max_iterations; ++iteration) {
    const double gap = options.target - best.bound;
    if (gap <= options.rel_gap * std::abs(options.target) || monitor.should_stop()) break;
    const std::vector<double> g = subgradient(lists, current, options.num_threads);
    // Deflection [Camerini75]: lean on the last direction as far as it makes an obtuse angle.
    const double norm = dot(direction, direction);
    const double beta = norm > 0 ? std::max(0.0, -1.5 * dot(g, direction) / norm) : 0.0;
    for (int64_t p = 0; p < lists.n; ++p) direction[p] = g[p] + beta * direction[p];
    const double length = dot(direction, direction);
    if (length == 0) break;  // a zero subgradient: the relaxation is solved
    const double step = step_scale * (options.target - current.bound) / length;
    std::vector<double> v = current.v;
    for (int64_t p = 0; p < lists.n; ++p) v[p] += step * direction[p];
    current = evaluate_dual(lists, std::move(v), options.num_threads);
    if (usage && iteration >= options.max_iterations / 2)
      for (int64_t q = 0; q < lists.n; ++q) (*usage)[q] += current.rho[q] < 0;
    if (current.bound > best.bound) {
      since_improvement = current.bound > best.bound + 1e-4 * gap ? 0 : since_improvement + 1;
      best = current;
    } else {
      ++since_improvement;
    }
    if (since_improvement >= 12) {
      step_scale *= 0.6;
      since_improvement = 0;
      current = best;
      std::fill(direction.begin(), direction.end(), 0.0);
    }
  }
  return best;
}

}  // namespace milieu::internal
