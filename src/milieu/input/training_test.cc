// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/store/run_folder.h"
#include "milieu/testing/image_files.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

namespace fs = std::filesystem;

class TrainingTest : public ::testing::Test {
 protected:
  TrainingTest() : cache_("MILIEU_CACHE", dir_.file("cache")) {}

  static ImageOptions words() {
    ImageOptions options;
    options.feature = "dense-sift:words=5";
    return options;
  }
  // A model file with what `origin` says, in a folder of its own.
  std::string model_of(const ImageOrigin& origin, const std::string& name) const {
    ModelFile model;
    model.kind = "kmeans";
    add_training(origin, model);
    fs::create_directories(dir_.file(name));
    write_model_file(dir_.file(name + "/model.safetensors"), model);
    return dir_.file(name + "/model.safetensors");
  }
  static void expect_same(const Points& a, const Points& b) {
    ASSERT_EQ(a.rows(), b.rows());
    ASSERT_EQ(a.cols(), b.cols());
    for (int64_t i = 0; i < a.rows(); ++i)
      for (int64_t j = 0; j < a.cols(); ++j) EXPECT_EQ(a.view()(i, j), b.view()(i, j));
  }

  TempDir dir_;
  ScopedVariable cache_;
  const std::string photos_ = make_image_folder(dir_, "photos", 4);
  const std::string others_ = make_image_folder(dir_, "others", 2, 50);
};

// Words, feature and size limit travel inside the model file.
TEST_F(TrainingTest, CopiedModelDescribesNewImages) {
  ImageOptions small = words();
  small.max_side = "40";
  const InputRows trained = open_rows(photos_, small, {});
  ImageOrigin origin = trained.images;
  origin.max_side = "40";
  ASSERT_FALSE(origin.vocabulary.empty());
  const std::string path = model_of(origin, "copied");
  const Training training = read_training(path);
  EXPECT_EQ(training.feature, trained.images.feature);
  EXPECT_EQ(training.max_side, "40");
  const InputRows again = open_rows_like_training(photos_, path, {}, {}, silent_monitor());
  expect_same(trained.rows.take().points, again.rows.take().points);
  ImageOptions other;
  other.feature = "gist";
  EXPECT_THAT([&] { open_rows_like_training(photos_, path, other, {}, silent_monitor()); },
              ThrowsMessage<InvalidArgument>(HasSubstr("leave --feature out")));
}

TEST_F(TrainingTest, ModelThatNamesAFileWithAFolderIsRefused) {
  ModelFile model;
  model.kind = "kmeans";
  model.scalars.emplace_back("input.feature", "gist");
  model.arrays.emplace_back("input.file.../evil", StoredArray{"U8", {1}, {std::byte{0}}});
  const std::string path = dir_.file("model.safetensors");
  write_model_file(path, model);
  EXPECT_THROW(read_training(path), DataError);
}

TEST_F(TrainingTest, RunFolderOfAnEarlierVersionSaysIt) {
  ModelFile model;
  model.kind = "kmeans";
  RunFolder folder(dir_.file("old"), false);
  folder.write_text("summary.json", "{}");
  folder.write_text("options.json",
                    R"({"input": {"feature": "gist", "max_side": "64", "offsets": "o.npy"}})");
  folder.write_model(model);
  folder.commit();
  const Training training = read_training(dir_.file("old"));
  EXPECT_EQ(training.folder, dir_.file("old"));
  EXPECT_EQ(training.feature, "gist");
  EXPECT_EQ(training.max_side, "64");
  EXPECT_EQ(training.offsets, "o.npy");
  dir_.write("old/options.json", "not JSON");
  EXPECT_EQ(read_training(dir_.file("old")).feature, "");
}

TEST_F(TrainingTest, ModelWithoutAFeatureSaysWhatToGive) {
  const std::string path = model_of({}, "plain");
  EXPECT_THAT(
      [&] { open_rows_like_training(photos_, path, {}, {}, silent_monitor()); },
      ThrowsMessage<InvalidArgument>(HasSubstr("does not say what the model was trained on")));
  // Files of numbers need nothing.
  const std::string file = dir_.write("X.csv", "1,2\n3,4\n");
  EXPECT_EQ(open_rows_like_training(file, path, {}, {}, silent_monitor()).rows.num_rows(), 2);
}

TEST_F(TrainingTest, MissingWordsAreNamed) {
  ImageOrigin origin;
  origin.feature = "dense-sift:words=5";  // without its codebook
  const std::string path = model_of(origin, "bare");
  EXPECT_THAT([&] { open_rows_like_training(photos_, path, {}, {}, silent_monitor()); },
              ThrowsMessage<InvalidArgument>(HasSubstr("dense-sift.codebook.npy is missing")));
}

TEST_F(TrainingTest, RowsBesideThoseOfTrainingHaveTheirWords) {
  const InputRows trained = open_rows(photos_, words(), {});
  const InputRows others =
      open_rows_like(others_, trained.images, photos_, {}, {}, silent_monitor());
  EXPECT_EQ(others.images.feature, trained.images.feature);
  // As if they had been described by a model of the first.
  const InputRows by_model =
      open_rows_like_training(others_, model_of(trained.images, "m"), {}, {}, silent_monitor());
  expect_same(others.rows.take().points, by_model.rows.take().points);
  const std::string file = dir_.write("X.csv", "1,2\n3,4\n");
  EXPECT_EQ(open_rows_like(file, trained.images, photos_, {}, {}, silent_monitor()).rows.num_rows(),
            2);
}

// Two feature folders whose words were learned separately used to be put side by side.
TEST_F(TrainingTest, FeatureFolderWithOtherWordsIsRefused_issue19) {
  const InputRows a = open_rows(photos_, words(), {}), b = open_rows(others_, words(), {});
  const std::string folder = fs::path(b.images.vocabulary[0].path).parent_path().string();
  EXPECT_THAT(
      [&] { open_rows_like(folder, a.images, photos_, {}, {}, silent_monitor()); },
      ThrowsMessage<InvalidArgument>(HasSubstr("is not the dense-sift.codebook.npy of training")));
}

TEST_F(TrainingTest, SharedWordsAreNamedAfterTheirContent) {
  const std::string a = dir_.write("a.npy", "words"), b = dir_.write("b.npy", "words");
  const std::string folder = share_vocabulary({{"w.codebook.npy", a}});
  EXPECT_EQ(read_bytes(folder + "/w.codebook.npy"), "words");
  EXPECT_EQ(share_vocabulary({{"w.codebook.npy", b}}), folder);
  dir_.write("b.npy", "other words");
  EXPECT_NE(share_vocabulary({{"w.codebook.npy", b}}), folder);
}

TEST_F(TrainingTest, FolderOfAModel) {
  EXPECT_EQ(folder_of_model(dir_.path()), dir_.path());
  EXPECT_EQ(folder_of_model(dir_.file("model.safetensors")), dir_.path());
  EXPECT_EQ(folder_of_model("model.safetensors"), ".");
}

}  // namespace
}  // namespace milieu
