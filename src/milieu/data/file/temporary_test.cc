// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/file/temporary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void make_old(const std::string& path) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

std::string make_folder(const TempDir& folder, const std::string& name, const char* content) {
  fs::create_directories(folder.file(name));
  folder.write(name + "/x", content);
  return folder.file(name);
}

// In a container every process may have the same number: names must not depend on it.
TEST(Temporary, NamesAreShortAndNeverTheSame_issue20) {
  const TempDir folder;
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) {
    const TemporaryFile file = make_temporary_file(folder.path());
    ASSERT_GE(file.fd, 0);
    ::close(file.fd);
    names.push_back(fs::path(file.path).filename().string());
    EXPECT_TRUE(is_temporary_name(names.back()));
    EXPECT_LT(names.back().size(), 30u);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
  EXPECT_FALSE(is_temporary_name(".milieu-tmp-"));
  EXPECT_FALSE(is_temporary_name("x.npy"));
}

TEST(Temporary, LongNamesCanBeWritten_issue20) {
  const TempDir folder;
  const std::string name(250, 'n');
  write_file_atomically(folder.file(name), "content");
  EXPECT_EQ(read_bytes(folder.file(name)), "content");
  TemporaryFolder made(folder.file(std::string(255, 'm')), "m");
  made.put_in_place();
  EXPECT_TRUE(fs::is_directory(folder.file(std::string(255, 'm'))));
}

TEST(Temporary, LeftOversAreSweptUnlessSomebodyWrites_issue20) {
  const TempDir outer;
  fs::create_directories(outer.file("a"));
  const std::string a = outer.file("a");
  const TemporaryFile held = make_temporary_file(a);
  const TemporaryFile left = make_temporary_file(a);
  ::close(left.fd);  // its writer was killed
  fs::create_directories(a + "/.milieu-tmp-abcdefghijkl/inside");
  make_old(held.path);
  make_old(left.path);
  make_old(a + "/.milieu-tmp-abcdefghijkl");
  const TemporaryFile young = make_temporary_file(a);
  ::close(young.fd);
  outer.write("a/.milieu-tmp-of-the-user", "kept");
  fs::rename(a, outer.file("b"));  // a folder is swept once per process
  sweep_temporaries(outer.file("b"));
  const auto name = [](const TemporaryFile& file) {
    return fs::path(file.path).filename().string();
  };
  EXPECT_THAT(names_in(outer.file("b")),
              ::testing::UnorderedElementsAre(name(held), name(young), ".milieu-tmp-of-the-user"));
  ::close(held.fd);
}

TEST(Temporary, FolderIsReplacedInOneStep_issue20) {
  const TempDir folder;
  const std::string target = make_folder(folder, "run", "old");
  {
    TemporaryFolder fresh(target, "run");
    write_file_atomically(fresh.path() + "/x", "new");
    EXPECT_EQ(read_bytes(target + "/x"), "old");
    fresh.put_in_place();
  }
  EXPECT_EQ(read_bytes(target + "/x"), "new");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("run"));
  { const TemporaryFolder unused(target, "run"); }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("run"));
  EXPECT_THAT([&] { TemporaryFolder(target + "/x/deeper", "deeper"); },
              ThrowsMessage<IoError>(HasSubstr("deeper cannot be created")));
}

// What a kill between the two renames of 0.1.0 left behind.
TEST(Temporary, FolderThatWasMovedAsideComesBack_issue20) {
  const TempDir folder;
  const std::string target = folder.file("run");
  restore_replaced(target);
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
  make_folder(folder, "run.old-7-0", "old");
  make_folder(folder, "run.older", "another");
  restore_replaced(target);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("run", "run.older"));
  EXPECT_EQ(read_bytes(target + "/x"), "old");
  make_folder(folder, "run.old-8-0", "older still");
  restore_replaced(target);  // nothing is missing: nothing is touched
  EXPECT_EQ(read_bytes(target + "/x"), "old");
}

}  // namespace
}  // namespace milieu
