// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/parallel.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>

#include "milieu/base/error.h"
#include "milieu/base/sanitizer.h"

#ifdef MILIEU_TSAN
#include <sanitizer/tsan_interface.h>

// Races that oneTBB's headers seem to have with its library: by the file of the innermost function,
// and by the function that tears down a finished loop, under which no block runs. Races inside the
// blocks of a loop are still found.
extern "C" const char* __tsan_default_suppressions() {
  return "race_top:oneapi/tbb\nrace_top:libtbb.so\nrace:fold_tree\n";
}
#endif

namespace milieu {

namespace {

// What was written before release() is seen after acquire() of the same object on any thread.
// Debian's libtbb is not compiled for ThreadSanitizer, so the order that oneTBB's loops give to
// memory must be written down for it. Does nothing in other builds.
class MemoryOrder {
 public:
  void release() {
#ifdef MILIEU_TSAN
    __tsan_release(this);
#endif
  }
  void acquire() {
#ifdef MILIEU_TSAN
    __tsan_acquire(this);
#endif
  }
};

// Making an arena costs about 0.1 ms, as much as a small loop, so idle ones are kept. Callers
// on different threads, and nested loops, each borrow their own. Never destroyed: oneTBB may be
// gone before static objects are.
class ArenaPool {
 public:
  static ArenaPool& instance() {
    static ArenaPool* pool = new ArenaPool;
    return *pool;
  }

  std::unique_ptr<tbb::task_arena> take(int threads) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const auto& arena) {
        return arena->max_concurrency() == threads;
      });
      if (found != idle_.end()) {
        std::unique_ptr<tbb::task_arena> arena = std::move(*found);
        idle_.erase(found);
        return arena;
      }
    }
    return std::make_unique<tbb::task_arena>(threads);
  }

  void give_back(std::unique_ptr<tbb::task_arena> arena) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(arena));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<tbb::task_arena>> idle_;
};

// Keeps the exception of the lowest block that failed. Blocks above it may be left out, those below
// it run: which exception the caller sees does not depend on the number of threads.
class FirstFailure {
 public:
  bool is_below(int64_t index) const { return first_.load(std::memory_order_relaxed) < index; }

  void record(int64_t index, std::exception_ptr exception) {
    const std::lock_guard lock(mutex_);
    if (index >= first_.load(std::memory_order_relaxed)) return;
    first_.store(index, std::memory_order_relaxed);
    exception_ = std::move(exception);
  }

  void rethrow_if_any() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::mutex mutex_;
  std::atomic<int64_t> first_ = std::numeric_limits<int64_t>::max();
  std::exception_ptr exception_;
};

template <class Body>
void run_in_arena(int threads, const Body& body) {
  // The arena we are in has the right size (the usual case): stay, but take no tasks of an outer
  // loop while waiting for the inner one.
  if (tbb::this_task_arena::max_concurrency() == threads) {
    tbb::this_task_arena::isolate(body);
    return;
  }
  std::unique_ptr<tbb::task_arena> arena = ArenaPool::instance().take(threads);
  arena->execute(body);
  ArenaPool::instance().give_back(std::move(arena));
}

}  // namespace

int resolve_num_threads(int num_threads) {
  require(num_threads >= 0, "num_threads must be at least 0 (0 means all cores)");
  if (num_threads > 0) return num_threads;
  return std::max(1, tbb::this_task_arena::max_concurrency());
}

void parallel_for(int64_t n, int64_t block_size, int num_threads,
                  const std::function<void(const Block&)>& body) {
  require(block_size >= 1, "parallel_for: block_size must be at least 1");
  const int64_t blocks = num_blocks(n, block_size);
  const auto run_block = [&](int64_t index) {
    const int64_t begin = index * block_size;
    body(Block{index, begin, begin + std::min(block_size, n - begin)});
  };
  // oneTBB never runs more threads than its limit, but complains on stderr when asked to.
  const auto limit = static_cast<int>(
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
  const int threads = std::min(resolve_num_threads(num_threads), limit);
  if (threads == 1 || blocks <= 1) {
    for (int64_t index = 0; index < blocks; ++index) run_block(index);
    return;
  }
  FirstFailure failure;
  MemoryOrder before_blocks, after_blocks;
  before_blocks.release();
  run_in_arena(threads, [&] {
    tbb::parallel_for(
        tbb::blocked_range<int64_t>(0, blocks, 1),
        [&](const tbb::blocked_range<int64_t>& range) {
          before_blocks.acquire();
          for (int64_t i = range.begin(); i < range.end() && !failure.is_below(i); ++i) {
            try {
              run_block(i);
            } catch (...) {
              failure.record(i, std::current_exception());
            }
          }
          after_blocks.release();
        },
        tbb::simple_partitioner());
  });
  after_blocks.acquire();
  failure.rethrow_if_any();
}

Shards::Shards(int64_t items, int64_t block_items) : n(items), block_size(block_items) {
  require(block_size >= 1, "parallel_reduce: block_size must be at least 1");
  constexpr int64_t kBlocks = 16;  // per shard, unless there are few or very many blocks
  const int64_t blocks = num_blocks(n, block_size);
  const auto wanted = std::bit_ceil(static_cast<uint64_t>(num_blocks(blocks, kBlocks)));
  const int64_t shards =
      std::clamp<int64_t>(static_cast<int64_t>(wanted), internal::kReductionTasks, kMaxShards);
  blocks_per_shard = std::max<int64_t>(1, num_blocks(blocks, shards));
}

Block Shards::block(int64_t index) const {
  const int64_t begin = index * block_size;
  return {index, begin, n - begin < block_size ? n : begin + block_size};
}

int64_t reduction_copies(int64_t n, int64_t block_size, int num_threads) {
  const int64_t count = Shards(n, block_size).count();
  const int64_t per_task = num_blocks(count, internal::kReductionTasks);
  // One per level of a subtree, and the result on its way to its place.
  const int64_t depth = 1 + std::bit_width(std::bit_ceil(static_cast<uint64_t>(per_task)));
  const int64_t threads = std::min<int64_t>(resolve_num_threads(num_threads), count);
  return std::min(count, internal::kReductionTasks) + threads * depth;
}

}  // namespace milieu
