// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "milieu/base/error.h"
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

// No file of this process may grow beyond `bytes` while this lives: a disk that is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const struct rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  struct rlimit before_ = {};
};

TEST(AtomicFile, AppearsOnlyAtCommit) {
  const TempDir folder;
  const std::string path = folder.file("x");
  AtomicFile file(path);
  file.write("ab");
  file.write("cd", 2);
  EXPECT_FALSE(fs::exists(path));
  file.commit();
  EXPECT_EQ(read_bytes(path), "abcd");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("x"));
}

TEST(AtomicFile, WithoutCommitTheOldFileStays) {
  const TempDir folder;
  const std::string path = folder.write("x", "old");
  { AtomicFile(path).write("new"); }
  EXPECT_EQ(read_bytes(path), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("x"));
}

TEST(AtomicFile, TwoWritersDoNotDisturbEachOther) {
  const TempDir folder;
  const std::string path = folder.file("x");
  AtomicFile first(path);
  AtomicFile second(path);
  first.write("first");
  second.write("second");
  first.commit();
  EXPECT_EQ(read_bytes(path), "first");
  second.commit();
  EXPECT_EQ(read_bytes(path), "second");
}

TEST(AtomicFile, DiskFullWhileWritingKeepsTheOldFile) {
  const TempDir folder;
  const std::string path = folder.write("x", "old");
  {
    const FileSizeLimit limit(4096);
    const std::string content(1 << 20, 'n');
    EXPECT_THAT([&] { write_file_atomically(path, content); },
                ThrowsMessage<IoError>(HasSubstr("x cannot be written: File too large")));
  }
  EXPECT_EQ(read_bytes(path), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("x"));
}

// The last bytes sit in a buffer until commit(): that is where a small file meets the full disk.
TEST(AtomicFile, DiskFullAtCommitKeepsTheOldFile) {
  const TempDir folder;
  const std::string path = folder.write("x", "old");
  {
    const FileSizeLimit limit(1);
    AtomicFile file(path);
    file.write("new");
    EXPECT_THAT([&] { file.commit(); },
                ThrowsMessage<IoError>(HasSubstr("x cannot be written: File too large")));
  }
  EXPECT_EQ(read_bytes(path), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("x"));
}

// It used to close a file that was closed already, which crashed.
TEST(AtomicFile, CommitAfterAFailureFailsAgain_issue19) {
  const TempDir folder;
  const std::string path = folder.write("x", "old");
  const FileSizeLimit limit(1);
  AtomicFile file(path);
  file.write("new");
  EXPECT_THROW(file.commit(), IoError);
  EXPECT_THAT([&] { file.commit(); },
              ThrowsMessage<IoError>(HasSubstr("x cannot be written: it was committed or")));
  EXPECT_THROW(file.write("more"), IoError);
}

TEST(AtomicFile, FullDeviceIsReported) {
  EXPECT_THAT([] { write_file_atomically("/dev/full", "x"); },
              ThrowsMessage<IoError>(HasSubstr("/dev/full cannot be written: No space left")));
}

TEST(AtomicFile, DevicesAreWrittenNotReplaced) {
  write_file_atomically("/dev/null", "x");
  struct stat info = {};
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST(AtomicFile, MissingFolderIsReported) {
  const TempDir folder;
  EXPECT_THAT([&] { AtomicFile(folder.file("no/x")); },
              ThrowsMessage<IoError>(HasSubstr("no/x cannot be created: No such file")));
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
}

TEST(AtomicFile, FolderIsRefused) {
  const TempDir folder;
  EXPECT_THAT([&] { AtomicFile(folder.path()); }, ThrowsMessage<IoError>(HasSubstr("is a folder")));
}

TEST(AtomicFile, FolderThatAppearsMeanwhileIsNotReplaced) {
  const TempDir folder;
  const std::string path = folder.file("x");
  AtomicFile file(path);
  fs::create_directory(path);
  EXPECT_THAT([&] { file.commit(); },
              ThrowsMessage<IoError>(HasSubstr("x cannot be moved into place")));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("x"));
}

TEST(AtomicFile, ForbiddenFolderIsReported) {
  const TempDir folder;
  const bool was_root = ::geteuid() == 0;  // root may write everywhere
  if (was_root) {
    ASSERT_EQ(::seteuid(65534), 0);
  } else {
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  }
  EXPECT_THAT([&] { AtomicFile(folder.file("x")); },
              ThrowsMessage<IoError>(HasSubstr("cannot be created: Permission denied")));
  if (was_root) {
    ASSERT_EQ(::seteuid(0), 0);
  } else {
    fs::permissions(folder.path(), fs::perms::owner_all);
  }
}

TEST(AtomicFile, KeepsThePermissionsOfTheOldFile) {
  const TempDir folder;
  const std::string path = folder.write("x", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  write_file_atomically(path, "new");
  struct stat info = {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
}

TEST(AtomicFile, SymbolicLinkStaysALink) {
  const TempDir folder;
  folder.write("target", "old");
  fs::create_symlink("target", folder.file("link"));
  write_file_atomically(folder.file("link"), "new");
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_EQ(read_bytes(folder.file("target")), "new");
}

TEST(AtomicFile, LinkToNothingCreatesItsTarget) {
  const TempDir folder;
  fs::create_symlink("target", folder.file("link"));
  write_file_atomically(folder.file("link"), "new");
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_EQ(read_bytes(folder.file("target")), "new");
}

TEST(AtomicFile, LinksInACircleAreReported) {
  const TempDir folder;
  fs::create_symlink("b", folder.file("a"));
  fs::create_symlink("a", folder.file("b"));
  EXPECT_THAT([&] { write_file_atomically(folder.file("a"), "x"); },
              ThrowsMessage<IoError>(HasSubstr("Too many levels of symbolic links")));
}

}  // namespace
}  // namespace milieu
