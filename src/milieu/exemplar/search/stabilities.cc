// SPDX-License-Identifier: Apache-2.0
// First exemplars by duals that only rise: the primal-dual start of the paper's reference [9], in
// the form of [Erlenkotter78].
#include <algorithm>
#include <cmath>

#include "milieu/exemplar/search/exemplar_solve_internal.h"

namespace milieu::internal {

// Every v_p climbs its sorted list from the bottom: a sample whose v reaches d_pq starts to pay for
// opening q; q opens when its clients have paid d_qq, and the samples that pay for it stop
// climbing.
std::vector<int> stable_exemplars(const ServiceLists& lists, Monitor& monitor) {
  std::vector<double> slack = lists.penalty;  // what is still missing to open q
  std::vector<double> v(lists.n);
  std::vector<int64_t> next(lists.begin.begin(), lists.begin.end() - 1);
  for (int64_t p = 0; p < lists.n; ++p)
    v[p] = next[p] < lists.begin[p + 1] ? std::min<double>(lists.cost[next[p]], lists.penalty[p])
                                        : lists.penalty[p];
  for (int64_t p = 0; p < lists.n; ++p) slack[p] -= std::max(0.0, v[p]);
  bool has_moved = true;
  while (has_moved && !monitor.should_stop()) {
    has_moved = false;
    for (int64_t p = 0; p < lists.n; ++p) {
      if (p % 256 == 0 && monitor.should_stop()) break;
      while (next[p] < lists.begin[p + 1] && lists.cost[next[p]] <= v[p]) ++next[p];
      const double ceiling = next[p] < lists.begin[p + 1]
                                 ? std::min<double>(lists.cost[next[p]], lists.penalty[p])
                                 : lists.penalty[p];
      double rise = std::min(ceiling - v[p], slack[p]);
      for (int64_t e = lists.begin[p]; e < next[p]; ++e)
        rise = std::min(rise, slack[lists.server[e]]);
      if (rise <= 1e-12 * std::abs(lists.penalty[p])) continue;
      v[p] += rise;
      slack[p] -= rise;
      for (int64_t e = lists.begin[p]; e < next[p]; ++e) slack[lists.server[e]] -= rise;
      has_moved = true;
    }
  }
  std::vector<int> open;
  for (int q = 0; q < static_cast<int>(lists.n); ++q)
    if (slack[q] <= 1e-9 * std::abs(lists.penalty[q])) open.push_back(q);
  return open;
}

}  // namespace milieu::internal
