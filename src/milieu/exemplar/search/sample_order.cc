// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/search/sample_order_internal.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace milieu::internal {

namespace {

constexpr size_t kCellSize = 32;  // smaller cells are in cache anyway

int64_t widest_coordinate(FloatView points, std::span<const int> rows) {
  int64_t widest = 0;
  float widest_range = -1;
  std::vector<float> low(points.row(rows[0]), points.row(rows[0]) + points.cols());
  std::vector<float> high = low;
  for (int row : rows)
    for (int64_t t = 0; t < points.cols(); ++t) {
      low[t] = std::min(low[t], points(row, t));
      high[t] = std::max(high[t], points(row, t));
    }
  for (int64_t t = 0; t < points.cols(); ++t)
    if (high[t] - low[t] > widest_range) {
      widest = t;
      widest_range = high[t] - low[t];
    }
  return widest;
}

void order_cell(FloatView points, std::span<int> rows, const Monitor& monitor) {
  if (rows.size() <= kCellSize || monitor.should_stop()) return;
  const int64_t t = widest_coordinate(points, rows);
  const size_t half = rows.size() / 2;
  std::nth_element(rows.begin(), rows.begin() + half, rows.end(), [&](int a, int b) {
    return points(a, t) != points(b, t) ? points(a, t) < points(b, t) : a < b;
  });
  order_cell(points, rows.first(half), monitor);
  order_cell(points, rows.subspan(half), monitor);
}

}  // namespace

std::vector<int> spatial_order(FloatView points, const Monitor& monitor) {
  std::vector<int> order(points.rows());
  std::iota(order.begin(), order.end(), 0);
  order_cell(points, order, monitor);
  return order;
}

Matrix<float> rows_in_order(FloatView points, const std::vector<int>& order) {
  Matrix<float> rows(static_cast<int64_t>(order.size()), points.cols());
  for (size_t i = 0; i < order.size(); ++i)
    std::copy_n(points.row(order[i]), points.cols(), rows.row(static_cast<int64_t>(i)));
  return rows;
}

}  // namespace milieu::internal
