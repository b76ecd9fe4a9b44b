// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/codebook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/data/format/npy.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/input/image_rows.h"
#include "milieu/store/run_folder.h"
#include "milieu/testing/image_files.h"

namespace milieu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class CodebookTest : public ::testing::Test {
 protected:
  CodebookTest() : cache_("MILIEU_CACHE", dir_.file("cache")) {}

  // A run folder with this model.
  template <class Model>
  std::string run_with(const std::string& name, const Model& model) const {
    RunFolder folder(dir_.file(name), false);
    folder.write_text("summary.json", "{}");
    folder.write_model(to_model_file(model));
    folder.commit();
    return dir_.file(name);
  }

  TempDir dir_;
  ScopedVariable cache_;
};

Matrix<float> two_words() {
  Matrix<float> words(2, 3);
  for (int64_t i = 0; i < words.size(); ++i) words.data()[i] = static_cast<float>(i) / 4;
  return words;
}

void expect_equal(const Matrix<float>& found, const Matrix<float>& expected) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  for (int64_t i = 0; i < found.size(); ++i) EXPECT_EQ(found.data()[i], expected.data()[i]);
}

TEST_F(CodebookTest, WordsOfAnotherTypeAreRefused) {
  ModelFile model = to_model_file(KMeansModel{two_words()});
  for (auto& [name, array] : model.arrays)
    if (name == "centers") array.dtype = "I32";
  write_model_file(dir_.file("odd.safetensors"), model);
  EXPECT_THAT([&] { read_codebook(dir_.file("odd.safetensors")); },
              ThrowsMessage<DataError>(HasSubstr("centers has entries of type I32")));
}

TEST_F(CodebookTest, FilesOfNumbersHoldOneWordPerRow) {
  write_npy(dir_.file("words.npy"), two_words().view());
  expect_equal(read_codebook(dir_.file("words.npy")), two_words());
  expect_equal(read_codebook(dir_.write("words.csv", "0,0.25,0.5\n0.75,1,1.25\n")), two_words());
  EXPECT_THROW(read_codebook(dir_.file("missing.npy")), IoError);
}

TEST_F(CodebookTest, CentresOfAModelAreWords) {
  KMeansModel model;
  model.centers = two_words();
  const std::string run = run_with("run", model);
  expect_equal(read_codebook(run), two_words());
  expect_equal(read_codebook(run + "/model.safetensors"), two_words());
}

// The words of dlgmm live among projected descriptors: they come back as descriptors.
TEST_F(CodebookTest, WordsOfDlgmmAreUnprojected) {
  DlgmmModel model;
  model.words = Matrix<double>(1, 1);
  model.words(0, 0) = 2;
  model.projection = Matrix<float>(2, 3);  // mean, then one component
  for (int64_t r = 0; r < 3; ++r) model.projection(0, r) = 10;
  model.projection(1, 2) = 1;
  Matrix<float> expected(1, 3);
  expected(0, 0) = expected(0, 1) = 10;
  expected(0, 2) = 12;
  expect_equal(read_codebook(run_with("run", model)), expected);
}

TEST_F(CodebookTest, ModelsWithoutWordsSayWhatTheyHave) {
  ModelFile model;
  model.kind = "ncut";
  model.arrays.emplace_back("axes", StoredArray{"F32", {1}, std::vector<std::byte>(4)});
  write_model_file(dir_.file("m.safetensors"), model);
  EXPECT_THAT([&] { read_codebook(dir_.file("m.safetensors")); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("m.safetensors is a model of ncut"), HasSubstr("it has axes"))));
}

TEST_F(CodebookTest, FeatureFolderMustHaveOneCodebook) {
  const std::string photos = make_image_folder(dir_, "photos", 2);
  ImageOptions words;
  words.feature = "dense-sift:words=4";
  const InputRows input = open_rows(photos, words, {});
  ASSERT_EQ(input.images.vocabulary.size(), 1u);
  const std::string folder =
      std::filesystem::path(input.images.vocabulary[0].path).parent_path().string();
  EXPECT_EQ(read_codebook(folder).rows(), 4);
  std::filesystem::copy_file(folder + "/dense-sift.codebook.npy", folder + "/b.codebook.npy");
  EXPECT_THAT([&] { read_codebook(folder); },
              ThrowsMessage<InvalidArgument>(HasSubstr("has 2 codebooks, must have one")));
}

}  // namespace
}  // namespace milieu
