// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/parallel.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <thread>

#include "milieu/base/error.h"

namespace milieu {

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
    body(Block{index, begin, std::min(n, begin + block_size)});
  };
  const int threads = resolve_num_threads(num_threads);
  if (threads == 1 || blocks <= 1) {
    for (int64_t index = 0; index < blocks; ++index) run_block(index);
    return;
  }
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<int64_t>(0, blocks, 1),
                      [&](const tbb::blocked_range<int64_t>& range) {
                        for (int64_t i = range.begin(); i < range.end(); ++i) run_block(i);
                      },
                      tbb::simple_partitioner());
  });
}

}  // namespace milieu
