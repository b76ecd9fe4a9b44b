// SPDX-License-Identifier: Apache-2.0
// Finding NaN and infinity before a method begins: one fast pass over the values.
#pragma once

#include <cstdint>
#include <optional>

#include "milieu/base/export.h"
#include "milieu/base/ranks/rows.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct MatrixPlace {
  int64_t row = 0;
  int64_t column = 0;
};

// The first entry (in row-major order) that is NaN or infinite, if there is one.
std::optional<MatrixPlace> find_non_finite(FloatView values, int num_threads = 1);

// Such an entry among the rows that ranks share, by its place among all.
struct BadEntry {
  int64_t row = 0;
  int64_t column = 0;
  float value = 0;
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(row, column, value);
  }
};

// The first one of all ranks, on every rank.
std::optional<BadEntry> find_non_finite(FloatView own, const Rows& rows, int num_threads);

}  // namespace milieu
