// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/job/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "milieu/base/error.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSlurmNames[] = {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
                                       "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX"};

std::string message_for(const char* text) {
  try {
    return "accepted as " + parse_shard(text).text();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

// The variables that Slurm sets, for one test.
class FakeSlurm {
 public:
  explicit FakeSlurm(const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~FakeSlurm() {
    for (const char* name : kSlurmNames) ::unsetenv(name);
  }
};

TEST(Shard, EveryItemBelongsToExactlyOne) {
  for (const int64_t n : {0, 1, 2, 7, 100, 101})
    for (const int count : {1, 2, 3, 7, 150})
      for (int64_t item = 0; item < n; ++item) {
        int owners = 0;
        for (int index = 1; index <= count; ++index) owners += Shard{index, count}.has(item, n);
        EXPECT_EQ(owners, 1) << item << " of " << n << " in " << count;
      }
}

TEST(Shard, SizesDifferByOneAtMost) {
  for (int index = 1; index <= 7; ++index) {
    const Shard shard{index, 7};
    const int64_t size = shard.end(100) - shard.begin(100);
    EXPECT_TRUE(size == 14 || size == 15) << size;
  }
}

TEST(Shard, LargeCollectionsDoNotOverflow) {
  const int64_t n = 1'000'000'000'000;
  EXPECT_EQ((Shard{kMaxJobShards, kMaxJobShards}.end(n)), n);
}

TEST(Shard, IsReadFromText) {
  EXPECT_EQ(parse_shard("2/8"), (Shard{2, 8}));
  EXPECT_EQ(parse_shard("2/8").name(), "2-of-8");
  EXPECT_EQ(parse_shard("2/8").text(), "2/8");
  for (const char* text : {"", "2", "/", "2/", "/8", "a/b", "2/8/9", "2 / 8", "+2/8"})
    EXPECT_THAT(message_for(text), HasSubstr("must be i/n such as 2/8")) << text;
  for (const char* text : {"0/8", "9/8", "-1/8", "1/0", "1/100001"})
    EXPECT_THAT(message_for(text), HasSubstr("with i from 1 to n")) << text;
}

TEST(Shard, IncompleteShardsAreNamedUpToTen) {
  check_complete({}, "out");
  const auto message = [](int count) {
    std::vector<std::string> incomplete;
    for (int i = 1; i <= count; ++i) incomplete.push_back(Shard{i, 20}.text());
    try {
      check_complete(incomplete, "out");
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(1), "1 shard is not complete in out: 1/20; run it again, then merge");
  EXPECT_EQ(message(2), "2 shards are not complete in out: 1/20, 2/20; run them again, then merge");
  EXPECT_THAT(message(11), HasSubstr("9/20, 10/20, ...; run them"));
}

TEST(Shard, SlurmArraysBeginAnywhere) {
  for (const int first : {0, 1, 17}) {
    const FakeSlurm slurm({{"SLURM_ARRAY_TASK_ID", std::to_string(first + 2)},
                           {"SLURM_ARRAY_TASK_COUNT", "4"},
                           {"SLURM_ARRAY_TASK_MIN", std::to_string(first)},
                           {"SLURM_ARRAY_TASK_MAX", std::to_string(first + 3)}});
    EXPECT_EQ(parse_shard("slurm"), (Shard{3, 4})) << first;
  }
}

TEST(Shard, SlurmIsRefusedOutsideAnArrayAndInOneWithHoles) {
  EXPECT_THAT(message_for("slurm"), HasSubstr("SLURM_ARRAY_TASK_ID is not set"));
  const FakeSlurm slurm({{"SLURM_ARRAY_TASK_ID", "5"},
                         {"SLURM_ARRAY_TASK_COUNT", "2"},
                         {"SLURM_ARRAY_TASK_MIN", "3"},
                         {"SLURM_ARRAY_TASK_MAX", "5"}});
  EXPECT_THAT(message_for("slurm"), HasSubstr("2 tasks from 3 to 5"));
}

}  // namespace
}  // namespace milieu
