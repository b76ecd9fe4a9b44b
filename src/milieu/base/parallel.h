// SPDX-License-Identifier: Apache-2.0
// Parallel loops over fixed blocks. Block borders depend only on the amount of work, never on the
// number of threads, and block results are merged in a fixed order: the same bits for any number of
// threads (decision 0002). An exception thrown in a block is rethrown on the calling thread; of
// several, that of the lowest block.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/base/export.h"

namespace MILIEU_API milieu {

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

// The shards of a reduction: consecutive blocks whose statistics are summed one after the other.
// Their borders depend only on `n` and `block_size`, so shards can be given to threads and to
// machines without a change of the result. At least sixteen where there are as many blocks; more
// work makes more shards, of about sixteen blocks each, up to kMaxShards.
struct Shards {
  Shards(int64_t items, int64_t block_items);
  int64_t count() const { return num_blocks(num_blocks(n, block_size), blocks_per_shard); }
  Block block(int64_t index) const;

  // The statistics of one shard: `accumulate(block, stats)` for its blocks on a copy of `zero`.
  template <class Stats, class Accumulate>
  Stats sum(int64_t index, const Stats& zero, Accumulate& accumulate) const {
    Stats stats = zero;  // on this thread's own cache lines until it is complete
    const int64_t end = std::min(num_blocks(n, block_size), (index + 1) * blocks_per_shard);
    for (int64_t b = index * blocks_per_shard; b < end; ++b) accumulate(block(b), stats);
    return stats;
  }

  int64_t n = 0;
  int64_t block_size = 1;
  int64_t blocks_per_shard = 1;
};
inline constexpr int64_t kMaxShards = 4096;

// How many statistics a reduction holds at once, at most.
int64_t reduction_copies(int64_t n, int64_t block_size, int num_threads);

namespace internal {

inline constexpr int64_t kReductionTasks = 16;  // subtrees that threads take on one after the other

// How many subtrees: as many results wait at a time, so fewer where statistics are large (they say
// so by num_bytes()). Does not change the result.
template <class Stats>
int64_t reduction_tasks(const Stats& zero) {
  if constexpr (requires { zero.num_bytes(); }) {
    constexpr int64_t kRoom = int64_t{128} << 20;
    return std::clamp<int64_t>(kRoom / std::max<int64_t>(zero.num_bytes(), 1), 4, kReductionTasks);
  }
  return kReductionTasks;
}

// The fixed binary tree over shard numbers: node [first, first + width), width a power of two,
// merges its halves; a half without a shard (>= count) is left out. `leaf(i)` gives the statistics
// of shard i.
template <class Leaf, class Merge>
auto reduce_tree(int64_t first, int64_t width, int64_t count, Leaf& leaf, Merge& merge) {
  if (width == 1) return leaf(first);
  const int64_t half = width / 2;
  auto total = reduce_tree(first, half, count, leaf, merge);
  if (first + half < count) {
    const auto right = reduce_tree(first + half, half, count, leaf, merge);
    merge(total, right);
  }
  return total;
}

}  // namespace internal

// Ordered reduction: statistics of each shard by `accumulate(block, stats)` for its blocks, in
// order, on a copy of `zero`; shards are merged by `merge(total, part)` along the fixed binary
// tree.
template <class Stats, class Accumulate, class Merge>
Stats parallel_reduce(int64_t n, int64_t block_size, int num_threads, const Stats& zero,
                      Accumulate&& accumulate, Merge&& merge) {
  const Shards shards(n, block_size);
  const int64_t count = shards.count();
  if (count == 0) return zero;
  auto sum_shard = [&](int64_t index) { return shards.sum(index, zero, accumulate); };
  const auto height = std::bit_ceil(static_cast<uint64_t>(count));
  const auto most = std::bit_floor(static_cast<uint64_t>(internal::reduction_tasks(zero)));
  const auto tasks = static_cast<int64_t>(std::min<uint64_t>(height, most));
  const int64_t width = static_cast<int64_t>(height) / tasks;
  std::vector<std::optional<Stats>> parts(num_blocks(count, width));
  parallel_for(static_cast<int64_t>(parts.size()), 1, num_threads, [&](const Block& task) {
    parts[task.index] = internal::reduce_tree(task.index * width, width, count, sum_shard, merge);
  });
  auto take_part = [&](int64_t index) { return *std::exchange(parts[index], std::nullopt); };
  return internal::reduce_tree(0, tasks, static_cast<int64_t>(parts.size()), take_part, merge);
}

}  // namespace milieu
