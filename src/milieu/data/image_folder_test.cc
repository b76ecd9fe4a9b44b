// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/image_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "milieu/base/error.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

class ImageFolderTest : public ::testing::Test {
 protected:
  void add(const std::string& path) {
    fs::create_directories(fs::path(folder_.file(path)).parent_path());
    folder_.write(path, "");
  }
  ImageFolder list() const { return list_image_folder(folder_.path()); }

  TempDir folder_;
};

TEST_F(ImageFolderTest, SubFoldersAreClasses) {
  for (const char* path : {"dog/b.png", "cat/z.jpg", "dog/a.PNG", "cat/deep/er/a.tiff"}) add(path);
  const ImageFolder images = list();
  EXPECT_THAT(images.paths,
              ElementsAre("cat/deep/er/a.tiff", "cat/z.jpg", "dog/a.PNG", "dog/b.png"));
  EXPECT_THAT(images.labels.names, ElementsAre("cat", "dog"));
  EXPECT_THAT(images.labels.indices, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(images.skipped, IsEmpty());
}

TEST_F(ImageFolderTest, FlatFolderHasNoClasses) {
  add("b.jpg");
  add("a.jpg");
  EXPECT_THAT(list().paths, ElementsAre("a.jpg", "b.jpg"));
  EXPECT_TRUE(list().labels.empty());
}

TEST_F(ImageFolderTest, ImagesBesideClassFoldersHaveNoClass) {
  add("a.jpg");
  add("cat/a.jpg");
  EXPECT_THAT(list().labels.indices, ElementsAre(-1, 0));
}

TEST_F(ImageFolderTest, NumberedFoldersKeepTheirNamesAndAreSortedByNumber) {
  for (const char* path : {"010/a.png", "9/a.png", "1/a.png"}) add(path);
  EXPECT_THAT(list().labels.names, ElementsAre("1", "9", "010"));
  EXPECT_THAT(list().labels.indices, ElementsAre(2, 0, 1));
}

TEST_F(ImageFolderTest, HiddenFilesAreNotThere) {
  for (const char* path : {"a.png", ".b.png", ".git/c.png"}) add(path);
  EXPECT_THAT(list().paths, ElementsAre("a.png"));
  EXPECT_THAT(list().skipped, IsEmpty());
}

TEST_F(ImageFolderTest, OtherFilesAreSkippedAndNamed) {
  for (const char* path : {"a.png", "readme.txt", "cat/b.gif", "png"}) add(path);
  const ImageFolder images = list();
  ASSERT_EQ(images.skipped.size(), 3u);
  EXPECT_EQ(images.skipped[0].path, "cat/b.gif");
  EXPECT_EQ(images.skipped[0].reason, "not an image by its name");
  EXPECT_EQ(images.skipped[1].path, "png");
}

TEST_F(ImageFolderTest, LinksAreFollowedAndLoopsEnd) {
  const TempDir elsewhere;
  elsewhere.write("x.png", "");
  add("cat/a.png");
  fs::create_directory_symlink(elsewhere.path(), folder_.file("dog"));
  fs::create_symlink("../dog/x.png", folder_.file("cat/link.png"));
  fs::create_directory_symlink("..", folder_.file("cat/loop"));
  fs::create_symlink("nowhere.png", folder_.file("cat/dangling.png"));
  fs::create_symlink("self.png", folder_.file("cat/self.png"));
  const ImageFolder images = list();
  EXPECT_THAT(images.paths, ElementsAre("cat/a.png", "cat/link.png", "dog/x.png"));
  ASSERT_EQ(images.skipped.size(), 3u);
  EXPECT_THAT(images.skipped[0].reason, HasSubstr("No such file"));
  EXPECT_EQ(images.skipped[1].path, "cat/loop");
  EXPECT_EQ(images.skipped[1].reason, "this folder was listed already");
  EXPECT_THAT(images.skipped[2].reason, HasSubstr("symbolic links"));
}

TEST_F(ImageFolderTest, PipesAreSkipped) {
  add("a.png");
  ASSERT_EQ(::mkfifo(folder_.file("b.png").c_str(), 0600), 0);
  ASSERT_EQ(list().skipped.size(), 1u);
  EXPECT_EQ(list().skipped[0].reason, "not a regular file");
}

TEST_F(ImageFolderTest, FolderWithoutImagesIsRefused) {
  add("readme.txt");
  EXPECT_THAT([&] { list(); }, ThrowsMessage<DataError>(HasSubstr("has no images")));
}

TEST_F(ImageFolderTest, MissingFolderIsNamed) {
  EXPECT_THAT([] { list_image_folder("no/such"); },
              ThrowsMessage<IoError>(HasSubstr("no/such cannot be listed: No such file")));
  add("a.png");
  EXPECT_THAT([&] { list_image_folder(folder_.file("a.png")); },
              ThrowsMessage<IoError>(HasSubstr("cannot be listed: Not a directory")));
}

TEST_F(ImageFolderTest, UnreadableFolderIsNamed) {
  add("cat/a.png");
  ASSERT_EQ(::chmod(folder_.file("cat").c_str(), 0), 0);
  const bool was_root = ::geteuid() == 0;  // root may read everything
  if (was_root) {
    fs::permissions(folder_.path(), fs::perms::all);
    ASSERT_EQ(::seteuid(65534), 0);
  }
  EXPECT_THAT([&] { list(); },
              ThrowsMessage<IoError>(HasSubstr("/cat cannot be listed: Permission denied")));
  if (was_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ASSERT_EQ(::chmod(folder_.file("cat").c_str(), 0700), 0);
}

TEST(ImageExtension, IsAskedOfTheNameOnly) {
  EXPECT_TRUE(has_image_extension("a/b.JPeG"));
  EXPECT_FALSE(has_image_extension("a.png/b"));
  EXPECT_FALSE(has_image_extension("png"));
  EXPECT_FALSE(has_image_extension("a.png.txt"));
}

TEST(ImageList, NamesImagesInItsOwnOrder) {
  const TempDir folder;
  const std::string list =
      folder.write("list.txt", "b/2.png\r\n\n./a/1.jpg\n3.png\nnotes.md\nb/1.png");
  const ImageFolder images = list_images_in(list);
  EXPECT_EQ(images.root, folder.path());
  EXPECT_EQ(images.paths, (std::vector<std::string>{"b/2.png", "a/1.jpg", "3.png", "b/1.png"}));
  EXPECT_EQ(images.labels.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(images.labels.indices, (std::vector<int>{1, 0, -1, 1}));
  ASSERT_EQ(images.skipped.size(), 1u);
  EXPECT_EQ(images.skipped[0].path, "notes.md");
}

TEST(ImageList, AbsolutePathsAreKeptRelativeToTheList) {
  const TempDir folder;
  const ImageFolder images =
      list_images_in(folder.write("list.txt", folder.file("x/1.png") + "\n"));
  EXPECT_EQ(images.paths, (std::vector<std::string>{"x/1.png"}));
  EXPECT_TRUE(images.labels.empty());
}

TEST(ImageList, WithoutImagesIsRefused) {
  const TempDir folder;
  EXPECT_THROW(list_images_in(folder.write("list.txt", "words\n")), DataError);
  EXPECT_THROW(list_images_in(folder.file("none.txt")), IoError);
}

}  // namespace
}  // namespace milieu
