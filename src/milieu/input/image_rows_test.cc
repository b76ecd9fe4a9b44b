// SPDX-License-Identifier: Apache-2.0
// Image folders as rows, and what a model of them carries.
#include "milieu/input/image_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/testing/image_files.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class NoteTaker : public Monitor {
 public:
  void on_note(std::string_view sentence) override { notes.emplace_back(sentence); }
  void on_stage(RunStage stage, std::string_view) override { stages.push_back(stage); }
  std::vector<std::string> notes;
  std::vector<RunStage> stages;
};

class ImageRowsTest : public ::testing::Test {
 protected:
  ImageRowsTest() : cache_("MILIEU_CACHE", dir_.file("cache")) {}
  TempDir dir_;
  ScopedVariable cache_;
};

TEST_F(ImageRowsTest, FolderIsReadOnceAndSetsAreTakenFromIt) {
  const std::string photos = make_image_folder(dir_, "photos", 3);
  dir_.write("photos/stripes/broken.ppm", "P6\nnot an image");
  NoteTaker monitor;
  const InputRows input = open_rows(
      photos, {.feature = "tiny", .max_side = {}, .codebook = {}, .vocabulary_folder = {}}, {},
      monitor);
  EXPECT_EQ(input.rows.num_rows(), 6);
  EXPECT_EQ(input.images.root, photos);
  EXPECT_EQ(input.images.feature, "tiny");
  const Dataset stripes = input.rows.take("stripes"), blobs = input.rows.take("blobs");
  EXPECT_EQ(stripes.points.rows(), 3);
  EXPECT_EQ(blobs.points.rows(), 3);
  EXPECT_THAT(monitor.notes, ElementsAre(HasSubstr("skipped stripes/broken.ppm")));
  EXPECT_EQ(input.warnings.size(), 1u);
  EXPECT_THAT(monitor.stages, ElementsAre(RunStage::Describing, RunStage::Reading));
}

TEST_F(ImageRowsTest, FeaturesStandSideBySide) {
  const std::string photos = make_image_folder(dir_, "photos", 2);
  const InputRows input = open_rows(
      photos, {.feature = "tiny,color", .max_side = {}, .codebook = {}, .vocabulary_folder = {}},
      {});
  ASSERT_EQ(input.images.columns.size(), 2u);
  EXPECT_EQ(input.images.columns[1].name, "color");
  EXPECT_EQ(input.images.columns[1].first, input.images.columns[0].count);
  EXPECT_EQ(input.rows.take().points.cols(),
            input.images.columns[0].count + input.images.columns[1].count);
}

TEST_F(ImageRowsTest, FolderWithoutAFeatureIsDescribedByTheDefault) {
  const std::string photos = make_image_folder(dir_, "photos", 1);
  const InputRows rows = open_rows(photos, {}, {});
  EXPECT_THAT(rows.images.feature, ::testing::StartsWith("gist"));
  const std::string file = dir_.write("X.csv", "1,2\n3,4\n");
  const ImageOptions gist{
      .feature = "gist", .max_side = {}, .codebook = {}, .vocabulary_folder = {}};
  EXPECT_THAT([&] { open_rows(file, gist, {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("is not an image folder")));
}

TEST_F(ImageRowsTest, CountsKeepHowOftenWordsOccur) {
  EXPECT_THAT(counting_features("dense-sift"), HasSubstr("norm=none"));
  EXPECT_EQ(counting_features("dense-sift:norm=l2"), "dense-sift:norm=l2");
  EXPECT_EQ(counting_features("gist"), "gist");
}

TEST_F(ImageRowsTest, CodebookNeedsALocalFeature) {
  EXPECT_THROW(parse_feature_list("gist", "words.npy"), InvalidArgument);
  EXPECT_EQ(parse_feature_list("dense-sift", "words.npy")[0].words.codebook, "words.npy");
}

TEST_F(ImageRowsTest, KindsOfInputAreToldByWhatIsThere) {
  const std::string photos = make_image_folder(dir_, "photos", 1);
  EXPECT_TRUE(is_image_folder(photos));
  EXPECT_FALSE(is_feature_input(photos));
  EXPECT_FALSE(is_image_folder(dir_.write("X.csv", "1\n")));
  fs::create_directories(dir_.file("begun/.milieu"));  // features that are being computed
  EXPECT_TRUE(is_feature_input(dir_.file("begun")));
  EXPECT_FALSE(is_image_folder(dir_.file("begun")));
}

TEST_F(ImageRowsTest, ListOfImagesIsAnImageFolder) {
  const std::string photos = make_image_folder(dir_, "photos", 2);
  const std::string list = dir_.write("list.txt", "photos/blobs/1.ppm\nphotos/stripes/0.ppm\n");
  EXPECT_EQ(list_images(list).paths.size(), 2u);
  EXPECT_EQ(list_images(photos).paths.size(), 4u);
  ImageOptions tiny;
  tiny.feature = "tiny";
  EXPECT_EQ(open_rows(list, tiny, {}).rows.num_rows(), 2);
}

TEST_F(ImageRowsTest, MaxSideIsANumberInItsRange) {
  EXPECT_EQ(parse_max_side(""), 1024);
  EXPECT_EQ(parse_max_side("0"), 0);
  EXPECT_EQ(parse_max_side("300"), 300);
  EXPECT_THROW(parse_max_side("-1"), InvalidArgument);
  EXPECT_THROW(parse_max_side("big"), InvalidArgument);
}

TEST_F(ImageRowsTest, SkippedImagesAreCountedInOneSentence) {
  ImageFolder folder;
  folder.paths = {"a", "b", "c"};
  ExtractResult result;
  EXPECT_EQ(skipped_text(folder, result), "");
  result.skipped = {{"b", "b is empty"}};
  EXPECT_EQ(skipped_text(folder, result),
            "1 of 3 images could not be read and was skipped, the first: b is empty");
  NoteTaker monitor;
  result.skipped.push_back({"c", "c is a folder"});
  EXPECT_THAT(report_skipped(folder, result, monitor),
              HasSubstr("2 of 3 images could not be read"));
  EXPECT_THAT(monitor.notes, ElementsAre("skipped b: b is empty", "skipped c: c is a folder"));
}

TEST_F(ImageRowsTest, FeatureFolderMustHaveWhatIsAskedFor) {
  const std::string photos = make_image_folder(dir_, "photos", 1);
  extract_features(list_image_folder(photos), parse_features("tiny,color"), dir_.file("f"), {},
                   silent_monitor());
  EXPECT_THAT([&] { open_rows(dir_.file("f"), {}, {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("choose one with --feature")));
  ImageOptions color;
  color.feature = "color";
  EXPECT_EQ(open_rows(dir_.file("f"), color, {}).images.columns[0].name, "color");
  color.feature = "gist";
  EXPECT_THROW(open_rows(dir_.file("f"), color, {}), InvalidArgument);
}

}  // namespace
}  // namespace milieu
