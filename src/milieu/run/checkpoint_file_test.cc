// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/checkpoint_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "milieu/base/error.h"
#include "milieu/data/identity/row_hash.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;

class CheckpointFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("milieu_checkpoint_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    path_ = folder_ / "fit.checkpoint";
  }
  void TearDown() override { fs::remove_all(folder_); }

  CheckpointFile file(const std::string& job = "0123456789abcdef") {
    return {path_.string(), job, single_rank(), silent_monitor()};
  }
  // A file is written at most once a second.
  void write(const Message& state) {
    CheckpointFile kept = file();
    std::this_thread::sleep_for(std::chrono::milliseconds(1010));
    kept.save(state);
  }

  fs::path folder_, path_;
};

TEST_F(CheckpointFileTest, AStateComesBack) {
  EXPECT_FALSE(file().load());
  const Message state = pack(std::vector<double>{1.5, -2});
  write(state);
  EXPECT_EQ(file().load(), state);
  file().remove();
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(CheckpointFileTest, StatesWithinASecondAreLeftOut) {
  file().save(pack(1.0));
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(CheckpointFileTest, AnotherJobIsRefused) {
  write(pack(1.0));
  EXPECT_THROW(file("ffffffffffffffff").load(), InvalidArgument);
}

TEST_F(CheckpointFileTest, EveryDamageIsNoticed) {
  write(pack(1.0));
  std::ifstream in(path_, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    std::ofstream(path_, std::ios::binary) << flipped;
    EXPECT_THROW(file().load(), Error) << "byte " << i;
    std::ofstream(path_, std::ios::binary) << whole.substr(0, i);
    EXPECT_THROW(file().load(), Error) << "cut at " << i;
  }
}

TEST_F(CheckpointFileTest, AnErrorOfTheFirstRankIsThrownOnAll) {
  write(pack(1.0));
  std::atomic<int> refused = 0;
  run_as_ranks(3, [&](Communicator& ranks) {
    CheckpointFile other(path_.string(), "ffffffffffffffff", ranks, silent_monitor());
    try {
      other.load();
    } catch (const InvalidArgument&) {
      ++refused;
    }
  });
  EXPECT_EQ(refused, 3);
}

class Notes : public Monitor {
 public:
  void on_note(std::string_view sentence) override { all.emplace_back(sentence); }
  std::vector<std::string> all;
};

TEST_F(CheckpointFileTest, AFileThatCannotBeWrittenIsANote) {
  Notes notes;
  CheckpointFile nowhere((folder_ / "missing" / "x").string(), "0123456789abcdef", single_rank(),
                         notes);
  std::this_thread::sleep_for(std::chrono::milliseconds(1010));
  nowhere.save(pack(1.0));
  EXPECT_EQ(notes.all.size(), 1u);
  RunSummary summary;
  nowhere.report(summary);
  EXPECT_EQ(summary.warnings.size(), 1u);
}

TEST(RowHash, IsTheSameOnAnyNumberOfRanksAndSeesEveryValue) {
  Matrix<float> values(5000, 3);
  for (int64_t i = 0; i < values.size(); ++i) values.data()[i] = static_cast<float>(i % 77);
  const auto hash = [&](int ranks) {
    std::atomic<int64_t> result = 0;
    run_as_ranks(ranks, [&](Communicator& all) {
      const Rows rows(5000, 16, all);
      const FloatView own = values.view().rows_between(rows.begin(), rows.end());
      result = hash_rows(rows, own);
    });
    return result.load();
  };
  const int64_t alone = hash(1);
  for (const int ranks : {2, 3, 7}) EXPECT_EQ(hash(ranks), alone);
  for (const int64_t i : {0, 7500, 14999}) {
    values.data()[i] += 1;
    EXPECT_NE(hash(2), alone);
    values.data()[i] -= 1;
  }
}

}  // namespace
}  // namespace milieu
