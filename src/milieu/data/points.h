// SPDX-License-Identifier: Apache-2.0
// Points: the samples of a data set as rows of float, wherever their memory lives.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// An n x d float matrix that keeps its memory alive: a mapped file (float32, C order: no copy) or a
// converted matrix. Cheap to copy: copies share the memory.
class Points {
 public:
  Points() = default;
  explicit Points(Matrix<float> matrix);  // owns
  // Shares `owner`'s memory; `is_mapped` says that it is a file's.
  Points(FloatView view, std::shared_ptr<const void> owner, bool is_mapped = false);

  FloatView view() const { return view_; }
  int64_t rows() const { return view_.rows(); }
  int64_t cols() const { return view_.cols(); }
  bool is_mapped() const { return is_mapped_; }

  // Rows [begin, end), sharing the memory.
  Points rows_between(int64_t begin, int64_t end) const;

  // The rows named in `rows`, each in [0, rows()). Neighbouring rows in ascending order (all of
  // them, or one stretch) share the memory; anything else copies these rows and no more.
  Points gather(const std::vector<int64_t>& rows, int num_threads = 0) const;

 private:
  FloatView view_;
  std::shared_ptr<const void> owner_;
  bool is_mapped_ = false;
};

// The columns of `left`, then those of `right`. Either may have no rows: the other is returned.
// Throws DataError when both have rows, but not equally many.
Points join_columns(const Points& left, const Points& right);

// True when `rows` is begin, begin + 1, ..., begin + size - 1.
bool is_stretch(const std::vector<int64_t>& rows);

}  // namespace milieu
