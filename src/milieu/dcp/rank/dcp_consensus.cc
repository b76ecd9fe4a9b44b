// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/rank/dcp_consensus_internal.h"

#include <algorithm>

#include "milieu/base/parallel.h"
#include "milieu/metrics/metrics.h"
#include "milieu/metrics/rand_index.h"

namespace milieu::internal {

double agreement(std::span<const int> split, std::span<const int> other, int num_parts) {
  return adjusted_rand_index(contingency_table(split, num_parts, other, num_parts), num_parts,
                             num_parts);
}

std::vector<double> mean_agreement(std::span<const std::span<const int>> splits, int num_parts,
                                   int64_t most, int num_threads) {
  const auto count = std::ssize(splits);
  const int64_t num_compared = std::min(most, count);
  std::vector<double> means(splits.size());
  parallel_for(count, 1, num_threads, [&](const Block& block) {
    double sum = 0;
    int64_t others = 0;
    for (int64_t i = 0; i < num_compared; ++i) {
      const int64_t other = i * count / num_compared;
      if (other == block.begin) continue;
      sum += agreement(splits[block.begin], splits[other], num_parts);
      ++others;
    }
    if (others > 0) means[block.begin] = sum / static_cast<double>(others);
  });
  return means;
}

}  // namespace milieu::internal
