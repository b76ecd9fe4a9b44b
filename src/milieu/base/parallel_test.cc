// SPDX-License-Identifier: Apache-2.0
// The limit of oneTBB is raised to eight threads here, so that loops really run on eight even on a
// small machine.
#include "milieu/base/parallel.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <thread>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

class Parallel : public ::testing::Test {
 private:
  tbb::global_control eight_{tbb::global_control::max_allowed_parallelism, 8};
};

const int kThreadCounts[] = {1, 2, 3, 8};

TEST_F(Parallel, NumBlocksCoverAllItems) {
  EXPECT_EQ(num_blocks(0, 4), 0);
  EXPECT_EQ(num_blocks(-3, 4), 0);
  EXPECT_EQ(num_blocks(1, 4), 1);
  EXPECT_EQ(num_blocks(4, 4), 1);
  EXPECT_EQ(num_blocks(5, 4), 2);
  const int64_t largest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(num_blocks(largest, largest), 1);
  EXPECT_EQ(num_blocks(5, largest), 1);
}

TEST_F(Parallel, EveryItemIsVisitedOnceInFixedBlocks) {
  for (const int threads : kThreadCounts) {
    std::vector<int> visits(103, 0);
    std::vector<Block> blocks(11);
    parallel_for(103, 10, threads, [&](const Block& block) {
      blocks[block.index] = block;
      for (int64_t i = block.begin; i < block.end; ++i) ++visits[i];
    });
    EXPECT_EQ(visits, std::vector<int>(103, 1));
    for (int64_t b = 0; b < 11; ++b) {
      EXPECT_EQ(blocks[b].begin, 10 * b);
      EXPECT_EQ(blocks[b].size(), b < 10 ? 10 : 3);
    }
  }
}

TEST_F(Parallel, NothingToDoCallsNothing) {
  for (const int threads : kThreadCounts) {
    parallel_for(0, 10, threads, [](const Block&) { FAIL(); });
    parallel_for(-5, 10, threads, [](const Block&) { FAIL(); });
    const int sum = parallel_reduce(
        0, 10, threads, 42, [](const Block&, int&) { FAIL(); }, [](int&, int) { FAIL(); });
    EXPECT_EQ(sum, 42);
  }
}

TEST_F(Parallel, WrongArgumentsAreRefused) {
  const auto body = [](const Block&) {};
  EXPECT_THROW(parallel_for(5, 0, 1, body), InvalidArgument);
  EXPECT_THROW(parallel_for(5, 1, -1, body), InvalidArgument);
  EXPECT_THROW(parallel_reduce(
                   5, 0, 1, 0, [](const Block&, int&) {}, [](int&, int) {}),
               InvalidArgument);
  EXPECT_THROW(resolve_num_threads(-1), InvalidArgument);
}

TEST_F(Parallel, ZeroThreadsMeansAllAndIsAtLeastOne) {
  EXPECT_GE(resolve_num_threads(0), 1);
  EXPECT_EQ(resolve_num_threads(5), 5);
}

std::set<std::thread::id> threads_used(int num_threads) {
  std::set<std::thread::id> ids;
  std::mutex mutex;
  parallel_for(64, 1, num_threads, [&](const Block&) {
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  return ids;
}

TEST_F(Parallel, NeverMoreThreadsThanAsked) {
  EXPECT_EQ(threads_used(1), std::set{std::this_thread::get_id()});
  for (int round = 0; round < 20; ++round) EXPECT_LE(threads_used(3).size(), 3u);
}

TEST_F(Parallel, MoreThreadsThanTheLimitAreNotAskedFor) {
  // oneTBB would complain on stderr, and the library never prints.
  ::testing::internal::CaptureStderr();
  EXPECT_LE(threads_used(1000000).size(), 8u);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(Parallel, SeveralThreadsWorkAtOnce) {
  // Both blocks wait for each other: with one thread only this would time out.
  std::atomic<int> arrived = 0;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  parallel_for(2, 1, 2, [&](const Block&) {
    ++arrived;
    while (arrived < 2 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
    EXPECT_EQ(arrived, 2);
  });
}

TEST_F(Parallel, ExceptionIsRethrownOnTheCallingThread) {
  for (const int threads : kThreadCounts) {
    const auto caller = std::this_thread::get_id();
    try {
      parallel_for(100, 1, threads, [](const Block& block) {
        if (block.index == 57) throw DataError("row 57");
      });
      FAIL() << "no exception with " << threads << " threads";
    } catch (const DataError& error) {
      EXPECT_STREQ(error.what(), "row 57");
      EXPECT_EQ(std::this_thread::get_id(), caller);
    }
  }
}

TEST_F(Parallel, OfSeveralExceptionsTheLowestBlocksIsRethrown) {
  for (const int threads : kThreadCounts) {
    for (int round = 0; round < 20; ++round) {
      try {
        parallel_for(200, 1, threads, [](const Block& block) {
          if (block.index % 10 == 3) throw DataError("row " + std::to_string(block.index));
        });
        FAIL() << "no exception";
      } catch (const DataError& error) {
        EXPECT_STREQ(error.what(), "row 3") << threads << " threads";
      }
    }
  }
}

TEST_F(Parallel, LoopsWorkAgainAfterAnException) {
  const auto fail = [](const Block&) { throw DataError("no"); };
  EXPECT_THROW(parallel_for(50, 1, 8, fail), DataError);
  std::atomic<int> visits = 0;
  parallel_for(50, 1, 8, [&](const Block&) { ++visits; });
  EXPECT_EQ(visits, 50);
}

TEST_F(Parallel, NestedLoopsVisitEverythingAndPassExceptionsOn) {
  for (const int outer_threads : kThreadCounts) {
    for (const int inner_threads : kThreadCounts) {
      std::vector<int> visits(20 * 30, 0);
      parallel_for(20, 1, outer_threads, [&](const Block& outer) {
        parallel_for(30, 4, inner_threads, [&](const Block& inner) {
          for (int64_t i = inner.begin; i < inner.end; ++i) ++visits[outer.index * 30 + i];
        });
      });
      EXPECT_EQ(visits, std::vector<int>(20 * 30, 1));
      const auto fail_inside = [&](const Block& outer) {
        parallel_for(30, 1, inner_threads, [&](const Block& inner) {
          if (outer.index == 5 && inner.index == 7) throw DataError("inner");
        });
      };
      EXPECT_THROW(parallel_for(20, 1, outer_threads, fail_inside), DataError);
    }
  }
}

// While a thread waits for an inner loop it must not start another block of the outer one: code
// that holds a lock or thread-local scratch memory around the inner loop would break.
TEST_F(Parallel, WaitingForAnInnerLoopRunsNoOuterBlock) {
  static thread_local int depth = 0;
  std::atomic<int> deepest = 0;
  parallel_for(40, 1, 4, [&](const Block&) {
    ++depth;
    if (depth > deepest) deepest = depth;
    parallel_for(16, 1, 4, [](const Block&) { std::this_thread::yield(); });
    --depth;
  });
  EXPECT_EQ(deepest, 1);
}

TEST_F(Parallel, CallersOnSeveralThreadsDoNotDisturbEachOther) {
  std::vector<int64_t> sums(4, 0);
  {
    std::vector<std::jthread> callers;
    for (size_t c = 0; c < sums.size(); ++c) {
      callers.emplace_back([&sums, c] {
        for (int round = 0; round < 50; ++round)
          sums[c] += parallel_reduce(
              100, 3, 3, int64_t{0}, [](const Block& b, int64_t& sum) { sum += b.size(); },
              [](int64_t& total, int64_t part) { total += part; });
      });
    }
  }
  EXPECT_EQ(sums, std::vector<int64_t>(4, 5000));
}

double sum_of(const std::vector<double>& values, int64_t block_size, int threads) {
  return parallel_reduce(
      static_cast<int64_t>(values.size()), block_size, threads, 0.0,
      [&](const Block& block, double& sum) {
        for (int64_t i = block.begin; i < block.end; ++i) sum += values[i];
      },
      [](double& total, double part) { total += part; });
}

TEST_F(Parallel, ReductionGivesTheSameBitsForAnyNumberOfThreads) {
  Random random(1);
  std::vector<double> values(100003);
  for (double& value : values) value = random.normal() * 1e8;
  for (const int64_t block_size : {7, 64, 1000, 200000}) {
    const double one = sum_of(values, block_size, 1);
    for (const int threads : {2, 3, 8})
      for (int round = 0; round < 5; ++round) ASSERT_EQ(sum_of(values, block_size, threads), one);
  }
  // The cut matters, so that the equality above is not an accident of exact sums.
  EXPECT_NE(sum_of(values, 7, 1), sum_of(values, 200000, 1));
}

// Statistics that count how many of them exist and note the order of merging.
struct Counted {
  explicit Counted(std::atomic<int>& alive, std::atomic<int>& most) : alive_(&alive), most_(&most) {
    rise();
  }
  Counted(const Counted& other) : rows(other.rows), alive_(other.alive_), most_(other.most_) {
    rise();
  }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --*alive_; }
  void rise() {
    const int now = ++*alive_;
    int seen = *most_;
    while (seen < now && !most_->compare_exchange_weak(seen, now)) {
    }
  }
  std::vector<int64_t> rows;

 private:
  std::atomic<int>* alive_;
  std::atomic<int>* most_;
};

TEST_F(Parallel, ReductionMergesInOrderAndKeepsFewStatistics) {
  for (const int threads : kThreadCounts) {
    std::atomic<int> alive = 0;
    std::atomic<int> most = 0;
    std::atomic<int> merges = 0;
    const Counted total = parallel_reduce(
        1000, 3, threads, Counted(alive, most),
        [](const Block& block, Counted& stats) {
          for (int64_t i = block.begin; i < block.end; ++i) stats.rows.push_back(i);
        },
        [&](Counted& sum, const Counted& part) {
          sum.rows.insert(sum.rows.end(), part.rows.begin(), part.rows.end());
          ++merges;
        });
    std::vector<int64_t> in_order(1000);
    std::iota(in_order.begin(), in_order.end(), 0);
    EXPECT_EQ(total.rows, in_order);
    EXPECT_EQ(merges, Shards(1000, 3).count() - 1);
    // Beside the argument and `zero`.
    EXPECT_LE(most, 2 + reduction_copies(1000, 3, threads));
  }
}

// Shards are merged as ((0 1) (2 3)) ..., whatever the number of threads: written as text.
std::string merge_tree(int64_t num_blocks, int threads) {
  return parallel_reduce(
      num_blocks, 1, threads, std::string(),
      [](const Block& block, std::string& stats) { stats += std::to_string(block.index); },
      [](std::string& total, const std::string& part) { total = "(" + total + " " + part + ")"; });
}

// The same tree from the leaves upwards, a level at a time.
std::string merge_levels(std::vector<std::string> level) {
  while (level.size() > 1) {
    std::vector<std::string> next;
    for (size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 < level.size() ? "(" + level[i] + " " + level[i + 1] + ")" : level[i]);
    level = std::move(next);
  }
  return level[0];
}

TEST_F(Parallel, ReductionMergesShardsAlongAFixedBinaryTree) {
  EXPECT_EQ(merge_tree(5, 2), "(((0 1) (2 3)) 4)");
  for (const int64_t blocks : {1, 2, 3, 15, 16, 17, 33, 255, 256, 257, 300, 513, 5000}) {
    const Shards shards(blocks, 1);
    std::vector<std::string> leaves(shards.count());
    for (int64_t b = 0; b < blocks; ++b) leaves[b / shards.blocks_per_shard] += std::to_string(b);
    const std::string expected = merge_levels(leaves);
    for (const int threads : kThreadCounts) EXPECT_EQ(merge_tree(blocks, threads), expected);
  }
}

TEST_F(Parallel, ShardsDependOnTheAmountOfWorkOnly) {
  EXPECT_EQ(Shards(0, 4).count(), 0);
  EXPECT_EQ(Shards(1, 4).count(), 1);
  EXPECT_EQ(Shards(16 * 4, 4).count(), 16);
  EXPECT_EQ(Shards(256 * 4, 4).count(), 16);    // of 16 blocks each
  EXPECT_EQ(Shards(1024 * 4, 4).count(), 64);   // of 16 blocks each
  EXPECT_EQ(Shards(1 << 20, 1).count(), 4096);  // the most, of 256 blocks
  EXPECT_EQ(Shards(1 << 20, 1).block(7).begin, 7);
  const Shards ragged(103, 10);
  EXPECT_EQ(ragged.count(), 11);
  EXPECT_EQ(ragged.block(10).end, 103);
  EXPECT_THROW(Shards(5, 0), InvalidArgument);
}

TEST_F(Parallel, FewBlocksMakeAsManyParts) {
  std::atomic<int> merges = 0;
  parallel_reduce(
      5, 1, 2, 0, [](const Block&, int& stats) { ++stats; },
      [&](int& total, int part) { total += part, ++merges; });
  EXPECT_EQ(merges, 4);
}

}  // namespace
}  // namespace milieu
