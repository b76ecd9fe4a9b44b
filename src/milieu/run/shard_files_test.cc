// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/shard_files.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "milieu/base/error.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ShardFiles, FolderIsBesideTheRun) {
  EXPECT_EQ(shard_folder("run"), "run.shards");
  EXPECT_EQ(shard_folder("a/run//"), "a/run.shards");
}

TEST(ShardFiles, AllShardsAreFoundInOrder) {
  const TempDir place;
  const std::string folder = place.file("run.shards");
  EXPECT_THAT(message_of([&] { find_shard_files(folder); }), HasSubstr("holds no shards"));
  for (const int index : {3, 1}) std::ofstream(make_shard_file(folder, {index, 3})) << "x";
  EXPECT_THAT(message_of([&] { find_shard_files(folder); }), HasSubstr(": 2/3; run it again"));
  std::ofstream(make_shard_file(folder, {2, 3})) << "x";
  std::ofstream(folder + "/notes.txt") << "x";
  EXPECT_THAT(find_shard_files(folder),
              ElementsAre(folder + "/1-of-3", folder + "/2-of-3", folder + "/3-of-3"));
}

TEST(ShardFiles, ShardsOfAnotherNumberAreRefused) {
  const TempDir place;
  const std::string folder = place.file("run.shards");
  std::ofstream(make_shard_file(folder, {1, 3})) << "x";
  EXPECT_THAT(message_of([&] {
                make_shard_file(folder, {1, 4});
              }),
              HasSubstr("holds shards of 3, this is one of 4"));
  std::ofstream(folder + "/1-of-4") << "x";
  EXPECT_THAT(message_of([&] { find_shard_files(folder); }),
              HasSubstr("holds shards of 3 and of 4"));
}

}  // namespace
}  // namespace milieu
