// SPDX-License-Identifier: Apache-2.0
// Parallel loops over fixed blocks. Block borders depend only on the amount of work, never on the
// number of threads, and block results are merged in block order: the same bits for any number of
// threads. An exception thrown in a block is rethrown on the calling thread; of several, that of
// the lowest block.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "milieu/base/error.h"

namespace milieu {

// Rows [begin, end) of the work; `index` is the block's place in the fixed cut.
struct Block {
  int64_t index = 0;
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

// 0 means all cores; otherwise the number itself. Never less than 1.
int resolve_num_threads(int num_threads);

// How many blocks of `block_size` >= 1 cover `n` items; 0 for n <= 0.
inline int64_t num_blocks(int64_t n, int64_t block_size) {
  return n <= 0 ? 0 : (n - 1) / block_size + 1;
}

// Calls body(Block) for every block, on up to `num_threads` threads (0 = all cores; never more than
// oneTBB's own limit), in any order. Nested calls are allowed. Blocks must write to disjoint
// places.
void parallel_for(int64_t n, int64_t block_size, int num_threads,
                  const std::function<void(const Block&)>& body);

// Ordered reduction: statistics of each block by `accumulate(block, stats)` on a copy of `zero`,
// merged left to right by `merge(total, part_stats)`. Holds at most `kMaxReductionParts` statistics
// at a time, however many blocks there are: the blocks of one part are accumulated one after the
// other into the same statistics, and parts depend only on n and block_size.
inline constexpr int64_t kMaxReductionParts = 16;

template <class Stats, class Accumulate, class Merge>
Stats parallel_reduce(int64_t n, int64_t block_size, int num_threads, const Stats& zero,
                      Accumulate&& accumulate, Merge&& merge) {
  require(block_size >= 1, "parallel_reduce: block_size must be at least 1");
  const int64_t blocks = num_blocks(n, block_size);
  if (blocks == 0) return zero;
  const int64_t blocks_per_part = num_blocks(blocks, kMaxReductionParts);
  std::vector<std::optional<Stats>> parts(num_blocks(blocks, blocks_per_part));
  parallel_for(blocks, blocks_per_part, num_threads, [&](const Block& part) {
    Stats stats = zero;  // on this thread's own cache lines until it is complete
    for (int64_t b = part.begin; b < part.end; ++b) {
      const int64_t begin = b * block_size;
      const int64_t end = n - begin < block_size ? n : begin + block_size;
      accumulate(Block{b, begin, end}, stats);
    }
    parts[part.index] = std::move(stats);
  });
  Stats total = std::move(*parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    merge(total, std::as_const(*parts[i]));
    parts[i].reset();
  }
  return total;
}

}  // namespace milieu
