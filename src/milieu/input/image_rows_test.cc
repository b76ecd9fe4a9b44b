// SPDX-License-Identifier: Apache-2.0
// Image folders as rows, and what a model of them carries.
#include "milieu/input/image_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/input/input.h"
#include "milieu/input/training.h"
#include "milieu/input/views.h"
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

TEST_F(ImageRowsTest, FolderWithoutAFeatureSaysWhatToType) {
  const std::string photos = make_image_folder(dir_, "photos", 1);
  EXPECT_THAT([&] { open_rows(photos, {}, {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("--feature gist")));
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

// Words, feature and size limit travel inside the model file.
TEST_F(ImageRowsTest, CopiedModelDescribesNewImages) {
  const std::string photos = make_image_folder(dir_, "photos", 4);
  const ImageOptions words{
      .feature = "dense-sift:words=5", .max_side = "40", .codebook = {}, .vocabulary_folder = {}};
  const InputRows trained = open_rows(photos, words, {});
  ModelFile model;
  model.kind = "kmeans";
  ImageOrigin origin = trained.images;
  origin.max_side = "40";
  ASSERT_FALSE(origin.vocabulary.empty());
  add_training(origin, model);
  const std::string path = dir_.file("copied/model.safetensors");
  fs::create_directories(dir_.file("copied"));
  write_model_file(path, model);
  const Training training = read_training(path);
  EXPECT_EQ(training.feature, trained.images.feature);
  EXPECT_EQ(training.max_side, "40");
  const InputRows again = open_rows_like_training(photos, path, {}, {}, silent_monitor());
  const Points a = trained.rows.take().points, b = again.rows.take().points;
  ASSERT_EQ(a.rows(), b.rows());
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < a.cols(); ++j) EXPECT_EQ(a.view()(i, j), b.view()(i, j));
  const ImageOptions other{
      .feature = "gist", .max_side = {}, .codebook = {}, .vocabulary_folder = {}};
  EXPECT_THAT([&] { open_rows_like_training(photos, path, other, {}, silent_monitor()); },
              ThrowsMessage<InvalidArgument>(HasSubstr("leave --feature out")));
}

TEST_F(ImageRowsTest, ModelThatNamesAFileWithAFolderIsRefused) {
  ModelFile model;
  model.kind = "kmeans";
  model.scalars.emplace_back("input.feature", "gist");
  model.arrays.emplace_back("input.file.../evil", StoredArray{"U8", {1}, {std::byte{0}}});
  const std::string path = dir_.file("model.safetensors");
  write_model_file(path, model);
  EXPECT_THROW(read_training(path), DataError);
}

TEST_F(ImageRowsTest, ViewsMustHaveTheSameRows) {
  const std::string a = dir_.write("a.csv", "1,2\n3,4\n"), b = dir_.write("b.csv", "5\n6\n"),
                    c = dir_.write("c.csv", "5\n6\n7\n");
  const Views views = load_views({a, b});
  EXPECT_EQ(views.data.points.cols(), 3);
  EXPECT_EQ(views.columns[1].first, 2);
  EXPECT_EQ(views.points.size(), 2u);
  EXPECT_THAT([&] { load_views({a, c}); }, ThrowsMessage<DataError>(HasSubstr("views must match")));
  EXPECT_THAT(files_of(a + "," + b), ElementsAre(a, b));
  EXPECT_THAT(files_of(a), ElementsAre(a));
}

}  // namespace
}  // namespace milieu
