// SPDX-License-Identifier: Apache-2.0
// A fingerprint of rows that ranks share: each looks at its own, the result is the same for any
// number of ranks.
#pragma once

#include "milieu/base/export.h"
#include "milieu/base/ranks/rows.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

template <class T>
int64_t hash_rows(const Rows& rows, MatrixView<T> own) {
  return parallel_reduce(
      rows, 0, int64_t{0},
      [&](const Block& block, int64_t& hash) {
        Fingerprint print("block");
        print.number(hash).rows(own.rows_between(block.begin, block.end), 1);
        hash = static_cast<int64_t>(print.value());
      },
      [](int64_t& hash, int64_t other) {
        hash = static_cast<int64_t>(Fingerprint("shards").number(hash).number(other).value());
      });
}

}  // namespace milieu
