// SPDX-License-Identifier: Apache-2.0
// Counting samples by cluster and class.
#include "milieu/base/counted.h"
#include "milieu/metrics/contingency_internal.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/error.h"
#include "milieu/metrics/metrics.h"

namespace milieu {

namespace internal {
namespace {

constexpr int64_t kMaxCells = 100'000'000;

// The distinct values >= 0, ascending: by a bit map where it is about as small as the input, else
// sorting.
std::vector<int> distinct_values(const std::vector<int>& given) {
  const int highest = *std::max_element(given.begin(), given.end());
  std::vector<int> values;
  if (highest / 8 < static_cast<int64_t>(given.size()) + 1024) {
    std::vector<bool> is_used(static_cast<size_t>(highest) + 1);
    for (int value : given)
      if (value >= 0) is_used[value] = true;
    for (size_t value = 0; value < is_used.size(); ++value)
      if (is_used[value]) values.push_back(static_cast<int>(value));
  } else {
    values = given;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (values.front() < 0) values.erase(values.begin());
  }
  return values;
}

}  // namespace

Parts compact(std::vector<int> given) {
  Parts parts;
  parts.values = distinct_values(given);
  parts.indices = std::move(given);
  const bool has_no_gaps =
      !parts.values.empty() && parts.values.back() == static_cast<int>(parts.values.size()) - 1;
  if (has_no_gaps) return parts;
  for (int& value : parts.indices)
    if (value >= 0)
      value = static_cast<int>(std::lower_bound(parts.values.begin(), parts.values.end(), value) -
                               parts.values.begin());
  return parts;
}

Table make_table(const Parts& clusters, const Parts& classes) {
  Table table;
  table.num_clusters = static_cast<int>(clusters.values.size());
  table.num_classes = static_cast<int>(classes.values.size());
  table.n = static_cast<int64_t>(classes.indices.size());
  const int64_t rows = table.num_clusters + int64_t{1};
  require(rows * table.num_classes <= kMaxCells, [&] {
    return fmt::format("{} x {} is more than {}: too many to match",
                       counted(table.num_clusters, "cluster"),
                       counted(table.num_classes, "class", "classes"), counted(kMaxCells, "cell"));
  });
  table.counts.resize(rows * table.num_classes);
  table.row_sums.resize(rows);
  table.col_sums.resize(table.num_classes);
  for (size_t s = 0; s < classes.indices.size(); ++s) {
    const int row = clusters.indices[s] >= 0 ? clusters.indices[s] : table.num_clusters;
    const int col = classes.indices[s];
    ++table.counts[static_cast<size_t>(row) * table.num_classes + col];
    ++table.row_sums[row];
    ++table.col_sums[col];
  }
  return table;
}

}  // namespace internal

std::vector<int64_t> contingency_table(std::span<const int> labels, int num_clusters,
                                       std::span<const int> truth, int num_classes) {
  require(labels.size() == truth.size(), [&] {
    return fmt::format("labels has {}, truth has {}: they must match",
                       counted(labels.size(), "entry", "entries"), truth.size());
  });
  const auto check = [](int value, int count, const char* name, size_t place) {
    require(value >= 0 && value < count, [&] {
      return fmt::format("{}[{}] is {}, must lie in [0, {})", name, place, value, count);
    });
  };
  std::vector<int64_t> table(static_cast<size_t>(num_clusters) * num_classes);
  for (size_t i = 0; i < labels.size(); ++i) {
    check(labels[i], num_clusters, "labels", i);
    check(truth[i], num_classes, "truth", i);
    ++table[static_cast<size_t>(labels[i]) * num_classes + truth[i]];
  }
  return table;
}

}  // namespace milieu
