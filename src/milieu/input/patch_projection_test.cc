// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/patch_projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/data/format/npy.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Matrix<float> patches_of(int64_t count) {
  Matrix<float> patches(count, 3);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < 3; ++j) patches(i, j) = static_cast<float>((i * (j + 2)) % 11);
  return patches;
}

TEST(PatchProjection, HasTheMeanAndThenTheComponents) {
  const Matrix<float> patches = patches_of(40);
  const Matrix<float> projection = fit_projection(patches, 2, 1);
  ASSERT_EQ(projection.rows(), 3);
  double mean = 0;
  for (int64_t i = 0; i < 40; ++i) mean += patches(i, 1) / 40;
  EXPECT_NEAR(projection(0, 1), mean, 1e-5);
  const Pca pca = pca_of(projection);
  EXPECT_EQ(pca.components.rows(), 2);
  EXPECT_EQ(static_cast<float>(pca.mean[1]), projection(0, 1));
  double dot = 0, norm = 0;
  for (int64_t r = 0; r < 3; ++r) {
    dot += pca.components(0, r) * pca.components(1, r);
    norm += pca.components(0, r) * pca.components(0, r);
  }
  EXPECT_NEAR(dot, 0, 1e-6);
  EXPECT_NEAR(norm, 1, 1e-6);
}

TEST(PatchProjection, HasNoMoreComponentsThanPatchesOrNumbers) {
  EXPECT_EQ(fit_projection(patches_of(40), 64, 1).rows(), 4);
  EXPECT_EQ(fit_projection(patches_of(2), 64, 1).rows(), 3);
}

// Beyond 100,000 patches a sample is drawn: by the seed alone.
TEST(PatchProjection, SameSeedSameComponents) {
  const Matrix<float> patches = patches_of(100'050);
  const Matrix<float> a = fit_projection(patches, 2, 5), b = fit_projection(patches, 2, 5);
  for (int64_t i = 0; i < a.size(); ++i) EXPECT_EQ(a.data()[i], b.data()[i]);
}

TEST(PatchProjection, UnprojectedWordsLieInTheDescriptors) {
  const Matrix<float> patches = patches_of(40);
  const Matrix<float> projection = fit_projection(patches, 3, 1);  // all components
  const Matrix<float> projected = project(pca_of(projection), patches);
  Matrix<double> words(1, 3);
  for (int64_t j = 0; j < 3; ++j) words(0, j) = projected(7, j);
  const Matrix<float> back = unproject(projection, words.view());
  for (int64_t j = 0; j < 3; ++j) EXPECT_NEAR(back(0, j), patches(7, j), 1e-4);
}

TEST(PatchProjection, IsInTheModelOrBesideOneOfVersion1) {
  TempDir dir;
  DlgmmModel model;
  model.words = Matrix<double>(4, 2);
  const std::string path = dir.file("model.safetensors");
  EXPECT_TRUE(projection_of_model(model, path).empty());
  write_npy(dir.file("projection.npy"), fit_projection(patches_of(40), 2, 1).view());
  EXPECT_EQ(projection_of_model(model, path).rows(), 3);
  model.projection = Matrix<float>(3, 5);
  EXPECT_EQ(projection_of_model(model, path).cols(), 5);
}

TEST(PatchProjection, MustFitTheWords) {
  DlgmmModel model;
  model.words = Matrix<double>(4, 7);
  model.projection = Matrix<float>(3, 5);
  EXPECT_THAT([&] { projection_of_model(model, "m.safetensors"); },
              ThrowsMessage<DataError>(HasSubstr(
                  "m.safetensors has a projection of 2 components, the model was fitted on 7")));
}

}  // namespace
}  // namespace milieu
