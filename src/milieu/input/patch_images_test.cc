// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/patch_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/data/format/npy.h"
#include "milieu/input/keypoints.h"
#include "milieu/input/patch_folder.h"
#include "milieu/input/patch_projection.h"
#include "milieu/testing/image_files.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class PatchImagesTest : public ::testing::Test {
 protected:
  PatchImagesTest() : cache_("MILIEU_CACHE", dir_.file("cache")) {}

  // Six patches of three images.
  PatchRequest file_request(const std::vector<int32_t>& offsets) {
    PatchRequest request;
    request.path = dir_.write("patches.csv", "1,2\n3,4\n5,6\n7,8\n9,10\n11,12\n");
    const std::string path = dir_.file("offsets.npy");
    write_npy(path, std::span<const int32_t>(offsets));
    request.files = InputFiles(inputs_of<PatchImages>());
    set(request, "offsets", path);
    return request;
  }
  static void set(PatchRequest& request, const std::string& name, const std::string& value) {
    for (const Field& field : request.files.fields())
      if (field.name == name) field.set(value);
  }
  TempDir dir_;
  ScopedVariable cache_;
};

TEST_F(PatchImagesTest, OffsetsCutTheFileIntoImages) {
  PatchRequest request = file_request({0, 2, 2, 6});
  const PatchImages images = load_patch_images(request, silent_monitor());
  EXPECT_EQ(images.num_images(), 3);
  const Dataset data = image_dataset(images);
  EXPECT_EQ(data.points.view()(0, 0), 2);
  EXPECT_EQ(data.points.view()(1, 0), 0);
  request.load.rows = {0, 2};
  EXPECT_THAT(load_patch_images(request, silent_monitor()).offsets, ElementsAre(0, 2, 6));
}

TEST_F(PatchImagesTest, WrongOffsetsAreRefused) {
  for (const auto& offsets : {std::vector<int32_t>{1, 6}, {0, 4, 2, 6}, {0, 5}, {0}}) {
    const PatchRequest request = file_request(offsets);
    EXPECT_THROW(load_patch_images(request, silent_monitor()), DataError);
  }
  PatchRequest request = file_request({0, 6});
  request.files = InputFiles(inputs_of<PatchImages>());
  EXPECT_THAT([&] { load_patch_images(request, silent_monitor()); },
              ThrowsMessage<InvalidArgument>(HasSubstr("--offsets")));
}

TEST_F(PatchImagesTest, PositionsGiveBands) {
  PatchRequest request = file_request({0, 3, 6});
  set(request, "positions", dir_.write("p.csv", "0,0\n0,5\n0,10\n0,1\n0,1\n0,2\n"));
  PatchImages images = load_patch_images(request, silent_monitor());
  images.set_bands(2);
  EXPECT_THAT(images.bands, ElementsAre(0, 1, 1, 0, 0, 1));
  images.set_bands(1);
  EXPECT_TRUE(images.bands.empty());
}

// --step beside --feature used to be ignored silently.
TEST_F(PatchImagesTest, StepBesideAFeatureIsRefused_issue19) {
  PatchRequest request;
  request.feature = "dense-sift:step=4";
  request.options.step = 16;
  EXPECT_THAT([&] { patch_feature(request); },
              ThrowsMessage<InvalidArgument>(HasSubstr("dense-sift:step=16")));
  request.feature.clear();
  EXPECT_THAT(patch_feature(request), HasSubstr("step=16"));
  request.options.step = 0;
  EXPECT_EQ(patch_feature(request), "dense-sift");  // step 8 is the feature's own default
  request.feature = "gist";
  EXPECT_THROW(patch_feature(request), InvalidArgument);
}

TEST_F(PatchImagesTest, ImageFolderGivesProjectedPatchesOnAGrid) {
  PatchRequest request;
  request.path = make_image_folder(dir_, "photos", 2);
  request.files = InputFiles(inputs_of<PatchImages>());
  request.options.num_components = 8;
  const PatchImages images = load_patch_images(request, silent_monitor());
  EXPECT_EQ(images.num_images(), 4);
  EXPECT_EQ(images.patches.cols(), 8);
  EXPECT_EQ(images.projection.rows(), 9);
  EXPECT_EQ(images.grid.rows(), 4);
  request.projection = images.projection;  // as for new images
  const PatchImages again = load_patch_images(request, silent_monitor());
  EXPECT_EQ(again.patches.view()(3, 5), images.patches.view()(3, 5));
}

TEST_F(PatchImagesTest, UnprojectedWordsLieInTheDescriptors) {
  Matrix<float> patches(40, 3);
  for (int64_t i = 0; i < patches.rows(); ++i)
    for (int64_t j = 0; j < 3; ++j) patches(i, j) = static_cast<float>((i * (j + 2)) % 11);
  const Matrix<float> projection = fit_projection(patches, 3, 1);  // all components
  const Matrix<float> projected = project(pca_of(projection), patches);
  Matrix<double> words(1, 3);
  for (int64_t j = 0; j < 3; ++j) words(0, j) = projected(7, j);
  const Matrix<float> back = unproject(projection, words.view());
  for (int64_t j = 0; j < 3; ++j) EXPECT_NEAR(back(0, j), patches(7, j), 1e-4);
}

TEST_F(PatchImagesTest, KeypointsKnowTheirImage) {
  const std::string photos = make_image_folder(dir_, "photos", 2);
  dir_.write("photos/blobs/broken.ppm", "P6\n");
  const KeypointSet set = load_keypoints(photos);
  EXPECT_EQ(set.positions.rows(), set.data.points.rows());
  EXPECT_EQ(set.images.size(), static_cast<size_t>(set.data.points.rows()));
  EXPECT_THAT(set.skipped, ElementsAre(HasSubstr("blobs/broken.ppm")));
  LoadOptions blobs;
  blobs.select = "blobs";
  for (const std::string& path : load_keypoints(photos, blobs).paths)
    EXPECT_THAT(path, HasSubstr("blobs/"));
  LoadOptions stripes;  // they have no corners
  stripes.select = "stripes";
  EXPECT_THAT([&] { load_keypoints(photos, stripes); },
              ThrowsMessage<DataError>(HasSubstr("has no image with a keypoint")));
}

}  // namespace
}  // namespace milieu
