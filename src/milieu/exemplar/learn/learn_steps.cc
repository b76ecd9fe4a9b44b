// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/learn/learn_steps.h"

#include <algorithm>

namespace milieu::internal {

SlaveMinimum minimise_sample_slave(int p, std::span<const double> ubar,
                                   std::span<const double> theta, double beta,
                                   std::span<char> is_open) {
  const int n = static_cast<int>(theta.size());
  SlaveMinimum minimum{theta[p], p};
  double gained = 0;
  for (int q = 0; q < n; ++q) {
    if (q == p) continue;
    const double through = ubar[q] + std::max(theta[q], 0.0);
    if (through < minimum.value || (through == minimum.value && q < minimum.chosen))
      minimum = {through, q};
    gained += std::min(theta[q], 0.0);
    is_open[q] = theta[q] < 0;
  }
  is_open[p] = 0;
  is_open[minimum.chosen] = 1;
  minimum.value += gained - beta;
  return minimum;
}

double minimise_cluster_slave(std::span<const double> theta, double alpha,
                              std::span<char> is_open) {
  double sum = 2 * alpha;
  for (double t : theta) sum += std::min(t - alpha, 0.0);
  for (size_t q = 0; q < theta.size(); ++q) is_open[q] = sum < 0 && theta[q] < alpha;
  return -alpha + std::min(0.0, sum);
}

void update_duals(std::span<const char> is_open, std::span<const double> share, double step,
                  std::span<double> lambda) {
  for (size_t q = 0; q < lambda.size(); ++q) lambda[q] += step * (is_open[q] - share[q]);
}

}  // namespace milieu::internal
