// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/ranks/rows.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <thread>

#include "milieu/base/random.h"

namespace milieu {
namespace {

TEST(Communicator, OneRankTalksToNobody) {
  Communicator& alone = single_rank();
  EXPECT_EQ(alone.size(), 1);
  Message message(3);
  alone.broadcast(0, message);
  EXPECT_EQ(message.size(), 3u);
  EXPECT_EQ(alone.largest(-3), -3);
  EXPECT_EQ(alone.gather(message).size(), 1u);
}

Message text(const std::string& s) {
  return pack_span<char>(std::span<const char>(s.data(), s.size()));
}

TEST(Communicator, MessagesArriveInOrder) {
  run_as_ranks(2, [](Communicator& ranks) {
    if (ranks.rank() == 0) {
      for (const char* word : {"a", "bb", ""}) ranks.send(1, text(word));
      EXPECT_EQ(ranks.cost().bytes_sent, 3);
      EXPECT_EQ(ranks.cost().messages_sent, 3);
    } else {
      for (const char* word : {"a", "bb", ""}) EXPECT_EQ(ranks.receive(0), text(word));
    }
  });
}

TEST(Communicator, BroadcastGatherAndLargestReachEveryRank) {
  for (int size = 1; size <= 9; ++size) {
    run_as_ranks(size, [&](Communicator& ranks) {
      for (int root = 0; root < size; ++root) {
        Message message = ranks.rank() == root ? text("from " + std::to_string(root)) : Message();
        ranks.broadcast(root, message);
        EXPECT_EQ(message, text("from " + std::to_string(root)));
      }
      EXPECT_EQ(ranks.largest(-5 * ranks.rank()), 0);
      EXPECT_EQ(ranks.largest(7 * ranks.rank() - 3), 7 * size - 10);
      const std::vector<Message> all = ranks.gather(text(std::to_string(ranks.rank())));
      ASSERT_EQ(static_cast<int>(all.size()), size);
      for (int r = 0; r < size; ++r) EXPECT_EQ(all[r], text(std::to_string(r)));
    });
  }
}

TEST(Communicator, AFailedRankEndsAllWithItsOwnError) {
  try {
    run_as_ranks(3, [](Communicator& ranks) {
      if (ranks.rank() == 1) throw DataError("row 7 of rank 1 is not finite");
      ranks.receive(1);
    });
    FAIL() << "no exception";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "row 7 of rank 1 is not finite");
  }
  EXPECT_THROW(run_as_ranks(0, [](Communicator&) {}), InvalidArgument);
}

TEST(Communicator, AFactThatDiffersIsRefusedOnAllRanks) {
  std::atomic<int> refused = 0;
  run_as_ranks(3, [&](Communicator& ranks) {
    check_same_everywhere(ranks, "the version", "0.2");
    try {
      check_same_everywhere(ranks, "points.npy", ranks.rank() == 2 ? "b" : "a");
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("points.npy is not the same on ranks 0 and 2"),
                std::string::npos);
      ++refused;
    }
  });
  EXPECT_EQ(refused, 3);
}

// A matrix as packing.h knows them; linalg is above this module.
struct Table {
  Table(int64_t rows, int64_t cols) : rows_(rows), values(rows * cols) {}
  double* data() { return values.data(); }
  const double* data() const { return values.data(); }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return size() / rows_; }
  int64_t size() const { return static_cast<int64_t>(values.size()); }
  double& operator()(int64_t i, int64_t j) { return values[i * cols() + j]; }

  int64_t rows_;
  std::vector<double> values;
};

struct Everything {
  double number = 0;
  int64_t count = 0;
  std::vector<float> row = std::vector<float>(3);
  std::vector<std::vector<double>> rows = std::vector<std::vector<double>>(2);
  Table table = Table(2, 2);
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(number, count, row, rows, table);
  }
};

TEST(Packing, EverythingComesBackBitForBit) {
  Everything sent;
  sent.number = -0.0;
  sent.count = int64_t{1} << 60;
  sent.row = {1, 2, 3.5f};
  sent.rows[1] = {7, 8, 9};
  sent.table(1, 0) = 4.25;
  Everything received;
  unpack(pack(sent), received);
  EXPECT_EQ(std::memcmp(&received.number, &sent.number, sizeof(double)), 0);
  EXPECT_EQ(received.count, sent.count);
  EXPECT_EQ(received.row, sent.row);
  EXPECT_EQ(received.rows, sent.rows);
  EXPECT_EQ(received.table.values, sent.table.values);
}

TEST(Packing, AMessageOfAnotherShapeIsRefused) {
  Everything sent;
  const Message whole = pack(sent);
  for (size_t size = 0; size < whole.size(); ++size) {
    Everything received;
    EXPECT_THROW(unpack(Message(whole.begin(), whole.begin() + size), received), DataError) << size;
  }
  Message longer = whole;
  longer.push_back(std::byte{0});
  Everything received;
  EXPECT_THROW(unpack(longer, received), DataError);
  Everything wider;
  wider.table = Table(2, 3);
  EXPECT_THROW(unpack(whole, wider), DataError);
  Everything shorter;
  shorter.row.resize(2);
  EXPECT_THROW(unpack(whole, shorter), DataError);
  Message huge = pack(int64_t{1} << 62);
  std::vector<double> values;
  EXPECT_THROW(unpack(huge, values), DataError);
}

TEST(Rows, RanksOwnWholeShardsAndTogetherEveryRow) {
  for (const int64_t n : {0, 1, 5, 16, 17, 300, 5000, 5001}) {
    for (int size = 1; size <= 20; ++size) {
      std::mutex mutex;
      std::vector<int> owners(n, -1);
      run_as_ranks(size, [&](Communicator& ranks) {
        const Rows rows(n, 4, ranks);
        EXPECT_EQ(rows.size(), n);
        EXPECT_TRUE(rows.begin() % 4 == 0 || rows.begin() == n);
        const std::lock_guard lock(mutex);
        for (int64_t i = rows.begin(); i < rows.end(); ++i) {
          EXPECT_EQ(owners[i], -1);
          EXPECT_EQ(rows.owner(i), ranks.rank());
          owners[i] = ranks.rank();
        }
      });
      for (const int owner : owners) EXPECT_GE(owner, 0);
      EXPECT_TRUE(std::ranges::is_sorted(owners));
    }
  }
}

// The merges as text, as in parallel_test.cc; the text travels as numbers.
struct Letters {
  std::vector<int> text;
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(text);
  }
};

std::string merges(const Rows& rows, int threads) {
  const Letters result = parallel_reduce(
      rows, threads, Letters(),
      [&](const Block& block, Letters& stats) {
        const int64_t begin = rows.begin() + block.begin;
        EXPECT_EQ(begin, block.index * rows.block_size());
        for (const char c : std::to_string(begin) + "+" + std::to_string(block.size()) + ",")
          stats.text.push_back(c);
      },
      [](Letters& total, const Letters& part) {
        total.text.insert(total.text.begin(), '(');
        total.text.insert(total.text.end(), part.text.begin(), part.text.end());
        total.text.push_back(')');
      });
  return {result.text.begin(), result.text.end()};
}

TEST(Rows, ReductionsMergeTheSameTreeOnAnyNumberOfRanks) {
  for (const int64_t n : {0, 1, 7, 64, 65, 1000, 1025, 20000}) {
    const std::string alone = merges(Rows(n, 4), 2);
    for (const int size : {1, 2, 3, 4, 5, 7, 16, 19}) {
      run_as_ranks(size, [&](Communicator& ranks) {
        EXPECT_EQ(merges(Rows(n, 4, ranks), 1), alone) << n << " rows, " << size << " ranks";
      });
    }
  }
}

TEST(Rows, SumsHaveTheSameBitsOnAnyNumberOfRanksAndThreads) {
  Random random(3);
  std::vector<double> values(30011);
  for (double& value : values) value = random.normal() * 1e8;
  const auto sum = [&](const Rows& rows, int threads) {
    return parallel_reduce(
        rows, threads, 0.0,
        [&](const Block& block, double& total) {
          for (int64_t i = block.begin; i < block.end; ++i) total += values[rows.begin() + i];
        },
        [](double& total, double part) { total += part; });
  };
  const double alone = sum(Rows(30011, 8), 1);
  for (const int size : {2, 3, 7})
    for (const int threads : {1, 2})
      run_as_ranks(size, [&](Communicator& ranks) {
        EXPECT_EQ(sum(Rows(30011, 8, ranks), threads), alone);
      });
}

TEST(Rows, ValuesAreSharedAndGathered) {
  std::vector<int> squares(101);
  for (int i = 0; i < 101; ++i) squares[i] = i * i;
  for (const int size : {1, 3, 20, 60}) {
    run_as_ranks(size, [&](Communicator& ranks) {
      const Rows rows(101, 2, ranks);
      const std::vector<int> own(squares.begin() + rows.begin(), squares.begin() + rows.end());
      for (const int64_t i : {0, 50, 100}) {
        std::vector<int> pair(2, -1);
        if (rows.owns(i)) pair = {static_cast<int>(i), 7};
        rows.share_from_owner<int>(i, pair);
        EXPECT_EQ(pair, (std::vector<int>{static_cast<int>(i), 7}));
      }
      EXPECT_EQ(rows.gather<int>(own), squares);
      EXPECT_EQ(rows.gather_to_first<int>(own), ranks.rank() == 0 ? squares : std::vector<int>());
      std::vector<int64_t> blocks;
      for (int64_t i = rows.begin(); i < rows.end(); i += 2) blocks.push_back(i / 2);
      std::vector<int64_t> all(51);
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(rows.gather<int64_t>(blocks, 2), all);
    });
  }
}

}  // namespace
}  // namespace milieu
