// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/points.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "milieu/base/parallel.h"

namespace milieu {
namespace {

// Rows per block so that a block is about 1 MiB.
int64_t rows_per_block(int64_t cols) {
  return std::max<int64_t>(1, (int64_t{1} << 18) / std::max<int64_t>(1, cols));
}

// Without branches, so that compilers make vector code of it: adding one exponent step to |x| as an
// integer carries into the sign bit exactly for infinities and NaN.
bool all_finite(const float* values, int64_t count) {
  uint32_t carries = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(values[i]) & 0x7fffffffu;
    carries |= magnitude + 0x00800000u;
  }
  return (carries & 0x80000000u) == 0;
}

}  // namespace

Points::Points(Matrix<float> matrix) {
  auto owner = std::make_shared<const Matrix<float>>(std::move(matrix));
  view_ = owner->view();
  owner_ = std::move(owner);
}

Points::Points(FloatView view, std::shared_ptr<const void> owner, bool is_mapped)
    : view_(view), owner_(std::move(owner)), is_mapped_(is_mapped) {}

Points Points::rows_between(int64_t begin, int64_t end) const {
  return Points(view_.rows_between(begin, end), owner_, is_mapped_);
}

Points Points::gather(const std::vector<int64_t>& rows, int num_threads) const {
  if (rows.empty()) return rows_between(0, 0);
  if (is_stretch(rows)) return rows_between(rows.front(), rows.back() + 1);
  Matrix<float> kept(static_cast<int64_t>(rows.size()), cols());
  parallel_for(kept.rows(), rows_per_block(cols()), num_threads, [&](const Block& block) {
    for (int64_t i = block.begin; i < block.end; ++i) {
      const float* row = view_.row(rows[static_cast<size_t>(i)]);
      std::copy(row, row + cols(), kept.row(i));
    }
  });
  return Points(std::move(kept));
}

bool is_stretch(const std::vector<int64_t>& rows) {
  for (size_t i = 1; i < rows.size(); ++i)
    if (rows[i] != rows[i - 1] + 1) return false;
  return true;
}

std::optional<Position> find_non_finite(FloatView points, int num_threads) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  if (points.empty()) return std::nullopt;
  // The lowest row wins; blocks behind a known bad row have nothing to add.
  std::atomic<int64_t> first_row = kNone;
  parallel_for(points.rows(), rows_per_block(points.cols()), num_threads, [&](const Block& block) {
    if (block.begin > first_row.load(std::memory_order_relaxed)) return;
    if (points.is_contiguous() && all_finite(points.row(block.begin), block.size() * points.cols()))
      return;
    for (int64_t i = block.begin; i < block.end; ++i) {
      if (all_finite(points.row(i), points.cols())) continue;
      int64_t known = first_row.load(std::memory_order_relaxed);
      while (i < known && !first_row.compare_exchange_weak(known, i)) {
      }
      return;
    }
  });
  if (first_row == kNone) return std::nullopt;
  const std::span<const float> row = points.row_span(first_row);
  const auto bad =
      std::find_if_not(row.begin(), row.end(), [](float x) { return std::isfinite(x); });
  return Position{first_row, bad - row.begin()};
}

}  // namespace milieu
