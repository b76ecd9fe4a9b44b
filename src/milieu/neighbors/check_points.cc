// SPDX-License-Identifier: Apache-2.0
// One message for each thing that can be wrong with samples.
#include "milieu/neighbors/check_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/linalg/finite.h"

namespace milieu {

void check_points(FloatView points, std::string_view name, int num_threads) {
  check_points(points, Rows(points.rows(), 1), name, num_threads);
}

void check_points(FloatView own, const Rows& rows, std::string_view name, int num_threads) {
  require(rows.size() > 0 && own.cols() > 0, [&] {
    return fmt::format("{} is {} x {}, must have at least one row and one column", name,
                       rows.size(), own.cols());
  });
  require(rows.size() <= std::numeric_limits<int>::max(), [&] {
    return fmt::format("{} has {}, must have at most {}: use a subsample", name,
                       counted(rows.size(), "row"), std::numeric_limits<int>::max());
  });
  if (const std::optional<BadEntry> bad = find_non_finite(own, rows, num_threads))
    throw DataError(fmt::format(
        "{} has {} at row {}, column {} (counted from 0): every entry must be a finite "
        "number; remove or fill such samples",
        name, std::isnan(bad->value) ? "NaN" : "an infinite value", bad->row, bad->column));
}

WeightTotals check_weights(std::span<const double> weights, const Rows& rows) {
  if (!rows.any(!weights.empty())) return {static_cast<double>(rows.size()), rows.size()};
  require(static_cast<int64_t>(weights.size()) == rows.own_size(), [&] {
    return fmt::format("weights has {}, points has {}: they must match",
                       counted(weights.size(), "entry", "entries"),
                       counted(rows.own_size(), "row"));
  });
  const WeightTotals totals = parallel_reduce(
      rows, 1, WeightTotals(),
      [&](const Block& block, WeightTotals& part) {
        for (int64_t i = block.begin; i < block.end; ++i) {
          const double w = weights[i];
          require(std::isfinite(w) && w >= 0, [&] {
            return fmt::format("weights[{}] is {}, must be finite and at least 0", rows.begin() + i,
                               w);
          });
          part.sum += w;
          part.num_positive += w > 0 ? 1 : 0;
        }
      },
      [](WeightTotals& all, const WeightTotals& part) {
        all.sum += part.sum;
        all.num_positive += part.num_positive;
      });
  require(totals.sum > 0 && std::isfinite(totals.sum), [&] {
    return fmt::format("weights sum to {}, which must be positive and finite", totals.sum);
  });
  return totals;
}

double widest_range(FloatView points) {
  std::vector<float> low(points.row(0), points.row(0) + points.cols());
  std::vector<float> high = low;
  for (int64_t i = 1; i < points.rows(); ++i)
    for (int64_t j = 0; j < points.cols(); ++j) {
      low[j] = std::min(low[j], points.row(i)[j]);
      high[j] = std::max(high[j], points.row(i)[j]);
    }
  double widest = 0;
  for (int64_t j = 0; j < points.cols(); ++j)
    widest = std::max(widest, static_cast<double>(high[j]) - static_cast<double>(low[j]));
  return widest;
}

}  // namespace milieu
