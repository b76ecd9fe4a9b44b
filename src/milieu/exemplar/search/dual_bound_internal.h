// SPDX-License-Identifier: Apache-2.0
// The certified lower bound. For every v,
//   L(v) = sum_p v_p + sum_q min(0, rho_q),
//   rho_q = d_qq - v_q + sum_{p != q} min(0, d_pq - v_p)
// is at most the optimum; its maximum is the optimum of the linear relaxation. With v_p never above
// cap_p (what unlisted candidates cost at least) the bound holds for the full problem although the
// lists are cut. Maximised by deflected subgradient steps of Polyak's length.
#pragma once

#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/exemplar/search/service_lists.h"

namespace milieu::internal {

struct DualPoint {
  std::vector<double> v;    // one per sample
  std::vector<double> rho;  // reduced cost of opening each sample
  double bound = 0;         // L(v), rounded down by a rigorous margin for the sums' rounding
};

// L(v) and rho at the given v (clipped at the caps). When the monitor stops it, rho is worthless
// and the bound says so: -infinity.
DualPoint evaluate_dual(const ServiceLists& lists, std::vector<double> v, int num_threads,
                        const Monitor& monitor);

// v from a solution: what each sample pays plus its share of its exemplar's penalty.
std::vector<double> dual_from_solution(const ServiceLists& lists, const std::vector<int>& server,
                                       const Monitor& monitor);

struct DualOptions {
  int max_iterations = 400;
  double target = 0;      // energy of the best known solution
  double rel_gap = 1e-9;  // stop when the bound is this close to the target
  int num_threads = 0;
};

struct DualAscent {
  DualPoint best;
  // n: how often each sample had rho < 0 over the second half of the steps; a guide for rounding.
  std::vector<double> usage;
  int iterations = 0;
};

// Improves `start`.
DualAscent maximise_dual(const ServiceLists& lists, const DualPoint& start,
                         const DualOptions& options, Monitor& monitor);

}  // namespace milieu::internal
