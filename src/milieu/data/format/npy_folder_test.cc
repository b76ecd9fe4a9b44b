// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/npy_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/data/dataset.h"
#include "milieu/data/format/npy.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;

class NpyFolderTest : public ::testing::Test {
 protected:
  // Rows first, first + 1, ... of (i, -i).
  void write(const std::string& name, int64_t first, int64_t count, int64_t cols = 2) {
    Matrix<float> rows(count, cols);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < cols; ++j)
        rows(i, j) = static_cast<float>(j % 2 == 0 ? first + i : -(first + i));
    write_npy(path(name), rows.view());
  }
  std::string path(const std::string& name) const { return folder_.file(name); }
  std::string refusal() const {
    return message_of([&] { open_npy_folder(folder_.path()); });
  }
  TempDir folder_;
};

TEST_F(NpyFolderTest, ShardsAreReadInTheOrderOfTheirNumbers) {
  for (int64_t s = 0; s < 12; ++s) write("x" + std::to_string(s) + ".npy", 3 * s, 3);
  EXPECT_TRUE(is_npy_folder(folder_.path()));
  const Dataset data = load_dataset(folder_.path());
  ASSERT_EQ(data.points.rows(), 36);
  for (int64_t i = 0; i < 36; ++i) {
    EXPECT_EQ(data.points.view()(i, 0), static_cast<float>(i));
    EXPECT_EQ(data.points.view()(i, 1), static_cast<float>(-i));
  }
}

TEST_F(NpyFolderTest, OnlyTheRowsAskedForAreRead) {
  write("x1.npy", 0, 5);
  write("x2.npy", 5, 0);
  write("x3.npy", 5, 1);
  write("x4.npy", 6, 4);
  const NpyFolder folder = open_npy_folder(folder_.path());
  ASSERT_EQ(folder.num_rows, 10);
  const Points rows = load_rows(folder, 4, 7, 1);
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_EQ(rows.view()(i, 0), i >= 4 && i < 7 ? static_cast<float>(i) : 0.0f) << i;
}

TEST_F(NpyFolderTest, ShardsThatDoNotBelongTogetherAreRefused) {
  write("x0.npy", 0, 2);
  write("x2.npy", 2, 2);
  EXPECT_THAT(refusal(), HasSubstr("shard 1 is missing, the next one is x2.npy"));
  write("x1.npy", 2, 2, 3);
  EXPECT_THAT(refusal(), HasSubstr("shards must have one width"));
  const std::vector<double> wide = {1, 2};
  write_npy(path("x1.npy"), MatrixView<const double>(wide.data(), 1, 2));
  EXPECT_THAT(refusal(), HasSubstr("holds float32, "));
  write("x1.npy", 2, 2);
  write("y3.npy", 2, 2);
  EXPECT_THAT(refusal(), HasSubstr("are not numbered parts of one array"));
}

TEST_F(NpyFolderTest, TheFirstShardMayNotBeMissing) {
  write("x3.npy", 0, 2);
  EXPECT_THAT(refusal(), HasSubstr("shard 1 is missing"));
}

TEST_F(NpyFolderTest, AManifestSeesOtherShardsAndOtherEnds) {
  write("x0.npy", 0, 2);
  const std::string before = open_npy_folder(folder_.path()).manifest;
  EXPECT_EQ(open_npy_folder(folder_.path()).manifest, before);
  write("x0.npy", 1, 2);
  EXPECT_NE(open_npy_folder(folder_.path()).manifest, before);
}

TEST_F(NpyFolderTest, NaNIsNamedByItsRowOfAll) {
  write("x0.npy", 0, 3);
  const std::vector<float> bad = {1, std::nanf("")};
  write_npy(path("x1.npy"), MatrixView<const float>(bad.data(), 1, 2));
  EXPECT_THAT(message_of([&] { load_dataset(folder_.path()); }), HasSubstr("row 3, column 1"));
}

TEST_F(NpyFolderTest, AFolderWithOtherFilesIsNone) {
  EXPECT_FALSE(is_npy_folder(folder_.path()));
  write("x0.npy", 0, 3);
  std::filesystem::create_directory(path(".milieu"));
  EXPECT_TRUE(is_npy_folder(folder_.path()));
  std::filesystem::create_directory(path("class"));
  EXPECT_FALSE(is_npy_folder(folder_.path()));
}

}  // namespace
}  // namespace milieu
