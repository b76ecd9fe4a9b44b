// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/finite.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "milieu/base/parallel.h"
#include "milieu/linalg/distance_loops.h"
#include "milieu/linalg/isa.h"

namespace milieu {

std::optional<MatrixPlace> find_non_finite(FloatView values, int num_threads) {
  constexpr int64_t kBlockValues = 1 << 16;
  const int64_t block_rows =
      std::max<int64_t>(1, kBlockValues / std::max<int64_t>(1, values.cols()));
  const int64_t blocks = num_blocks(values.rows(), block_rows);
  std::vector<char> is_finite(blocks, 1);
  const auto all_finite = MILIEU_SELECT_ISA(all_finite);
  parallel_for(values.rows(), block_rows, num_threads, [&](const Block& block) {
    if (values.stride() == values.cols()) {  // rows follow each other: one long row
      is_finite[block.index] = all_finite(values.row(block.begin), block.size() * values.cols());
      return;
    }
    for (int64_t i = block.begin; i < block.end && is_finite[block.index]; ++i)
      is_finite[block.index] = all_finite(values.row(i), values.cols());
  });
  const auto bad = std::find(is_finite.begin(), is_finite.end(), 0);
  if (bad == is_finite.end()) return std::nullopt;
  for (int64_t i = (bad - is_finite.begin()) * block_rows;; ++i)
    for (int64_t j = 0; j < values.cols(); ++j)
      if (!std::isfinite(values(i, j))) return MatrixPlace{i, j};
}

std::optional<BadEntry> find_non_finite(FloatView own, const Rows& rows, int num_threads) {
  std::optional<BadEntry> first;
  if (const std::optional<MatrixPlace> place = find_non_finite(own, num_threads))
    first = {rows.begin() + place->row, place->column, own(place->row, place->column)};
  if (!rows.is_shared()) return first;
  for (const Message& message : rows.ranks().gather(first ? pack(*first) : Message())) {
    if (message.empty()) continue;
    BadEntry other;
    unpack(message, other);
    if (!first || other.row < first->row) first = other;
  }
  return first;
}

}  // namespace milieu
