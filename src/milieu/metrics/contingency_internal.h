// SPDX-License-Identifier: Apache-2.0
// The table from which all figures of metrics.cc are computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace milieu::internal {

// The distinct values >= 0 of a labelling, ascending, and for every sample its place among them.
struct Parts {
  std::vector<int> values;
  std::vector<int> indices;  // -1 stays -1
};

// The contingency table with its sums; the last row holds the samples without a cluster.
struct Table {
  std::vector<int64_t> counts;  // (num_clusters + 1) x num_classes
  std::vector<int64_t> row_sums, col_sums;
  int num_clusters = 0;
  int num_classes = 0;
  int64_t n = 0;

  int64_t operator()(int row, int col) const {
    return counts[static_cast<size_t>(row) * num_classes + col];
  }
  // Rows that NMI and ARI compare: clusters, and the samples without one where there are any.
  int num_parts() const { return num_clusters + (row_sums[num_clusters] > 0 ? 1 : 0); }
};

// Values may have any gaps and be as large as an int.
Parts compact(std::vector<int> given);

// Every sample has a class; InvalidArgument when there are more than 10^8 cells.
Table make_table(const Parts& clusters, const Parts& classes);

}  // namespace milieu::internal
