// SPDX-License-Identifier: Apache-2.0
#include "milieu/testing/test_data.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

TEST(TempDir, IsThereAndThenGone) {
  std::string path;
  {
    const TempDir dir;
    path = dir.path();
    const std::string file = dir.write("sub/file.bin", std::string_view("a\0b", 3));
    EXPECT_EQ(file, dir.file("sub/file.bin"));
    EXPECT_EQ(read_bytes(file), std::string("a\0b", 3));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THROW(read_bytes(path + "/sub/file.bin"), IoError);
}

TEST(TestData, IsFoundUnderTheNamedFolderOnly) {
  const TempDir dir;
  dir.write("digits/README.md", "");
  const char* before = std::getenv("MILIEU_DATA");
  const std::string kept = before ? before : "";
  setenv("MILIEU_DATA", dir.path().c_str(), 1);
  const auto found = find_data("digits");
  const auto missing = find_data("letters");
  before ? setenv("MILIEU_DATA", kept.c_str(), 1) : unsetenv("MILIEU_DATA");
  EXPECT_EQ(found, dir.file("digits"));
  EXPECT_FALSE(missing);
  EXPECT_NE(no_data_message("letters").find("letters"), std::string::npos);
}

}  // namespace
}  // namespace milieu
