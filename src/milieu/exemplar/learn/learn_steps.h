// SPDX-License-Identifier: Apache-2.0
// The equations of learn.h, one function each. Symbols as in the paper, with the corrections that
// docs/algorithms/exemplar_learn.md lists:
//   d_pq = w . f_pq; ubar_pq = d_pq + beta [p and q in the same true cluster], diagonal included;
//   theta = what one slave is charged for an exemplar; lambda = the duals of the shared x_qq;
//   each x_qq is shared by n + 1 slaves: those of all samples and of its cluster.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// What a slave's minimum is made of.
struct SlaveMinimum {
  double value = 0;
  int chosen = -1;  // sample slaves: the exemplar of p
};

// The slave of sample p [Komodakis11, Eq. 32]: one exemplar for p and any set of open ones.
// `ubar` and `theta` have n entries, ubar[p] is not read; is_open receives x_qq.
// Departs from [Komodakis11, Eq. 32]: the chosen exemplar is opened, which the printed form omits.
SlaveMinimum minimise_sample_slave(int p, std::span<const double> ubar,
                                   std::span<const double> theta, double beta,
                                   std::span<char> is_open);

// The slave of a true cluster [Komodakis11, Eq. 34], whose cost is alpha (2 [any] - 1 - number):
// theta has one entry per member; is_open receives x_qq.
double minimise_cluster_slave(std::span<const double> theta, double alpha, std::span<char> is_open);

// The member of each true cluster that serves it best [Komodakis11, Eq. 29], the penalty included;
// ties to the lowest index. distances is n x n, members[c] ascending.
template <class Real>
std::vector<int> best_members(MatrixView<const Real> distances,
                              const std::vector<std::vector<int>>& members) {
  std::vector<int> best;
  for (const std::vector<int>& cluster : members) {
    std::vector<double> sums(cluster.size(), 0.0);
    for (const int p : cluster) {
      const Real* row = distances.row(p);
      for (size_t i = 0; i < cluster.size(); ++i) sums[i] += row[cluster[i]];
    }
    best.push_back(cluster[std::min_element(sums.begin(), sums.end()) - sums.begin()]);
  }
  return best;
}

// lambda += step (x - share) [Komodakis11, Eq. 31], x the slave's own choice and share the mean
// over all slaves that hold the variable. Departs from Eq. 31, whose printed sign descends.
void update_duals(std::span<const char> is_open, std::span<const double> share, double step,
                  std::span<double> lambda);

}  // namespace milieu::internal
