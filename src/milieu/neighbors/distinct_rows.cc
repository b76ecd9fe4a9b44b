// SPDX-License-Identifier: Apache-2.0
// Equal rows by sorting: no hash order reaches a result.
#include "milieu/neighbors/distinct_rows.h"

#include <algorithm>
#include <numeric>

namespace milieu {

RowGroups group_equal_rows(FloatView rows) {
  const auto is_less = [&](int a, int b) {
    const auto [x, y] = std::mismatch(rows.row(a), rows.row(a) + rows.cols(), rows.row(b));
    return x == rows.row(a) + rows.cols() ? a < b : *x < *y;
  };
  const auto is_equal = [&](int a, int b) {
    return std::equal(rows.row(a), rows.row(a) + rows.cols(), rows.row(b));
  };
  std::vector<int> order(rows.rows());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), is_less);
  // Within a run of equal rows the lowest comes first.
  std::vector<int> first_of_row(rows.rows());
  for (size_t i = 0; i < order.size(); ++i)
    first_of_row[order[i]] =
        i > 0 && is_equal(order[i - 1], order[i]) ? first_of_row[order[i - 1]] : order[i];

  RowGroups groups;
  groups.group_from_row.resize(rows.rows());
  for (int i = 0; i < rows.rows(); ++i) {
    if (first_of_row[i] == i) {
      groups.group_from_row[i] = static_cast<int>(groups.first_rows.size());
      groups.first_rows.push_back(i);
    } else {
      groups.group_from_row[i] = groups.group_from_row[first_of_row[i]];
    }
  }
  return groups;
}

}  // namespace milieu
