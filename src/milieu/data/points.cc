// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"

namespace milieu {
namespace {

// Rows per block so that a block is about 1 MiB.
int64_t rows_per_block(int64_t cols) {
  return std::max<int64_t>(1, (int64_t{1} << 18) / std::max<int64_t>(1, cols));
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

Points join_columns(const Points& left, const Points& right) {
  if (left.rows() == 0) return right;
  if (right.rows() == 0) return left;
  if (left.rows() != right.rows())
    throw DataError(fmt::format("columns of {} and {} are joined: they must match", left.rows(),
                                counted(right.rows(), "row")));
  Matrix<float> joined(left.rows(), left.cols() + right.cols());
  for (int64_t i = 0; i < joined.rows(); ++i) {
    std::copy_n(left.view().row(i), left.cols(), joined.row(i));
    std::copy_n(right.view().row(i), right.cols(), joined.row(i) + left.cols());
  }
  return Points(std::move(joined));
}

bool is_stretch(const std::vector<int64_t>& rows) {
  for (size_t i = 1; i < rows.size(); ++i)
    if (rows[i] != rows[i - 1] + 1) return false;
  return true;
}

}  // namespace milieu
