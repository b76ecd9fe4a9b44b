// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(MappedFile, ShowsTheBytesOfTheFile) {
  const TempDir folder;
  const auto file = MappedFile::open(folder.write("x", std::string("a\0b\n", 4)));
  EXPECT_EQ(file->text(), std::string("a\0b\n", 4));
  EXPECT_EQ(file->bytes().size(), 4u);
  EXPECT_TRUE(file->is_mapped());
}

TEST(MappedFile, EmptyFileHasNoBytes) {
  const TempDir folder;
  const auto file = MappedFile::open(folder.write("x", ""));
  EXPECT_TRUE(file->bytes().empty());
  EXPECT_FALSE(file->is_mapped());
}

TEST(MappedFile, MissingFileIsNamed) {
  EXPECT_THAT([] { MappedFile::open("no/such.npy"); },
              ThrowsMessage<IoError>(HasSubstr("no/such.npy does not exist")));
}

TEST(MappedFile, FolderIsRefused) {
  const TempDir folder;
  EXPECT_THAT([&] { MappedFile::open(folder.path()); },
              ThrowsMessage<IoError>(HasSubstr("is a folder")));
}

TEST(MappedFile, UnreadableFileNamesTheReason) {
  const TempDir folder;
  const std::string path = folder.write("x.npy", "x");
  EXPECT_THAT([&] { MappedFile::open(path + "/y"); },
              ThrowsMessage<IoError>(HasSubstr("cannot be read: Not a directory")));
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  const bool was_root = ::geteuid() == 0;  // root may read everything
  if (was_root) {
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
    ASSERT_EQ(::seteuid(65534), 0);
  }
  EXPECT_THAT([&] { MappedFile::open(path); },
              ThrowsMessage<IoError>(HasSubstr("x.npy cannot be read: Permission denied")));
  if (was_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
}

TEST(MappedFile, PipeIsReadToItsEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string content(3'000'000, 'x');
  std::thread writer([&] {
    for (size_t at = 0; at < content.size();)
      at += static_cast<size_t>(::write(ends[1], content.data() + at, content.size() - at));
    ::close(ends[1]);
  });
  const auto file = MappedFile::open("/dev/fd/" + std::to_string(ends[0]));
  writer.join();
  ::close(ends[0]);
  EXPECT_EQ(file->text(), content);
  EXPECT_FALSE(file->is_mapped());
}

// The advice of the header: replacing by renaming is safe for readers.
TEST(MappedFile, KeepsItsContentWhenTheFileIsReplaced) {
  const TempDir folder;
  const std::string path = folder.write("x", std::string(100'000, 'a'));
  const auto file = MappedFile::open(path);
  write_file_atomically(path, "b");
  EXPECT_EQ(file->text(), std::string(100'000, 'a'));
  EXPECT_EQ(MappedFile::open(path)->text(), "b");
}

}  // namespace
}  // namespace milieu
