// SPDX-License-Identifier: Apache-2.0
#include "milieu/neighbors/check_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "milieu/base/error.h"

namespace milieu {
namespace {

// True when an entry is infinite or NaN: its exponent bits are all set. Without branches, so that
// the compiler vectorises it.
bool has_non_finite(std::span<const float> values) {
  constexpr uint32_t kExponent = 0x7f800000u;
  uint32_t found = 0;
  for (const float value : values)
    found |= static_cast<uint32_t>((std::bit_cast<uint32_t>(value) & kExponent) == kExponent);
  return found != 0;
}

[[noreturn]] void refuse_row(std::span<const float> row, int64_t row_idx, std::string_view name) {
  size_t column = 0;
  while (std::isfinite(row[column])) ++column;
  throw DataError(
      fmt::format("{} has {} at row {}, column {} (counted from 0): every entry must be a finite "
                  "number; remove or fill such samples",
                  name, std::isnan(row[column]) ? "NaN" : "an infinite value", row_idx, column));
}

}  // namespace

void check_points(FloatView points, std::string_view name) {
  require(points.rows() > 0 && points.cols() > 0, [&] {
    return fmt::format("{} is {} x {}, must have at least one row and one column", name,
                       points.rows(), points.cols());
  });
  require(points.rows() <= std::numeric_limits<int>::max(), [&] {
    return fmt::format("{} has {} rows, must have at most {}: take a sub-sample", name,
                       points.rows(), std::numeric_limits<int>::max());
  });
  for (int64_t i = 0; i < points.rows(); ++i)
    if (has_non_finite(points.row_span(i))) refuse_row(points.row_span(i), i, name);
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
