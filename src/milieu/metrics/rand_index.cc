// SPDX-License-Identifier: Apache-2.0
#include "milieu/metrics/rand_index.h"

#include <vector>

namespace milieu {
namespace {

// Pairs inside the parts; exact while n <= 4 * 10^9.
int64_t num_pairs(std::span<const int64_t> counts) {
  int64_t pairs = 0;
  for (const int64_t count : counts)
    pairs += count % 2 == 0 ? count / 2 * (count - 1) : (count - 1) / 2 * count;
  return pairs;
}

}  // namespace

// From the pairs: both together (tp), only by the rows (fp), only by the columns (fn), neither
// (tn). Products of pair counts need more than 64 bits; long double keeps 64 of them.
double adjusted_rand_index(std::span<const int64_t> table, int num_rows, int num_cols) {
  std::vector<int64_t> row_sums(static_cast<size_t>(num_rows));
  std::vector<int64_t> col_sums(static_cast<size_t>(num_cols));
  int64_t n = 0;
  for (int i = 0; i < num_rows; ++i)
    for (int j = 0; j < num_cols; ++j) {
      const int64_t count = table[static_cast<size_t>(i) * num_cols + j];
      row_sums[i] += count;
      col_sums[j] += count;
      n += count;
    }
  const int64_t both = num_pairs(table);
  const int64_t only_rows = num_pairs(row_sums) - both;
  const int64_t only_cols = num_pairs(col_sums) - both;
  if (only_rows == 0 && only_cols == 0) return 1;
  const int64_t all = num_pairs(std::span(&n, 1));
  const auto tp = static_cast<long double>(both);
  const auto fp = static_cast<long double>(only_rows);
  const auto fn = static_cast<long double>(only_cols);
  const auto tn = static_cast<long double>(all - both - only_rows - only_cols);
  return static_cast<double>(2 * (tp * tn - fn * fp) /
                             ((tp + fn) * (fn + tn) + (tp + fp) * (fp + tn)));
}

}  // namespace milieu
